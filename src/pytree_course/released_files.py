"""The files for learners: the bundle of a release, and fresh exercise notebooks.

Like every module that it imports, it uses the standard library only, because `wheel_hook.py` runs
it when nothing is installed.
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

BUNDLE_FOLDER = f"{CODE}/bundle/"
"""In a wheel: the bundle without its code, which is the package itself."""

_NOT_FOR_LEARNERS = ("## For teachers", "## For authors")
_TESTS = re.compile(r"^python3 course\.py test .*\n", re.MULTILINE)


def read_bundle(course: Course) -> dict[str, bytes]:
    """Return the contents of all files of the learners' bundle by name."""
    contents = {name: file.read_bytes() for name, file in find_bundle_files(course).items()}
    sections = re.split(r"^(?=## )", contents["README.md"].decode(), flags=re.MULTILINE)
    for_learners = [section for section in sections if not section.startswith(_NOT_FOR_LEARNERS)]
    contents["README.md"] = _TESTS.sub("", "".join(for_learners)).encode()
    for files in course.lessons():
        # Blank ones, because the teacher may have worked in the folder `exercises`.
        contents[_name_in(course, files.exercises)] = contents[_name_in(course, files.blank)]
    return contents


def find_bundle_files(course: Course) -> dict[str, Path]:
    """Return the files of the bundle by name, from an author's, a learner's or an installed course.

    The folder `exercises` is left out, because somebody may have worked there.
    """
    files_by_name = {name: course.root / name for name in FILES}
    for folder_name, endings in FOLDERS.items():
        folder = course.root / folder_name
        if folder_name == CODE and not folder.is_dir():
            folder = Path(__file__).parent  # in a wheel
        for file in _visible_files(folder):
            name = f"{folder_name}/{file.relative_to(folder).as_posix()}"
            if file.suffix in endings and not name.startswith((*AUTHORS_CODE, BUNDLE_FOLDER)):
                files_by_name[name] = file
    for file in _built_files(course):
        files_by_name[_name_in(course, file)] = file
    for file in files_by_name.values():
        if not file.exists():
            raise CourseError(f"{file} is missing: a release needs it.")
    return dict(sorted(files_by_name.items()))


def _built_files(course: Course) -> list[Path]:
    """Return the lessons' notebooks, check scripts, expected results and blank notebooks."""
    if course.lessons_and_pages():
        built = [file for files in course.lessons_and_pages() for file in files.notebooks()]
    else:  # a copy without sources
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


def _name_in(course: Course, file: Path) -> str:
    return file.relative_to(course.root).as_posix()


def unpack(folder: Path) -> Course:
    """Write the installed course's bundle into an empty folder, and return the new course.

    The folder may contain hidden files, such as an environment. No file is ever replaced.
    """
    installed = Course.installed()
    if installed is None:
        raise CourseError("This installation of the course is incomplete: install it again.")
    others = sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith("."))
    if others:
        raise CourseError(
            f"{folder} holds no course, and is not empty: {others[0]} is in it. The course needs a "
            "folder of its own. Make an empty one, go there, and run this command again:\n"
            "  mkdir pytrees\n  cd pytrees"
        )
    try:
        write_bundle(folder, read_bundle(installed))
    except OSError as error:
        raise CourseError(f"The course could not be written into {folder}: {error}") from error
    return Course(folder)


def write_bundle(folder: Path, contents: dict[str, bytes]) -> None:
    """Replace everything in a folder except hidden files such as `.git`."""
    folder.mkdir(parents=True, exist_ok=True)
    for entry in folder.iterdir():
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    # `checks` comes last: a folder without it, as after an interrupted release, is not a course.
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
    notebook, copy = files.exercises, None
    # In the first build of a lesson, there is no earlier blank notebook.
    blank = files.read_blank() if files.blank.exists() else fresh
    if notebook.exists() and _has_work(notebook, blank):
        copy = _copy_aside(notebook)
    for file in (files.blank, notebook):
        write_file(file, fresh)
    return copy


def _has_work(notebook: Path, blank: str) -> bool:
    """Return whether the cells of a notebook differ from the blank one's, or cannot be read."""
    try:
        return _cell_sources(notebook.read_text(encoding="utf-8")) != _cell_sources(blank)
    except (ValueError, KeyError, TypeError):
        return True


def _cell_sources(text: str) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(text)["cells"]]


def _copy_aside(notebook: Path) -> Path:
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
