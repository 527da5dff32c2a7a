"""When a file was handed in: nbgrader's time, its commit's, or when it was last changed."""

import hashlib
import os
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pytree_course.grading.limits import NOTEBOOK_BYTES
from pytree_course.grading.notebook_file import UnreadableError, read_regular
from pytree_course.texts import join_remarks

NBGRADER_TIMESTAMP = "timestamp.txt"
NO_TIME = "its time cannot be right, so it counts as 1 January 1970"
NO_STAMP = f"its {NBGRADER_TIMESTAMP} cannot be read, so the time of the file counts"
UNKNOWN_ZONE = "its time zone, {zone}, is unknown here: its time counts as one of this computer's"

_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_YEAR = 9000  # the gradebook holds years of four digits
_MAX_STAMP_BYTES = 1_000
_BRANCH = re.compile(r"ref: (refs/heads/[\w.+/-]+)\s*")
_ID = re.compile(r"[0-9a-f]{40}\s*")
_MAX_REFERENCE_BYTES = 1_000
_MAX_SECONDS = 5


def handed_in(file: Path) -> tuple[datetime, str]:
    """Return when a file was handed in, and a remark if that is uncertain.

    The time is what nbgrader wrote beside the file, or else when the file was last changed.
    """
    stamp = file.with_name(NBGRADER_TIMESTAMP)
    remark = ""
    if os.path.lexists(stamp):
        try:
            text = read_regular(stamp, _MAX_STAMP_BYTES).decode("utf-8-sig")
            return _nbgraders_time(text.strip())
        except (UnreadableError, ValueError, OverflowError):
            remark = NO_STAMP
    try:
        return _to_local(datetime.fromtimestamp(file.lstat().st_mtime, UTC)), remark
    except (ValueError, OverflowError, OSError):
        return _EARLIEST, join_remarks(remark, NO_TIME)


def _nbgraders_time(text: str) -> tuple[datetime, str]:
    """Parse a date, a time, and a zone as an offset or by its name; return a remark as well."""
    clock, _, zone = text.rpartition(" ")
    if zone.startswith(("+", "-")):
        return _to_local(datetime.fromisoformat(clock + zone)), ""
    moment = datetime.fromisoformat(clock)
    try:
        return _to_local(moment.replace(tzinfo=ZoneInfo(zone))), ""
    except ZoneInfoNotFoundError:  # such as EDT, or CST, which is several
        return _to_local(moment), UNKNOWN_ZONE.format(zone=zone)


def _to_local(moment: datetime) -> datetime:
    """Convert a time to this computer's zone; raise ValueError if its year is implausible."""
    local = moment.astimezone()
    if not _EARLIEST.year <= local.year <= _MAX_YEAR:
        raise ValueError("an implausible year")
    return local


def commit_time(clone: Path, file: Path) -> datetime:
    """Return when a file in a clone was last committed; raise an exception if it was changed since.

    The repository is a student's, and may be hostile: settings and hooks of a clone start programs.
    So git reads only its objects, from an empty repository that is made for it.
    """
    head = read_regular(clone / ".git" / "HEAD", _MAX_REFERENCE_BYTES).decode()
    if branch := _BRANCH.fullmatch(head):
        head = read_regular(clone / ".git" / branch[1], _MAX_REFERENCE_BYTES).decode()
    if not _ID.fullmatch(head):
        raise ValueError("no commit is checked out")
    name = file.relative_to(clone).as_posix()
    options = ["-1", "--format=%ct", "--raw", "--no-abbrev", "--diff-merges=first-parent"]
    log = _git(clone / ".git" / "objects", "log", *options, head.strip(), "--", name)
    seconds, change = log.split("\n\n")
    content = read_regular(file, NOTEBOOK_BYTES)
    if hashlib.sha1(b"blob %d\0%b" % (len(content), content)).hexdigest() not in change:
        raise ValueError("the file is not as committed")
    return _to_local(datetime.fromtimestamp(int(seconds), UTC))


def _git(objects: Path, *arguments: str) -> str:
    """Run git on a repository's objects; raise a SubprocessError if it fails or takes too long."""
    with TemporaryDirectory() as own:
        Path(own, "refs").mkdir()
        Path(own, "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
        variables = {
            "PATH": os.environ["PATH"],
            "HOME": own,
            "GIT_DIR": own,
            "GIT_OBJECT_DIRECTORY": str(objects),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_LITERAL_PATHSPECS": "1",
        }
        done = subprocess.run(
            ["git", *arguments],
            env=variables,
            cwd=own,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_MAX_SECONDS,
            check=True,
        )
    return done.stdout
