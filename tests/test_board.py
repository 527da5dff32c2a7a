"""The server of a class in one room, asked over HTTP as notebooks, phones and browsers ask it."""

import re
import signal
import stat

import pytest

from pytree_course.board.session import MOST_REQUESTS, id_of
from tests.class_room import LESSON, PATIENCE, Classroom, Learner, Started, a_question, event

COUNT, PATHS = "count_leaves", "nan_paths"
HTML = '<img src=x onerror="alert(1)">&'


@pytest.fixture
def room(tmp_path):
    room = Classroom(tmp_path / "class.sqlite").start()
    yield room
    room.stop()


def checked(room):
    """Return what the log says of checks, by learner, in the order in which they came."""
    return [
        (each.who, each.data["exercise"], each.data["is_right"], each.data["held"])
        for each in room.logged()
        if each.what == "checked"
    ]


# --- joining


def test_nobody_joins_without_the_code_which_may_be_written_small(room):
    for code in ("", "WRONGX", "é" * 6, "0" * 5000):
        assert room.send("/join", {"code": code, "name": "Eve"}).status == 403
    assert not room.session.room.learners
    assert room.join("Ada", room.code.lower()).name == "Ada"


def test_who_has_the_same_name_is_told_apart_and_who_gives_none_gets_two_words(room):
    names = [room.join(name).name for name in ("Ada", "Ada (2)", "Ada", " Ada\n", "ada")]
    assert names == ["Ada", "Ada (2)", "Ada (3)", "Ada (4)", "ada"]
    for name in ("", "   ", "\n\t"):
        assert re.fullmatch(r"[a-z]+ [a-z]+( \(2\))?", room.join(name).name)


NAMES = {
    "\u202eadA": "adA",  # would be read from the right
    "Ada\x1b[31m": "Ada31m",
    "Zoë O’Hara-Núñez (B.)": "Zoë O’Hara-Núñez (B.)",
    "नेहा 李明": "नेहा 李明",
    "A  \n d": "A d",
    "Zoë 王 עדה": "Zoë 王 עדה",
    "a" * 5000: "a" * 30,
}
"""What is shown of a name."""
UNSEEN = "\u200b\u200c\u200d\u3164\ufe0f\u034f\u115f\uffa0\u17b4\u2800"


def test_names_have_no_hidden_characters_and_are_short(room):
    assert [room.join(name).name for name in NAMES] == [*NAMES.values()]
    alike = ["Ada", *(f"A{each}da" for each in UNSEEN), "\uff21da"]  # the last has a wide A
    shown = [room.join(name).name for name in alike]
    assert shown[:2] == ["Ada", "Ada (2)"]
    assert shown[2:] == [f"{'Ada' if each < 12 else alike[-1]} ({each})" for each in range(3, 13)]


def test_a_name_is_text_on_every_page(room):
    learner = room.join(f"{HTML}&amp")
    for _ in range(3):
        learner.tried(COUNT, "none_is_a_leaf")
    board = room.news("board")
    assert "img srcx" in board["class"]
    assert "img srcx" in board["stuck"]
    for page in (*board.values(), *room.news("screen").values(), room.page("board")):
        assert "<img" not in page


# --- what learners send


def test_a_check_is_on_the_board_and_in_the_log(room):
    ada = room.join("Ada")
    assert ada.tried(COUNT, "none_is_a_leaf").status == 200
    assert ada.solved(PATHS).status == 200
    assert checked(room) == [
        (id_of(ada.secret), COUNT, False, ["none_is_a_leaf"]),
        (id_of(ada.secret), PATHS, True, []),
    ]
    parts = room.news()
    assert "✗ 1" in parts["class"]
    assert "✓" in parts["class"]
    assert "<h3" in parts["reasons"]
    assert "none_is_a_leaf" in parts["reasons"]


