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
from pytree_course.drawing.code import code
from pytree_course.observations import Observation

MOST_WRONG = 3  # options
MOST_CASES = 8  # of one belief: those that tell it best from the others
LONGEST_OPTION = 60  # characters
RAISES = "It raises an error."
LIKE_AN_ARRAY = ("array", "number", "node")


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
    options: list[Option]  # empty where the answer is to be written
    answer: str  # the text of the right option
    section: str  # slug of the lesson section to reread

    @property
    def by_letter(self) -> dict[str, Option]:
        """The options by the letter that they are chosen by."""
        return dict(zip(ascii_uppercase, self.options, strict=False))

    def chosen(self, letter: str) -> Option:
        """Return the option of a letter, or what was written where there are none."""
        return self.by_letter[letter] if self.options else Option(letter)

    def is_right(self, letter: str) -> bool:
        """Say whether the right option was chosen, or the right answer written."""
        text = self.chosen(letter).text
        return text == self.answer if self.options else is_same(text, self.answer)


def questions(expected: Expected) -> dict[Belief, list[Question]]:
    """Return the questions of a lesson by what they are about, the best ones first."""
    found: dict[Belief, list[Question]] = {}
    for exercise in expected.exercises.values():
        if exercise.question:
            options = {case: _options(exercise, case) for case in _cases(exercise)}
            for misconception in exercise.misconceptions:
                about = Belief(expected.lesson, exercise.name, misconception.name)
                found[about] = _about(about, misconception, exercise, options)
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
    options = [Option(text) for text in prediction.options.values()]
    answer = prediction.options.get(prediction.answer, prediction.answer)
    given = Given(prediction.code)
    # Neither links nor emphasis: a question stands outside of its lesson.
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", prediction.question)
    text = re.sub(r"(?<![\w*`])\*+([^*`]+)\*+(?!\w)", r"\1", text)
    return Question(about, "", text, given, options, answer, section)


def _cases(exercise: ExpectedExercise) -> dict[int, Given]:
    """Return what a question about a case shows: the input, or the line to predict."""
    if not exercise.lines:
        return exercise.given
    return {case: Given("", note=line) for case, line in enumerate(exercise.lines.values())}


def _options(exercise: ExpectedExercise, case: int) -> dict[str, Option]:
    """Return all options of a case by misconception, the right one under "".

    Wrong results are of the same kind as the right one, and look different; results that are too
    long to compare at a glance are left out.
    """
    right = exercise.observations[case]
    made = {"": Option(_text(right))}
    for each in exercise.misconceptions if made[""].text else ():
        wrong = each.observations.get(case)
        if wrong is not None and (exercise.lines or _is_plausible(wrong, right)):
            text = _text(wrong)
            if text and text != made[""].text:
                made[each.name] = Option(text, each)
    return made


def _text(observation: Observation) -> str:
    if observation["kind"] == "raised" or observation.get("value") == "error":
        return RAISES
    text = code(observation) or ""
    return f"`{text}`" if 0 < len(text) <= LONGEST_OPTION else ""


def _is_plausible(wrong: Observation, right: Observation) -> bool:
    """Say whether somebody may take one result for the other."""
    if "raised" in (wrong["kind"], right["kind"]):
        return True
    if right["kind"] == "array":
        return wrong["kind"] in LIKE_AN_ARRAY
    if wrong["kind"] != right["kind"]:
        return False
    return right["kind"] == "node" or bool(wrong.get("type") == right.get("type"))


def _about(
    about: Belief,
    misconception: Misconception,
    exercise: ExpectedExercise,
    options: dict[int, dict[str, Option]],
) -> list[Question]:
    fitting = []
    for case, each in options.items():
        own = each.get(misconception.name)
        if own is not None and own.text != RAISES:
            alike = sum(other.text == own.text for other in each.values())
            chosen = _chosen(own, each, f"{'/'.join(about)} {case}")
            # With fewer, it could be guessed; but there is no third answer to yes or no.
            if len(chosen) > 2 or chosen[0].text in ("`True`", "`False`") or exercise.lines:
                fitting.append((alike, case, chosen))
    # First those in which few others yield the same: they tell what somebody believes.
    fitting.sort(key=lambda found: found[:2])
    return [
        Question(
            about,
            str(case),
            exercise.question,
            _cases(exercise)[case],
            chosen,
            options[case][""].text,
            misconception.section,
        )
        for _, case, chosen in fitting[:MOST_CASES]
    ]


def _chosen(own: Option, options: dict[str, Option], seed: str) -> list[Option]:
    """Return the right option, the one that the question is about, and others, shuffled."""
    draw = random.Random(seed)
    others = draw.sample([*options.values()], len(options))
    others.sort(key=lambda each: each.text == RAISES)  # the last to be taken
    by_text: dict[str, Option] = {}
    for each in [options[""], own, *others]:
        if len(by_text) <= MOST_WRONG:
            by_text.setdefault(each.text, each)
    return draw.sample([*by_text.values()], len(by_text))
