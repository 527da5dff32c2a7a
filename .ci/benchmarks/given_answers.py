"""What the checks and the feedback make of answers that were written elsewhere: see `--help`.

python .ci/benchmarks/given_answers.py ANSWERS [LESSON [EXERCISE]]

ANSWERS is a folder with `<lesson>/answers.json`: a list of exercise, kind (wrong or right), id,
belief and code. Each answer is judged on the public cases, and on fresh ones of one seed too. It
prints the belief and what the learner would read, and at the end how many answers were accepted and
where the feedback came from. With `--json FILE` it writes the same for programs.

The answers run in a process of the author, outside of the sandbox: read them first.
"""

import argparse
import json
import linecache
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from mutation_testing.author_process import AuthorProcess, EndedError
from pytree_course.course import Course
from pytree_course.judging.expected import ExpectedExercise
from pytree_course.judging.judge import judge
from pytree_course.judging.verdicts import VerdictKind
from pytree_course.judging.words import explain_verdict
from pytree_course.running.outcomes import PUBLIC_SEED
from pytree_course.sources.authors_answers import (
    AnswerError,
    expect_exercise,
    run_answer,
)
from pytree_course.sources.exercises import Answer, Exercise
from pytree_course.sources.lesson_sources import LessonSources

SEEDS = (PUBLIC_SEED, 101)
SECONDS_TO_PREPARE, SECONDS = 600, 60

_EXPECTED: dict[tuple[str, int], ExpectedExercise] = {}


@dataclass(frozen=True)
class Judged:
    """What an answer got: on public cases, or on fresh ones where it passes the public ones."""

    accepted: bool
    verdict: str
    source: str  # of the feedback: names of misconceptions, "reason", or "none"
    feedback: str


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("answers", type=Path)
    parser.add_argument("lesson", nargs="?", default="")
    parser.add_argument("exercise", nargs="?", default="")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    rows = []
    for given, judged in judged_answers(chosen.answers, chosen.lesson, chosen.exercise):
        rows.append(given | vars(judged))
        sign = {("wrong", True): "ACCEPTED", ("right", False): "REFUSED"}
        verdict = sign.get((given["kind"], judged.accepted), judged.verdict)
        print(f"\n{given['lesson']} {given['exercise']} {given['kind']} {given['id']}: {verdict}")
        if given["kind"] == "wrong" or not judged.accepted:
            print(f"  belief   {given['belief']}\n  {judged.source}\n  feedback {judged.feedback}")
    print("\n" + "\n".join(summary(rows)))
    if chosen.json:
        chosen.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


def judged_answers(
    folder: Path, lesson: str, exercise: str
) -> Iterator[tuple[dict[str, Any], Judged]]:
    """Yield each answer of a folder and what it got."""
    course = Course.above()
    lessons = [course.lesson_named(lesson)] if lesson else course.lessons()
    for files in lessons:
        text = (folder / files.stem / "answers.json").read_text(encoding="utf-8")
        answers = [each for each in json.loads(text) if exercise in ("", each["exercise"])]
        with closing(AuthorProcess(files)) as process:
            for name in dict.fromkeys(each["exercise"] for each in answers):
                process.call(SECONDS_TO_PREPARE, _prepare, name)
                for each in (each for each in answers if each["exercise"] == name):
                    try:
                        judged = process.call(SECONDS, _judged, name, each["code"])
                    except EndedError as error:
                        judged = Judged(False, str(error), "none", "")
                        process.call(SECONDS_TO_PREPARE, _prepare, name)
                    yield each | {"lesson": files.stem}, judged


def _prepare(sources: LessonSources, name: str) -> None:
    for seed in SEEDS:
        _EXPECTED[name, seed] = expect_exercise(sources, sources.exercises[name], seed)


def in_a_cell(exercise: Exercise, code: str) -> Answer:
    """Return an answer whose errors know its lines, as those of a notebook's cell do."""
    name = "ipykernel_"
    file = f"<{exercise.name}: {name}>"
    code += "\n"  # so that no result of another run of it is taken
    linecache.cache[file] = (len(code), None, code.splitlines(True), file)
    return Answer(name, code, exercise.cell)


def _judged(sources: LessonSources, name: str, code: str) -> Judged:
    exercise = sources.exercises[name]
    answer = in_a_cell(exercise, code)
    for seed in SEEDS:
        try:
            outcomes = run_answer(sources, exercise, answer, seed)
        except AnswerError as error:
            return Judged(False, "error", "none", str(error))
        verdict = judge(_EXPECTED[name, seed], outcomes)
        if verdict.kind is not VerdictKind.CORRECT:
            held = [each.name for each in verdict.misconceptions]
            held += [line.misconception for line in verdict.lines if line.misconception]
            speaks = verdict.findings or verdict.lines
            source = "misconception " + ", ".join(held) if held else "reason" if speaks else "none"
            return Judged(False, str(verdict.kind), source, explain_verdict(verdict))
    return Judged(True, str(verdict.kind), "none", "")


def summary(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Say of each lesson how many answers were accepted, and where the feedback came from."""
    for lesson in dict.fromkeys(row["lesson"] for row in rows):
        of_lesson = [row for row in rows if row["lesson"] == lesson]
        wrong = [row for row in of_lesson if row["kind"] == "wrong"]
        right = [row for row in of_lesson if row["kind"] == "right"]
        refused = [row for row in wrong if not row["accepted"]]
        sources = Counter(row["source"].split()[0] for row in refused)
        yield (
            f"{lesson}: {len(refused)} of {len(wrong)} wrong answers refused, "
            f"{sum(row['accepted'] for row in right)} of {len(right)} right ones accepted; "
            + ", ".join(f"{count} by {source}" for source, count in sources.most_common())
        )


if __name__ == "__main__":
    main()
