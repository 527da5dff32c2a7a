"""Fixtures: one JupyterLab on a copy of the course, and one browser that shows it."""

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright

from tests.browser.lab import PATIENCE, Lab, Visit
from tests.needs import missing

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-sync"]
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="package")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Start JupyterLab on a learner's copy of the course, for all tests of this folder."""
    with Lab(tmp_path_factory.mktemp("lab")) as lab:
        yield lab


# No longer than this folder's tests: while playwright runs, this process can't run an event loop.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Start the system's Chromium."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        missing("Chromium, in which JupyterLab is shown")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def learners_browser(browser: Browser) -> Iterator[BrowserContext]:
    """Return a browser that keeps JupyterLab's scripts from one visit to the next."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield context
    context.close()


@pytest.fixture
def visit(lab: Lab, learners_browser: BrowserContext) -> Iterator[Visit]:
    """Open a page at a lab that remembers nothing of earlier visits."""
    yield from new_visit(lab, learners_browser)


@pytest.fixture(scope="module")
def long_visit(lab: Lab, learners_browser: BrowserContext) -> Iterator[Visit]:
    """Open a page that all tests of a file share."""
    yield from new_visit(lab, learners_browser)


def new_visit(lab: Lab, context: BrowserContext) -> Iterator[Visit]:
    """Have a lab forget, and open a page at it; in the end it has asked no other host."""
    lab.start_afresh()
    visit = Visit(lab, context.new_page())
    yield visit
    visit.page.close()
    assert visit.other_hosts == []
