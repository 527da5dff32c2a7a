"""The reports in a browser: nothing is fetched, nothing runs, and axe-core finds no fault."""

import csv
from io import StringIO

import pytest

from pytree_course.class_grading.attempt import AttemptState
from pytree_course.reports.pages import write_pages
from tests.browser.accessibility import assert_page_accessible
from tests.made_grades import (
    failure,
    made_attempt,
    made_grades,
    made_lesson,
    made_row,
    strange_grades,
)

HOSTILE = "<script>document.title = 'run'</script>"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Write the pages of a class with every verdict, and return where they are."""
    kinds = ["correct", "incorrect", "error", "not attempted", "timed out"]
    attempts = []
    for number, kind in enumerate(kinds * 3):
        misconceptions = ["counts_nodes"] if number % 2 and kind == "incorrect" else []
        wrong = failure(printed="printed", line={"number": 1, "text": HOSTILE}, note=HOSTILE)
        paths = made_row("paths", "incorrect", failure=wrong, misconceptions=misconceptions)
        student = f"s{number:02}"
        answers = {"count": HOSTILE, "paths": "long " * 100}
        attempts.append(made_attempt(student, [made_row("count", kind), paths], answers=answers))
        attempts.append(made_attempt(student, [made_row("count", kind)], "02_made"))
    attempts.append(made_attempt("eve", [], state=AttemptState.UNREADABLE, reason=HOSTILE))
    folder = tmp_path_factory.mktemp("pages")
    write_pages(made_grades(attempts, [made_lesson(), made_lesson("02_made")]), folder)
    return folder


@pytest.mark.parametrize(
    "name", ["report.html", "students/s01.html", "students/eve.html", "answers/01_made-count.html"]
)
def test_a_page_is_accessible_and_keeps_to_itself(browser, pages, name):
    for scheme, width in (("light", 1280), ("dark", 700)):
        assert assert_page_accessible(browser, pages / name, scheme, width, "details") == []


def test_what_is_folded_on_the_screen_is_printed(browser, pages):
    page = browser.new_page()
    page.goto((pages / "report.html").as_uri())
    shown = "element => element.checkVisibility({contentVisibilityAuto: true})"
    folded = page.locator("details table").first
    assert not folded.evaluate(shown)
    page.emulate_media(media="print")
    assert folded.evaluate(shown)
    assert folded.bounding_box()["height"] > 0
    page.close()


def test_what_a_teacher_types_beside_answers_becomes_lines_for_corrections(browser, pages):
    page = browser.new_page()
    page.goto((pages / "answers" / "01_made-count.html").as_uri())
    page.locator('[data-student="s01"] input').fill("1")
    comment = page.locator('[data-student="s02"] textarea')
    comment.fill('Nearly: "len"\nis not it')
    assert comment.evaluate("field => field.scrollHeight <= field.clientHeight"), "all is shown"
    lines = csv.reader(StringIO(page.locator("#lines").input_value()))
    assert [*lines] == [
        ["s01", "01_made", "count", "1", ""],
        ["s02", "01_made", "count", "", 'Nearly: "len"\nis not it'],
    ]
    assert page.title() == "Answers to Exercise count"
    page.close()


RUN = "window.ran=(window.ran||0)+1"
PAYLOADS = [
    f"</pre></code></title></style></svg></text><script>{RUN}</script>",
    f"<img src=x onerror={RUN}><img src=http://example.org/a.png>",
    f"<svg onload={RUN}><script>{RUN}</script><use href=http://example.org/a.svg#b /></svg>",
    f"<iframe srcdoc='<script>parent.{RUN}</script>'></iframe>",
    f"<a id=click href='javascript:{RUN}'>a</a><base href=http://example.org/>",
    f"<form action='javascript:{RUN}'><input autofocus onfocus={RUN}><button id=send>b</button>",
    f'<meta http-equiv=refresh content="0;url=javascript:{RUN}">',
    "<link rel=stylesheet href=http://example.org/a.css><style>@import 'http://example.org/b'</style>",
    f'" onmouseover="{RUN}" autofocus onfocus="{RUN}" x=\'',
    f"' onclick='{RUN}' style='background:url(http://example.org/e)",
    "{{ 7 * 7 }}{% for x in y %}<!--]]>--><![CDATA[",
]
"""One for each way out of a text: a tag, an attribute, an address, a style, a template."""


@pytest.fixture
def visited(browser):
    """Return a function that opens a page, does what a reader could, and says what happened."""
    contexts = []

    def visit(file):
        context = browser.new_context()
        contexts.append(context)
        page = context.new_page()
        asked, asked_user = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("dialog", lambda dialog: (asked_user.append(dialog.message), dialog.dismiss()))
        page.goto(file.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(folded => folded.open = true)")
        for place in ("#click", "#send"):
            if page.query_selector(place):
                page.eval_on_selector(place, "element => element.click()")
        page.mouse.move(200, 300)
        page.mouse.click(200, 300)
        page.keyboard.press("Tab")
        assert page.url == file.as_uri()
        return page, [url for url in asked if url != file.as_uri()], asked_user

    yield visit
    for context in contexts:
        context.close()


def test_what_students_wrote_is_text_on_every_page(visited, tmp_path):
    assert write_pages(strange_grades("".join(PAYLOADS)), tmp_path) == []
    files = sorted(tmp_path.rglob("*.html"))
    assert len(files) == 8, "the report, the students' pages, and their answers to each exercise"
    for file in files:
        page, asked, asked_user = visited(file)
        assert page.evaluate("window.ran") is None
        assert (asked, asked_user) == ([], [])
        made = page.evaluate(
            "[...document.querySelectorAll('body *')].filter(made => made.matches("
            "'script,img,iframe,object,embed,form,input,base,link,meta,style,video,audio') && "
            "!made.closest('figure.plot') || "
            "[...made.attributes].some(attribute => attribute.name.startsWith('on'))).length"
        )
        own = 0
        if file.parent.name == "answers":  # a field for points beside each answer, and a script
            own = page.locator("article[data-student]").count() + 1
        assert made == own
