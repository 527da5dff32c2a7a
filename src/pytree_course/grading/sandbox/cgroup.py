"""A cgroup (version 2) per sandbox, where Linux lets this user create one."""

import contextlib
import functools
import itertools
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from pytree_course.grading import limits
from pytree_course.grading.usage import read

_ROOT = Path("/sys/fs/cgroup")
_PREFIX = "pytree-course-"
_NEEDED = {"memory", "pids"}  # controllers; processor time is counted without one
_ENDING_SECONDS = 10.0
_numbers = itertools.count()


class Group:
    """A new group: Linux bounds the memory and processes of all in it, and counts their time.

    The memory is that of processes that share it, of files, and what Linux itself keeps for them;
    the time, that of processes too that have ended and that no other one waited for.
    """

    def __init__(self, above: Path) -> None:
        """Make it in another one."""
        self._folder = above / f"{_PREFIX}{os.getpid()}-{next(_numbers)}"
        self._folder.mkdir()
        self.members = self._folder / "cgroup.procs"  # who writes 0 into it becomes a member
        bounds = {"memory.max": limits.MEMORY, "memory.oom.group": 1, "pids.max": limits.PROCESSES}
        if (self._folder / "memory.swap.max").exists():  # not where Linux does not count it
            bounds["memory.swap.max"] = 0
        try:
            for name, value in bounds.items():
                (self._folder / name).write_text(str(value), encoding="ascii")
        except OSError:
            self.close()
            raise

    def add(self, pid: int) -> None:
        """Make a process a member, and all that it starts from now on."""
        self.members.write_text(str(pid), encoding="ascii")

    def exceeded(self) -> str:
        """Return "memory" where more was wanted than there is, for which Linux ended all of it."""
        return "memory" if self._number("memory.events", "oom") else ""

    def seconds(self) -> float:
        """Return the processor time of all members so far."""
        return self._number("cpu.stat", "usage_usec") / 1e6

    def _number(self, file: str, name: str) -> int:
        rows = dict(line.split() for line in read(f"{self._folder}/{file}").splitlines())
        return int(rows.get(name, 0))  # nothing, once the group has been closed

    def close(self) -> None:
        """End all members, and remove it once they have ended."""
        if self._folder.exists():
            (self._folder / "cgroup.kill").write_text("1", encoding="ascii")
            deadline = time.monotonic() + _ENDING_SECONDS
            while "populated 1" in read(f"{self._folder}/cgroup.events"):
                if time.monotonic() > deadline:
                    return  # it is swept later
                time.sleep(0.005)
            self._folder.rmdir()


def new_group() -> Group | None:
    """Make a group for a sandbox; None where this user may not."""
    above = folder_of_groups()
    return None if above is None else Group(above)


@functools.cache
def folder_of_groups() -> Path | None:
    """Return the nearest group, from this process's own upwards, in which groups can be made."""
    return next(filter(_works, _from_own_upwards()), None)


def _from_own_upwards() -> Iterator[Path]:
    """Yield the groups whose groups have the controllers; none where version 1 has these."""
    own = read("/proc/self/cgroup").partition("0::/")[2].strip()
    for folder in (_ROOT / own, *(_ROOT / own).parents):
        if {*read(f"{folder}/cgroup.subtree_control").split()} >= _NEEDED:
            yield folder


def _works(above: Path) -> bool:
    """Try it, and remove what killed gradings left."""
    for left in above.glob(f"{_PREFIX}*"):
        if not Path("/proc", left.name.split("-")[2]).exists():
            with contextlib.suppress(OSError):  # the sandbox of one just killed is about to end
                left.rmdir()
    try:
        group = Group(above)
        with subprocess.Popen(["sleep", "60"]) as trial:
            try:
                group.add(trial.pid)
            finally:
                trial.kill()
        group.close()
    except OSError:
        return False
    return True
