"""The command by which bubblewrap makes the restricted view that sandboxes are made in."""

import os
from collections.abc import Sequence
from pathlib import Path

from pytree_course.grading.sandbox import policy


def in_view(command: Sequence[str]) -> list[str]:
    """Return the command that runs a command in the view of a sandbox, all rights in there kept.

    The view lacks what each sandbox has of its own (the folders in memory, the course, and /proc,
    which may not be mounted again where parts of it are covered). No code of a learner may run in
    it before it has entered a sandbox.
    """
    user = str(policy.USER_INSIDE)
    options = [
        *(() if os.geteuid() == 0 else ("--unshare-user", "--uid", user, "--gid", user)),
        *("--cap-add", "ALL", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"),
        *("--unshare-cgroup-try", "--die-with-parent", "--new-session"),
        *("--hostname", policy.HOST_NAME, "--clearenv", "--proc", "/proc", "--dev", "/dev"),
    ]
    for name, value in policy.variables({}).items():
        options += ["--setenv", name, value]
    for device in policy.COVERED_DEVICES:
        options += ["--dev-bind", os.devnull, device]
    for place in (*policy.FOLDERS_IN_MEMORY, policy.COURSE_INSIDE):
        options += [*_folders_above(place), "--perms", policy.FOLDER_MODE, "--dir", place]
    for place, target in policy.shown_links().items():
        options += [*_folders_above(place), "--symlink", target, place]
    for source, place in policy.shown_folders().items():
        options += [*_folders_above(place), "--ro-bind", str(source), place]
    for folder in policy.covered_folders():
        options += ["--tmpfs", folder, "--remount-ro", folder]
    options += ["--ro-bind-try", *["/etc/ld.so.cache"] * 2]
    # What bubblewrap makes to mount things on is memory without a bound, unless it is read-only.
    options += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp"]
    return ["bwrap", *options, "--", *command]


def _folders_above(place: str) -> list[str]:
    """Return the options that make the folders above a place, open to every user."""
    return [
        option
        for folder in reversed(Path(place).parents)
        if folder not in map(Path, ("/", "/dev", *policy.FOLDERS_IN_MEMORY))
        for option in ("--perms", policy.FOLDER_MODE, "--dir", str(folder))
    ]
