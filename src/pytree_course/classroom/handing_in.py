"""When a notebook was handed in: by nbgrader's timestamp, or by the file's own time."""

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pytree_course.grading.regular_file import UnreadableError, read_regular

NBGRADER_TIMESTAMP = "timestamp.txt"
NO_TIME = "its time is not a time of any calendar, so it counts as 1 January 1970"

EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = datetime(9000, 1, 1, tzinfo=UTC)  # any zone can still show it
_TIMESTAMP_BYTES = 1_000


def file_time(file: Path) -> datetime | None:
    """Return when a file was last changed, in local time; None where that is in no calendar."""
    try:
        return _in_calendar(datetime.fromtimestamp(file.lstat().st_mtime, UTC))
    except (ValueError, OverflowError, OSError):
        return None


def nbgraders_time(file: Path) -> datetime | None:
    """Return what nbgrader wrote beside a notebook; None where it is not what nbgrader writes."""
    try:
        text = read_regular(file.parent / NBGRADER_TIMESTAMP, _TIMESTAMP_BYTES).decode("utf-8")
        moment, _, zone = text.strip().rpartition(" ")
        return _in_calendar(datetime.fromisoformat(moment).replace(tzinfo=ZoneInfo(zone)))
    except (UnreadableError, ValueError, OverflowError, OSError, ZoneInfoNotFoundError):
        return None


def _in_calendar(moment: datetime) -> datetime | None:
    return moment.astimezone() if EARLIEST <= moment <= _LATEST else None