def test_a_learners_event_is_taken_once_in_whatever_order_and_after_a_restart(room):
    ada = room.join("Ada")
    first, second = event(COUNT, "none_is_a_leaf"), event(PATHS, event="correct")
    for batch in ([first], [first, second], [second, first, second], [first]):
        assert ada.send(*batch).status == 200
    room.stop()
    room.start()
    assert ada.send(second, first).status == 200
    assert len(checked(room)) == 2
    assert room.session.room.learners[id_of(ada.secret)].work[LESSON, COUNT].tries == 1
    assert room.join().send(first).status == 200  # the same key of another learner
    assert len(checked(room)) == 3


def test_what_the_course_does_not_know_is_ignored(room):
    unknown = [{"lesson": "99_none"}, {"exercise": "none"}, {"exercise": "__class__"}]
    unknown += [{"event": "hint"}, {"event": "joined"}]
    unknown += [{"lesson": "02_tree_map"}]  # of which this is no exercise
    known = event(COUNT, HTML, "none_is_a_leaf", "dicts_keep_their_order", "x" * 5000)
    assert room.join().send(*(event(COUNT) | each for each in unknown), known).status == 200
    assert [each[1:] for each in checked(room)] == [(COUNT, False, ["none_is_a_leaf"])]


BAD = [
    *(b"", b"{", b"\xff\xfe\x00", b"null", b"[]", b"1" * 60_000, b"[" * 60_000),
    b'{"code": "\\ud800", "name": "Eve"}',  # half of a character
    *(b'{"events": [{}]}', b'{"events": null}', b'{"events": {}}', b'{"events": [1]}'),
    *(b'{"events": [], "more": 1}', b'{"events": ' + b"[" * 20_000 + b"]" * 20_000 + b"}"),
]


@pytest.mark.parametrize("path", ["/events", "/ballot", "/join"])
def test_what_is_no_such_json_is_refused_and_the_server_lives(room, path):
    ada = room.join()
    for body in BAD:
        reply = room.ask("POST", path, body, Authorization=f"Bearer {ada.secret}")
        assert reply.status == 400, body[:80]
    assert ada.solved(COUNT).status == 200


NO_TIMES = ("yesterday", "2026-03-02T10:00:00", "9999-12-31T23:59:59-23:59", 7)  # no zone, too late
WRONG = [
    *({"time": each} for each in NO_TIMES),
    *({"key": None}, {"lesson": [LESSON]}, {"exercise": {"name": COUNT}}, {"event": True}),
    *({"held": ["none_is_a_leaf"]}, {"name": "Eve"}),  # the last is no field
]


def test_an_event_with_a_wrong_field_is_refused_with_all_that_come_with_it(room):
    ada = room.join()
    for wrong in WRONG:
        assert ada.send(event(PATHS), event(COUNT) | wrong).status == 400, wrong
    assert checked(room) == []
    assert ada.solved(COUNT).status == 200


def test_more_events_than_a_notebook_sends_at_once_are_refused_and_a_huge_body_is_not_read(room):
    ada = room.join()
    assert ada.send(*[event(COUNT)] * 51).status == 400
    assert ada.send(*[event(COUNT) for _ in range(50)]).status == 200
    connection = room.connection()
    connection.putrequest("POST", "/join")
    connection.putheader("Content-Length", str(10**12))
    connection.endheaders()
    assert connection.getresponse().status in (400, 413)
    assert ada.solved(COUNT).status == 200


@pytest.mark.parametrize("path", ["/events", "/ballot", "/leave"])
def test_who_has_no_secret_of_this_class_is_refused(room, path):
    room.join()
    content = '{"events": []}' if path == "/events" else '{"vote": 1, "choice": "A"}'
    for header in (None, "", "Bearer ", "Bearer nobody", "é", "Basic Og=="):
        headers = {"Authorization": header.encode("latin-1")} if header is not None else {}
        assert room.ask("POST", path, content, **headers).status == 403, header


def test_secrets_are_not_stored_what_is_stored_is_none_and_others_cannot_read_it(room):
    ada, eve = room.join("Ada"), room.join("Eve")
    ada.solved(COUNT)
    files = [*room.file.parent.iterdir()]
    assert {stat.S_IMODE(each.stat().st_mode) for each in files} == {0o600}
    stored = b"".join(each.read_bytes() for each in files)
    assert ada.name.encode() in stored
    assert ada.secret.encode() not in stored
    assert ada.secret != eve.secret
    assert len(ada.secret) >= 32
    with_id = Learner(room, id_of(ada.secret), "Eve")  # what a copy of the file tells
    assert with_id.solved(PATHS).status == 403


