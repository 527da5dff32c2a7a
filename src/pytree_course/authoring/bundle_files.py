"""The one list of what learners get: a release and a wheel hold the same files.

Imports the standard library only: `hatch_build.py` reads the list before anything is installed.
"""

from pathlib import Path

from pytree_course.course import Course, CourseError

# What learners get is listed: whatever else may lie in the course's folder stays there.
FILES = (
    "CITATION.cff",
    "LICENSE",
    "README.md",
    "conftest.py",
    "course.py",
    "docs/learning.md",
    "environment.yml",
    "hatch_build.py",
    "pyproject.toml",
    "requirements.txt",
)
CODE = "src/pytree_course"
FOLDERS = {
    "docs/images": {".png"},
    "jupyter": {".json", ".py"},
    CODE: {".css", ".html", ".py", ".txt"},
}

RELEASE_FILE = "checks/release.json"
"""Holds a bundle's stamp, and the digest of each lesson's exercises."""

PACKAGE = Path(__file__).parents[1]


def bundle_files(course: Course) -> dict[str, Path]:
    """Return the files of a course by their names: an author's, a learner's or an installed one.

    Not the folder `exercises`, in which somebody may have worked: a bundle has blank ones there.
    """
    root = course.root
    wanted = {name: root / name for name in FILES}
    for folder, kinds in FOLDERS.items():
        # A wheel holds the code once, in the package, which holds the rest in a folder.
        there = PACKAGE if folder == CODE and not (root / CODE).is_dir() else root / folder
        for file in there.rglob("*"):
            name = file.relative_to(there)
            # Hidden files are a tool's own, as Jupyter's checkpoints are.
            is_foreign = name.parts[0] == "bundle" or any(part[0] == "." for part in name.parts)
            if file.suffix in kinds and not is_foreign:
                wanted[f"{folder}/{name.as_posix()}"] = file
    notebooks = [files.notebook for files in course.with_sources()]
    if not notebooks:  # a bundle, or what a wheel holds
        notebooks = list((root / "notebooks").glob("*.ipynb"))
    if (root / RELEASE_FILE).exists():
        wanted[RELEASE_FILE] = root / RELEASE_FILE
    of_lessons = [
        file
        for files in course.lessons()
        for file in (files.check_script, files.expected, files.blank)
    ]
    wanted |= {file.relative_to(root).as_posix(): file for file in (*notebooks, *of_lessons)}
    for file in wanted.values():
        if not file.exists():
            raise CourseError(f"{file} is missing: a release needs it.")
    return dict(sorted(wanted.items()))
