"""Multiple-choice questions: a case, with its right result and those of misconceptions."""

import random
import re
from collections import Counter
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

_LESSONS_OWN = re.compile(r", as `\w+` does|(?:(?:Like|As in) your `\w+`,|^Now) (.)")
"""References of a prediction to its lesson that can be left out."""
_SENTENCE = r"(?:[^.!?]|[.!?](?! ))*?"  # without its end: a dot in code ends none
_ELSEWHERE_IN_QUESTION = re.compile(r"\b(above|same call|work now|forget the)\b")
_ELSEWHERE_IN_EXPLANATION = re.compile(
    rf"(?:(?<=[.!?] )|(?<=[.!?]\) )|^){_SENTENCE}\b(?:[Tt]he message|above|below|next cell)\b"
)
"""The beginning of a sentence about something that only the lesson shows."""

WrongOptions = dict[str, list[Misconception]]
"""The wrong options of a question, each with the misconceptions that lead to it."""


@dataclass(frozen=True)
class Question:
    """A question about a misconception, or a lesson's prediction asked again."""

    about: Belief
    text: str
    given: Given
    options: dict[str, str]  # by letter; only a prediction may have none: its answer is typed
    answer: str
    section: str  # slug of the lesson section to reread
    case: str = ""  # its number; of a prediction, the number of its order
    mistaken: str = ""  # the wrong option that the misconception leads to
    misconceptions: dict[str, list[Misconception]] = field(default_factory=dict)
    """The misconceptions that lead to each wrong option, explained as somebody else's."""
    why: list[str] = field(default_factory=list)  # paragraphs of a prediction's explanation

    @property
    def key(self) -> dict[str, str]:
        """The entries that identify this question."""
        return {**self.about._asdict(), "case": self.case}

    @property
    def set_up(self) -> set[str]:
        """The first lines of what a prediction's code defines, to tell set-ups that are alike."""
        if not self.about.is_prediction:
            return set()
        lines = self.given.code.splitlines()
        return {line for line in lines if re.match(r"(class|def) |\w+(\[.+\])? = ", line)}

    @property
    def letter(self) -> str:
        """The letter of the right option."""
        return self.letter_of(self.answer)

    def letter_of(self, option: str) -> str:
        """Return the letter of an option; "" if there is none."""
        letters = {text: letter for letter, text in self.options.items()}
        return letters.get(option, "")

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
            about = Belief(lesson.lesson, name)
            asked = _about_prediction(about, prediction, section)
            if prediction.alone is not None and asked:
                by_belief[about] = asked
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


def _about_prediction(about: Belief, prediction: Prediction, section: str) -> list[Question]:
    """Return the questions that ask a lesson's prediction again, each with the options rotated.

    None has the lesson's own order. There are none if the question or its explanation refers to
    something that only the lesson shows.
    """
    letters = [*prediction.options]
    orders = [letters[times:] + letters[:times] for times in range(1, len(letters))] or [[]]
    asked = [_as_question(about, prediction.reordered(order), section) for order in orders]
    return [
        replace(question, case=str(number) if letters else "")
        for number, question in enumerate(asked, 1)
        if (question.why or not prediction.why) and not _refers_elsewhere(question)
    ]


def _as_question(about: Belief, prediction: Prediction, section: str) -> Question:
    why = []
    for paragraph in prediction.why.split("\n\n"):
        if paragraph.startswith(("|", "`")):
            continue  # a table, or code
        # What follows a reference goes on about the same; a last sentence that ends in a colon
        # introduces the next cell, and so may a question.
        shown = _ELSEWHERE_IN_EXPLANATION.split(_alone(paragraph), maxsplit=1)[0]
        complete = re.sub(rf"(^|(?<=[.!?] )){_SENTENCE}[:?]$", "", shown.strip()).strip()
        if len(complete) > len("A."):
            why.append(complete)
    options = {letter: _alone(text) for letter, text in prediction.options.items()}
    text = _alone(prediction.question)
    given = Given(prediction.alone or "")
    answer = options.get(prediction.answer, prediction.answer)
    return Question(about, text, given, options, answer, section, why=why)