def test_who_left_is_not_on_the_board_and_their_secret_no_longer_holds(room):
    ada = room.join("Ada")
    assert room.send("/leave", {}, ada.secret).status == 200
    assert "Ada" not in room.news()["class"]
    assert ada.solved(COUNT).status == 403
    assert room.join("Ada").name == "Ada"


def test_a_flood_of_requests_is_refused_until_ten_seconds_have_passed(room, monkeypatch):
    now = [100.0]
    monkeypatch.setattr("pytree_course.board.session.time.monotonic", lambda: now[0])
    eve, ada = room.join("Eve"), room.join("Ada")
    assert {eve.send().status for _ in range(MOST_REQUESTS)} == {200}
    assert [eve.send().status, eve.vote(1, "A").status] == [429, 429]
    assert ada.send().status == 200
    now[0] += 10
    assert eve.send().status == 200


def test_a_flood_of_events_ends(room, monkeypatch):
    monkeypatch.setattr("pytree_course.board.session.MOST_EVENTS", 5)
    eve, ada = room.join("Eve"), room.join("Ada")
    assert eve.send(*[event(COUNT) for _ in range(10)]).status == 429
    assert len(checked(room)) == 4  # and that they joined
    assert eve.solved(PATHS).status == 429
    assert ada.solved(COUNT).status == 200
    room.stop()
    room.start()
    assert eve.solved(PATHS).status == 429


def test_a_class_can_be_full_and_who_left_counts(room, monkeypatch):
    monkeypatch.setattr("pytree_course.board.session.MOST_LEARNERS", 3)
    first, *_ = [room.join() for _ in range(3)]
    for _ in range(2):
        assert room.send("/join", {"code": room.code, "name": "Eve"}).status == 429
        room.send("/leave", {}, first.secret)
    assert len(room.session.room.learners) == 2


# --- votes


@pytest.fixture
def vote(room):
    """Begin a vote; return its number, the right option, and two others."""
    learner = room.join("starts the vote")
    room.act("ask", **a_question(room))
    asked = learner.send().data["vote"]
    room.send("/leave", {}, learner.secret)
    question = room.pages.question
    [right] = [letter for letter, text in asked["options"].items() if text == question.answer]
    return asked["number"], right, *[each for each in asked["options"] if each != right][:2]


def shown_counts(part):
    """Return the numbers in the table of results, row by row."""
    rows = re.findall(r"<tr><th scope=.row.>.*?</tr>", part, re.DOTALL)
    return [list(map(int, re.findall(r'class="number">(\d+)<', row))) for row in rows]


def test_nobody_sees_counts_before_the_vote_is_closed(room, vote):
    number, right, wrong, _ = vote
    ada, eve = room.join("Ada"), room.join("Eve")
    before = room.news("screen")["screen"]
    replies = [ada.vote(number, right), eve.vote(number, wrong)]
    assert [each.data["vote"]["choice"] for each in replies] == [right, wrong]
    assert not replies[0].data["vote"]["answer"] and not replies[0].data["vote"]["counts"]
    assert replies[0].data["vote"] | {"choice": ""} == replies[1].data["vote"] | {"choice": ""}
    during = room.news("screen")["screen"]
    assert during.replace("2 of 2", "0 of 2") == before
    assert "2 of 2" in room.news("board")["vote"]
    assert shown_counts(room.news("board")["vote"]) == []
    room.act("close")
    for part in (room.news("screen")["screen"], room.news("board")["vote"]):
        assert sorted(shown_counts(part)) == [[0], [0], [1], [1]]
        assert "Right" not in part
    said = ada.send().data["vote"]
    assert (said["is_open"], said["counts"], said["choice"]) == (False, {right: 1, wrong: 1}, right)
    assert said["answer"] == ""
    room.act("explain")
    assert ada.send().data["vote"]["answer"] == right


