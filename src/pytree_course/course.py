"""Locate the course, and name the files of each lesson."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from pytree_course import nbgrader
from pytree_course.built import ANSWER_ENDING
from pytree_course.texts import text_digest

COURSE_VARIABLE = "PYTREE_COURSE"
"""Environment variable that names the course's folder, for notebooks that run elsewhere."""

PROGRESS_VARIABLE = "PYTREE_COURSE_PROGRESS"
"""Environment variable that names the folder to keep the learner's progress in."""

LINKS_VARIABLE = "PYTREE_COURSE_LINKS"
"""Environment variable with the address of the notebooks if they are not files: on Colab."""

NOBODY_VARIABLE = "PYTREE_COURSE_NOBODY"
"""Environment variable that the build sets: the cells that it runs are not a learner's work."""

GOING_DEEPER = "Going deeper"
"""The heading in a lesson that lists its deeper sections."""


class CourseError(Exception):
    """An error that ends a command or a cell; the user sees its message only."""

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


@dataclass(frozen=True)
class Course:
    """The course's folder."""

    root: Path
    is_elsewhere: bool = False  # whether the running notebook is outside this folder

    @classmethod
    def above(cls, start: Path | None = None) -> "Course":
        """Find the course at or above PYTREE_COURSE, `start` or the current folder."""
        start = Path(os.environ.get(COURSE_VARIABLE) or start or Path.cwd()).resolve()
        for folder in (start, *start.parents):
            if _has_course(folder):
                return cls(folder)
        if nbgrader.is_running():
            advice = (
                f"Set {COURSE_VARIABLE} to the course's folder in the kernel that nbgrader starts."
            )
        else:
            advice = (
                "Go to the course's folder; a notebook belongs in the folder `exercises` there. "
                "In an empty folder, `pytree-course lab` makes a new one."
            )
        raise CourseError(
            f"There is no course here: no folder above {start} has a folder `checks`. {advice}"
        )

    @classmethod
    def of_notebook(cls) -> "Course":
        """Return the course above the running notebook, or else the installed course."""
        try:
            return cls.above()
        except CourseError:
            installed_course = cls.installed()
            # nbgrader's settings or the variable should lead to a course: do not guess another one.
            if installed_course is None or nbgrader.is_running() or COURSE_VARIABLE in os.environ:
                raise
            return cls(installed_course.root, is_elsewhere=True)

    @classmethod
    def installed(cls) -> "Course | None":
        """Return the course that was installed with this package, or None.

        An editable installation uses the folder that it was installed from; a wheel contains the
        course in the package's folder `bundle`.
        """
        package = Path(__file__).parent
        for folder in (package / "bundle", package.parents[1]):
            if _has_course(folder):
                return cls(folder)
        return None

    @property
    def progress_file(self) -> Path | None:
        """The file with the learner's progress; None during a build."""
        if NOBODY_VARIABLE in os.environ:
            return None
        folder = os.environ.get(PROGRESS_VARIABLE) or (Path() if self.is_elsewhere else self.root)
        return Path(folder).absolute() / "progress.jsonl"

    @property
    def joined_file(self) -> Path | None:
        """The file that names the class a learner has joined; None in a build or in nbgrader."""
        if self.progress_file is None or nbgrader.is_running():
            return None
        return self.progress_file.with_name("joined.json")

    def link(self, notebook: Path, section: str = "", start: Path | None = None) -> str:
        """Return a link to a notebook, or to a section in it; "" if no link can reach it.

        The link is relative to `start`, by default the current folder: the running notebook's.
        """
        path = notebook.relative_to(self.root).as_posix()
        if address := os.environ.get(LINKS_VARIABLE):
            return f"{address}/{path}"
        if self.is_elsewhere:
            return ""
        if section:
            path += f"#{section.replace(' ', '-')}"
        start = start or Path.cwd()
        depth = 1  # as in `exercises`, for a notebook outside the course's folder
        if start.is_relative_to(self.root):
            depth = len(start.relative_to(self.root).parts)
        return "../" * depth + path

    def lessons(self) -> list["LessonFiles"]:
        """Return the files of every lesson in this copy, in order."""
        scripts = sorted((self.root / "checks").glob("check_*.py"))
        return [self.lesson(script.stem.removeprefix("check_")) for script in scripts]

    def lessons_and_pages(self) -> list["LessonFiles"]:
        """Return the files of all lessons, and of pages such as the start page, with sources."""
        folders = sorted(folder for folder in (self.root / "sources").glob("*") if folder.is_dir())
        return [self.lesson(folder.name) for folder in folders]

    def lesson(self, stem: str) -> "LessonFiles":
        """Return the files of a lesson by its stem, such as "01_leaves"."""
        return LessonFiles(self.root, stem)

    def lesson_named(self, name: str) -> "LessonFiles":
        """Return the files of a lesson or page by "1", "01", "leaves" or "01_leaves"."""
        all_files = [*self.lessons(), *self.lessons_and_pages()]
        stems = sorted({files.stem for files in all_files})
        for stem in stems:
            number, _, topic = stem.partition("_")
            if name and name in (stem, number, number.lstrip("0"), topic):
                return self.lesson(stem)
        raise CourseError(f"There is no lesson {name!r}. The lessons here: {', '.join(stems)}.")


def _has_course(folder: Path) -> bool:
    return any((folder / "checks").glob("check_*.py"))


class LessonFiles:
    """The files of a lesson or page; those that learners do not get may be missing."""

    def __init__(self, root: Path, stem: str) -> None:
        self.root, self.stem = root, stem
        self.sources = root / "sources" / stem  # the folder that the author edits
        self.notebook = root / "notebooks" / f"{stem}.ipynb"  # the lesson, or its core
        self.deeper_notebooks = root / "notebooks" / "deeper" / stem
        self.exercises = root / "exercises" / f"{stem}_exercises.ipynb"  # the learner works here
        self.solutions = root / "solutions" / f"{stem}_solutions.ipynb"  # not for learners
        self.check_script = root / "checks" / f"check_{stem}.py"  # hand-written
        # Built: the expected observations and misconceptions; and the blank exercise notebook.
        self.expected = root / "checks" / "expected" / f"{stem}.json"
        self.blank = self.expected.with_suffix(".ipynb")

    @property
    def has_exercises(self) -> bool:
        """Whether this is a lesson: a page has no exercises."""
        return self.check_script.exists() or (self.sources / "exercises.md").exists()

    def notebooks(self) -> list[Path]:
        """Return the notebooks built from the lesson: the core, and the deeper sections."""
        return [self.notebook, *(self.deeper(file.stem) for file in self.deeper_files())]

    def deeper_files(self) -> list[Path]:
        """Return the sources of the deeper sections, a file for each."""
        return sorted((self.sources / "deeper").glob("*.md"))

    def deeper(self, section: str) -> Path:
        """Return the notebook of a deeper section, by the section's slug."""
        return self.deeper_notebooks / f"{section}.ipynb"

    def exercises_digest(self) -> str:
        """Return a digest of the sources of the exercises, the solutions and checks/expected."""
        sources = (self.sources / "exercises.md", self.sources / "answers.py", self.check_script)
        return text_digest(*(file.read_text(encoding="utf-8") for file in sources))

    def read_blank(self) -> str:
        """Return the text of the blank exercise notebook."""
        if not self.blank.exists():
            raise CourseError(f"{self.blank} is missing: fetch the course's files again.")
        return self.blank.read_text(encoding="utf-8")

    def read_prompts(self) -> dict[str, str]:
        """Return the prompts in the blank exercise notebook as Markdown, by exercise."""
        prompts, text = {}, ""
        for cell in json.loads(self.read_blank())["cells"]:
            if cell["cell_type"] == "markdown":
                text = "".join(cell["source"])
            elif cell["id"].endswith(ANSWER_ENDING):
                _, _, prompt = text.split("\n\n", 2)  # after the heading and the facts
                prompts[cell["id"].removesuffix(ANSWER_ENDING)] = prompt
        return prompts

    def read_starters(self) -> dict[str, str]:
        """Return each answer cell's code in the blank exercise notebook, by exercise."""
        return {
            cell["id"].removesuffix(ANSWER_ENDING): "".join(cell["source"])
            for cell in json.loads(self.read_blank())["cells"]
            if cell["id"].endswith(ANSWER_ENDING)
        }
