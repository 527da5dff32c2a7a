"""Fixtures: JupyterLab on a copy of the course, and a page of a browser that shows it."""

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.lab import Lab, Visit
from tests.needs import missing

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Start JupyterLab on a learner's copy of the course, for all tests of this process."""
    with Lab(tmp_path_factory.mktemp("lab")) as lab:
        yield lab


# It lives as long as one file of tests: while playwright runs, no other test of the process can
# run an event loop.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start the system's Chromium."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        missing("Chromium, in which JupyterLab is shown")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(lab: Lab, browser: Browser) -> Iterator[Visit]:
    """Open a page of a browser and a lab that remember nothing of earlier ones."""
    yield from new_visit(lab, browser)


def new_visit(lab: Lab, browser: Browser) -> Iterator[Visit]:
    """Have a lab forget, and open a page of a browser that forgets too."""
    lab.start_afresh()
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield Visit(lab, context.new_page())
    context.close()
