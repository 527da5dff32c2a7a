"""Write docs/cases.md: the results of mutation testing, and the features of each check's cases."""

import ast
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from mutation_testing.trials import HEADINGS, Findings
from pytree_course.authoring.validation import features_shown
from pytree_course.course import Course, LessonFiles, write_file
from pytree_course.sources.exercises import Exercise
from pytree_course.sources.lesson_sources import LessonSources, read_sources
from pytree_course.texts import text_digest

ROW = re.compile(r"^\| (\w+)(?: †)? (\|.*<!-- (\w+) --> \|)$", re.MULTILINE)
OLDER = " †"
"""Mark of an exercise to be tested again: it has changed, or mutants survived."""
DIGEST = 12  # characters
_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def write_case_table(files: LessonFiles, found: Sequence[Findings]) -> None:
    """Write the results of exercises of a lesson; the rows of the others stay."""
    course, sources = Course(files.root), read_sources(files)
    rows = {match[1]: match[2] for match in ROW.finditer(_parts(course).get(files.stem, ""))}
    for each in found:
        name = each.exercise.name
        cells = [*each.counts, each.memoriser_refused]
        # Without a digest, it is tested again.
        digest = "todo" if each.to_do else _digest(sources, each.exercise)
        rows[name] = f"| {' | '.join(map(str, cells))} <!-- {digest} --> |"
    older = [
        name
        for name, row in rows.items()
        if name in sources.graded and _is_older(sources, name, row)
    ]
    part = _render(
        "cases_of_a_lesson.md",
        headings=HEADINGS,
        rows=[
            f"| {name}{OLDER if name in older else ''} {rows[name]}"
            for name in sources.graded
            if name in rows
        ],
        features=feature_table(sources),
    )
    parts = sorted((_parts(course) | {files.stem: part}).items())
    write_file(course.root / "docs" / "cases.md", _render("cases.md", parts=parts) + "\n")


def feature_table(sources: LessonSources) -> str:
    """Return a table of the features in the cases of each exercise of a lesson."""
    exercises = [each for each in sources.graded.values() if not each.is_prediction]
    marks = {each.name: features_shown(sources, each) for each in exercises}
    names = list(next(iter(marks.values()), {}))
    features = {name: [each[name] for each in marks.values()] for name in names}
    return _render("features.md", exercises=list(marks), features=features)


def stale(files: LessonFiles) -> list[str]:
    """Return the graded exercises whose answers or checks changed since docs/cases.md was written.

    Practice is left out: no points depend on its checks.
    """
    sources = read_sources(files)
    rows = {
        match[1]: match[2] for match in ROW.finditer(_parts(Course(files.root)).get(files.stem, ""))
    }
    return [name for name in sources.graded if _is_older(sources, name, rows.get(name, ""))]


def _is_older(sources: LessonSources, name: str, row: str) -> bool:
    return f"<!-- {_digest(sources, sources.exercises[name])} -->" not in row


def _digest(sources: LessonSources, exercise: Exercise) -> str:
    """Return a digest of the exercise's code, without its prose."""
    code = [exercise.setup]
    code += _of_check(sources.files.check_script.read_text(encoding="utf-8"), exercise.name)
    for answer in (*exercise.right_answers, *exercise.misconceptions):
        code += [answer.name, *_code(answer.source)]
    code += [each.name for each in exercise.equivalents]
    return text_digest(*code)[-DIGEST:]


def _of_check(script: str, exercise: str) -> list[str]:
    """Return the code of an exercise's check, and of everything in its script that it uses."""
    defined = {name: node for node in ast.parse(script).body for name in _names_bound_by(node)}
    used: dict[str, ast.stmt] = {}
    waiting = [exercise]
    while waiting:
        name = waiting.pop()
        if name in defined and name not in used:
            used[name] = defined[name]
            waiting += [part.id for part in ast.walk(defined[name]) if isinstance(part, ast.Name)]
    lines = script.splitlines()
    parts = [lines[_first_line(used[name]) - 1 : used[name].end_lineno] for name in sorted(used)]
    return [line for part in parts for line in _code("\n".join(part))]


def _names_bound_by(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]
    return []


def _first_line(node: ast.stmt) -> int:
    """Return the first line of a statement, decorators included."""
    decorators = getattr(node, "decorator_list", [])
    return min(part.lineno for part in (node, *decorators))


def _code(source: str) -> list[str]:
    """Return the lines of code without docstrings."""
    left_out = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node)
        for line in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)
    }
    return [line for at, line in enumerate(source.splitlines(), 1) if at not in left_out]


def _parts(course: Course) -> dict[str, str]:
    """Return the lessons' sections of the page, by stem."""
    page = course.root / "docs" / "cases.md"
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    _, *parts = re.split(r"^## ", text, flags=re.MULTILINE)
    return {part.split("\n", 1)[0]: part.split("\n", 1)[1].strip("\n") for part in parts}


def _render(template: str, **values: Any) -> str:
    return _TEMPLATES.get_template(template).render(values).removesuffix("\n")
