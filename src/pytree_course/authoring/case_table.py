"""docs/cases.md: for each lesson, how many wrong answers its checks were tried with."""

import re
from collections.abc import Sequence

from pytree_course.authoring.mutation_testing import HEADINGS, Findings
from pytree_course.authoring.source_texts import text_digest
from pytree_course.authoring.sources import read_sources
from pytree_course.course import Course, LessonFiles, write_file
from pytree_course.rendering import render


def write_case_table(files: LessonFiles, found: Sequence[Findings]) -> None:
    """Write what was found in all exercises of a lesson; the other lessons' parts stay."""
    course = Course(files.root)
    parts = sorted((_parts(course) | {files.stem: found}).items())
    digest = _digest(files)
    text = render("authoring/cases.md", parts=parts, digest=digest, headings=HEADINGS)
    write_file(course.root / "docs" / "cases.md", text + "\n")


def is_current(files: LessonFiles) -> bool:
    """Whether docs/cases.md was written since the lesson's answers or checks changed."""
    return _parts(Course(files.root)).get(files.stem, "").startswith(_digest(files))


def _digest(files: LessonFiles) -> str:
    """Return a digest of all that is counted: of the code, and not of prompts and explanations."""
    code = [files.check_script.read_text(encoding="utf-8")]
    for name, exercise in sorted(read_sources(files).exercises.items()):
        for answer in (*exercise.right_answers, *exercise.misconceptions):
            code += [name, answer.name, answer.source]
        code += [each.name for each in exercise.equivalents]
    return f"<!-- {text_digest(*code)} -->"


def _parts(course: Course) -> dict[str, str]:
    """Return the lessons' parts of the page, by stem."""
    page = course.root / "docs" / "cases.md"
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    _, *parts = re.split(r"^## ", text, flags=re.MULTILINE)
    return {part.split("\n", 1)[0]: part.split("\n", 1)[1].strip("\n") + "\n" for part in parts}
