"""Programs that a command starts and waits for."""

import subprocess

from pytree_course.course import Course


def run_in_course(command: list[str], course: Course) -> int:
    """Run a command in the course's folder; Ctrl-C is the command's to answer."""
    process = subprocess.Popen(command, cwd=course.root)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue
