"""What a learner's kernel needs of the course, and nothing else of it."""

from dataclasses import dataclass, replace
from pathlib import Path

from pytree_course.checking.expected import Expected
from pytree_course.course import Course, LessonFiles


@dataclass(frozen=True)
class CheckRuntime:
    """The check script of a lesson, and the names of its exercises; no observations, no hints.

    It goes to wherever the kernel runs, which may be another machine.

    Attributes
    ----------
    stem
        The lesson's stem, such as "01_leaves".
    check_script, expected
        The texts of these files.
    """

    stem: str
    check_script: str
    expected: str

    @classmethod
    def of(cls, files: LessonFiles) -> "CheckRuntime":
        """Take from a lesson's files what a kernel needs."""
        expected = Expected.read(files.expected)
        exercises = {
            name: replace(exercise, observations=[], misconceptions=[], hints=[])
            for name, exercise in expected.exercises.items()
        }
        bare = replace(expected, exercises=exercises, predictions={})
        script = files.check_script.read_text(encoding="utf-8")
        return cls(files.stem, script, bare.to_text())

    def write(self, folder: Path) -> None:
        """Write it as a course of one lesson."""
        files = Course(folder).lesson(self.stem)
        files.expected.parent.mkdir(parents=True)
        files.check_script.write_text(self.check_script, encoding="utf-8")
        files.expected.write_text(self.expected, encoding="utf-8")
        # The sandbox's user is another one, and has to read this whatever our umask is.
        for written in (folder, *folder.rglob("*")):
            written.chmod(0o755 if written.is_dir() else 0o644)
