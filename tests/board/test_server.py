"""The server of a class in one room, asked over HTTP as notebooks, phones and browsers ask it."""

import re
import stat

import pytest

from pytree_course.board import server
from pytree_course.board.session import id_from_secret
from tests.class_room import LESSON, Classroom, a_question, event

COUNT, PATHS = "count_leaves", "nan_paths"
HTML = '<img src=x onerror="alert(1)">&'


@pytest.fixture
def room(tmp_path):
    room = Classroom(tmp_path / "class.sqlite").start()
    yield room
    room.stop()


def checked(room):
    """Return what the log says of checks, by learner, in the order in which they came."""
    names = ("exercise", "is_right", "misconceptions")
    return [
        (entry.learner_id, *(entry.data[name] for name in names))
        for entry in room.logged()
        if entry.kind == "checked"
    ]


# --- joining


def test_nobody_joins_without_the_code_which_may_be_written_small(room):
    for code in ("", "WRONGX", "é" * 6, "0" * 5000):
        assert room.send("/join", {"code": code, "name": "Eve"}).status == 403
    assert not room.session.room.learners
    assert room.join("Ada", room.code.lower()).name == "Ada"


NAMES = {
    "\u202eadA": "adA",  # would be read from the right
    "Ada\x1b[31m": "Ada31m",
    "Zoë O’Hara-Núñez (B.)": "Zoë O’Hara-Núñez (B.)",
    "नेहा 李明 עדה": "नेहा 李明 עדה",
    "A  \n d": "A d",
    "a" * 5000: "a" * 30,
}
"""What is shown of a name."""


def test_names_are_short_have_no_hidden_characters_and_are_told_apart(room):
    assert [room.join(name).name for name in NAMES] == [*NAMES.values()]
    names = [room.join(name).name for name in ("Ada", "Ada (2)", "Ada", " Ada\n", "ada")]
    assert names == ["Ada", "Ada (2)", "Ada (3)", "Ada (4)", "ada"]
    assert room.join("A\u200bda").name == "Ada (5)"
    assert room.act("rename", learner="ada", name=" Ada\u200b ").status == 302
    assert [*room.session.room.learners.values()][-2].name == "Ada (6)"
    for learner, name in (
        ("Eve", "Ben"),
        ("Ada", "\u200b"),
    ):  # nobody is called so, before or after
        assert room.act("rename", learner=learner, name=name).status == 400
    assert room.act("remove", learner="Ada (6)", name="").status == 302
    assert "Ada (6)" not in [each.name for each in room.session.room.learners.values()]
    for name in ("", "\n\t"):
        assert re.fullmatch(r"[a-z]+ [a-z]+( \(2\))?", room.join(name).name)


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


def test_a_check_is_on_the_board_and_in_the_log_once_also_after_a_restart(room):
    ada = room.join("Ada")
    first, second = event(COUNT, "none_is_a_leaf"), event(PATHS, event="correct")
    for batch in ([first], [first, second], [second, first, second]):
        assert ada.send(*batch).status == 200
    parts = room.news()
    assert "✗ 1" in parts["class"]
    assert "✓" in parts["class"]
    assert "none_is_a_leaf" in parts["reasons"]
    room.stop()
    room.start()
    assert ada.send(second, first).status == 200
    assert room.session.room.learners[id_from_secret(ada.secret)].work[LESSON, COUNT].failures == 1
    assert checked(room) == [
        (id_from_secret(ada.secret), COUNT, False, ["none_is_a_leaf"]),
        (id_from_secret(ada.secret), PATHS, True, []),
    ]
    assert room.join().send(first).status == 200  # the same key of another learner
    assert len(checked(room)) == 3


def test_a_learners_checks_and_votes_are_bounded_also_after_a_restart(room, vote, monkeypatch):
    monkeypatch.setattr(server, "MAX_SENT", 3)
    number, right, *_ = vote
    ada, ben = room.join("Ada"), room.join("Ben")
    assert [ada.tried(COUNT).status for _ in range(2)] == [200, 200]
    assert ada.vote(number, right).status == 200
    room.stop()
    room.start()
    assert (ada.tried(COUNT).status, ada.vote(number, right).status) == (429, 429)
    assert ben.tried(COUNT).status == 200
    assert len(checked(room)) == 3


