"""Multiple-choice questions: a case, with its right result and those of misconceptions."""

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from string import ascii_uppercase

from pytree_course.judging.expected import (
    Belief,
    BuiltLesson,
    ExpectedExercise,
    Given,
    Misconception,
    Prediction,
)
from pytree_course.observing import observations as obs
from pytree_course.observing.words import expression

MAX_OPTIONS = 4
MAX_CASES = 8  # of one belief: those that tell it best from the others
MAX_OPTION = 60  # characters
MAX_DECIMALS = 3  # of a number that is worked out in the head
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
    beliefs: dict[str, list[Misconception]]
    """The misconceptions that yield each wrong option, explained as somebody else's."""
    why: list[str] = field(default_factory=list)  # paragraphs in which the lesson explains it

    @property
    def key(self) -> dict[str, str]:
        """The entries that identify this question."""
        return {**self.about._asdict(), "case": self.case}

    @property
    def letter(self) -> str:
        """The letter of the right option; "" if the answer is to be written."""
        letters = {option: letter for letter, option in self.options.items()}
        return letters.get(self.answer, "")

    @property
    def mistaken(self) -> str:
        """The wrong option that the question is about; "" if it is about a prediction."""
        for option, misconceptions in self.beliefs.items():
            if self.about.name in [misconception.name for misconception in misconceptions]:
                return option
        return ""

    def text_of(self, choice: str) -> str:
        """Return the option of a letter; or what was written, if there are no options."""
        return self.options[choice] if self.options else choice

    def is_right(self, choice: str) -> bool:
        """Return whether the right option was chosen, or the right answer written."""
        text = self.text_of(choice)
        return text == self.answer if self.options else is_same(text, self.answer)

    def reordered(self, times: int) -> "Question":
        """Return the question with its options moved on by so many letters.

        The lesson's explanation of a prediction names its letters: those stay.
        """
        if not self.about.name:
            return self
        texts = [*self.options.values()]
        start = times % len(texts)
        moved = [*texts[start:], *texts[:start]]
        return replace(self, options=dict(zip(self.options, moved, strict=True)))


def questions(expected: BuiltLesson, fewest: int = 3) -> dict[Belief, list[Question]]:
    """Return the questions of a lesson by what they are about, the best ones first.

    With fewer options than `fewest` a question could be guessed, and is left out.
    """
    by_belief: dict[Belief, list[Question]] = {}
    for exercise in map(expected.expected, expected.exercises):
        by_belief |= _about_misconceptions(expected.lesson, exercise, fewest)
    for section, facts in expected.sections.items():
        for name in facts.predictions:
            prediction = expected.predictions[name]
            if prediction.alone is not None:
                about = Belief(expected.lesson, name)
                by_belief[about] = [_about_prediction(about, prediction, section)]
    return by_belief


def for_class(by_belief: Mapping[Belief, list[Question]]) -> list[Question]:
    """Return the best question about each misconception, each case only once."""
    by_case = {}
    for about, (best, *_) in by_belief.items():
        if about.name:
            by_case[about.exercise, best.case] = best
    return [*by_case.values()]


def is_same(choice: str, answer: str) -> bool:
    """Compare the words and numbers of written answers: "6, 7" is "6 and 7", "2.3" is "2.30"."""
    return _words_and_numbers(choice) == _words_and_numbers(answer)


def _words_and_numbers(text: str) -> list[str | float]:
    without_thousands = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text.lower())
    words = re.findall(r"\d+(?:\.\d+)?|\w+", without_thousands)
    return [float(word) if word[0].isdecimal() else word for word in words if word != "and"]


def _about_prediction(about: Belief, prediction: Prediction, section: str) -> Question:
    """Return the question that asks a lesson's prediction again."""
    text = _without_markup(prediction.question)
    given = Given(prediction.alone or "")
    answer = prediction.options.get(prediction.answer, prediction.answer)
    why = []
    for paragraph in prediction.why.split("\n\n"):
        if paragraph.startswith(("|", "`")):
            continue  # a table, or code
        # Without a sentence that leads to the lesson's next cell.
        complete = re.sub(r"(^|(?<=[.!?] ))[^.!?]*:$", "", paragraph.strip())
        if complete:
            why.append(_without_markup(complete))
    return Question(about, "", text, given, prediction.options, answer, section, {}, why)


def _without_markup(text: str) -> str:
    """Leave links, emphasis and quotation marks out of a lesson's text, but not code."""
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text)
    text = re.sub(r"(?<![\w*`])\*+([^*`]+)\*+(?!\w)", r"\1", text)
    return " ".join(re.sub(r"^> ?", "", text, flags=re.MULTILINE).split())


def _about_misconceptions(
    lesson: str, exercise: ExpectedExercise, fewest: int
) -> dict[Belief, list[Question]]:
    """Return the questions about an exercise's misconceptions, by the misconception."""
    explained = [
        replace(misconception, explanation=about_others(misconception.explanation))
        for misconception in exercise.misconceptions
    ]
    by_belief: dict[Belief, list[Question]] = {
        Belief(lesson, exercise.name, misconception.name): [] for misconception in explained
    }
    for case in sorted(exercise.given):
        for question in _about_case(lesson, exercise, explained, case, fewest):
            by_belief[question.about].append(question)
    for asked in by_belief.values():
        # First those in which few others yield the same: they tell what somebody believes.
        asked.sort(key=lambda question: len(question.beliefs[question.mistaken]))
    return {about: asked[:MAX_CASES] for about, asked in by_belief.items() if asked}


