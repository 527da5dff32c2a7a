"""axe-core scans of what the course itself shows, outputs and pages; and the way there by Tab."""

from pathlib import Path
from typing import Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page

from tests.browser.lab import Notebook

OUTPUTS = ".jp-Notebook .jp-OutputArea-output"


def assert_accessible(notebook: Notebook, outputs: int) -> None:
    """Scan the outputs that are drawn, at least so many, in both themes; there is no violation."""
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        notebook.use_theme(theme)
        assert notebook.page.locator(OUTPUTS).count() >= outputs
        results = Axe().run(notebook.page, context={"include": [[OUTPUTS]]})
        found = [
            f"{violation['id']} ({violation['impact']}): {node['html'][:300]}"
            for violation in results.response["violations"]
            for node in violation["nodes"]
        ]
        assert not found, "\n".join([theme, *found])


def assert_page_accessible(
    browser: Browser, file: Path, scheme: Literal["light", "dark"], width: int, opened: str
) -> list[str]:
    """Scan a page of its own, with all elements open that `opened` selects; it fits the width.

    Return the addresses of the files that it asked for beside itself.
    """
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
    )
    page = context.new_page()
    heard: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: heard.append(message.text))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    assert page.title() != "run"  # what a script of a hostile answer would make of it
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.evaluate("what => document.querySelectorAll(what).forEach(e => e.open = true)", opened)
    assert heard == []
    assert_shown_accessible(page)
    context.close()
    return asked[1:]


def assert_shown_accessible(page: Page) -> None:
    """Scan what a page shows now; there is no violation."""
    found = Axe().run(page).response["violations"]
    assert not found, "\n".join(f"{rule['id']}: {rule['nodes'][0]['html'][:300]}" for rule in found)


def tab_to(page: Page, target: Locator) -> None:
    """Press Tab until an element has the focus."""
    target.wait_for()
    for _ in range(200):
        page.keyboard.press("Tab")
        if target.evaluate("element => element === document.activeElement"):
            return
    raise AssertionError(f"Tab does not lead to {target}")