def test_what_the_course_does_not_know_is_ignored(room):
    unknown = [{"lesson": "99_none"}, {"exercise": "none"}, {"exercise": "__class__"}]
    unknown += [{"lesson": "02_tree_map"}]  # of which this is no exercise
    known = event(COUNT, HTML, "none_is_a_leaf", "dicts_keep_their_order", "x" * 5000)
    assert room.join().send(*(event(COUNT) | each for each in unknown), known).status == 200
    assert [each[1:] for each in checked(room)] == [(COUNT, False, ["none_is_a_leaf"])]


NO_JSON = [
    *(b"", b"{", b"\xff\xfe\x00", b"null", b"[]", b"1" * 60_000, b"[" * 60_000),
    b'{"code": "\\ud800", "name": "Eve"}',  # half of a character
    *(b'{"events": [{}]}', b'{"events": null}', b'{"events": [], "more": 1}'),
]
WRONG_FIELDS = [
    *({"key": None}, {"lesson": [LESSON]}, {"event": True}, {"name": "Eve"}),
    *({"event": "hint"}, {"event": "joined"}),
]


def test_what_is_no_such_json_is_refused_as_a_whole_and_the_server_lives(room):
    ada = room.join()
    for path in ("/events", "/ballot", "/join"):
        for body in NO_JSON:
            reply = room.ask("POST", path, body, Authorization=f"Bearer {ada.secret}")
            assert reply.status == 400, body[:80]
    for wrong in WRONG_FIELDS:
        assert ada.send(event(PATHS), event(COUNT) | wrong).status == 400, wrong
    assert ada.send(*[event(COUNT)] * 51).status == 400  # more than a notebook sends
    assert checked(room) == []
    assert ada.send(*[event(COUNT) for _ in range(50)]).status == 200


def test_without_a_secret_of_this_class_nobody_takes_part_and_none_is_stored(room):
    ada = room.join("Ada")
    ada.solved(COUNT)
    files = [*room.file.parent.iterdir()]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    stored = b"".join(file.read_bytes() for file in files)
    assert ada.name.encode() in stored
    assert ada.secret.encode() not in stored
    assert len(ada.secret) >= 32
    in_the_file = f"Bearer {id_from_secret(ada.secret)}"
    for path, content in (("/events", '{"events": []}'), ("/leave", "")):
        for header in (None, "", "Bearer ", "Bearer nobody", "é", in_the_file):
            headers = {"Authorization": header.encode("latin-1")} if header is not None else {}
            assert room.ask("POST", path, content, **headers).status == 403, header
    assert room.send("/leave", {}, ada.secret).status == 200
    assert "Ada" not in room.news()["class"]
    assert ada.solved(COUNT).status == 403
    assert room.join("Ada").name == "Ada"


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


def test_choices_are_hidden_until_the_vote_is_closed_and_rounds_stand_side_by_side(room, vote):
    number, right, wrong, other = vote
    ada, eve = room.join("Ada"), room.join("Eve")
    before = room.news("screen")["screen"]
    for choice in (right, wrong, other, wrong):  # the last one counts
        said = ada.vote(number, choice).data["vote"]
        assert (said["choice"], said["answer"], said["counts"]) == (choice, "", {})
    eve.vote(number, other)
    assert room.news("screen")["screen"].replace("2 of 2", "0 of 2") == before
    assert shown_counts(room.news("board")["vote"]) == []
    room.act("close")
    for part in (room.news("screen")["screen"], room.news("board")["vote"]):
        assert sorted(shown_counts(part)) == [[0], [0], [1], [1]]
        assert "Right" not in part
    said = ada.send().data["vote"]
    assert (said["is_open"], said["answer"], said["counts"]) == (False, "", {wrong: 1, other: 1})

    room.act("ask again")
    assert ada.vote(number, right).status == 409  # that round is over
    second = ada.send().data["vote"]
    assert (second["number"] != number, second["choice"]) == (True, "")
    for learner in (ada, eve):
        learner.vote(second["number"], right)
    room.act("explain")
    assert ada.send().data["vote"]["answer"] == right
    part = room.news("screen")["screen"]
    options = room.pages.question.options
    rounds = {right: [0, 2], wrong: [1, 0], other: [1, 0]}
    assert shown_counts(part) == [rounds.get(letter, [0, 0]) for letter in options]
    assert part.count("✓ Right") == 1
    assert part.count("✗") == len(options) - 1


