"""The command line: entry point of `pytree-course` and of `python -m pytree_course`."""

from importlib.util import find_spec

import typer

# Importing a group adds its commands, in the order in which the help lists them.
from pytree_course.cli import learner, teacher  # noqa: F401
from pytree_course.cli.app import PASS_UNKNOWN, STARTED_AS, app, run
from pytree_course.course import CourseError


def refuse_without_sources(context: typer.Context) -> None:
    """Refuse a command for authors in a learner's copy of the course."""
    raise CourseError(
        f"`{context.info_name}` is for authors, and this is a learner's copy of the course. Run it "
        "in the author's copy, the one with the folder `sources`."
    )


if find_spec("pytree_course.authoring"):
    from pytree_course.cli import author  # noqa: F401
else:
    for name in ("build", "answer", "site", "release"):
        app.command(name, hidden=True, context_settings=PASS_UNKNOWN)(refuse_without_sources)


def main() -> None:
    """Run the command that the command line names."""
    run(app, STARTED_AS.removeprefix("python3 "))


if __name__ == "__main__":
    main()
