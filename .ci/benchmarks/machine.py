"""What has to be said beside every measured time: the machine, versions, the commit, the day."""

import os
import platform
import subprocess
import sys
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil

from pytree_course.course import Course
from pytree_course.judging.expected import BuiltLesson


def described_machine(course: Course) -> dict[str, Any]:
    """Describe the machine and what runs on it."""
    return {
        "date": datetime.now().astimezone().strftime("%Y-%m-%d"),
        "commit": commit(course.root),
        "cores": os.cpu_count(),
        "processor": processor(),
        "memory_gb": round(psutil.virtual_memory().total / 1e9, 1),
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "jax": version("jax"),
        "busy": round(os.getloadavg()[0], 1),  # processes that wanted a core when this began
        "compiled_before": len(
            {each.name for each in (Path(sys.prefix) / "cache").rglob("*-cache")}
        ),
        "misconceptions": misconceptions(course),
    }


def misconceptions(course: Course) -> int:
    """Return how many misconceptions the checks of all lessons know."""
    built = [BuiltLesson.read(files.expected) for files in course.lessons()]
    return sum(
        len(lesson.expected(name).misconceptions) for lesson in built for name in lesson.exercises
    )


def processor() -> str:
    """Return the processor's name, as Linux knows it."""
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def commit(root: Path) -> str:
    """Return the commit that is checked out, and whether files differ from it."""
    git = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=10"]
    try:
        done = subprocess.run(git, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "unknown"
    return done.stdout.strip() or "unknown"
