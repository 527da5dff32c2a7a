"""A session goes on as it was: its state follows from its log."""

import pytest

from pytree_course.board.session import Session
from pytree_course.course import CourseError
from tests.class_room import LESSON

COUNT = "count_leaves"
ABOUT = {"lesson": LESSON, "exercise": COUNT, "name": "none_is_a_leaf"}
WRONG = {"lesson": LESSON, "exercise": COUNT, "is_right": False, "misconceptions": ["a"]}
HAPPENED = [
    *(("A", "joined", {"name": "Ada"}), ("B", "joined", {"name": "Ada"}), ("B", "left", {})),
    *(("C", "joined", {"name": "Eve"}), ("D", "joined", {"name": ""})),
    *(("A", "checked", WRONG), ("A", "checked", WRONG | {"is_right": True})),
    *(("", "begin", {"lesson": LESSON}), ("", "note", {"text": "Ten more minutes"})),
    *(("", "ask", ABOUT | {"case": "1"}), ("A", "voted", {"vote": 11, "choice": "B"})),
    *(("", "close", {}), ("", "ask again", {}), ("A", "voted", {"vote": 14, "choice": "A"})),
    *(("", "explain", {}), ("", "rename", {"learner_id": "C", "name": "Ada"})),
    *(("", "remove", {"learner_id": "D", "name": ""}), ("", "take back", {}), ("", "show", ABOUT)),
    ("", "clear", {}),
]


@pytest.mark.parametrize("number", range(1, len(HAPPENED) + 1))
def test_a_session_that_is_started_again_is_the_same(tmp_path, number):
    session = Session(tmp_path / "class.sqlite")
    for learner_id, kind, data in HAPPENED[:number]:
        session.add(learner_id, kind, data)
    session.log.close()
    again = Session(session.log.file)
    assert vars(again.room) == vars(session.room)
    again.log.close()


def test_a_file_that_is_no_session_is_refused_and_left_as_it_is(tmp_path):
    file = tmp_path / "class.sqlite"
    file.write_bytes(b"SQLite format 3\x00" + b"\xff" * 2000)
    before = file.read_bytes()
    with pytest.raises(CourseError, match="left as it is"):
        Session(file)
    assert file.read_bytes() == before
