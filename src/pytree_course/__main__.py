"""All commands of the course: `pytree-course`, and `course.py` by way of `python -m`."""

# Importing a group adds its commands, in the order in which the help lists them.
from pytree_course.cli import author, classroom, learner, teacher  # noqa: F401
from pytree_course.cli.app import STARTED_AS, app, run


def main() -> None:
    """Run the command that is named on the command line."""
    run(app, STARTED_AS.removeprefix("python3 "))


if __name__ == "__main__":
    main()