def _about_case(
    lesson: str, exercise: ExpectedExercise, explained: list[Misconception], case: int, fewest: int
) -> Iterator[Question]:
    """Yield the questions that a case makes: one about each misconception with a wrong result."""
    right = exercise.observations[case]
    answer = _text(right)
    if not answer:
        return
    beliefs: dict[str, list[Misconception]] = {}  # by the option that they yield
    for misconception in explained:
        wrong = misconception.observations.get(case, right)
        option = _text(wrong)
        if option not in ("", answer) and (exercise.lines or _is_alike(wrong, right)):
            beliefs.setdefault(option, []).append(misconception)
    given = _with_classes(exercise.given[case])
    for mistaken, misconceptions in beliefs.items():
        others = [option for option in beliefs if option != mistaken]
        others.sort(key=lambda option: option == RAISES)  # so that an error is left out first
        options = [answer, mistaken, *others][:MAX_OPTIONS]
        # There is no third answer to yes or no.
        is_asked = len(options) >= fewest or exercise.lines or YES_AND_NO.issuperset(options)
        if mistaken == RAISES or not is_asked:
            continue
        for misconception in misconceptions:
            about = Belief(lesson, exercise.name, misconception.name)
            mixed = random.Random(f"{about} {case}").sample(sorted(options), len(options))
            same = [other for other in misconceptions if other is not misconception]
            behind = {mistaken: [misconception, *same]}
            for option in options[2:]:
                behind[option] = beliefs[option]
            yield Question(
                about=about,
                case=str(case),
                text=_without_asides(exercise.question, given),
                given=given,
                options=dict(zip(ascii_uppercase, mixed, strict=False)),
                answer=answer,
                section=misconception.section,
                beliefs=behind,
            )


def _is_alike(wrong: obs.Observation, right: obs.Observation) -> bool:
    """Return whether a wrong result is of the same kind as the right one, or an error."""
    if isinstance(wrong, obs.Raised) or isinstance(right, obs.Raised):
        return True
    kinds_of_right = _kinds_of_leaves(right)
    if kinds_of_right and not _kinds_of_leaves(wrong) <= kinds_of_right:
        return False
    if isinstance(right, obs.Array):
        return True
    if type(wrong) is not type(right):
        return False
    # A tuple in place of a list is a likely mistake.
    return isinstance(right, obs.Node) or getattr(wrong, "type", "") == getattr(right, "type", "")


def _kinds_of_leaves(observation: obs.Observation) -> set[type]:
    """Return the types of the leaves; paths among numbers, say, are no answer of that kind."""
    parts = {type(part) for _, part in obs.all_parts(observation)}
    return parts - {obs.Node, obs.NoneValue}


def _text(observation: obs.Observation) -> str:
    """Write a result; return "" if it cannot be compared at a glance, or worked out in the head."""
    if isinstance(observation, obs.Raised) or observation == AN_ERROR:
        return RAISES
    for _, part in obs.all_parts(observation):
        if isinstance(part, obs.Number):
            _, _, decimals = str(part.value).partition(".")
            if len(decimals) > MAX_DECIMALS:
                return ""
    text = expression(observation, depth=MAX_OPTION)
    return f"`{text}`" if len(text) <= MAX_OPTION and "…" not in text else ""


def _with_classes(given: Given) -> Given:
    """Add to the note what the classes of the inputs are to JAX, unless it names them."""
    sentences = {}
    for tree in given.inputs:
        for _, part in obs.all_parts(tree):
            if isinstance(part, obs.Node) and part.type not in given.note:
                if part.custom:
                    sentences[part.type] = f"`{part.type}` is a registered class."
                elif part.namedtuple:
                    sentences[part.type] = f"`{part.type}` is a namedtuple."
    return replace(given, note=" ".join([given.note, *sentences.values()]).strip())


def _without_asides(question: str, given: Given) -> str:
    """Leave out parentheses about a name that does not occur in the case."""

    def kept(aside: re.Match[str]) -> str:
        is_needed = aside[1] in given.code + given.note
        return aside[0] if is_needed else ""

    return re.sub(r" \([^()]*?`(\w+)`[^()]*\)", kept, question)


IN_THIRD_PERSON = [
    # A sentence about what an answer "still" does makes sense only if you have changed it.
    (r"^[^.]*\bstill (?:gives|returns)[^.]*\. ?", ""),
    (r"\b((?:give|make|let|tell|show|ask|help)s?|for|to|of|with) you\b", r"\1 them"),
    (r"\byou(?=[.,;:?])", "them"),
    (r"\byou\b", "they"),
    (r"\bYou\b", "They"),
    (r"\byour(s?)\b", r"their\1"),
    (r"\bYour(s?)\b", r"Their\1"),
    (r"\byourself\b", "themselves"),
]
"""Patterns with their replacements, one after the other."""


def about_others(explanation: str) -> str:
    """Turn an explanation for a learner, "your function", into one about others, "their function".

    Examples
    --------
    >>> about_others("You look only into dicts. Your function fails, which makes you fail.")
    'They look only into dicts. Their function fails, which makes them fail.'
    """
    for pattern, replacement in IN_THIRD_PERSON:
        explanation = re.sub(pattern, replacement, explanation)
    return explanation
