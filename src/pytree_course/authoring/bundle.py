"""The learners' bundle, and its stamp, by which a notebook tells which release it came with."""

import hashlib
import json
import re
import tempfile
import tomllib
from collections.abc import Iterable
from pathlib import Path

import nbformat

from pytree_course.authoring.bundle_files import RELEASE_FILE, bundle_files
from pytree_course.built import EXERCISES, METADATA_KEY, RELEASE, cells_digest
from pytree_course.course import Course, CourseError

_NOT_FOR_LEARNERS = ("## For teachers", "## For authors")


def bundle(course: Course) -> dict[str, bytes]:
    """Return all files of the learners' bundle by their names."""
    contents = {name: file.read_bytes() for name, file in bundle_files(course).items()}
    is_bundle = RELEASE_FILE in contents
    stamp = "" if is_bundle else _stamp(contents)
    digests = {}
    for files in course.lessons():
        text = contents[_name(files.blank, course)]
        if not is_bundle:
            blank = nbformat.reads(text.decode(), as_version=4)
            digests[files.stem] = cells_digest(blank)
            blank.metadata[METADATA_KEY] |= {RELEASE: stamp, EXERCISES: digests[files.stem]}
            text = (nbformat.writes(blank) + "\n").encode()
        # Not from the folder `exercises`, where the teacher may have worked.
        for file in (files.blank, files.exercises):
            contents[_name(file, course)] = text
    if not is_bundle:
        readme = contents["README.md"].decode()
        contents["README.md"] = _for_learners(readme, contents).encode()
        entries = {RELEASE: stamp, EXERCISES: digests}
        contents[RELEASE_FILE] = (json.dumps(entries, indent=1, sort_keys=True) + "\n").encode()
    return contents


def unpack(folder: Path) -> Course:
    """Write the bundle of the installed course into an empty folder, and return it.

    What is hidden, such as an environment, may be there. No file is ever replaced.
    """
    installed = Course.installed()
    if installed is None:
        raise CourseError("This installation of the course has code only: install it afresh.")
    if there := sorted(each.name for each in folder.iterdir() if each.name[0] != "."):
        raise CourseError(
            f"{folder} holds no course, and is not empty: {there[0]} is in it. The course needs a "
            "folder of its own. Make an empty one, go there, and run this command again:\n"
            "  mkdir pytrees\n  cd pytrees"
        )
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".unpacking-") as unfinished:
            _write(Path(unfinished), bundle(installed))
            # A course is where `checks` is: that comes last, when everything else is there.
            for part in sorted(Path(unfinished).iterdir(), key=lambda part: part.name == "checks"):
                part.rename(folder / part.name)
    except OSError as error:
        raise CourseError(f"The course could not be written into {folder}: {error}") from error
    return Course(folder)


def write_atomically(folder: Path, contents: dict[str, bytes]) -> None:
    """Write a folder under another name until it is whole; replace the one that is there.

    Only what belongs to git is kept of that: a release may be pushed, changed and pushed again.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".release-") as unfinished:
        new, earlier = Path(unfinished, "new"), Path(unfinished, "earlier")
        _write(new, contents)
        if folder.exists():
            folder.rename(earlier)
        moved = list(earlier.glob(".git*"))
        try:
            for file in moved:
                file.rename(new / file.name)
            new.rename(folder)
        except BaseException:
            for file in moved:
                if not file.exists():
                    (new / file.name).rename(file)
            if earlier.exists():
                earlier.rename(folder)
            raise


def _write(folder: Path, contents: dict[str, bytes]) -> None:
    for name, content in contents.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


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