def test_last_choices_count_once_and_both_rounds_stand_side_by_side_then_explained(room, vote):
    number, right, wrong, other = vote
    ada, eve = room.join("Ada"), room.join("Eve")
    for choice in (wrong, right, wrong, wrong):
        ada.vote(number, choice)
    eve.vote(number, other)
    room.act("close")
    room.act("ask again")
    assert ada.vote(number, right).status == 409  # that round is over
    second = ada.send().data["vote"]["number"]
    assert second != number
    assert ada.send().data["vote"]["choice"] == ""
    for each in (ada, eve):
        each.vote(second, right)
    room.act("explain")
    part = room.news("screen")["screen"]
    options = room.pages.question.options
    rounds = {right: [0, 2], wrong: [1, 0], other: [1, 0]}
    assert shown_counts(part) == [rounds.get(letter, [0, 0]) for letter in options]
    assert part.count("✓ Right") == 1
    assert part.count("✗") == len(options) - 1


def test_an_option_of_several_beliefs_is_explained_by_the_one_that_most_hold(room):
    question, option, belief = next(
        (each, option, beliefs[1].name)
        for each in room.pages.listed("", "")
        for option, beliefs in each.beliefs.items()
        if len(beliefs) > 1
    )
    assert room.pages.commonest(question, option).name != belief
    room.join("Ada").tried(question.about.exercise, belief)
    assert room.pages.commonest(question, option).name == belief


def test_a_ballot_that_is_none_or_comes_after_the_end_does_not_count(room, vote):
    number, right, *_ = vote
    ada = room.join()
    for choice in ("", "Z", "a", "AB", HTML):
        assert ada.vote(number, choice).status == 400
    for wrong in ("1", True, 1.0, -1, None):
        assert ada.vote(wrong, "A").status == 400
    for other in (0, 10**9):
        assert ada.vote(other, right).status == 409
    assert not room.session.room.vote.choices
    for end in ("close", "explain", "clear"):
        room.act(end)
        assert ada.vote(number, right).status == 409


# --- the teacher


def test_the_teachers_pages_ask_for_the_token(room):
    other = {"Cookie": "teacher=é"}
    for path in ("/board", "/screen", "/questions", "/board/news", "/screen/news"):
        for query, cookie in (("", {}), ("?token=x", {}), (f"?token={room.code}", {}), ("", other)):
            reply = room.ask("GET", path + query, **cookie)
            assert reply.status == 403
            assert room.code not in reply.body


def test_the_link_of_the_terminal_opens_them_and_the_token_leaves_the_address(room):
    reply = room.ask("GET", f"/board?token={room.token}")
    assert (reply.status, reply.headers["Location"]) == (302, "board")
    cookie = reply.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert room.ask("GET", "/board", Cookie=cookie.split(";")[0]).status == 200


def test_a_form_of_another_site_does_nothing_though_the_browser_adds_the_cookie(room):
    ada = room.join()
    headers = {"Origin": "http://example.org", "Cookie": room.cookie}
    for token in ({}, {"token": ""}, {"token": "x"}, {"token": room.code}):
        for do in ({"do": "note", "text": "Go home"}, {"do": "delete"}):
            assert room.post_form(do | token, **headers).status == 403
    assert ada.send().data["note"] is None


def test_a_button_that_is_none_does_nothing(room):
    before = len(room.logged())
    for fields in ({}, {"do": "none"}, {"do": "note"}, {"do": "close", "text": "x"}, {"do": "ask"}):
        assert room.post_form(fields | {"token": room.token}).status == 400
    assert len(room.logged()) == before


def test_a_note_reaches_everyone_and_stands_on_the_board_until_it_is_taken_back(room):
    ada, eve = room.join(), room.join()
    room.act("note", text=f"Ten more minutes {HTML}")
    said = [each.send().data["note"] for each in (ada, eve)]
    assert said[0] == said[1]
    assert said[0]["text"] == f"Ten more minutes {HTML}"  # notebooks show it as text
    room.act("note", text="The end")
    assert ada.send().data["note"]["number"] > said[0]["number"]
    assert "The end" in room.news()["note"]
    room.act("take back")
    assert "The end" not in room.news()["note"]
    assert ada.send().data["note"] is None


