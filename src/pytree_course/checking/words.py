"""All words of a failed check: reasons, headlines, explanations, advice."""

from collections.abc import Mapping

from pytree_course.checking.verdicts import Verdict, VerdictKind


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
