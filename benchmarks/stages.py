"""The stages of a grading, seen from outside: by when its rows came into the gradebook."""

import sqlite3
from contextlib import closing
from datetime import datetime

from engines import Work, gradebook_file


def stages(work: Work, started: datetime, seconds: float) -> dict[str, float]:
    """Return the seconds that each stage took; `in_kernels` is summed over all submissions."""
    with closing(sqlite3.connect(gradebook_file(work))) as database:
        rows = database.execute("SELECT graded_at, seconds FROM attempt").fetchall()
    times = [(datetime.fromisoformat(time) - started).total_seconds() for time, _ in rows]
    return {
        "first_row": min(times),
        "rows": max(times) - min(times),
        "reports": seconds - max(times),
        "in_kernels": sum(spent for _, spent in rows),
    }
