"""What the kernels of one submission are given: one check script and a seed, but no answers."""

from dataclasses import dataclass, replace
from pathlib import Path

from pytree_course.course import Course, LessonFiles
from pytree_course.judging.expected import Expected


@dataclass(frozen=True)
class RunSettings:
    """How to run answers: the seed of the cases, and in the sandbox or not."""

    seed: int
    in_sandbox: bool


@dataclass(frozen=True)
class KernelCourse:
    """A course of one lesson, as texts that can be sent to another machine."""

    stem: str
    check_script: str
    expected: str  # the names of the exercises; no observations, no hints

    @classmethod
    def of(cls, files: LessonFiles, expected: Expected) -> "KernelCourse":
        """Take from a lesson what a kernel needs."""
        exercises = {
            name: replace(exercise, observations=[], misconceptions=[], hints=[])
            for name, exercise in expected.graded.items()
        }
        bare = replace(expected, exercises=exercises, predictions={})
        script = files.check_script.read_text(encoding="utf-8")
        return cls(files.stem, script, bare.to_text())

    def write(self, folder: Path) -> None:
        """Write the files into a new folder."""
        files = Course(folder).lesson(self.stem)
        files.expected.parent.mkdir(parents=True)
        files.check_script.write_text(self.check_script, encoding="utf-8")
        files.expected.write_text(self.expected, encoding="utf-8")