def test_the_answer_is_folded_away_and_all_questions_are_reachable_until_it_is_explained(room):
    room.join("Ada").tried(COUNT, "none_is_a_leaf")

    def unfolded():
        parts = room.news("board")
        assert 'href="questions"' in parts["vote"]
        shown = parts["vote"] + parts["reasons"]
        return re.sub("<details.*?</details>", "<details>", shown, flags=re.DOTALL)

    for do, fields in (("clear", {}), ("ask", a_question(room)), ("close", {}), ("ask again", {})):
        room.act(do, **fields)
        assert "<details>" in unfolded()
        assert "right" not in unfolded().lower()
        assert "adds no leaf" not in unfolded()
    room.act("explain")
    assert "✓ Right" in unfolded()


def test_a_ballot_that_is_none_or_comes_after_the_end_does_not_count(room, vote):
    number, right, *_ = vote
    ada = room.join()
    for vote_number, choice, status in (
        *((number, choice, 400) for choice in ("", "Z", "a", "AB", HTML)),
        *((wrong, right, 400) for wrong in ("1", True, -1, None)),
        (10**9, right, 409),
    ):
        assert ada.vote(vote_number, choice).status == status
    assert not room.session.room.vote.choices
    for end in ("close", "explain", "clear"):
        room.act(end)
        assert ada.vote(number, right).status == 409
    room.act("ask", **a_question(room) | {"case": "999"})  # as of an earlier build
    assert ada.vote(room.session.room.vote.number, right).status == 409
    assert ada.send().data["vote"] is None


# --- the teacher


def test_the_teachers_pages_ask_for_the_token_which_the_terminals_link_has(room):
    other = {"Cookie": "teacher=é"}
    for path in ("/board", "/screen", "/questions", "/board/news", "/screen/news"):
        for query, cookie in (("", {}), (f"?token={room.code}", {}), ("", other)):
            reply = room.ask("GET", path + query, **cookie)
            assert reply.status == 403
            assert room.code not in reply.body
    reply = room.ask("GET", f"/board?token={room.token}")
    assert (reply.status, reply.headers["Location"]) == (302, "board")
    cookie = reply.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert room.ask("GET", "/board", Cookie=cookie.split(";")[0]).status == 200


def test_a_form_of_another_site_and_a_button_that_is_none_do_nothing(room):
    before = len(room.logged())
    headers = {"Origin": "http://example.org", "Cookie": room.cookie}  # the browser adds it
    for token in ({}, {"token": ""}, {"token": room.code}):
        for do in ({"do": "note", "text": "Go home"}, {"do": "delete"}):
            assert room.post_form(do | token, **headers).status == 403
    for fields in ({}, {"do": "none"}, {"do": "note"}, {"do": "close", "text": "x"}, {"do": "ask"}):
        assert room.post_form(fields | {"token": room.token}).status == 400
    assert len(room.logged()) == before


def test_the_list_of_questions_is_short_and_goes_by_exercise_and_belief(room):
    page = room.page("questions")
    assert page.count("<article") == page.count("<details") == 20
    page = room.page(f"questions?exercise={COUNT}&name=none_is_a_leaf")
    assert 1 < page.count("<article") == page.count("none_is_a_leaf</p>") <= 8
    [asked, *_] = room.pages.choose_questions(COUNT, "none_is_a_leaf")[1:]
    room.act("ask", **asked.key)
    assert room.pages.question == asked


def test_no_page_may_load_run_or_leave_anything_and_no_other_file_is_served(room):
    for path in ("/board", "/screen", "/questions", "/", "/phone.js"):
        headers = room.ask("GET", path, Cookie=room.cookie).headers
        policy = headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; connect-src 'self'")
        assert "frame-ancestors 'none'" in policy
        for name in ("Cache-Control", "X-Content-Type-Options", "Referrer-Policy"):
            assert headers[name].startswith("no"), name
    for path in ("/board/x", "/%2e%2e/session.py", "//etc/passwd", "/a\\b"):
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


def test_delete_removes_the_file_and_everyone_hears_of_it(room):
    ada = room.join("Ada")
    assert room.act("delete").status == 200
    assert [*room.file.parent.iterdir()] == []
    assert ada.solved(COUNT).status == 403
    assert room.send("/join", {"code": room.code, "name": ""}).status == 403
    assert room.ask("GET", "/board", Cookie=room.cookie).status == 403


# --- the command


def test_a_port_that_is_taken_is_said_before_anybody_is_told_to_join(room, course_py):
    done = course_py("classroom", "--port", room.port)
    assert done.returncode == 2
    assert f"--port {room.port + 1}" in done.stderr
    assert "join(" not in done.stdout
