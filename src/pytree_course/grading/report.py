"""Show a grade: as a table, as JSON, as JUnit XML."""

import json
from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pytree_course.checking.feedback import LOOKS, feedback
from pytree_course.checking.running import PUBLIC_SEED
from pytree_course.checking.verdicts import Verdict, VerdictKind
from pytree_course.grading.grade import Grade

STYLES = {
    VerdictKind.CORRECT: "green",
    VerdictKind.NOT_ATTEMPTED: "dim",
    VerdictKind.INCORRECT: "yellow",
}


def show(grade: Grade, console: Console) -> None:
    """Print a table of the exercises, and below it what the wrong ones yielded."""
    console.print(Text(grade.title, style="bold"))
    console.print(Text(str(grade.notebook)), soft_wrap=True)
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("Exercise", no_wrap=True)
    table.add_column("Points", justify="right", no_wrap=True)
    table.add_column("Verdict", no_wrap=True)
    table.add_column("Feedback", ratio=1)
    for verdict in grade.verdicts:
        look = LOOKS[verdict.kind]
        table.add_row(
            Text(verdict.exercise),
            f"{verdict.points}/{verdict.exercise_points}",
            Text(f"{look.symbol} {look.word}", style=STYLES.get(verdict.kind, "red")),
            Text(explanation(verdict, grade.notes)),
        )
    console.print(table)
    for verdict in grade.verdicts:
        if verdict.failure is not None:
            console.print(Text(feedback(verdict).text), end="\n\n")
    which = "the public cases" if grade.seed == PUBLIC_SEED else "fresh cases"
    correct = sum(verdict.kind is VerdictKind.CORRECT for verdict in grade.verdicts)
    console.print(
        f"{grade.points} of {grade.all_points} points, "
        f"{correct} of {len(grade.verdicts)} exercises correct, on {which}."
    )


def explanation(verdict: Verdict, notes: Mapping[str, str], *, reveal: bool = True) -> str:
    """Say in a sentence or two why an exercise has its verdict.

    Parameters
    ----------
    verdict
        What was decided.
    notes
        What was odd about an answer cell, by exercise.
    reveal
        Whether to say what was expected in the case that failed; it may be one that no learner
        has seen.
    """
    sentences = [misconception.explanation for misconception in verdict.misconceptions]
    failure = verdict.failure
    if not sentences:
        reason = verdict.reason
        if verdict.kind is VerdictKind.INCORRECT and not reveal:
            reason = f"{verdict.passed} of {verdict.cases} cases passed"
        sentences = [f"{reason[0].upper()}{reason[1:]}."]
    if failure is not None and failure.got.get("type") == "NameError":
        sentences.append(
            "Only answer cells are graded: put everything an answer needs into its own cell."
        )
    note = notes.get(verdict.exercise)
    if note is not None and note != verdict.reason:
        sentences.append(f"Note: {note}.")
    return " ".join(sentences)


def to_json(grade: Grade) -> str:
    """Return a grade as JSON text."""
    rows: list[dict[str, Any]] = [
        {
            "exercise": verdict.exercise,
            "verdict": str(verdict.kind),
            "points": verdict.points,
            "exercise_points": verdict.exercise_points,
            "cases_passed": verdict.passed,
            "cases": verdict.cases,
            "misconceptions": [misconception.name for misconception in verdict.misconceptions],
            "feedback": explanation(verdict, grade.notes),
        }
        for verdict in grade.verdicts
    ]
    data = {
        "lesson": grade.lesson,
        "notebook": str(grade.notebook),
        "seed": grade.seed,
        "points": grade.points,
        "all_points": grade.all_points,
        "all_correct": grade.all_correct,
        "exercises": rows,
    }
    return json.dumps(data, indent=2, ensure_ascii=False)


def to_junit(grade: Grade) -> str:
    """Return a grade as JUnit XML: an exercise is a test case."""
    failed = [verdict for verdict in grade.verdicts if verdict.kind is not VerdictKind.CORRECT]
    skipped = [verdict for verdict in failed if verdict.kind is VerdictKind.NOT_ATTEMPTED]
    suite = ElementTree.Element(
        "testsuite",
        name=grade.lesson,
        tests=str(len(grade.verdicts)),
        failures=str(len(failed) - len(skipped)),
        skipped=str(len(skipped)),
        errors="0",
    )
    for verdict in grade.verdicts:
        case = ElementTree.SubElement(
            suite, "testcase", classname=grade.lesson, name=verdict.exercise
        )
        if verdict in skipped:
            ElementTree.SubElement(case, "skipped", message=xml_text(verdict.reason))
        elif verdict in failed:
            message = f"{verdict.kind}: {verdict.reason}"
            failure = ElementTree.SubElement(case, "failure", message=xml_text(message))
            failure.text = xml_text(feedback(verdict).text)
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def xml_text(text: str) -> str:
    """Replace the characters that XML cannot hold at all, such as NUL."""
    return "".join(
        character if character in "\t\n" or ord(character) >= 32 else "\N{REPLACEMENT CHARACTER}"
        for character in text
    )
