"""Multiple-choice questions: a case, with its right result and those of misconceptions."""

import random
import re
from dataclasses import dataclass, field, replace
from string import ascii_uppercase

from pytree_course.judging.expected import (
    Belief,
    BuiltLesson,
    ExpectedExercise,
    Given,
    Misconception,
)
from pytree_course.observing import observations as obs
from pytree_course.observing.words import expression

MOST_WRONG = 3  # options
MOST_CASES = 8  # of one belief: those that tell it best from the others
LONGEST_OPTION = 60  # characters
RAISES = "It raises an error."
AN_ERROR = obs.String(type="str", value="error")  # a predicted one
YES_AND_NO = {"`True`", "`False`"}


@dataclass(frozen=True)
class Question:
    """A question about a belief, with one right answer."""

    about: Belief
    case: str  # its number; empty for a lesson's prediction
    text: str
    given: Given
    options: dict[str, str]  # by letter; empty where the answer is to be written
    answer: str
    section: str  # slug of the lesson section to reread
    beliefs: dict[str, list[Misconception]]  # that yield an option, the one asked about first
    why: list[str] = field(default_factory=list)  # paragraphs in which the lesson explains it

    def said(self, choice: str) -> str:
        """Return the option of a letter; or what was written, where there are none."""
        return self.options[choice] if self.options else choice

    def is_right(self, choice: str) -> bool:
        """Say whether the right option was chosen, or the right answer written."""
        said = self.said(choice)
        return said == self.answer if self.options else is_same(said, self.answer)

    def reordered(self, times: int) -> "Question":
        """Return the question with its options in another order, by how often it was asked.

        What a lesson says of a prediction names its letters: those stay.
        """
        if not self.about.name or not times:
            return self
        mixed = [*self.options.values()]
        random.Random(f"{self.about} {self.case} {times}").shuffle(mixed)
        return replace(self, options=dict(zip(self.options, mixed, strict=True)))


def questions(expected: BuiltLesson) -> dict[Belief, list[Question]]:
    """Return the questions of a lesson by what they are about, the best ones first."""
    by_belief: dict[Belief, list[Question]] = {}
    for exercise in map(expected.expected, expected.exercises):
        results = {case: _results(exercise, case) for case in exercise.given}
        for each in exercise.misconceptions:
            about = Belief(expected.lesson, exercise.name, each.name)
            by_belief[about] = _about(about, each.section, exercise, results)
    for section, facts in expected.sections.items():
        for name in facts.predictions:
            about = Belief(expected.lesson, name)
            if expected.predictions[name].alone is not None:
                by_belief[about] = [_asked_again(about, expected, section)]
    return {about: asked for about, asked in by_belief.items() if asked}


def for_class(expected: BuiltLesson) -> list[Question]:
    """Return a question about each misconception of a lesson, each case only once."""
    best = [asked[0] for about, asked in questions(expected).items() if about.name]
    return [*{(each.about.exercise, each.case): each for each in best}.values()]


def is_same(choice: str, answer: str) -> bool:
    """Compare the words and numbers of written answers: "6, 7" is "6 and 7", "2.3" is "2.30"."""
    return _plain(choice) == _plain(answer)


def _plain(text: str) -> list[str | float]:
    without_thousands = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text.lower())
    words = re.findall(r"\d+(?:\.\d+)?|\w+", without_thousands)
    return [float(word) if word[0].isdecimal() else word for word in words if word != "and"]


def _asked_again(about: Belief, expected: BuiltLesson, section: str) -> Question:
    prediction = expected.predictions[about.exercise]
    text = _without_markup(prediction.question)
    answer = prediction.options.get(prediction.answer, prediction.answer)
    given = Given(prediction.alone or prediction.code)
    why = [_without_markup(each) for each in prediction.why.split("\n\n") if each[:1] not in "|`"]
    return Question(about, "", text, given, prediction.options, answer, section, {}, why=why)


def _without_markup(text: str) -> str:
    """Leave links, emphasis and quotation marks out of a lesson's text, but not code."""
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text)
    text = re.sub(r"(?<![\w*`])\*+([^*`]+)\*+(?!\w)", r"\1", text)
    return " ".join(re.sub(r"^> ?", "", text, flags=re.MULTILINE).split())


def _results(exercise: ExpectedExercise, case: int) -> dict[str, str]:
    """Return what a case may yield, by the name of the misconception; by "" what is right.

    Wrong results are of the same kind as the right one, and look different.
    """
    right = exercise.observations[case]
    answer = _text(right)
    wrong = {}
    for misconception in exercise.misconceptions if answer else ():
        result = misconception.observations.get(case, right)
        if exercise.lines or _is_alike(result, right):
            wrong[misconception.name] = _text(result)
    return {"": answer} | {name: text for name, text in wrong.items() if text not in ("", answer)}


def _is_alike(wrong: obs.Observation, right: obs.Observation) -> bool:
    match wrong, right:
        case (obs.Raised(), _) | (_, obs.Raised() | obs.Array() | obs.NoneValue()):
            return True
        case (
            (obs.Number(type=name), obs.Number(type=other))
            | (obs.String(type=name), obs.String(type=other))
            | (obs.ContainerLeaf(type=name), obs.ContainerLeaf(type=other))
            | (obs.KeyEntry(type=name), obs.KeyEntry(type=other))
            | (obs.Object(type=name), obs.Object(type=other))
        ):
            return name == other
    return type(wrong) is type(right)


def _text(observation: obs.Observation) -> str:
    """Write a result; return "" if it cannot be compared at a glance."""
    if isinstance(observation, obs.Raised) or observation == AN_ERROR:
        return RAISES
    parts = (part for _, part in obs.all_parts(observation))
    is_plain = not any(isinstance(part, obs.KeyEntry | obs.Object) for part in parts)
    text = expression(observation, depth=LONGEST_OPTION)
    return f"`{text}`" if is_plain and len(text) <= LONGEST_OPTION and "…" not in text else ""


def _about(
    about: Belief, section: str, exercise: ExpectedExercise, results: dict[int, dict[str, str]]
) -> list[Question]:
    misconceptions = {each.name: each for each in exercise.misconceptions}
    fitting = []
    for case, by_name in results.items():
        own = by_name.get(about.name, RAISES)
        if own == RAISES:
            continue
        chosen = _chosen(about.name, by_name)
        # With two options it could be guessed; but there is no third answer to yes or no.
        if len(chosen) > 2 or exercise.lines or YES_AND_NO.issuperset(chosen):
            mixed = random.Random(f"{about} {case}").sample(sorted(chosen), len(chosen))
            options = dict(zip(ascii_uppercase, mixed, strict=False))
            beliefs = {
                text: [
                    misconceptions[other]
                    for other in dict.fromkeys([name, *by_name])
                    if by_name[other] == text
                ]
                for text, name in chosen.items()
                if name
            }
            asked = (exercise.question, exercise.given[case], options, by_name[""])
            alike = [*by_name.values()].count(own)
            fitting.append((alike, case, Question(about, str(case), *asked, section, beliefs)))
    # First those in which few others yield the same: they tell what somebody believes.
    return [question for _, _, question in sorted(fitting)[:MOST_CASES]]


def _chosen(name: str, by_name: dict[str, str]) -> dict[str, str]:
    """Return the options: the right one, that of a misconception, and others, errors last."""
    others = sorted(by_name, key=lambda other: by_name[other] == RAISES)
    chosen: dict[str, str] = {}
    for option_of in ["", name, *others]:
        if len(chosen) <= MOST_WRONG:
            chosen.setdefault(by_name[option_of], option_of)
    return chosen
