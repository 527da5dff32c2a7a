"""A small program: it becomes bubblewrap, with a keyring of its own and a filter at hand."""

import os
import sys
from pathlib import Path

from pytree_course.grading.system_calls import leave_session_keyring, open_filter


def main(descriptor: int, command: list[str]) -> None:
    """Run a command in place of this process, the filter open at a file descriptor."""
    leave_session_keyring()
    # Where memory is short, the kernel ends what runs inside, and not the grading.
    Path("/proc/self/oom_score_adj").write_text("1000", encoding="utf-8")
    os.dup2(open_filter(), descriptor)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
