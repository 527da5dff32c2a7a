"""A small program: it becomes bubblewrap, with a keyring of its own and a filter at hand."""

import os
import sys
from pathlib import Path

from pytree_course.grading.sandbox.system_calls import leave_session_keyring, open_filter

FILTER = "{filter}"  # in the command: the file descriptor at which bubblewrap finds the filter


def main(command: list[str]) -> None:
    """Run a command in place of this process, the filter of system calls open."""
    leave_session_keyring()
    # Where memory is short, the kernel ends what runs inside, and not the grading.
    Path("/proc/self/oom_score_adj").write_text("1000", encoding="utf-8")
    call_filter = open_filter()
    os.set_inheritable(call_filter, True)
    os.execvp(command[0], [part.replace(FILTER, str(call_filter)) for part in command])


if __name__ == "__main__":
    main(sys.argv[1:])
