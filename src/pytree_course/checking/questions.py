"""Questions: a case, its right result, and what misconceptions yield, as options to choose from."""

import random
import re
from dataclasses import dataclass
from string import ascii_uppercase

from pytree_course.checking.expected import (
    Belief,
    Expected,
    ExpectedExercise,
    Given,
    Misconception,
    Prediction,
)
from pytree_course.drawing.labels import expression
from pytree_course.observations import Observation, all_parts

MOST_WRONG = 3  # options
MOST_CASES = 8  # of one belief: those that tell it best from the others
LONGEST_OPTION = 60  # characters
RAISES = "It raises an error."
YES_AND_NO = {"`True`", "`False`"}


@dataclass(frozen=True)
class Option:
    """A result to choose; a wrong one of an exercise is what a misconception yields."""

    text: str
    misconception: Misconception | None = None


@dataclass(frozen=True)
class Question:
    """A question about a belief, with one right answer."""

    about: Belief
    case: str  # its number; empty for a lesson's prediction
    text: str
    given: Given
    options: dict[str, Option]  # by letter; empty where the answer is to be written
    answer: str
    section: str  # slug of the lesson section to reread

    def chosen(self, choice: str) -> Option:
        """Return the option of a letter; or what was written, where there are none."""
        return self.options[choice] if self.options else Option(choice)

    def is_right(self, choice: str) -> bool:
        """Say whether the right option was chosen, or the right answer written."""
        text = self.chosen(choice).text
        return text == self.answer if self.options else is_same(text, self.answer)


def questions(expected: Expected) -> dict[Belief, list[Question]]:
    """Return the questions of a lesson by what they are about, the best ones first."""
    found: dict[Belief, list[Question]] = {}
    for exercise in expected.exercises.values():
        options = {case: _options(exercise, case) for case in exercise.given}
        for each in exercise.misconceptions:
            about = Belief(expected.lesson, exercise.name, each.name)
            found[about] = _about(about, each.section, exercise, options)
    for section, facts in expected.sections.items():
        for name in facts.predictions:
            about = Belief(expected.lesson, name)
            found[about] = [_asked_again(about, expected.predictions[name], section)]
    return {about: asked for about, asked in found.items() if asked}


def is_same(choice: str, answer: str) -> bool:
    """Compare the words and numbers of written answers: "6, 7" is "6 and 7", "2.3" is "2.30"."""
    return _plain(choice) == _plain(answer)


def _plain(text: str) -> list[str | float]:
    without_thousands = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text.lower())
    words = re.findall(r"\d+(?:\.\d+)?|\w+", without_thousands)
    return [float(word) if word[0].isdecimal() else word for word in words if word != "and"]


def _asked_again(about: Belief, prediction: Prediction, section: str) -> Question:
    # Neither links nor emphasis: a question stands outside of its lesson.
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", prediction.question)
    text = re.sub(r"(?<![\w*`])\*+([^*`]+)\*+(?!\w)", r"\1", text)
    options = {letter: Option(said) for letter, said in prediction.options.items()}
    answer = prediction.options.get(prediction.answer, prediction.answer)
    return Question(about, "", text, Given(prediction.code), options, answer, section)


def _options(exercise: ExpectedExercise, case: int) -> dict[str, Option]:
    """Return the options of a case by misconception, the right one under "".

    Wrong results are of the same kind as the right one, and look different.
    """
    right = exercise.observations[case]
    made = {"": Option(_text(right))}
    for each in exercise.misconceptions:
        wrong = each.observations.get(case, right)
        text, kinds = _text(wrong), (wrong["kind"], right["kind"])
        same_type = kinds[1] == "node" or wrong.get("type") == right.get("type")
        is_alike = kinds[0] == kinds[1] and same_type
        if exercise.lines or is_alike or "raised" in kinds or kinds[1] in ("array", "none"):
            made[each.name] = Option(text, each)
    shown = {name: each for name, each in made.items() if each.text not in ("", made[""].text)}
    return {"": made[""], **shown} if made[""].text else {}


def _text(observation: Observation) -> str:
    """Write a result; return "" where it is too long to be compared at a glance."""
    if observation["kind"] == "raised" or observation.get("value") == "error":
        return RAISES
    if any(part["kind"] in ("key", "object") for _, part in all_parts(observation)):
        return ""
    text = expression(observation, depth=LONGEST_OPTION)
    return "" if len(text) > LONGEST_OPTION or "…" in text else f"`{text}`"


def _about(
    about: Belief, section: str, exercise: ExpectedExercise, options: dict[int, dict[str, Option]]
) -> list[Question]:
    fitting = []
    for case, by_name in options.items():
        own = by_name.get(about.name)
        if own is not None and own.text != RAISES:
            alike = sum(other.text == own.text for other in by_name.values())
            chosen = _chosen(own, by_name, f"{'/'.join(about)} {case}")
            # With two options it could be guessed; but there is no third answer to yes or no.
            if len(chosen) > 2 or exercise.lines or chosen["A"].text in YES_AND_NO:
                right, given = by_name[""].text, exercise.given[case]
                made = Question(about, str(case), exercise.question, given, chosen, right, section)
                fitting.append((alike, case, made))
    # First those in which few others yield the same: they tell what somebody believes.
    return [question for _, _, question in sorted(fitting)[:MOST_CASES]]


def _chosen(own: Option, options: dict[str, Option], seed: str) -> dict[str, Option]:
    """Return the right option, the one that the question is about, and others, shuffled."""
    draw = random.Random(seed)
    others = draw.sample([*options.values()], len(options))
    others.sort(key=lambda each: each.text == RAISES)  # the last to be taken
    by_text: dict[str, Option] = {}
    for each in [options[""], own, *others]:
        if len(by_text) <= MOST_WRONG:
            by_text.setdefault(each.text, each)
    shuffled = draw.sample([*by_text.values()], len(by_text))
    return dict(zip(ascii_uppercase, shuffled, strict=False))
