"""Grade the corpus, or the families that are named, and print each case with its verdict.

python -m tests.hostile [FAMILY ...]
"""

import sys
import tempfile
from pathlib import Path

from tests.hostile.families import all_cases
from tests.hostile.grading import GradedCorpus, grade_corpus


def table(graded: GradedCorpus) -> str:
    """Return a Markdown table: what each case earned, how, and in how many seconds."""
    lines = ["| case | verdict | points | due | s |", "|---|---|---|---|---|"]
    for student in graded.students:
        attempt = graded.attempt(student)
        for case in student.cases:
            rows = [] if attempt is None else attempt.rows
            rows = [row for row in rows if not case.is_local or row.exercise in case.answers]
            tried = [row for row in rows if row.kind != "not attempted"] or rows[:1]
            verdicts = ", ".join(dict.fromkeys(row.kind for row in tried)) or "no attempt"
            points = sum(row.points for row in rows)
            due = sum(row.exercise_points for row in rows if row.exercise in case.earns)
            seconds = sum(row.seconds for row in rows)
            if attempt is not None and not case.is_local:
                seconds = attempt.seconds
            wrong = [
                f"**{row.exercise}: {row.passed} of {row.cases}**"
                for row in rows
                if row.points != row.exercise_points * (row.exercise in case.earns)
            ]
            wrong += [
                f"**{row.exercise} is not {case.kinds[row.exercise]}**"
                for row in rows
                if row.kind != case.kinds.get(row.exercise, row.kind)
            ]
            told = [row.explanation for row in rows] + ([attempt.reason] if attempt else [])
            if case.reason not in "\n".join(told):
                wrong.append(f"**not told of {case.reason!r}, but: {told[:1]}**")
            if case.said not in graded.done.said:
                wrong.append(f"**not printed: {case.said!r}**")
            lines.append(
                f"| {case.family}: {case.name} | {verdicts} | {points} {', '.join(wrong)} | {due} "
                f"| {seconds:.1f} |"
            )
    for student in [*graded.students, *graded.honest]:
        rows = [graded.row(student, name) for name in student.beside if graded.attempt(student)]
        lines += [
            f"**{student.name} lost {row.exercise}: {row.kind}: {row.explanation}**"
            for row in rows
            if row.points < row.exercise_points
        ]
    return "\n".join([*lines, "", *about_all(graded)])


def about_all(graded: GradedCorpus) -> list[str]:
    """Say what the whole grading took, and what it left."""
    done = graded.done
    of_workers = sum(each.seconds for each in graded.attempts.values())
    slowest = max(graded.attempts.values(), key=lambda each: each.seconds)
    return [
        f"Slowest submission: {slowest.student}, {slowest.seconds:.0f} s of one worker",
        f"In all: {done.seconds:.0f} s; {of_workers:.0f} s of workers",
        f"Most memory of one of the grader's own processes: {done.peak_memory / 2**20:.0f} MB",
        f"Left: processes {done.left_processes}, files {done.left_files}",
        "",
    ]


def main() -> None:
    """Grade, print the table, and then what the command printed."""
    cases = [each for each in all_cases() if each.family in sys.argv[1:] or not sys.argv[1:]]
    with tempfile.TemporaryDirectory(prefix="corpus-") as folder:
        graded = grade_corpus(cases, Path(folder))
        print(table(graded))
        print(graded.done.stdout, graded.done.stderr, sep="\n")


if __name__ == "__main__":
    main()
