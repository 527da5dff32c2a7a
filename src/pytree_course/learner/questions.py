"""Multiple-choice questions: a case, with its right result and those of misconceptions."""

import random
import re
from collections.abc import Mapping
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

MAX_WRONG = 3  # options
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
        """The letter of the right option."""
        return next((each for each in self.options if self.options[each] == self.answer), "")

    @property
    def mistaken(self) -> str:
        """The wrong option that the question is about; "" if it is about a prediction."""
        behind = {held.name: text for text, beliefs in self.beliefs.items() for held in beliefs}
        return behind.get(self.about.name, "")

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


def questions(expected: BuiltLesson, fewest: int = 3) -> dict[Belief, list[Question]]:
    """Return the questions of a lesson by what they are about, the best ones first.

    With fewer options than `fewest` a question could be guessed, and is left out.
    """
    by_belief: dict[Belief, list[Question]] = {}
    for exercise in map(expected.expected, expected.exercises):
        results = {case: _results(exercise, case) for case in exercise.given}
        explained = {
            each.name: replace(each, explanation=about_others(each.explanation))
            for each in exercise.misconceptions
        }
        for name in explained:
            about = Belief(expected.lesson, exercise.name, name)
            by_belief[about] = _about(about, explained, exercise, results, fewest)
    for section, facts in expected.sections.items():
        for name in facts.predictions:
            about = Belief(expected.lesson, name)
            if expected.predictions[name].alone is not None:
                by_belief[about] = [_asked_again(about, expected, section)]
    return {about: asked for about, asked in by_belief.items() if asked}


def for_class(by_belief: Mapping[Belief, list[Question]]) -> list[Question]:
    """Return the best question about each misconception, each case only once."""
    best = [asked[0] for about, asked in by_belief.items() if about.name]
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
    # Tables and code are left out, and so is a sentence that leads to the lesson's next cell.
    paragraphs = [each for each in prediction.why.split("\n\n") if each[:1] not in "|`"]
    whole = [re.sub(r"(^|(?<=[.!?] ))[^.!?]*:$", "", each.strip()) for each in paragraphs]
    why = [_without_markup(each) for each in whole if each]
    return Question(about, "", text, given, prediction.options, answer, section, {}, why=why)


def _without_markup(text: str) -> str:
    """Leave links, emphasis and quotation marks out of a lesson's text, but not code."""
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text)
    text = re.sub(r"(?<![\w*`])\*+([^*`]+)\*+(?!\w)", r"\1", text)
    return " ".join(re.sub(r"^> ?", "", text, flags=re.MULTILINE).split())


