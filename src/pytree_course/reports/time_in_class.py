"""Time in class: how long learners took for each exercise, by the log of a session."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from pytree_course.board.log import Log
from pytree_course.course import CourseError

LONGEST_GAP = timedelta(minutes=15)  # who checks nothing for longer did something else

Spent = dict[tuple[str, str], list["Work"]]  # by lesson and exercise


@dataclass
class Work:
    """What one learner spent on one exercise, up to the first right answer."""

    minutes: float = 0.0
    checks: int = 0
    is_solved: bool = False


def spent_in_class(file: Path) -> Spent:
    """Read a session's log; the time before a check counts for the exercise that it checks."""
    events = Log(file).events() if file.exists() else []
    if not events:
        raise CourseError(f"{file} holds no class. Name the file that `classroom` wrote to.")
    works: dict[tuple[str, str], dict[str, Work]] = defaultdict(lambda: defaultdict(Work))
    before: dict[str, datetime] = {}
    for event in events:
        if event.what == "checked":
            work = works[event.data["lesson"], event.data["exercise"]][event.who]
            gap = event.time - before[event.who]
            if not work.is_solved:
                work.minutes += gap.total_seconds() / 60 if gap <= LONGEST_GAP else 0
                work.checks += 1
                work.is_solved = event.data["is_right"]
        before[event.who] = event.time
    return {place: [*by_learner.values()] for place, by_learner in works.items()}
