"""The learners' bundle, and its stamp, by which a notebook tells which release it came with."""

import hashlib
import json
import re
import tempfile
import tomllib
from pathlib import Path

import nbformat

from pytree_course.authoring.bundle_files import RELEASE_FILE, bundle_files
from pytree_course.built import EXERCISES, METADATA_KEY, RELEASE, cells_digest
from pytree_course.course import Course, CourseError

_NOT_FOR_LEARNERS = ("## For teachers", "## For authors")


def bundle(course: Course) -> dict[str, bytes]:
    """Return all files of the learners' bundle by their names."""
    contents = {name: file.read_bytes() for name, file in bundle_files(course).items()}
    if RELEASE_FILE not in contents:  # otherwise the course is a bundle itself, with its stamp
        stamp, digests = _stamp(contents), {}
        for files in course.lessons():
            blank = nbformat.reads(contents[_name(files.blank, course)].decode(), as_version=4)
            digests[files.stem] = cells_digest(blank)
            blank.metadata[METADATA_KEY] |= {RELEASE: stamp, EXERCISES: digests[files.stem]}
            contents[_name(files.blank, course)] = (nbformat.writes(blank) + "\n").encode()
        sections = re.split(r"^(?=## )", contents["README.md"].decode(), flags=re.MULTILINE)
        kept = (each for each in sections if not each.startswith(_NOT_FOR_LEARNERS))
        contents["README.md"] = "".join(kept).encode()
        entries = {RELEASE: stamp, EXERCISES: digests}
        contents[RELEASE_FILE] = (json.dumps(entries, indent=1, sort_keys=True) + "\n").encode()
    # Not from the folder `exercises`, where the teacher may have worked.
    return contents | {
        _name(files.exercises, course): contents[_name(files.blank, course)]
        for files in course.lessons()
    }


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
        write_bundle(folder, bundle(installed))
    except OSError as error:
        raise CourseError(f"The course could not be written into {folder}: {error}") from error
    return Course(folder)


def write_bundle(folder: Path, contents: dict[str, bytes]) -> None:
    """Replace all in a folder but what is hidden, such as `.git`, once everything is written."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".unfinished-") as unfinished:
        new, earlier = Path(unfinished, "new"), Path(unfinished, "earlier")
        for name, content in contents.items():
            file = new / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        earlier.mkdir()
        for part in [each for each in folder.iterdir() if each.name[0] != "."]:
            part.rename(earlier / part.name)
        # A course is where `checks` is: that comes last, when everything else is there.
        for part in sorted(new.iterdir(), key=lambda part: part.name == "checks"):
            part.rename(folder / part.name)


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