def _results(exercise: ExpectedExercise, case: int) -> dict[str, str]:
    """Return the possible results of a case by the misconception's name; "" is the right one.

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
    if not isinstance(wrong, obs.Raised) and not isinstance(right, obs.Raised):
        kinds, wanted = _kinds_of_leaves(wrong), _kinds_of_leaves(right)
        if wanted and not kinds <= wanted:
            return False
    match wrong, right:
        case (obs.Raised(), _) | (_, obs.Raised() | obs.Array() | obs.NoneValue()):
            return True
        case obs.Number(value=int(chosen)), obs.Number(value=int(answer)) if answer >= 0 > chosen:
            return False  # most are counts
        case _ if type(wrong) is not type(right) or isinstance(right, obs.Node):
            return type(wrong) is type(right)
    return getattr(wrong, "type", "") == getattr(right, "type", "")


def _kinds_of_leaves(observation: obs.Observation) -> set[type]:
    """Return what the leaves are; paths among numbers, say, are no answer of that kind."""
    parts = {type(part) for _, part in obs.all_parts(observation)}
    return parts - {obs.Node, obs.NoneValue}


def _text(observation: obs.Observation) -> str:
    """Write a result; return "" if it cannot be compared at a glance, or worked out in the head."""
    if isinstance(observation, obs.Raised) or observation == AN_ERROR:
        return RAISES
    parts = [part for _, part in obs.all_parts(observation)]
    is_plain = not any(isinstance(part, obs.KeyEntry | obs.Object) for part in parts)
    numbers = [str(part.value) for part in parts if isinstance(part, obs.Number)]
    is_plain &= all(len(number.partition(".")[2]) <= MAX_DECIMALS for number in numbers)
    text = expression(observation, depth=MAX_OPTION)
    return f"`{text}`" if is_plain and len(text) <= MAX_OPTION and "…" not in text else ""


def _about(
    about: Belief,
    explained: dict[str, Misconception],
    exercise: ExpectedExercise,
    results: dict[int, dict[str, str]],
    fewest: int,
) -> list[Question]:
    section = explained[about.name].section
    fitting = []
    for case, by_name in results.items():
        own = by_name.get(about.name, RAISES)
        if own == RAISES:
            continue
        chosen = _chosen(about.name, by_name)
        # There is no third answer to yes or no.
        if len(chosen) >= fewest or exercise.lines or YES_AND_NO.issuperset(chosen):
            mixed = random.Random(f"{about} {case}").sample(sorted(chosen), len(chosen))
            options = dict(zip(ascii_uppercase, mixed, strict=False))
            beliefs = {text: [explained[name]] for text, name in chosen.items() if name}
            for name, text in by_name.items():
                if name and text in beliefs and name != chosen[text]:
                    beliefs[text].append(explained[name])
            given = _with_classes(exercise.given[case])
            asked = (_without_asides(exercise.question, given), given, options, by_name[""])
            alike = [*by_name.values()].count(own)
            fitting.append((alike, case, Question(about, str(case), *asked, section, beliefs)))
    # First those in which few others yield the same: they tell what somebody believes.
    return [question for _, _, question in sorted(fitting)[:MAX_CASES]]


def _with_classes(given: Given) -> Given:
    """Add to the note what the classes of the inputs are to JAX, unless it says so."""
    classes = {}
    for part in (part for tree in given.inputs for _, part in obs.all_parts(tree)):
        if isinstance(part, obs.Node) and (part.custom or part.namedtuple):
            classes[part.type] = "registered class" if part.custom else "namedtuple"
        elif isinstance(part, obs.Object) and not part.name:
            classes[part.type] = "class that is not registered"
    said = [f"`{name}` is a {kind}." for name, kind in classes.items() if name not in given.note]
    return replace(given, note=" ".join([given.note, *said]).strip())


def _without_asides(question: str, given: Given) -> str:
    """Leave out parentheses about a name that does not occur in the case."""

    def kept(aside: re.Match[str]) -> str:
        return aside[0] if aside[1] in given.code + given.note else ""

    return re.sub(r" \([^()]*?`(\w+)`[^()]*\)", kept, question)


_AS_OBJECT = r"\b((?:give|make|let|tell|show|ask|help)s?|for|to|of|with) you\b|\byou(?=[.,;:?])"


def about_others(explanation: str) -> str:
    """Turn an explanation for a learner, "your function", into one about others, "their function".

    What an answer "still" does says something to those alone who have changed it.

    Examples
    --------
    >>> about_others("You look only into dicts. Your function fails, which makes you fail.")
    'They look only into dicts. Their function fails, which makes them fail.'
    """
    explanation = re.sub(r"^[^.]*\bstill (?:gives|returns)[^.]*\. ?", "", explanation)
    text = re.sub(_AS_OBJECT, lambda found: f"{found[1]} them" if found[1] else "them", explanation)
    plural = {"you": "they", "your": "their", "yours": "theirs", "yourself": "themselves"}

    def third(found: re.Match[str]) -> str:
        other = plural[found[0].lower()]
        return other.capitalize() if found[0][0].isupper() else other

    return re.sub(r"\b[Yy]our(?:s|self)?\b|\b[Yy]ou\b", third, text)


def _chosen(name: str, by_name: dict[str, str]) -> dict[str, str]:
    """Return the options: the right one, that of a misconception, and others, errors last."""
    others = sorted(by_name, key=lambda other: by_name[other] == RAISES)
    chosen: dict[str, str] = {}
    for held in ["", name, *others]:
        if len(chosen) <= MAX_WRONG:
            chosen.setdefault(by_name[held], held)
    return chosen
