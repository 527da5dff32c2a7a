"""Processes, as the folders of a /proc show them; a process that has ended is empty."""

import os
import time
from collections.abc import Iterable
from pathlib import Path

_NANOSECONDS = 1e9


def list_folder(folder: str) -> list[str]:
    """List a folder of /proc; return nothing if its process has ended."""
    try:
        return os.listdir(folder)
    except (FileNotFoundError, ProcessLookupError):
        return []


def read_file(path: str) -> str:
    """Read a file of /proc; return "" if its process has ended."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def read_own_seconds() -> float:
    """Return how long the calling thread has run, or was ready to run without a processor."""
    numbers = read_file("/proc/thread-self/schedstat").split()
    if not numbers:  # elsewhere than on Linux
        return time.thread_time()
    return (int(numbers[0]) + int(numbers[1])) / _NANOSECONDS


def read_queue_seconds(processes: Iterable[str]) -> dict[str, float]:
    """Return how long each thread of processes was ready to run without a processor.

    Return nothing on other systems, and where Linux does not count it.
    """
    threads = (f"{each}/task/{name}" for each in processes for name in list_folder(f"{each}/task"))
    numbers = {thread: read_file(f"{thread}/schedstat").split() for thread in threads}
    return {thread: int(each[1]) / _NANOSECONDS for thread, each in numbers.items() if each}
