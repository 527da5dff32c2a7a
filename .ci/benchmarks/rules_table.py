"""How often each rule of the general findings speaks, and what it says: see `--help`.

python .ci/benchmarks/rules_table.py [--answers FOLDER] [--mutants N] [--pairs FILE] [LESSON]

Wrong answers are the misconceptions, each judged as if its author had not written it; N mutants
for each exercise; and those of a folder as `given_answers.py` takes it. The table says of each kind
of finding on how many wrong answers it is, in how many exercises, and, of misconceptions left out,
how often it leads to the section that the author's own explanation leads to. `--pairs` writes each
finding beside the author's explanation, or the belief, to be judged by hand. Other right answers
have to get no finding at all.

The answers run in a process of the author, outside of the sandbox: read them first.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from given_answers import SECONDS, SECONDS_TO_PREPARE, in_a_cell
from mutation_testing.author_process import AuthorProcess, EndedError
from mutation_testing.mutants import mutants
from pytree_course.course import Course
from pytree_course.judging.expected import ExpectedExercise
from pytree_course.judging.judge import judge
from pytree_course.judging.verdicts import VerdictKind
from pytree_course.judging.words import finding_sentences
from pytree_course.running.outcomes import PUBLIC_SEED
from pytree_course.sources.authors_answers import (
    AnswerError,
    expect_exercise,
    run_answer,
    with_misconceptions,
)
from pytree_course.sources.lesson_sources import LessonSources

_EXPECTED: dict[str, ExpectedExercise] = {}

Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("lesson", nargs="?", default="")
    parser.add_argument("--answers", type=Path)
    parser.add_argument("--mutants", type=int, default=0)
    parser.add_argument("--pairs", type=Path)
    chosen = parser.parse_args()
    rows = list(judged(chosen.lesson, chosen.answers, chosen.mutants))
    print("\n".join(table(rows)))
    if chosen.pairs:
        chosen.pairs.write_text(json.dumps(rows, indent=1), encoding="utf-8")


def judged(lesson: str, folder: Path | None, most: int) -> Iterator[Row]:
    """Yield what is found of each wrong answer."""
    course = Course.around()
    for files in [course.lesson_named(lesson)] if lesson else course.lessons():
        given = []
        if folder is not None:
            text = (folder / files.stem / "answers.json").read_text(encoding="utf-8")
            given = [each for each in json.loads(text) if each["kind"] == "wrong"]
        with closing(AuthorProcess(files)) as process:
            for name in process.call(SECONDS, _names):
                answers = process.call(SECONDS_TO_PREPARE, _prepare, name, most)
                answers += [
                    {"from": "given", "name": each["id"], "said": each["belief"]}
                    | {"code": each["code"], "section": ""}
                    for each in given
                    if each["exercise"] == name
                ]
                for answer in answers:
                    try:
                        found = process.call(SECONDS, _found, name, answer)
                    except EndedError:
                        process.call(SECONDS_TO_PREPARE, _prepare, name, 0)
                        continue
                    if found is not None:
                        yield answer | {"exercise": name} | found


def _names(sources: LessonSources) -> list[str]:
    return [name for name, exercise in sources.exercises.items() if exercise.misconceptions]


def _prepare(sources: LessonSources, name: str, most: int) -> list[Row]:
    """Run the author's answers, and return those that are to be judged."""
    exercise = sources.exercises[name]
    right = expect_exercise(sources, exercise, PUBLIC_SEED)
    _EXPECTED[name] = with_misconceptions(right, sources, PUBLIC_SEED)
    rows = [
        {"from": "left out", "name": each.name, "said": each.explanation}
        | {"code": each.source, "section": each.section}
        for each in exercise.misconceptions
    ]
    changed = [
        mutant for each in exercise.right_answers for mutant in mutants(each.name, each.source)
    ]
    chosen = np.random.default_rng(0).permutation(len(changed))[:most]
    rows += [
        {"from": "mutant", "name": changed[at].name, "said": changed[at].name}
        | {"code": changed[at].source, "section": ""}
        for at in chosen
    ]
    rows += [
        {"from": "right", "name": each.name, "said": "", "code": each.source, "section": ""}
        for each in exercise.right_answers
    ]
    return rows


def _found(sources: LessonSources, name: str, answer: Row) -> Row | None:
    """Return what is found of an answer; None where a misconception explains it, or it is right."""
    exercise, expected = sources.exercises[name], _EXPECTED[name]
    if answer["from"] == "left out":
        others = [each for each in expected.misconceptions if each.name != answer["name"]]
        expected = replace(expected, misconceptions=others)
    try:
        given = in_a_cell(exercise, answer["code"])
        verdict = judge(expected, run_answer(sources, exercise, given, PUBLIC_SEED))
    except AnswerError:
        return None
    if answer["from"] == "right" and verdict.kind is not VerdictKind.CORRECT:
        raise AssertionError(f"{name}: {answer['name']} is refused")
    if verdict.kind is VerdictKind.CORRECT or verdict.misconceptions or verdict.lines:
        return None
    sections = {each.name: each.section for each in expected.misconceptions}
    held = [each.data.get("misconception", "") for each in verdict.findings]
    return {
        "kinds": [each.kind for each in verdict.findings],
        "sentences": finding_sentences(verdict.findings),
        "leads to": [sections.get(each, exercise.section) for each in held],
        "failed": len(verdict.failed),
        "cases": verdict.cases,
    }


def table(rows: list[Row]) -> Iterator[str]:
    """Return the table, a line for each kind of finding."""
    counts: Counter[str] = Counter()
    exercises = defaultdict(set)
    sections = defaultdict(list)
    by_origin: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        for kind, leads_to in zip(row["kinds"] or ["(none)"], row["leads to"] or [""], strict=True):
            counts[kind] += 1
            exercises[kind].add(row["exercise"])
            by_origin[kind][row["from"]] += 1
            if row["from"] == "left out" and leads_to:
                sections[kind].append(leads_to == row["section"])
    yield f"{'finding':18} answers exercises  left out  mutants  given   section as the author's"
    for kind, count in counts.most_common():
        origin, same = by_origin[kind], sections[kind]
        share = f"{sum(same)} of {len(same)}" if same else "–"
        yield (
            f"{kind:18} {count:7} {len(exercises[kind]):9}  {origin['left out']:8} "
            f"{origin['mutant']:8} {origin['given']:6}   {share}"
        )


if __name__ == "__main__":
    main()
