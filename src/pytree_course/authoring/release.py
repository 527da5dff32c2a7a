"""The learners' bundle, and its stamp, by which a notebook tells which release it came with."""

import hashlib
import json
import re
import tempfile
import tomllib
from collections.abc import Iterable
from pathlib import Path

import nbformat

from pytree_course.authoring.building import find_stale
from pytree_course.built import EXERCISES, METADATA_KEY, RELEASE, cells_digest
from pytree_course.course import Course, CourseError

RELEASE_FILE = "checks/release.json"
"""Holds a bundle's stamp, and the digest of each lesson's exercises."""

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
        A new folder, an empty one, or that of an earlier release in which no learner has worked.
    """
    folder = folder.resolve()
    _refuse_to_lose(folder)
    _refuse_stale(course)
    contents = bundle(course)
    _write_atomically(folder, contents)
    return str(json.loads(contents[RELEASE_FILE])[RELEASE])


def _write_atomically(folder: Path, contents: dict[str, bytes]) -> None:
    """Write a folder under another name until it is whole; replace the one that is there."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".release-") as unfinished:
        for name, content in contents.items():
            file = Path(unfinished, "new", name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        if folder.exists():
            folder.rename(Path(unfinished, "earlier"))
        Path(unfinished, "new").rename(folder)


def bundle(course: Course) -> dict[str, bytes]:
    """Return all files of the learners' bundle by their names."""
    contents = _read_files(course)
    stamp = _stamp(contents)
    digests = {}
    for files in course.lessons():
        blank = nbformat.reads(files.read_blank(), as_version=4)
        digests[files.stem] = cells_digest(blank)
        blank.metadata[METADATA_KEY] |= {RELEASE: stamp, EXERCISES: digests[files.stem]}
        # Not from the folder `exercises`, where the teacher may have worked.
        for file in (files.blank, files.exercises):
            contents[_name(file, course)] = (nbformat.writes(blank) + "\n").encode()
    contents["README.md"] = _for_learners(contents["README.md"].decode(), contents).encode()
    entries = {RELEASE: stamp, EXERCISES: digests}
    contents[RELEASE_FILE] = (json.dumps(entries, indent=1, sort_keys=True) + "\n").encode()
    return contents


def _read_files(course: Course) -> dict[str, bytes]:
    """Read the files of the course that learners get."""
    wanted = [course.root / name for name in FILES]
    for folder, kinds in FOLDERS.items():
        for file in (course.root / folder).rglob("*"):
            # Hidden files are a tool's own, as Jupyter's checkpoints are.
            is_hidden = any(part.startswith(".") for part in file.relative_to(course.root).parts)
            if file.suffix in kinds and not is_hidden:
                wanted.append(file)
    for files in course.with_sources():
        wanted.append(files.notebook)
        if files.has_exercises:
            wanted += [files.check_script, files.expected, files.blank]
    for file in wanted:
        if not file.exists():
            raise CourseError(f"{file} is missing: a release needs it.")
    return {_name(file, course): file.read_bytes() for file in sorted(wanted)}


def _for_learners(readme: str, names: Iterable[str]) -> str:
    """Leave out of the README what is not for learners, and files that the bundle has not."""
    there = "\n".join(names)
    sections = re.split(r"^(?=## )", readme, flags=re.MULTILINE)
    kept = "".join(each for each in sections if not each.startswith(_NOT_FOR_LEARNERS))
    return re.sub(
        r"^\| `(.+?)`.*\n",
        lambda row: row[0] if re.search(rf"^{re.escape(row[1])}", there, re.MULTILINE) else "",
        kept,
        flags=re.MULTILINE,
    )


def _name(file: Path, course: Course) -> str:
    return file.relative_to(course.root).as_posix()


def _stamp(contents: dict[str, bytes]) -> str:
    """Return the project's version and a digest of the files, the same on every computer."""
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
    stale = [found for files in lessons for found in find_stale(files)]
    # The notebooks in the folder `exercises` are not released.
    lines = [str(found) for found in stale if found.file.parent != course.root / "exercises"]
    if lines:
        lines.insert(0, "Nothing was released, for some of it is out of date:")
        raise CourseError("\n".join(lines))


def _refuse_to_lose(folder: Path) -> None:
    """Refuse to replace what no release wrote, or what a learner has worked in."""
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
