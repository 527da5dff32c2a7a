"""Start here: `python3 course.py` lists the commands.

On first use it makes the course's environment beside this file; then it runs
commands in it. Even Python 2 can parse this file, and is then told to be too
old; the rest is in src/pytree_course/launcher.py.
"""

import os
import sys

NEEDED = (3, 8)


def too_old(version):
    """Return a message if this version of Python is too old, otherwise None."""
    if tuple(version[:2]) >= NEEDED:
        return None
    return (
        "To start, this course needs Python %d.%d or newer, and this is Python %d.%d.\n"
        "  If a newer one is installed, call it by name:  python3.13 course.py lab\n"
        "  (on Windows:  py -3.13 course.py lab).\n"
        "  If not, get one from python.org, your system's packages or conda."
    ) % (NEEDED + tuple(version[:2]))


def main():
    """Run the launcher, loaded from its file: the course may not be installed yet."""
    complaint = too_old(sys.version_info)
    if complaint:
        sys.stderr.write(complaint + "\n")
        return 1

    import importlib.util

    here = os.path.dirname(os.path.realpath(__file__))
    path = os.path.join(here, "src", "pytree_course", "launcher.py")
    if not os.path.exists(path):
        sys.stderr.write(
            "The folder src/ is missing beside course.py: copy the whole course, not one file.\n"
        )
        return 1
    spec = importlib.util.spec_from_file_location("pytree_course_launcher", path)
    launcher = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(launcher)
    return launcher.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