def test_a_learner_is_renamed_and_hears_of_it_or_is_removed(room):
    ada, eve = room.join("Ada"), room.join("Eve")
    ada.tried(COUNT, "none_is_a_leaf")
    assert room.act("rename", learner="Ada", name=" Eve\u200b ").status == 302
    assert ada.send().data["name"] == "Eve (2)"
    assert "✗ 1" in room.news()["class"]
    for learner, name in (("Ada", "Ben"), ("Eve", ""), ("Eve", "\u200b")):
        assert room.act("rename", learner=learner, name=name).status == 400
    assert room.act("remove", learner="Eve (2)", name="").status == 302
    assert ada.send().status == 403
    assert eve.send().data["name"] == "Eve"


def test_the_list_of_questions_is_short_and_goes_by_exercise_and_belief(room):
    page = room.page("questions")
    assert page.count("<article") == page.count("✓ Right") == 20
    page = room.page(f"questions?exercise={COUNT}&name=none_is_a_leaf")
    assert 1 < page.count("<article") == page.count("none_is_a_leaf</p>") <= 8
    [asked, *_] = room.pages.listed(COUNT, "none_is_a_leaf")[1:]
    room.act("ask", **asked.key)
    assert room.pages.question == asked


def test_no_page_may_load_run_or_leave_anything_and_no_other_file_is_served(room):
    for path in ("/board", "/screen", "/questions", "/", "/phone.js"):
        headers = room.ask("GET", path, Cookie=room.cookie).headers
        policy = headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; connect-src 'self'")
        assert "frame-ancestors 'none'" in policy
        assert headers["Cache-Control"] == "no-store"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
    for path in ("/board/x", "/../session.py", "/%2e%2e/session.py", "//etc/passwd", "/a\\b"):
        reply = room.ask("GET", path, Cookie=room.cookie)
        assert reply.status in (403, 404)
        assert "import" not in reply.body


def test_the_projector_names_nobody(room, vote):
    ada = room.join("Ada Lovelace")
    for do, fields in (
        ("clear", {}),
        ("show", {"lesson": LESSON, "exercise": COUNT, "name": "none_is_a_leaf"}),
        ("ask", a_question(room)),
        ("close", {}),
        ("explain", {}),
    ):
        room.act(do, **fields)
        ada.tried(COUNT, "none_is_a_leaf")
        assert "Lovelace" not in room.news("screen")["screen"]
    assert "Lovelace" in room.news("board")["class"]


def test_of_a_large_class_the_board_shows_counts_and_no_names(room):
    first = room.join("Ada Lovelace")
    for _ in range(40):
        room.join("x")
    first.solved(COUNT)
    part = room.news()["class"]
    assert "41 learners" in part
    assert 'class="grid"' not in part


def test_delete_removes_the_file_and_everyone_hears_of_it(room):
    ada = room.join("Ada")
    assert room.act("delete").status == 200
    assert [*room.file.parent.iterdir()] == []
    assert ada.solved(COUNT).status == 403
    assert room.send("/join", {"code": room.code, "name": ""}).status == 403
    assert room.ask("GET", "/board", Cookie=room.cookie).status == 403


# --- restarts, and the command


@pytest.fixture
def started(tmp_path):
    started = Started(tmp_path / "class.sqlite").start()
    yield started
    if started.process.poll() is None:
        started.kill()


def test_ctrl_c_keeps_the_session_in_one_file(started):
    ada, code, token = started.join("Ada"), started.code, started.token
    started.process.send_signal(signal.SIGINT)
    started.process.wait(PATIENCE)
    assert [each.name for each in started.file.parent.iterdir()] == ["class.sqlite"]
    started.process.stdout.close()
    started.start()
    assert (started.code, started.token) == (code, token)
    assert ada.send().status == 200


def test_a_port_that_is_taken_is_said_before_anybody_is_told_to_join(room, course_py):
    done = course_py("classroom", "--port", room.port)
    assert done.returncode == 2
    assert f"--port {room.port + 1}" in done.stderr
    assert "join(" not in done.stdout
