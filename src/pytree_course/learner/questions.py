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
MAX_CASES = 8  # of one misconception
MAX_OPTION_CHARACTERS = 60
MAX_DECIMALS = 3  # of a number that is computed mentally
RAISES = "It raises an error."
AN_ERROR = obs.String(type="str", value="error")  # a predicted one
YES_AND_NO = {"`True`", "`False`"}


@dataclass(frozen=True)
class Question:
    """A question about a misconception, or a lesson's prediction asked again."""

    about: Belief
    text: str
    given: Given
    options: dict[str, str]  # by letter; only a prediction may have none: its answer is typed
    answer: str
    section: str  # slug of the lesson section to reread
    case: str = ""  # its number; of a misconception, as the next two
    mistaken: str = ""  # the wrong option that the misconception leads to
    misconceptions: dict[str, list[Misconception]] = field(default_factory=dict)
    """The misconceptions that lead to each wrong option, explained as somebody else's."""
    why: list[str] = field(default_factory=list)  # paragraphs of a prediction's explanation

    @property
    def key(self) -> dict[str, str]:
        """The entries that identify this question."""
        return {**self.about._asdict(), "case": self.case}

    @property
    def letter(self) -> str:
        """The letter of the right option."""
        letters = {option: letter for letter, option in self.options.items()}
        return letters[self.answer]

    def text_of(self, choice: str) -> str:
        """Return the option of a letter, or a typed answer as it is."""
        return self.options.get(choice, choice)

    def is_right(self, choice: str) -> bool:
        """Return whether a chosen letter or a typed answer is right."""
        if self.options:
            return self.options[choice] == self.answer
        return is_same(choice, self.answer)

    def rotated(self, times: int) -> "Question":
        """Return the question with its options rotated by `times` places.

        A prediction stays as it is, because the lesson's explanation names its letters.
        """
        if self.about.is_prediction:
            return self
        texts = [*self.options.values()]
        start = times % len(texts)
        moved = [*texts[start:], *texts[:start]]
        return replace(self, options=dict(zip(self.options, moved, strict=True)))


def questions(lesson: BuiltLesson, min_options: int = 3) -> dict[Belief, list[Question]]:
    """Return the questions about each misconception and prediction, the best ones first.

    Questions with fewer than `min_options` options are left out: they are too easy to guess.
    """
    by_belief: dict[Belief, list[Question]] = {}
    for exercise in map(lesson.expected, lesson.exercises):
        by_belief |= _about_misconceptions(lesson.lesson, exercise, min_options)
    for section, facts in lesson.sections.items():
        for name in facts.predictions:
            prediction = lesson.predictions[name]
            if prediction.alone is not None:
                about = Belief(lesson.lesson, name)
                by_belief[about] = [_about_prediction(about, prediction, section)]
    return by_belief


def for_class(by_belief: Mapping[Belief, list[Question]]) -> list[Question]:
    """Return one question about each misconception: the best whose case no other one has.

    A misconception is left out if others have all of its cases.
    """
    chosen: dict[tuple[str, str], Question] = {}
    for about, candidates in by_belief.items():
        free = [other for other in candidates if (about.exercise, other.case) not in chosen]
        if free and not about.is_prediction:
            chosen[about.exercise, free[0].case] = free[0]
    return [*chosen.values()]


def is_same(choice: str, answer: str) -> bool:
    """Compare the words and numbers of written answers: "6, 7" is "6 and 7", "2.3" is "2.30"."""
    return _words_and_numbers(choice) == _words_and_numbers(answer)


def _words_and_numbers(text: str) -> list[str | float]:
    without_thousands = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text.lower())
    words = re.findall(r"\d+(?:\.\d+)?|\w+", without_thousands)
    return [float(word) if word[0].isdecimal() else word for word in words if word != "and"]


def _about_prediction(about: Belief, prediction: Prediction, section: str) -> Question:
    """Return the question that asks a lesson's prediction again."""
    why = []
    for paragraph in prediction.why.split("\n\n"):
        if paragraph.startswith(("|", "`")):
            continue  # a table, or code
        # Drop a last sentence that ends in a colon: it introduces the next cell.
        complete = re.sub(r"(^|(?<=[.!?] ))[^.!?]*:$", "", paragraph.strip())
        if complete:
            why.append(_without_markup(complete))
    text, options = _without_markup(prediction.question), prediction.options
    answer = options.get(prediction.answer, prediction.answer)
    given = Given(prediction.alone or "")
    return Question(about, text, given, options, answer, section, why=why)


