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
    lines = ["| case | verdict | points | due | s | reason |", "|---|---|---|---|---|---|"]
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
            told = [row.explanation for row in tried] + ([attempt.reason] if attempt else [])
            reason = next((text.replace("\n", " ") for text in told if text), "")[:80]
            lines.append(
                f"| {case.family}: {case.name} | {verdicts} | {points} | {due} | {seconds:.1f} "
                f"| {reason} |"
            )
    return "\n".join(lines)


def main() -> None:
    """Grade, print the table, what it took, and then what the command printed."""
    cases = [each for each in all_cases() if each.family in sys.argv[1:] or not sys.argv[1:]]
    with tempfile.TemporaryDirectory(prefix="corpus-") as folder:
        graded = grade_corpus(cases, Path(folder))
        done, attempts = graded.done, graded.attempts.values()
        print(table(graded))
        print(f"\nIn all: {done.seconds:.0f} s; {sum(each.seconds for each in attempts):.0f} s of")
        print(f"workers; at most {done.peak_memory / 2**20:.0f} MB of one of the grader's own")
        print(f"processes. Left: processes {done.left_processes}, files {done.left_files}")
        print(done.stdout, done.stderr, sep="\n")


if __name__ == "__main__":
    main()
