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

_BRANCH = re.compile(r"ref: (refs/heads/[\w.+/-]+)\n?")
_ID = re.compile(r"[0-9a-f]{40}")
_MAX_REF_BYTES = 1_000
_MAX_SECONDS = 5


def commit_time(clone: Path, file: Path) -> datetime | None:
    """Return when a file in a clone was last committed; None unless it is as committed.

    The settings and hooks of a clone start programs. So git reads only the clone's objects, from
    an empty repository that is made for it.
    """
    head = _head(clone / ".git")
    if head is None:
        return None
    name = file.relative_to(clone).as_posix()
    content = read_regular(file, NOTEBOOK_BYTES)
    blob = hashlib.sha1(b"blob %d\0%b" % (len(content), content)).hexdigest()
    if _git(clone, "rev-parse", "--verify", f"{head}:{name}").strip() != blob:
        return None
    seconds, _, _ = _git(clone, "rev-list", "-1", "--timestamp", head, "--", name).partition(" ")
    return to_local(datetime.fromtimestamp(int(seconds), UTC))


def _head(folder: Path) -> str | None:
    """Return the id of the commit that is checked out in a clone, by its folder `.git`."""
    if folder.is_symlink() or not folder.is_dir():
        return None
    head = read_regular(folder / "HEAD", _MAX_REF_BYTES).decode()
    if branch := _BRANCH.fullmatch(head):
        head = read_regular(folder / branch[1], _MAX_REF_BYTES).decode()
    return head.strip() if _ID.fullmatch(head.strip()) else None


def _git(clone: Path, *arguments: str) -> str:
    """Run git on a clone's objects; raise a SubprocessError if it fails or takes too long."""
    with TemporaryDirectory() as own:
        Path(own, "refs").mkdir()
        Path(own, "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
        variables = {
            "PATH": os.environ["PATH"],
            "HOME": own,
            "GIT_DIR": own,
            "GIT_OBJECT_DIRECTORY": str(clone / ".git" / "objects"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
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
