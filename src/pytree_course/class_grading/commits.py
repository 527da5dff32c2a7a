"""The time at which a file was committed, from a Git repository that may be hostile."""

import hashlib
import os
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from pytree_course.class_grading.student_files import to_local
from pytree_course.grading.limits import NOTEBOOK_BYTES
from pytree_course.grading.submission import read_regular

_BRANCH = re.compile(r"ref: (refs/heads/[\w.+/-]+)\s*")
_ID = re.compile(r"[0-9a-f]{40}\s*")
_MAX_REFERENCE_BYTES = 1_000
_MAX_SECONDS = 5


def commit_time(clone: Path, file: Path) -> datetime:
    """Return when a file in a clone was last committed; raise an exception if it was changed since.

    The settings and hooks of a clone start programs. So git reads only the clone's objects, from
    an empty repository that is made for it.
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
    return to_local(datetime.fromtimestamp(int(seconds), UTC))


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