def _refers_elsewhere(question: Question) -> bool:
    """Return whether a prediction's question refers to something that it does not show."""
    asked = " ".join([question.text, *question.options.values()])
    names = {
        name
        for quoted in re.findall(r"`([^`]+)`", asked)
        for name in re.findall(r"(?<![.\w])[a-z]+_\w+", re.sub(r"([\"']).*?\1", "", quoted))
    }
    shown = set(re.findall(r"\w+", question.given.code))
    return bool(_ELSEWHERE_IN_QUESTION.search(asked)) or not names <= shown


def _without_markup(text: str) -> str:
    """Leave links, emphasis and quotation marks out of a lesson's text, but not code."""
    text = re.sub(r"\[([A-Z][^\]]+)\]\([^)]+\)", r"“\1”", text)  # a section's title
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text)
    text = re.sub(r"(?<![\w*`])\*+([^*`]+)\*+(?!\w)", r"\1", text)
    return " ".join(re.sub(r"^> ?", "", text, flags=re.MULTILINE).split())


def _alone(text: str) -> str:
    """Leave out markup, and references to the lesson that the text can do without."""
    return _LESSONS_OWN.sub(lambda left_out: (left_out[1] or "").upper(), _without_markup(text))


def _about_misconceptions(
    lesson: str, exercise: ExpectedExercise, min_options: int
) -> dict[Belief, list[Question]]:
    """Return the questions about each misconception of an exercise."""
    by_belief: dict[Belief, list[Question]] = {
        Belief(lesson, exercise.name, wrong.name): [] for wrong in exercise.misconceptions
    }
    for case, options in _wrong_options(exercise).items():
        for question in _about_case(lesson, exercise, options, case):
            # A yes-no question has no third option, and neither may a predicted line.
            has_two = bool(exercise.lines) or YES_AND_NO.issuperset(question.options.values())
            if has_two or len(question.options) >= min_options:
                by_belief[question.about].append(question)
    for candidates in by_belief.values():
        # If few other misconceptions give the same result, it identifies the belief.
        candidates.sort(key=lambda question: len(question.misconceptions[question.mistaken]))
    return {about: candidates[:MAX_CASES] for about, candidates in by_belief.items() if candidates}


def _about_case(
    lesson: str, exercise: ExpectedExercise, wrong_options: WrongOptions, case: int
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


def _wrong_options(exercise: ExpectedExercise) -> dict[int, WrongOptions]:
    """Return the wrong options by case, each with the misconceptions that the case shows best.

    An explanation is shown with the cases that it speaks of: those with most of the names that it
    quotes, such as `None` or a key. And it speaks of cases in which its misconception is known by
    its result. Where several lead to one result, those are left out that another case shows better:
    code that takes every tree for a dict has some result for a list, but its explanation is about
    dicts.
    """
    by_case = {case: _wrong_options_of_case(exercise, case) for case in sorted(exercise.given)}
    if exercise.lines:  # a misconception has a sentence of its own for its lines
        return by_case
    places = [
        (exercise.given[case], same)
        for case, options in by_case.items()
        for same in options.values()
    ]
    most_names: Counter[str] = Counter()
    for given, same in places:
        for each in same:
            most_names[each.name] = max(most_names[each.name], _count_names(each, given))
    fewest: dict[str, int] = {}  # misconceptions with the same result, where they are fewest
    for given, same in places:
        same[:] = [each for each in same if _count_names(each, given) == most_names[each.name]]
        for each in same:
            fewest[each.name] = min(len(same), fewest.get(each.name, len(same)))
    for _, same in places:
        most = max((fewest[each.name] for each in same), default=0)
        same[:] = [each for each in same if fewest[each.name] == most]
    return {
        case: {option: same for option, same in options.items() if same}
        for case, options in by_case.items()
    }


def _count_names(misconception: Misconception, given: Given) -> int:
    """Count the names in an explanation that occur in a case."""
    shown = set(re.findall(r"\w+", given.code + given.note))
    return len(shown.intersection(re.findall(r"`(\w+)`", misconception.explanation)))


def _wrong_options_of_case(exercise: ExpectedExercise, case: int) -> WrongOptions:
    """Return the wrong options for a case, each with all misconceptions that lead to it."""
    right = exercise.observations[case]
    answer = _option_text(right)
    if answer is None:
        return {}
    options: WrongOptions = {}
    for misconception in exercise.misconceptions:
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
