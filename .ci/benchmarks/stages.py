"""The stages of a grading, seen from outside: by when its rows came into the gradebook."""

from datetime import datetime

from engines import Work, gradebook_file
from pytree_course.class_grading.gradebook import Gradebook


def stages(work: Work, started: datetime, seconds: float) -> dict[str, float]:
    """Return the seconds that each stage took; `in_kernels` is summed over all submissions."""
    with Gradebook(gradebook_file(work)) as gradebook:
        attempts = gradebook.attempts()
    times = [(attempt.graded_at - started).total_seconds() for attempt in attempts]
    return {
        "first_row": min(times),
        "rows": max(times) - min(times),
        "reports": seconds - max(times),
        "in_kernels": sum(attempt.seconds for attempt in attempts),
    }
