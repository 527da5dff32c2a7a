"""A small program: it becomes bubblewrap, with a keyring of its own and a filter at hand."""

import os
import sys
from pathlib import Path

from pytree_course.grading.system_calls import leave_session_keyring, write_filter


def main(descriptor: int, command: list[str]) -> None:
    """Run a command in place of this process, the filter open at a file descriptor."""
    leave_session_keyring()
    # Where memory is short, the kernel ends what runs inside, and not the grading.
    Path("/proc/self/oom_score_adj").write_text("1000", encoding="utf-8")
    filter_file = os.memfd_create("system calls")
    with open(filter_file, "wb", closefd=False) as file:
        write_filter(file)
    os.lseek(filter_file, 0, os.SEEK_SET)
    os.dup2(filter_file, descriptor)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
