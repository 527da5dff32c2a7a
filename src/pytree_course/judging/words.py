"""The sentences of feedback: differences, findings, headlines, explanations, advice, help.

The templates `feedback` and `note` arrange them. Text between backticks is shown as code; names in
braces are filled in.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from msgspec import structs

from pytree_course.judging.verdicts import Finding, Verdict, VerdictKind, WrongLine
from pytree_course.observing.comparison import Difference
from pytree_course.observing.words import MAX_TEXT, describe, number_text
from pytree_course.texts import counted, truncate_around_difference, with_article

# How two observations differ.
DIFFERENCES = {
    "observation": "expected {expected}, not {got}",
    "value": "expected {expected}{index}, not {got}",
    "text": "expected {expected!r}, not {got!r}",
    "missing key": "{expected} is missing",
    "extra key": "the result should not have {got}",
    "key order": "the children should be in this order: {expected}; not in this order: {got}",
    "presence of aux_data": "one of the two results has aux_data, and the other has none",
    "aux_data": "the node has different aux_data",
    "items": "the items of this {expected} differ",
    "structure": "the two tree structures differ",
    "array length": "the arrays have different numbers of elements",
    "returned error": "your code returned the {got}; it should raise the {got}",
    "missing mention": "the error's message should mention {expected!r}",
    "extra mention": "the error's message should not mention {expected!r}",
}

# Reasons of verdicts, as clauses.
NOT_ATTEMPTED = "not attempted yet"
ANSWER_RAISED = "your code raised {type}"
ANSWER_CELL_RAISED = "your answer cell raised {type}: {message}"
NOT_DEFINED = (
    "your answer cell does not define `{name}`: did you rename it, or leave something out?"
)
OLDER_PYTHON = "{reason}. This is grading's Python {here}; the notebook was made with {there}"
CHECK_CELL_RAISED = "the check could not run: {type}: {message}"
OUT_OF_MEMORY = (
    "your answer cell used more memory than this computer has: look for an infinite loop"
)
NO_REPORT = "the check could not report its results: perhaps your code used up all memory"
SEVERAL_REPORTS = "your code reported results instead of the check, which only the check may do"
TOO_MUCH_OUTPUT = "your code printed, showed or returned far too much: look for a print in a loop"
OVER_MEMORY = "your code used more memory than allowed: look for a loop that keeps allocating"
OVER_PROCESSES = (
    "your code started more processes than allowed: look for a loop or function that starts some"
)
KERNEL_DIED = "your code terminated its Python process"
TIMED_OUT = "your code did not finish in time: look for an infinite loop"
WAITED = "your code waited for too long: look for a sleep, a lock, or a process that does not end"
NO_TIME_LEFT = (
    "not run to its end, because the exercises before it used up the time of the whole notebook"
)
NO_VERDICT = "the check gave no verdict"
MISSING_IN_GRADING = {
    "NameError": "Only answer cells are graded: put everything that an answer needs into its "
    "answer cell.",
    "ModuleNotFoundError": "Grading has only the course's packages: files beside the notebook are "
    "not available.",
}
"""By the type of an answer's error: its cause if the error is raised in grading only."""

FINDINGS = {
    "summary": "{sentence}",
    "no dict": "`{variable}` should be a dict, with a prediction for each line: keep the keys of "
    "the starter, and replace each `...`.",
    "error": "{where} raises {raised}: {meaning}.",
    "no error": "The task asks for {a_expected} here. Your code raises no error and returns "
    "{instead}.",
}
"""By kind of finding."""

# Explanations of wrong lines; none tells the right prediction.
WRONG_LINES = {
    "not predicted": "Not predicted yet.",
    "too high": "Too high.",
    "too low": "Too low.",
    "not this": "This is not right.",
    "not allowed": "This is {kinds}.",
    "belief": "{explanation}",
    "as above": "The reason is the same as for line {line}.{also}",
}
WHOLE_NUMBER = "a whole number"
THE_TEXT = 'the text "{word}"'

# What to do next.
WRITE_ANSWER = "Write your answer in the cell above. Run that cell, then run this cell."
FIRST_HINT = "Not sure how to start? Run `check.{name}.hint()` in a new cell."
NEXT_HINT = "For a hint: `check.{name}.hint()`"
HINTS_AGAIN = "To see the hints again: `check.{name}.hint()`"
SEE_SOLUTION = "For the solution: `check.{name}.solution()`"

SECTION_ELSEWHERE = "{section}, in {lesson}"