def _without_markup(text: str) -> str:
    """Leave links, emphasis and quotation marks out of a lesson's text, but not code."""
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text)
    text = re.sub(r"(?<![\w*`])\*+([^*`]+)\*+(?!\w)", r"\1", text)
    return " ".join(re.sub(r"^> ?", "", text, flags=re.MULTILINE).split())


def _about_misconceptions(
    lesson: str, exercise: ExpectedExercise, min_options: int
) -> dict[Belief, list[Question]]:
    """Return the questions about each misconception of an exercise."""
    misconceptions = [
        replace(misconception, explanation=about_others(misconception.explanation))
        for misconception in exercise.misconceptions
    ]
    by_belief: dict[Belief, list[Question]] = {
        Belief(lesson, exercise.name, misconception.name): [] for misconception in misconceptions
    }
    wrong_options = _wrong_options(exercise, misconceptions)
    for case in wrong_options:
        for question in _about_case(lesson, exercise, wrong_options[case], case):
            # A yes-no question has no third option, and neither may a predicted line.
            has_two = bool(exercise.lines) or YES_AND_NO.issuperset(question.options.values())
            if has_two or len(question.options) >= min_options:
                by_belief[question.about].append(question)
    for candidates in by_belief.values():
        # If few other misconceptions give the same result, it identifies the belief.
        candidates.sort(key=lambda question: len(question.misconceptions[question.mistaken]))
    return {about: candidates[:MAX_CASES] for about, candidates in by_belief.items() if candidates}


def _about_case(
    lesson: str,
    exercise: ExpectedExercise,
    wrong_options: dict[str, list[Misconception]],
    case: int,
) -> Iterator[Question]:
    """Yield a question about each misconception that gives a wrong result for a case."""
    answer = _option_text(exercise.observations[case])
    if answer is None:
        return
    given = _with_classes(exercise.given[case])
    text = _without_asides(exercise.question, given)
    for mistaken, with_same_result in wrong_options.items():
        if mistaken == RAISES:
            continue
        others = [option for option in wrong_options if option != mistaken]
        others.sort(key=lambda option: option == RAISES)  # so that an error is left out first
        options = [answer, mistaken, *others][:MAX_OPTIONS]
        for misconception in with_same_result:
            about = Belief(lesson, exercise.name, misconception.name)
            shuffled = random.Random(f"{about} {case}").sample(sorted(options), len(options))
            by_option = {option: wrong_options[option] for option in options if option != answer}
            # First the one that the question is about: some readers see only its explanation.
            same = [other for other in with_same_result if other is not misconception]
            by_option[mistaken] = [misconception, *same]
            yield Question(
                about=about,
                text=text,
                given=given,
                options=dict(zip(ascii_uppercase, shuffled, strict=False)),
                answer=answer,
                section=misconception.section,
                case=str(case),
                mistaken=mistaken,
                misconceptions=by_option,
            )


def _wrong_options(
    exercise: ExpectedExercise, misconceptions: list[Misconception]
) -> dict[int, dict[str, list[Misconception]]]:
    """Return the wrong options by case, each with the misconceptions that the case shows best.

    An explanation speaks of the cases in which its misconception is known by its result. Where
    several lead to one result, those are left out that another case shows better: code that
    takes every tree for a dict has some result for a list, but its explanation is about dicts.
    """
    by_case = {
        case: _wrong_options_of_case(exercise, misconceptions, case)
        for case in sorted(exercise.given)
    }
    if exercise.lines:  # a misconception has a sentence of its own for its lines
        return by_case
    fewest: dict[str, int] = {}  # misconceptions with the same result, where they are fewest
    for options in by_case.values():
        for same in options.values():
            for misconception in same:
                name = misconception.name
                fewest[name] = min(len(same), fewest.get(name, len(same)))
    for options in by_case.values():
        for option, same in options.items():
            most = max(fewest[misconception.name] for misconception in same)
            options[option] = [each for each in same if fewest[each.name] == most]
    return by_case


