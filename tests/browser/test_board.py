"""The pages of a class in one room: the teacher's, and the one on a phone."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessibility import assert_shown_accessible, tab_to
from tests.class_room import LESSON, Classroom, Started, a_question
from tests.ports import free_port

COUNT = "count_leaves"
ABOUT = {"lesson": LESSON, "exercise": COUNT, "name": "none_is_a_leaf"}


@pytest.fixture
def room(tmp_path):
    room = Classroom(tmp_path / "class.sqlite").start()
    yield room
    room.stop()


@pytest.fixture
def opened(room, browser):
    """Return a function that opens a page of the server in a browser of its own.

    In the end no page has said anything on its console, or asked another host.
    """
    contexts, heard, asked = [], [], set()

    def open_page(path, width=1280, scheme="light"):
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: heard.append(message.text))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("request", lambda request: asked.add(request.url.split("/")[2]))
        if not path.startswith("/#") and path != "/":
            page.goto(f"http://127.0.0.1:{room.port}/board?token={room.token}")
        page.goto(f"http://127.0.0.1:{room.port}{path}")
        return page

    open_page.heard = heard
    yield open_page
    for context in contexts:
        context.close()
    assert heard == []
    assert asked == {f"127.0.0.1:{room.port}"}


def a_class(room: Classroom, learners: int = 12) -> None:
    """Let learners work: some solve, some hold a belief, one in four is stuck."""
    for number in range(learners):
        learner = room.join(f"learner {number}")
        for _ in range(4 if number % 4 == 0 else 1):
            learner.tried(COUNT, "none_is_a_leaf" if number % 3 else "counts_all_nodes")
        if number % 2:
            learner.solved(COUNT)


def assert_fine(page: Page) -> None:
    """Scan what is shown, which fits into its width."""
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert_shown_accessible(page)


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 480)])
def test_the_teachers_pages_and_all_that_the_projector_shows_are_accessible(
    room, opened, scheme, width
):
    screen = opened("/screen", width, scheme)
    expect(screen.get_by_text("Join this class")).to_be_visible()
    assert_fine(screen)
    a_class(room)
    board = opened("/board", width, scheme)
    expect(board.get_by_text("The smallest case").first).to_be_visible()
    board.evaluate("document.querySelectorAll('details').forEach(folded => folded.open = true)")
    assert_fine(board)
    for do, fields, shown in (
        ("clear", {}, "12 learners"),
        ("show", ABOUT, "Given"),
        ("ask", a_question(room), "have answered"),
        ("close", {}, "The result"),
        ("ask again", {}, "Vote again"),
        ("explain", {}, "Right."),
    ):
        room.act(do, **fields)
        expect(screen.get_by_text(shown).first).to_be_visible()
        if width == 1280:  # nothing runs off the projector's picture, and its text is large
            assert screen.evaluate("document.documentElement.scrollHeight") <= 800
            font = screen.evaluate("getComputedStyle(document.body).fontSize")
            assert do in ("clear", "show") or float(font.removesuffix("px")) >= 20
        assert_fine(screen)
    expect(board.get_by_text("Right.").first).to_be_visible()
    assert_fine(board)
    assert_fine(opened("/questions", width, scheme))


def press(page: Page, name: str) -> None:
    """Go on with Tab to the first button of this name, and press it."""
    tab_to(page, page.get_by_role("button", name=name, exact=True).first)
    page.keyboard.press("Enter")


def test_a_vote_by_keyboard_alone(room, opened):
    a_class(room)
    board, screen, phone = opened("/board"), opened("/screen"), opened("/", 360, "dark")
    said = phone.get_by_role("status")
    phone.get_by_label("The code").fill("wrong")
    phone.keyboard.press("Enter")
    expect(said).to_have_text("That is not the code of this class.")
    assert_fine(phone)
    opened.heard.clear()  # the browser tells of the refusal
    phone.get_by_label("The code").fill(room.code.lower())
    phone.keyboard.press("Enter")
    expect(said).to_contain_text("You are in")
    press(board, "Ask this")
    for again in (False, True):
        phone.locator("#options button").first.wait_for()
        expect(phone.locator("[aria-pressed=true]")).to_have_count(0)
        option = phone.locator("#options button").nth(int(again))
        press(phone, option.inner_text())
        expect(said).to_contain_text("You chose")
        expect(option).to_have_attribute("aria-pressed", "true")
        expect(option).to_be_focused()
        expect(screen.get_by_text("1 of 13")).to_be_visible()
        expect(screen.get_by_role("table")).to_have_count(0)
        press(board, "Close the vote")
        expect(screen.get_by_text("The result")).to_be_visible()
        assert screen.locator(".bars i").first.bounding_box()["height"] > 20
        if not again:
            press(board, "They talk in pairs: vote again")
    assert_fine(phone)
    press(board, "Explain")
    expect(screen.get_by_text("✓ Right.")).to_be_visible()
    expect(screen.get_by_text("Round 2")).to_be_visible()
    press(board, "Clear the projector")
    expect(screen.get_by_text("13 learners")).to_be_visible()


def test_who_is_stuck_is_on_the_first_screen_of_a_class_of_forty(room, opened):
    a_class(room, 40)
    expect(opened("/board").locator("#stuck").get_by_text("learner 36")).to_be_in_viewport()


def test_a_learner_is_renamed_and_removed_a_note_taken_back_and_the_session_deleted(room, opened):
    ada = room.join("Ada")
    screen, board, phone = opened("/screen"), opened("/board"), opened(f"/#{ada.secret}")
    expect(phone.locator("#name")).to_have_text("You are Ada.")
    note = board.get_by_label("A note to everyone")
    note.fill("Ten more minutes")
    note.press("Enter")
    press(board, "Take it back")
    expect(board.get_by_text("Ten more minutes")).to_have_count(0)
    learner = board.get_by_label("Rename a learner")
    learner.fill("Ada")
    board.get_by_label("The new name", exact=True).fill("Grace")
    press(board, "Rename")
    expect(phone.locator("#name")).to_have_text("You are Grace.")
    learner.fill("Grace")
    press(board, "Remove")
    expect(phone.get_by_role("status")).to_contain_text("or your teacher removed you.")
    expect(phone.get_by_label("The code")).to_be_visible()
    board.get_by_text("Delete this session").click()
    board.get_by_role("button", name="Delete everything").click()
    expect(screen.get_by_text("This session is over")).to_be_visible()
    opened.heard.clear()  # the browser tells of the refusal


def test_what_is_open_focused_or_half_written_survives_the_news(room, opened):
    a_class(room)
    board = opened("/board")
    case = board.locator(f"#case-{COUNT}-none_is_a_leaf")
    case.locator("summary").first.click()
    button = board.locator(f"#show-{LESSON}-{COUNT}-none_is_a_leaf")
    button.focus()
    room.join("late").tried(COUNT, "none_is_a_leaf")
    expect(board.get_by_text("13 learners")).to_be_visible()
    expect(case).to_have_attribute("open", "")
    expect(button).to_be_focused()
    note = board.get_by_label("A note to everyone")
    note.fill("Ten more min")
    room.join("later").solved("nan_paths")
    expect(board.get_by_text("14 learners")).to_be_visible()
    expect(note).to_be_focused()
    expect(note).to_have_value("Ten more min")


@pytest.fixture
def started(tmp_path):
    """Start `course.py classroom` at a port that nothing else is given while it is away."""
    started = Started(tmp_path / "class.sqlite")
    started.port = free_port()
    started.start()
    yield started
    started.kill()


def test_a_page_says_when_the_server_is_away_and_goes_on_when_it_is_back(started, browser):
    room = started
    context = browser.new_context()
    board, phone = context.new_page(), context.new_page()
    said = phone.get_by_role("status")
    board.goto(f"http://127.0.0.1:{room.port}/board?token={room.token}")
    phone.goto(f"http://127.0.0.1:{room.port}/")
    phone.get_by_label("The code").fill(room.code)
    phone.get_by_label("A name").fill("Ada")
    phone.get_by_role("button", name="Join").click()
    expect(board.get_by_text("1 learner")).to_be_visible()
    room.act("ask", lesson=LESSON, exercise="predict_leaf_counts", name="rows_are_leaves", case="0")
    phone.get_by_role("button", name="A.").wait_for()
    room.kill()
    expect(board.get_by_text("does not reach the server")).to_be_visible()
    expect(said).to_contain_text("not reached")
    phone.get_by_role("button", name="A.").click()
    expect(said).to_contain_text("then sends A")
    room.start()
    expect(board.get_by_text("does not reach the server")).to_be_hidden()
    expect(said).to_contain_text("You chose A.")
    phone.reload()
    expect(said).to_contain_text("You chose A.")
    room.act("explain")
    expect(said).to_contain_text("You chose A. The right answer is")
    expect(phone.get_by_text("You are Ada.")).to_be_visible()
    expect(phone.get_by_role("button", name="A.")).to_contain_text("(1)")
    room.join("Ben")
    expect(board.get_by_text("2 learners")).to_be_visible()
    context.close()