# Hints and the solution.
HINTS_TITLE = "Hint {opened} of {hints} · {title}"
NOT_THE_LAST_HINT = "Ask again for the next hint."
LAST_HINT = "That was the last hint."
SOLUTION_TITLE = "Solution · {title}"
OTHER_SOLUTIONS = "Your solution may be right as well. Other solutions:"
NO_SOLUTIONS = "This copy of the course does not include the solutions."
SOLUTION_CLOSED = (
    "The solution opens after a correct answer, or after {tries}. For a hint: `check.{name}.hint()`"
)

# Progress that cannot be written.
PROGRESS_NOT_KEPT = (
    "The course cannot save your progress to {file}: {why}. Unless that is fixed, this progress is "
    "lost when the notebook's kernel stops. Save your work, then check that the disk or your quota "
    "is not full. If you may not write to this folder, copy the course's folder somewhere you can "
    "and continue there."
)

# Checks that do not come to a verdict.
ANSWER_WAS_CALLED_TITLE = "Give the check {names} itself"
ANSWER_WAS_CALLED = "Write `{names}` without `()`."
NO_PLATFORM_TITLE = "JAX cannot compute here"
NO_PLATFORM = (
    "It cannot use `{platforms}`, which JAX_PLATFORMS names, or `jax_platforms` in a start-up "
    "file. Remove that setting, and start JupyterLab again."
)
XLA_FLAGS_TITLE = "Your shell sets XLA_FLAGS"
XLA_FLAGS_SET = (
    "A check cannot undo `{flags}`. If the kernel dies, or a check is wrong about your answer, "
    "remove that setting, and start JupyterLab again."
)
SLOW_CODE_TITLE = "Still running"
SLOW_CODE = "Your code is taking a while. To stop it, press ■ in the toolbar above."
INTERRUPTED_TITLE = "You stopped it"
INTERRUPTED = "Your code was working on `{inputs}`."
TOO_EARLY_TITLE = "Not yet: another cell comes first"
SET_UP_CELL_FIRST = (
    "Run the set-up cell first: the cell with `check = Checks(...)`, above the first exercise. "
    "Then run your answer cell, then this cell."
)
SET_UP_FAILED = (
    "The set-up cell, above the first exercise, failed: see the error below it. Then run it again."
)
PACKAGE_HIDDEN_BY_FILE = (
    "The set-up cell failed: Python imports the file `{file}` beside this notebook instead of the "
    "package. Rename the file, restart the kernel, and run the set-up cell again."
)
ANSWER_CELL_FIRST = (
    "Python does not know `{name}` yet. Run the answer cell above this cell first. Then run this "
    "cell."
)
ANOTHER_NAME = (
    "Your answer cell defined {defined}, but not `{name}`, which this check needs. Give your "
    "answer the name `{name}`, run its cell, then run this cell."
)
OUR_VERSION_TITLE = "This is our version, not yours"
OUR_VERSION = "Run your answer cell, then this cell."
STALE_ANSWER_TITLE = "Your answer cell's last run failed"
STALE_ANSWER = (
    "The check below judges the definition before it, and does not count as a try. Repair the "
    "answer cell and run it, then run this cell."
)
IN_ANOTHER_CELL = (
    "⚠ This answer is not in the answer cell above, where grading looks first: move it there."
)
FROM_ANOTHER_CELL = (
    "⚠ In grading, `{name}` is missing: it comes from another cell. Put it into the answer cell."
)
NOT_IN_GRADING = (
    "⚠ In grading, `{module}` is missing: it is no package of the course. Remove it, or ask "
    "your teacher for it."
)
WRONG_CALL = "This check takes {count} answer(s): run {call}"
USAGE = "Check your answer with {call}; for a hint: check.{name}.hint()"
NO_SUCH_EXERCISE = "This lesson has no exercise {name!r}. {advice}"
NEAR_NAME = "Did you mean {near!r}?"
ALL_NAMES = "Its exercises: {names}."


def describe_score(passed: int, cases: int, *, of_lines: bool) -> str:
    """Say how many cases passed, or how many predicted lines are right."""
    how_many = f"all {cases}" if passed == cases else f"{passed} of {cases}"
    return f"{how_many} {'lines right' if of_lines else 'cases passed'}"


def describe_failure(score: str, difference: Difference) -> str:
    """Give the reason of an incorrect verdict: its score and the first difference."""
    where = f"at {''.join(difference.path)}, " if difference.path else ""
    return f"{score}: {where}{describe_difference(difference)}"


