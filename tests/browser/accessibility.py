"""An axe-core scan of what the course itself puts on the page: the output areas of its cells."""

from axe_playwright_python.sync_playwright import Axe

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
