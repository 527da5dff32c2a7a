"""What the processes of a kernel use: processor time; and whether one of them wants more of it."""

from pathlib import Path

import psutil

_RUNNABLE = "R"


class ProcessTree:
    """A process and all that it started, looked at from outside."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._counted: dict[int, float] = {}  # processor time seen so far, by process
        self._used = 0.0

    def look(self) -> tuple[float, bool]:
        """Return the processor time used so far, and whether anything now waits for a processor.

        A thread that could run but is kept waiting tells a busy machine from code that sleeps.
        Only Linux tells it; elsewhere nothing is said to wait, or to sleep.
        """
        is_runnable = False
        for process in self._processes():
            try:
                times = process.cpu_times()
                is_runnable = is_runnable or _is_runnable(process.pid)
            except (psutil.Error, OSError):
                continue  # it has ended by now
            used = times.user + times.system
            used += getattr(times, "children_user", 0.0) + getattr(times, "children_system", 0.0)
            self._used += max(0.0, used - self._counted.get(process.pid, 0.0))
            self._counted[process.pid] = used
        return self._used, is_runnable

    def _processes(self) -> list[psutil.Process]:
        try:
            root = psutil.Process(self._pid)
            return [root, *root.children(recursive=True)]
        except psutil.Error:
            return []


def _is_runnable(pid: int) -> bool:
    if not psutil.LINUX:
        return True
    # The state stands after the program's name, which may hold any character.
    states = (
        file.read_text(errors="replace").rpartition(")")[2].split(maxsplit=1)[0]
        for file in Path(f"/proc/{pid}/task").glob("*/stat")
    )
    return _RUNNABLE in states