def describe_difference(difference: Difference) -> str:
    """Say how two observations differ, in a clause such as "expected a tuple, not a list"."""
    expected, got = difference.expected, difference.got
    if difference.aspect == "observation":
        expected, got = describe(expected), describe(got)
    elif isinstance(expected, tuple) and isinstance(got, tuple):
        expected, got = number_text(expected), number_text(got)
    elif difference.aspect == "text":
        expected, got = truncate_around_difference(expected, got, MAX_TEXT)
    index = "" if difference.index is None else f" at index {difference.index}"
    return DIFFERENCES[difference.aspect].format(expected=expected, got=got, index=index)


def headline(verdict: Verdict) -> str:
    """Say in one line how an exercise went."""
    points = "practice"
    if verdict.exercise_points:
        points = counted(verdict.exercise_points, "point", "points")
    parts = {
        VerdictKind.CORRECT: [points, verdict.reason],
        VerdictKind.INCORRECT: [verdict.score],
        VerdictKind.NOT_ATTEMPTED: [points],
    }
    return " · ".join([verdict.title, *parts.get(verdict.kind, [verdict.reason])])


def finding_sentences(findings: Iterable[Finding]) -> list[str]:
    """Return each finding as a sentence or two; skip stored ones of a kind that is gone."""
    return [_finding_sentence(finding) for finding in findings if finding.kind in FINDINGS]


def _finding_sentence(finding: Finding) -> str:
    data = defaultdict(str, finding.data)  # a damaged record may lack entries
    data["where"] = "Using your result"
    if data["line"]:
        data["where"] = f"Line {data['number']}, `{data['line']}`,"
    data["a_expected"] = with_article(data["expected"])
    return FINDINGS[finding.kind].format_map(data)


def explain_line(line: WrongLine) -> str:
    """Explain a wrongly predicted line."""
    return WRONG_LINES.get(line.why, "").format_map(defaultdict(str, line.data))


def explain_lines(lines: Iterable[WrongLine]) -> list[str]:
    """Explain wrongly predicted lines; lines with the same explanation share one sentence."""
    alike: dict[tuple[str, str], list[WrongLine]] = {}
    for line in lines:
        key = (line.misconception, "" if line.misconception else explain_line(line))
        alike.setdefault(key, []).append(line)
    return [
        f"{'Line' if len(same) == 1 else 'Lines'} {', '.join(line.name for line in same)}: "
        f"{explain_line(same[0])}"
        for same in alike.values()
    ]


def explain_verdict(verdict: Verdict) -> str:
    """Say in a sentence or two why an exercise has its verdict."""
    sentences = [misconception.explanation for misconception in verdict.misconceptions]
    if verdict.lines:
        sentences = explain_lines(verdict.lines)
    sentences = sentences or finding_sentences(verdict.findings) or [reason_sentence(verdict)]
    return " ".join([*sentences, *remarks(verdict)])


def reason_sentence(verdict: Verdict, *, reveal: bool = True) -> str:
    """Return a verdict's reason as a sentence.

    Without `reveal`, the expected result of the case that failed is not mentioned: fresh cases stay
    secret.
    """
    clause = verdict.reason
    if verdict.kind is VerdictKind.INCORRECT and not reveal:
        clause = verdict.score
    end = "" if clause.endswith("?") else "."
    return f"{clause[0].upper()}{clause[1:]}{end}"


def remarks(verdict: Verdict) -> list[str]:
    """Return remarks that feedback in a notebook leaves out: on grading and on answer cells."""
    sentences = []
    if verdict.error_type in MISSING_IN_GRADING:
        sentences.append(MISSING_IN_GRADING[verdict.error_type])
    if verdict.note not in ("", verdict.reason):
        sentences.append(f"Note: {verdict.note}.")
    return sentences


def explained_line(line: WrongLine, explanations: Mapping[str, str]) -> WrongLine:
    """Add to a wrong line the explanations of its misconceptions, given by name."""
    if not line.misconception:
        return line
    others = line.data.get("others", "").split()
    also = "".join(f" Or: {explanations[name]}" for name in others if name in explanations)
    words = {"explanation": explanations.get(line.misconception, ""), "also": also}
    return structs.replace(line, data={**line.data, **words})


def advice(kind: VerdictKind, name: str, hints_left: int, is_solution_due: bool) -> list[str]:
    """Return the next steps for an exercise that is not correct."""
    if kind is VerdictKind.NOT_ATTEMPTED:
        return [WRITE_ANSWER, FIRST_HINT.format(name=name)]
    if hints_left:
        return [NEXT_HINT.format(name=name)]
    return [(SEE_SOLUTION if is_solution_due else HINTS_AGAIN).format(name=name)]
