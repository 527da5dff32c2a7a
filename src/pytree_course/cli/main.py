"""All commands of `course.py`."""

# Importing a group adds its commands, in the order in which the help lists them.
from pytree_course.cli import author, learner, teacher  # noqa: F401
from pytree_course.cli.app import app, run


def main() -> None:
    """Run the command that is named on the command line."""
    run(app, "course.py")
