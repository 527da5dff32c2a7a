"""The time that learners spent on each exercise in class, from the log of a session."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from pytree_course.board.log import Log
from pytree_course.course import CourseError

MAX_GAP = timedelta(minutes=15)  # after a longer one, the learner was doing something else


@dataclass
class TimeInClass:
    """The time that one learner spent on one exercise, up to the first right answer."""

    minutes: float = 0.0
    checks: int = 0
    is_solved: bool = False


TimesInClass = dict[tuple[str, str], list[TimeInClass]]
"""The time of each learner who checked an exercise in class, by lesson and exercise."""


def read_times(file: Path) -> TimesInClass:
    """Read a session's log; the time before a check counts for the exercise that it checks."""
    # `Log` would create the file.
    entries = Log(file).entries() if file.exists() else []
    if not entries:
        raise CourseError(f"{file} holds no class. Name the file that `classroom` wrote to.")
    times: dict[tuple[str, str], dict[str, TimeInClass]] = defaultdict(
        lambda: defaultdict(TimeInClass)
    )
    last_entry_times: dict[str, datetime] = {}  # by learner, whose first entry is joining
    for entry in entries:
        if entry.kind == "checked":
            time = times[entry.data["lesson"], entry.data["exercise"]][entry.learner_id]
            gap = entry.time - last_entry_times[entry.learner_id]
            if not time.is_solved:
                time.checks += 1
                time.is_solved = entry.data["is_right"]
                if gap <= MAX_GAP:
                    time.minutes += gap.total_seconds() / 60
        last_entry_times[entry.learner_id] = entry.time
    return {exercise: list(by_learner.values()) for exercise, by_learner in times.items()}
