"""docs/cases.md: for each lesson, how many wrong answers its checks were tried with."""

import re
from collections.abc import Sequence

from pytree_course.authoring.mutation_testing import HEADINGS, Findings
from pytree_course.authoring.source_texts import text_digest
from pytree_course.authoring.sources import read_sources
from pytree_course.course import Course, LessonFiles, write_file

INTRODUCTION = """# What the checks were tried with

`python3 course.py cases --write` writes this page. Each check was given *mutants*: right answers
with one small change each. It refuses a mutant (killed), or the author says why no input can tell
it from the right answer (equivalent), or something is left to do (surviving). The memoriser
knows every public case and its result, and is tried with fresh cases on 20 seeds; not on
predictions, whose lines are the same for everybody.
"""


def write_case_table(files: LessonFiles, found: Sequence[Findings]) -> None:
    """Write what was found in all exercises of a lesson; the other lessons' parts stay."""
    course = Course(files.root)
    parts = _parts(course)
    rows = [[each.exercise.name, *map(str, each.counts), each.memoriser_refused] for each in found]
    headings, *lines = (f"| {' | '.join(row)} |\n" for row in [HEADINGS, *rows])
    rule = "|---" + "|--:" * (len(HEADINGS) - 1) + "|\n"
    parts[files.stem] = f"{_digest(files)}\n\n{headings}{rule}{''.join(lines)}"
    text = "".join(f"\n## {stem}\n\n{parts[stem]}" for stem in sorted(parts))
    write_file(course.root / "docs" / "cases.md", INTRODUCTION + text)


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
