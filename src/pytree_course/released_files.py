"""The files for learners: the bundle of a release, and fresh exercise notebooks.

This module imports the standard library only: `wheel_hook.py` runs it when nothing is installed.
"""

import json
import re
import shutil
from contextlib import suppress
from pathlib import Path

from pytree_course.course import Course, CourseError, LessonFiles
from pytree_course.texts import write_file

# An allowlist: learners get nothing else from the course's folder.
FILES = (
    ".gitignore",
    "CITATION.cff",
    "LICENSE",
    "README.md",
    "course.py",
    "docs/learning.md",
    "environment.yml",
    "pyproject.toml",
    "requirements.txt",
)
CODE = "src/pytree_course"
FOLDERS = {
    "docs/images": {".png"},
    CODE: {".css", ".html", ".js", ".json", ".md", ".mplstyle", ".py", ".toml", ".txt", ".xml"},
}

AUTHORS_CODE = (f"{CODE}/authoring/", f"{CODE}/cli/author.py")
"""Code that only authors need; neither the bundle nor the wheel contains it."""

BUNDLE = f"{CODE}/bundle/"
"""In a wheel: all files of the bundle but the code, which is the package itself."""

_NOT_FOR_LEARNERS = ("## For teachers", "## For authors")
_TESTS = re.compile(r"^python3 course\.py test .*\n", re.MULTILINE)


def bundle(course: Course) -> dict[str, bytes]:
    """Return the contents of all files of the learners' bundle by name."""
    contents = {name: file.read_bytes() for name, file in bundle_files(course).items()}
    sections = re.split(r"^(?=## )", contents["README.md"].decode(), flags=re.MULTILINE)
    for_learners = [section for section in sections if not section.startswith(_NOT_FOR_LEARNERS)]
    contents["README.md"] = _TESTS.sub("", "".join(for_learners)).encode()
    for files in course.lessons():
        # Blank ones, because the teacher may have worked in the folder `exercises`.
        contents[_name(files.exercises, course)] = contents[_name(files.blank, course)]
    return contents


def bundle_files(course: Course) -> dict[str, Path]:
    """Return the files of the bundle by name, from an author's, a learner's or an installed course.

    The folder `exercises` is left out, because somebody may have worked there.
    """
    wanted = {name: course.root / name for name in FILES}
    for folder, endings in FOLDERS.items():
        place = course.root / folder
        if folder == CODE and not place.is_dir():
            place = Path(__file__).parent  # in a wheel
        for file in _visible_files(place):
            name = f"{folder}/{file.relative_to(place).as_posix()}"
            if file.suffix in endings and not name.startswith((*AUTHORS_CODE, BUNDLE)):
                wanted[name] = file
    for file in _built_files(course):
        wanted[_name(file, course)] = file
    for file in wanted.values():
        if not file.exists():
            raise CourseError(f"{file} is missing: a release needs it.")
    return dict(sorted(wanted.items()))


def _built_files(course: Course) -> list[Path]:
    """Return the notebooks of the lessons, and the checks with all that belongs to them."""
    built = [file for files in course.with_sources() for file in files.notebooks()]
    if not built:  # there are no sources
        notebooks = _visible_files(course.root / "notebooks")
        built = [file for file in notebooks if file.suffix == ".ipynb"]
    for files in course.lessons():
        built += [files.check_script, files.expected, files.blank]
        built += files.expected.with_suffix("").glob("*.json")
    return built


def _visible_files(folder: Path) -> list[Path]:
    """Return the files in a folder; hidden ones belong to tools, such as Jupyter's checkpoints."""
    return [
        file
        for file in folder.rglob("*")
        if not any(part.startswith(".") for part in file.relative_to(folder).parts)
    ]


def _name(file: Path, course: Course) -> str:
    return file.relative_to(course.root).as_posix()


def unpack(folder: Path) -> Course:
    """Write the bundle of the installed course into an empty folder, and return that course.

    Hidden files, such as an environment, may be in it. No file is ever replaced.
    """
    installed = Course.installed()
    if installed is None:
        raise CourseError("This installation of the course is incomplete: install it again.")
    others = sorted(part.name for part in folder.iterdir() if part.name[0] != ".")
    if others:
        raise CourseError(
            f"{folder} holds no course, and is not empty: {others[0]} is in it. The course needs a "
            "folder of its own. Make an empty one, go there, and run this command again:\n"
            "  mkdir pytrees\n  cd pytrees"
        )
    try:
        write_bundle(folder, bundle(installed))
    except OSError as error:
        raise CourseError(f"The course could not be written into {folder}: {error}") from error
    return Course(folder)


def write_bundle(folder: Path, contents: dict[str, bytes]) -> None:
    """Replace everything in a folder except hidden files such as `.git`."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in folder.iterdir():
        if part.name.startswith("."):
            continue
        if part.is_dir():
            shutil.rmtree(part)
        else:
            part.unlink()
    # A folder with `checks` is taken for a course, so `checks` comes last.
    for name in sorted(contents, key=lambda name: name.startswith("checks/")):
        file = folder / name
        if not file.exists():  # a `.gitignore` may be the teacher's own
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(contents[name])


def hand_out(files: LessonFiles, fresh: str) -> Path | None:
    """Replace a learner's exercise notebook, and the blank one, with a fresh blank one.

    Returns
    -------
    Path or None
        The copy of the old notebook, if a learner had worked in it.
    """
    notebook = files.exercises
    kept: Path | None = None
    if notebook.exists():
        # In the first build of a lesson, there is no earlier blank notebook.
        blank = files.read_blank() if files.blank.exists() else fresh
        worked_in = notebook.read_text(encoding="utf-8", errors="replace")
        if _cell_sources(worked_in) != _cell_sources(blank):
            kept = _keep(notebook)
    for file in (files.blank, notebook):
        write_file(file, fresh)
    return kept


def _keep(notebook: Path) -> Path:
    """Copy a notebook to the first free name beside it."""
    number = 1
    while (copy := notebook.with_name(f"{notebook.stem}.kept-{number}.ipynb")).exists():
        number += 1
    try:
        shutil.copyfile(notebook, copy)
    except OSError:
        with suppress(OSError):
            copy.unlink(missing_ok=True)  # an incomplete copy, on a full disk
        raise
    return copy


def _cell_sources(text: str) -> list[str] | str:
    """Return the sources of a notebook's cells, or the text itself if it is not a notebook."""
    try:
        return ["".join(cell["source"]) for cell in json.loads(text)["cells"]]
    except (ValueError, KeyError, TypeError):
        return text
