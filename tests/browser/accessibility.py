"""An axe-core scan of what the course itself puts on the page: the output areas of its cells."""

from axe_playwright_python.sync_playwright import Axe

from tests.browser.lab import Notebook

OUTPUTS = ".jp-Notebook .jp-OutputArea-output"
UNNAMED = ".noUi-handle"  # ipywidgets gives the handle of a numeric slider no name


def violations(notebook: Notebook, theme: str, outputs: int) -> list[str]:
    """Scan the outputs that are drawn, at least so many, and return what is wrong and where."""
    notebook.use_theme(theme)
    assert notebook.page.locator(OUTPUTS).count() >= outputs
    results = Axe().run(notebook.page, context={"include": [[OUTPUTS]], "exclude": [[UNNAMED]]})
    return [
        f"{violation['id']} ({violation['impact']}): {node['html'][:300]}"
        for violation in results.response["violations"]
        for node in violation["nodes"]
    ]
