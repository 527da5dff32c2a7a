"""The course as a website: no answers, every link lands, and it reads well in a browser."""

import json
import os
import re
import shutil
from html import unescape
from pathlib import Path

import pytest
from playwright.sync_api import expect

from pytree_course.authoring.website import write_site
from pytree_course.course import Course
from pytree_course.judging.expected import BuiltLesson
from pytree_course.sources.lesson_sources import read_sources
from tests.browser.accessibility import assert_page_accessible
from tests.conftest import ROOT, contents, edit
from tests.leaks import find_leaks

READ = ("README.md", "docs", "notebooks", "exercises", "checks", "sources")
HOME, REPOSITORY = "https://ada.github.io/pytrees/", "https://github.com/ada/pytrees"
LESSON = "notebooks/01_leaves.html"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Write the site of the whole course, of which the addresses are known."""
    root, folder = tmp_path_factory.mktemp("published"), tmp_path_factory.mktemp("site")
    for part in ROOT.iterdir():
        if part.is_file():
            shutil.copy(part, root)
        elif part.name in (*READ, "src"):
            shutil.copytree(part, root / part.name)
    edit(root / "pyproject.toml", '# Homepage = "https://OWNER', f'Homepage = "{HOME}" # "')
    edit(root / "pyproject.toml", '# Repository = "', f'Repository = "{REPOSITORY}" # "')
    write_site(Course(root), folder)
    return folder


@pytest.fixture(scope="module")
def pages(site):
    """Return the text of each page by its name."""
    return {name: page.decode() for name, page in contents(site).items() if name.endswith(".html")}


def text_of(html):
    """Return the text of a part of a page."""
    return unescape(re.sub(r"<[^>]+>", "", html))


def test_no_answer_is_on_any_page(site, pages):
    lessons = Course(ROOT).lessons()
    exercises = [graded for files in lessons for graded in read_sources(files).graded.values()]
    texts = {}
    for name, html in pages.items():
        parts = [html, *re.findall(r"<pre.*?</pre>", html, re.DOTALL)]
        # As the cells of a notebook: each text for itself.
        cells = [{"source": text_of(part)} for part in parts]
        texts[f"{name}.json"] = json.dumps(cells).encode()
    notebooks = {name: file for name, file in contents(site).items() if name.endswith(".ipynb")}
    solutions = {"solutions.ipynb": lessons[0].solutions.read_bytes()}  # those are found
    leaks = find_leaks(texts | notebooks | solutions, exercises)
    assert {name for name, _ in leaks} == {*solutions}


def test_every_prediction_is_a_choice(pages):
    for files in Course(ROOT).lessons():
        predictions = BuiltLesson.read(files.expected).predictions
        of_lesson = re.compile(rf"notebooks/(deeper/)?{files.stem}[./]")
        page = "".join(html for name, html in pages.items() if of_lesson.match(name))
        assert page.count('class="prediction"') == page.count('class="outcome"') == len(predictions)
        for name, prediction in predictions.items():
            assert page.count(f'name="{name}"') == len(prediction.options)
        assert 'predict("' not in text_of(page)
    for page in pages.values():
        before, waits, _ = page.partition("tag_waits")
        assert not waits or 'class="prediction"' in before  # there is a choice that shows it


def test_every_link_within_the_site_lands(site, pages):
    ids = {name: {"", *re.findall(r'\sid="([^"]+)"', html)} for name, html in pages.items()}
    for name, html in pages.items():
        for link in map(unescape, set(re.findall(r'\s(?:href|src)="([^"]+)"', html))):
            if link.startswith(("https://", "data:")):
                continue
            path, _, anchor = link.partition("#")
            file = os.path.normpath(Path(name).parent / path.split("?")[0]) if path else name
            assert (site / file).is_file(), (name, link)
            assert anchor in ids.get(file, {anchor}), (name, link)


def test_a_page_says_how_to_run_it_and_what_it_is_about(site, pages):
    page = pages[LESSON]
    notebook = "notebooks/01_leaves.ipynb"
    assert f"https://mybinder.org/v2/gh/ada/pytrees/learners?urlpath=lab/tree/{notebook}" in page
    colab = "https://colab.research.google.com/github/ada/pytrees/blob/learners/colab"
    assert f'href="{colab}/{notebook}"' in page
    assert (site / notebook).read_bytes() == (ROOT / notebook).read_bytes()
    assert re.search(r'<meta name="description" content="Lesson 1 · Leaves', page)
    [picture] = re.findall(r'<meta property="og:image" content="(.+)">', page)
    assert (site / picture.removeprefix(HOME)).is_file()
    assert page.count('class="live"') == page.count('class="output text_html"><div class="pt-')
    sitemap = (site / "sitemap.xml").read_text(encoding="utf-8")
    for name in pages.keys() - {"search.html", "genindex.html"}:
        assert f"<loc>{HOME}{name}</loc>" in sitemap


@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 360)])
@pytest.mark.parametrize("name", ["index.html", LESSON])
def test_a_page_is_accessible_and_keeps_to_itself(browser, site, name, scheme, width):
    opened = ".prediction details"
    asked = assert_page_accessible(browser, site / name, scheme, width, opened)
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_the_first_screen_shows_a_wrong_answer_and_how_to_begin(browser, site, width, height):
    page = browser.new_page(viewport={"width": width, "height": height})
    page.goto((site / "index.html").as_uri())
    for shown in (page.get_by_alt_text("A wrong answer"), page.locator(".run-this a").last):
        expect(shown).to_be_in_viewport(ratio=1)
    page.get_by_role("link", name="read it here").press("Enter")
    expect(page).to_have_title(re.compile("Lesson 1"))
    page.close()


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1920, 1080), (390, 844)])
def test_a_prediction_without_a_choice_fills_the_screen(browser, site, width, height):
    page = browser.new_page(viewport={"width": width, "height": height})
    page.goto((site / LESSON).as_uri())
    ends = """predictions => predictions.map(prediction => {
        const question = prediction.previousElementSibling.previousElementSibling;
        question.scrollIntoView({behavior: "instant"});
        return prediction.getBoundingClientRect().bottom >= innerHeight;
    })"""
    assert all(page.locator(".prediction").evaluate_all(ends))
    page.close()


@pytest.mark.parametrize("scripts", [True, False])
def test_a_choice_by_keyboard_reveals_the_answer(browser, site, scripts):
    predictions = BuiltLesson.read(Course(ROOT).lesson("01_leaves").expected).predictions
    name, asked = next((name, asked) for name, asked in predictions.items() if asked.options)
    wrong = next(letter for letter in asked.options if letter != asked.answer)
    context = browser.new_context(java_script_enabled=scripts)
    page = context.new_page()
    page.goto((site / LESSON).as_uri())
    prediction = page.locator(".prediction", has=page.locator(f'[name="{name}"]'))
    outcome = prediction.locator(".outcome")
    picture = page.locator(".cell", has_text="draw(params,").locator(".cell_output")
    expect(outcome).to_be_hidden()
    expect(picture).to_be_visible(visible=not scripts)  # it would tell the answer
    for letter, words in (
        (wrong, f"✗ You predicted {wrong}. It is {asked.answer}."),
        (asked.answer, f"✓ You predicted {asked.answer}, and so it is."),
    ):
        prediction.locator("summary", has_text=f"{letter}. ").press("Enter")
        expect(prediction.get_by_text(words)).to_be_visible()
        expect(outcome).to_be_visible()
        expect(picture).to_be_visible()
    context.close()
