"""The learners' bundle, and its stamp, by which a notebook tells what it was handed out from."""

import hashlib
import json
import re
import shutil
import tomllib
from collections.abc import Iterable
from pathlib import Path

import nbformat

from pytree_course.authoring.building import find_stale
from pytree_course.built import EXERCISES, METADATA_KEY, RELEASE, exercises_digest
from pytree_course.course import Course, CourseError

RELEASE_FILE = "checks/release.json"
"""Where a bundle keeps its stamp, and each lesson's digest of its exercises."""

# What learners get is listed: whatever else may lie in the course's folder stays there.
FILES = (
    "README.md",
    "conftest.py",
    "course.py",
    "environment.yml",
    "pyproject.toml",
    "requirements.txt",
)
FOLDERS = {"jupyter": {".json", ".py"}, "src/pytree_course": {".css", ".html", ".py", ".txt"}}

_NOT_FOR_LEARNERS = ("## For teachers", "## For authors")


def release(course: Course, folder: Path) -> str:
    """Write the learners' bundle, and return its stamp.

    Parameters
    ----------
    course
        The author's copy of the course.
    folder
        Where the bundle goes: a new folder, an empty one, or that of an earlier release.

    Raises
    ------
    CourseError
        When built files are stale, or when something in `folder` would be lost.
    CourseError
        When a file of the course is missing.
    """
    folder = folder.resolve()
    _refuse_to_lose(folder)
    _refuse_stale(course)
    contents = bundle(course)
    # Under another name until it is whole, so that no folder of this name ever holds a half.
    unfinished = folder.with_name(f".{folder.name}.unfinished")
    earlier = folder.with_name(f".{folder.name}.earlier")
    for left_behind in (unfinished, earlier):
        shutil.rmtree(left_behind, ignore_errors=True)
    try:
        for name, content in contents.items():
            file = unfinished / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        if folder.exists():
            folder.rename(earlier)
        unfinished.rename(folder)
    finally:
        for left_behind in (unfinished, earlier):
            shutil.rmtree(left_behind, ignore_errors=True)
    return str(json.loads(contents[RELEASE_FILE])[RELEASE])


def bundle(course: Course) -> dict[str, bytes]:
    """Return all files of the learners' bundle by their names, stamped.

    Raises
    ------
    CourseError
        When a file of the course is missing.
    """
    contents = {name: _read(course.root / name) for name in _wanted(course)}
    stamp = _stamp(contents)
    digests = {}
    for files in course.lessons():
        blank = nbformat.reads(files.read_blank(), as_version=4)
        digests[files.stem] = exercises_digest(blank)
        blank.metadata[METADATA_KEY] |= {RELEASE: stamp, EXERCISES: digests[files.stem]}
        # Not from the folder `exercises`, where somebody may have worked.
        for file in (files.blank, files.exercises):
            contents[_name(file, course)] = (nbformat.writes(blank) + "\n").encode()
    contents["README.md"] = _for_learners(contents["README.md"].decode(), contents).encode()
    told = {RELEASE: stamp, EXERCISES: digests}
    contents[RELEASE_FILE] = (json.dumps(told, indent=1, sort_keys=True) + "\n").encode()
    return contents


def current_stamp(course: Course) -> str:
    """Return the stamp of a bundle, or the one that a release of this course would get.

    It is the project's version and a digest of all that a bundle holds: no date, and the same on
    every computer.
    """
    file = course.root / RELEASE_FILE
    if file.exists():
        return str(json.loads(file.read_text(encoding="utf-8"))[RELEASE])
    return _stamp({name: _read(course.root / name) for name in _wanted(course)})


def _wanted(course: Course) -> list[str]:
    """Return the names of the files that learners get."""
    found = [
        file
        for folder, kinds in FOLDERS.items()
        for file in (course.root / folder).rglob("*")
        if file.suffix in kinds and not _is_hidden(file.relative_to(course.root))
    ]
    for files in course.with_sources():
        found.append(files.notebook)
        if files.has_exercises:
            found += [files.check_script, files.expected, files.blank]
    return sorted({*FILES, *(_name(file, course) for file in found)})


def _for_learners(readme: str, names: Iterable[str]) -> str:
    """Leave out of the README what speaks of files that are not among those that learners get."""
    there = "\n".join(names)
    sections = re.split(r"^(?=## )", readme, flags=re.MULTILINE)
    kept = "".join(each for each in sections if not each.startswith(_NOT_FOR_LEARNERS))
    return re.sub(
        r"^\| `(.+?)`.*\n",
        lambda row: row[0] if re.search(rf"^{re.escape(row[1])}", there, re.MULTILINE) else "",
        kept,
        flags=re.MULTILINE,
    )


def _is_hidden(file: Path) -> bool:
    """Say whether some tool has put a file there for itself, as Jupyter does its checkpoints."""
    return any(part.startswith(".") for part in file.parts)


def _name(file: Path, course: Course) -> str:
    return file.relative_to(course.root).as_posix()


def _read(file: Path) -> bytes:
    if not file.exists():
        raise CourseError(f"{file} is missing: a release needs it.")
    return file.read_bytes()


def _stamp(contents: dict[str, bytes]) -> str:
    sha = hashlib.sha256()
    for name in sorted(contents):
        # Git may have turned the ends of lines into this system's own.
        text = contents[name].replace(b"\r\n", b"\n")
        sha.update(f"{name}\0{len(text)}\0".encode() + text)
    version = tomllib.loads(contents["pyproject.toml"].decode())["project"]["version"]
    return f"{version}+{sha.hexdigest()[:12]}"


def _refuse_stale(course: Course) -> None:
    lessons = course.with_sources()
    if not lessons:
        raise CourseError("This copy of the course has no sources: release it from one that has.")
    # What became of the notebook in the folder `exercises` makes no difference: it is left here.
    stale = [
        each for files in lessons for each in find_stale(files) if each.file != files.exercises
    ]
    if stale:
        lines = "\n".join(str(each) for each in stale)
        raise CourseError(f"Nothing was released, for some of it is out of date:\n{lines}")


def _refuse_to_lose(folder: Path) -> None:
    """Let only what a release wrote, and nobody has worked in, be replaced."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not (folder / RELEASE_FILE).is_file():
        raise CourseError(
            f"{folder} is there and is no earlier release: name a new folder, or an empty one."
        )
    earlier = Course(folder)
    handed_out = {files.exercises: files.read_blank().encode() for files in earlier.lessons()}
    for notebook in (folder / "exercises").glob("*.ipynb"):
        if notebook.read_bytes() != handed_out.get(notebook):
            raise CourseError(f"Somebody has worked in {notebook}: name another folder.")
    if (folder / "progress.jsonl").exists():
        raise CourseError(f"Somebody has worked in {folder}: name another folder.")