def _wrong_options_of_case(
    exercise: ExpectedExercise, misconceptions: list[Misconception], case: int
) -> dict[str, list[Misconception]]:
    """Return the wrong options for a case, each with the misconceptions that lead to it."""
    right = exercise.observations[case]
    answer = _option_text(right)
    if answer is None:
        return {}
    options: dict[str, list[Misconception]] = {}
    for misconception in misconceptions:
        wrong = misconception.observations.get(case, right)
        text = _option_text(wrong)
        # A wrong prediction of a line is plausible, whatever its kind.
        is_plausible = bool(exercise.lines) or _is_plausible(wrong, right)
        if text is not None and text != answer and is_plausible:
            options.setdefault(text, []).append(misconception)
    return options


def _is_plausible(wrong: obs.Observation, right: obs.Observation) -> bool:
    """Return whether a learner could take a wrong result for a serious answer."""
    if isinstance(wrong, obs.Raised) or isinstance(right, obs.Raised):
        return True
    kinds_of_right = _kinds_of_leaves(right)
    if kinds_of_right and not _kinds_of_leaves(wrong) <= kinds_of_right:
        return False
    if isinstance(right, obs.Array):
        return True
    if isinstance(right, obs.Node):  # a tuple instead of a list is a likely mistake
        return isinstance(wrong, obs.Node)
    return type(wrong) is type(right) and getattr(wrong, "type", "") == getattr(right, "type", "")


def _kinds_of_leaves(observation: obs.Observation) -> set[type]:
    """Return the types of the leaves: a path among numbers, for example, is another kind."""
    parts = {type(part) for _, part in obs.all_parts(observation)}
    return parts - {obs.Node, obs.NoneValue}


def _option_text(observation: obs.Observation) -> str | None:
    """Write a result as an option; return None if it is too long, or too hard to work out."""
    if isinstance(observation, obs.Raised) or observation == AN_ERROR:
        return RAISES
    parts = [part for _, part in obs.all_parts(observation)]
    numbers = [part.value for part in parts if isinstance(part, obs.Number)]
    floats = [number for number in numbers if isinstance(number, float)]
    if any(number != round(number, MAX_DECIMALS) for number in floats):
        return None
    # A text that is short enough cannot have more levels than characters.
    text = expression(observation, depth=MAX_OPTION_CHARACTERS)
    return f"`{text}`" if len(text) <= MAX_OPTION_CHARACTERS and "…" not in text else None


def _with_classes(given: Given) -> Given:
    """Add to the note what the classes of the inputs are to JAX, unless it names them."""
    sentences = {}
    for tree in given.inputs:
        for _, part in obs.all_parts(tree):
            if isinstance(part, obs.Node) and part.type not in given.note:
                if part.is_custom:
                    sentences[part.type] = f"`{part.type}` is a registered class."
                elif part.is_namedtuple:
                    sentences[part.type] = f"`{part.type}` is a namedtuple."
    return replace(given, note=" ".join([given.note, *sentences.values()]).strip())


def _without_asides(question: str, given: Given) -> str:
    """Drop parentheses about a name that does not occur in the case."""
    for aside in re.finditer(r" \([^()]*?`(\w+)`[^()]*\)", question):
        if aside[1] not in given.code + given.note:
            question = question.replace(aside[0], "")
    return question


# A class sees the mistakes of others: "you" would accuse.
IN_THIRD_PERSON = [
    # Drop a sentence about what an answer "still" does: it is for learners who have changed it.
    (r"^[^.]*\bstill (?:gives|returns)[^.]*\. ?", ""),
    (r"\b((?:give|make|let|tell|show|ask|help)s?|for|to|of|with) you\b", r"\1 them"),
    (r"\byou(?=[.,;:?])", "them"),
    (r"\byou\b", "they"),
    (r"\bYou\b", "They"),
    (r"\byour(s?)\b", r"their\1"),
    (r"\bYour(s?)\b", r"Their\1"),
    (r"\byourself\b", "themselves"),
]
"""Patterns with their replacements, applied one after the other."""


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
