"""The learner's check: `check = Checks("01_leaves")`, then `check.count_leaves(count_leaves)`."""

import ast
import difflib
import json
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import copy_context
from functools import cached_property
from pathlib import Path
from typing import Any

from IPython.core.getipython import get_ipython
from IPython.display import display

from pytree_course import ipython, nbgrader
from pytree_course.built import answer_id, other_answer_id, our_version_id
from pytree_course.cases.case import Case, Check, load_checks
from pytree_course.course import GOING_DEEPER, Course, LessonFiles
from pytree_course.executed_cells import is_any_stale, is_our_version
from pytree_course.jax_configuration import (
    XLA_FLAGS,
    defined_settings,
    find_missing_platforms,
)
from pytree_course.judging import words
from pytree_course.judging.expected import BuiltLesson, ExerciseFacts, ExpectedExercise
from pytree_course.judging.feedback import feedback, note
from pytree_course.judging.judge import judge
from pytree_course.judging.verdicts import Verdict, VerdictKind
from pytree_course.learner.progress import ExerciseProgress, Progress
from pytree_course.learner.standings import format_minutes, standing
from pytree_course.rendering import Feedback, render
from pytree_course.running.outcomes import (
    CHECKS_VARIABLE,
    OUTCOMES_MIME,
    PUBLIC_SEED,
    SEED_VARIABLE,
    Outcome,
    report,
)
from pytree_course.running.run_cases import CaseInterrupted, run_cases, run_check

TRIES_BEFORE_SOLUTION = 3
SLOW_AFTER = 10  # seconds
READ_ON = "Go on reading below."


class Checks:
    """The checks of one lesson: each exercise's check is an attribute named after it.

    Examples
    --------
    >>> check = Checks("01_leaves")  # doctest: +SKIP
    >>> check.count_leaves(count_leaves)  # doctest: +SKIP
    """

    files: LessonFiles
    progress: Progress
    seed_of_grading: str | None
    is_in_nbgrader: bool
    is_own_work: bool  # and not a solution notebook, or one that is graded

    def __init__(self, lesson: str) -> None:
        course = self._course = Course.of_notebook()
        # Read before any answer runs, which may clear the environment.
        self.seed_of_grading = os.environ.get(SEED_VARIABLE)
        self.is_in_nbgrader = nbgrader.is_running()
        self.files = course.lesson_named(lesson)
        if shell := get_ipython():
            ipython.prepare(shell)  # unless it was when the kernel started
        is_solution = Path.cwd().name == self.files.solutions.parent.name
        is_graded = self.seed_of_grading is not None or self.is_in_nbgrader
        self.is_own_work = not is_solution and not is_graded
        self.progress = Progress.load(course.progress_file if self.is_own_work else None)
        _keep_findable(self)
        flags = os.environ.get(XLA_FLAGS)
        if flags and self.is_own_work:
            display(note("→", words.XLA_FLAGS_TITLE, [words.XLA_FLAGS_SET.format(flags=flags)]))

    @cached_property
    def expected(self) -> BuiltLesson:
        """The expected results, read on first use: in a first build the file does not exist yet."""
        return BuiltLesson.read(self.files.expected)

    @cached_property
    def _check_functions(self) -> dict[str, Check]:
        with defined_settings():
            return load_checks(self.files.check_script)

    def link_to_exercise(self, exercise: ExerciseFacts) -> str:
        """Return the link to an exercise of this lesson; "" if it would leave this front end."""
        if exercise.is_practice:
            link = self.link_to_section(exercise.section)
        else:
            link = self._course.link(self.files.exercises, exercise.title)
        return "" if "://" in link else link

    def link_to_section(self, slug: str) -> str:
        """Return the link to a section of this lesson."""
        target = self.expected.sections[slug].link_target(self.files, slug)
        return self._course.link(*target)

    def link_deeper(self) -> str:
        """Return the link to the list of the lesson's deeper sections."""
        return self._course.link(self.files.notebook, GOING_DEEPER)

    def standing(self, template: str = "standing", *, in_lesson: bool = False) -> Feedback:
        """Return the learner's progress, and what comes next: within a lesson, its text."""
        progress = self.progress
        if progress.file is not None:  # another notebook may have added to it
            progress = Progress.load(progress.file)
        now = standing(self.expected, progress)
        is_end = now.are_core_exercises_done or not now.next
        following = self._next_lesson() if is_end else None
        read_on = READ_ON if in_lesson and not is_end else ""
        text = f"{now.counts}. {read_on}" if read_on else str(now)
        if following:
            text = f"{text}\nNext lesson: {following[0]} ({following[1]})"
        values = {"now": now, "following": following, "read_on": read_on, "check": self}
        html = render(f"notebook/{template}.html", format_minutes=format_minutes, **values)
        return Feedback(html, text)

    def _next_lesson(self) -> tuple[str, str] | None:
        """Return title and link of the next lesson, if there is one."""
        for files in self._course.lessons():
            if files.stem > self.files.stem and files.expected.exists():
                return BuiltLesson.read(files.expected).title, self._course.link(files.notebook)
        return None

    def __dir__(self) -> list[str]:
        return sorted(self.expected.exercises)

    def __getattr__(self, name: str) -> "ExerciseCheck":
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self.expected.exercises:
            near = difflib.get_close_matches(name, self.expected.exercises, n=1)
            advice = words.ALL_NAMES.format(names=dir(self))
            if near:
                advice = words.NEAR_NAME.format(near=near[0])
            raise AttributeError(words.NO_SUCH_EXERCISE.format(name=name, advice=advice))
        return ExerciseCheck(self, self._check_functions[name], self.expected.exercises[name])

    def __repr__(self) -> str:
        return f"Checks({self.files.stem!r}): {standing(self.expected, self.progress)}"


class ExerciseCheck:
    """The check of one exercise: call it with your answer; ask it for a hint or the solution."""

    def __init__(self, checks: Checks, check: Check, exercise: ExerciseFacts) -> None:
        self._checks = checks
        self._check = check
        self._exercise = exercise

    def __call__(self, *answers: Any) -> None:
        """Run the check's cases on what your answer cell defined, and show the verdict."""
        exercise = self._exercise
        if len(answers) != len(exercise.answers):
            count = len(exercise.answers)
            raise TypeError(words.WRONG_CALL.format(count=count, call=exercise.call))
        seed = self._checks.seed_of_grading
        if seed is not None:
            outcomes = run_check(self._check, answers, int(seed))
            display({OUTCOMES_MIME: report(outcomes), "text/plain": "reported"}, raw=True)
        elif self._checks.is_in_nbgrader:
            with nbgrader.redirect_stderr_to_stdout():
                verdict = self._judge_and_show(answers)
            if verdict is None or verdict.kind is not VerdictKind.CORRECT:
                reason = words.NO_VERDICT if verdict is None else verdict.reason
                raise nbgrader.NotCorrectError(f"{exercise.name}: {reason}")
        else:
            self._judge_and_show(answers)

    def __repr__(self) -> str:
        return words.USAGE.format(call=self._exercise.call, name=self._exercise.name)

    def _judge_and_show(self, answers: tuple[Any, ...]) -> Verdict | None:
        """Run the cases, show the verdict and record it; return None if not all cases ran."""
        ran = self._run_cases(answers)
        if ran is None:
            return None
        verdict = judge(self._expected, [outcome for _, outcome in ran])
        names = self._exercise.answers
        if is_our_version(self._exercise.name, names):
            display(note("→", words.OUR_VERSION_TITLE, [words.OUR_VERSION]))
            return verdict
        if is_any_stale(names):
            display(note("→", words.STALE_ANSWER_TITLE, [words.STALE_ANSWER]))
        else:
            self._record_verdict(verdict)
        if verdict.kind is VerdictKind.CORRECT:
            display(self._praise(verdict))
        else:
            call = None if verdict.failure is None else ran[verdict.failure.case][0].call
            display(self._explain(verdict, call, answers))
        if self._checks.progress.file is not None:
            self._show_buttons()
        return verdict

    def _run_cases(self, answers: tuple[Any, ...]) -> list[tuple[Case, Outcome]] | None:
        """Run the cases; return None if they cannot all run."""
        if self._expected.functions and not all(map(callable, answers)):
            called = ", ".join(self._exercise.answers)
            title = words.ANSWER_WAS_CALLED_TITLE.format(names=called)
            display(note("→", title, [words.ANSWER_WAS_CALLED.format(names=called)]))
            return None
        if platforms := find_missing_platforms():
            text = words.NO_PLATFORM.format(platforms=platforms)
            display(note("→", words.NO_PLATFORM_TITLE, [text]))
            return None
        try:
            # Stored outputs are compared, so they must not depend on speed.
            with _note_if_slow() if self._checks.is_own_work else nullcontext():
                return [*run_cases(self._check, answers, PUBLIC_SEED)]
        except CaseInterrupted as interrupt:
            text = words.INTERRUPTED.format(inputs=", ".join(interrupt.written))
            display(note("◷", words.INTERRUPTED_TITLE, [text]))
            return None

    def _record_verdict(self, verdict: Verdict) -> None:
        if verdict.kind is VerdictKind.CORRECT:
            self._record("correct")
        elif verdict.kind is not VerdictKind.NOT_ATTEMPTED:
            held = [misconception.name for misconception in verdict.misconceptions]
            self._record("tried", held)

    def _praise(self, verdict: Verdict) -> Feedback:
        """Return the feedback on a right answer, with the progress and what to mind in grading."""
        advice = self._checks.progress.take_warnings()
        if not self._checks.is_own_work:
            return feedback(verdict, advice=advice)
        expected = self._checks.expected
        if not self._exercise.is_practice:
            from pytree_course.notebook.missing import missing_in_grading  # for right answers

            lacking = missing_in_grading(self._checks.files, expected.graded, self._exercise)
            advice = [*lacking, *advice]
        now = self._checks.standing(in_lesson=self._exercise.is_practice)
        return feedback(verdict, advice=advice, standing=now)

    def _explain(
        self, verdict: Verdict, call: Callable[..., Any] | None, answers: Sequence[Any]
    ) -> Feedback:
        """Return the feedback on any other answer, with the next steps and what to reread."""
        name, expected = self._exercise.name, self._checks.expected
        advice = words.advice(verdict.kind, name, self.hints_left, self.is_solution_due)
        advice += self._checks.progress.take_warnings()
        if verdict.kind is VerdictKind.NOT_ATTEMPTED:
            return feedback(verdict, advice=advice)
        held = verdict.misconceptions
        reread = held[0].section if held else self._exercise.section
        section = expected.sections[reread].title
        link = self._checks.link_to_section(reread)
        if not link:
            section = words.SECTION_ELSEWHERE.format(section=section, lesson=expected.title)
        return feedback(
            verdict, advice=advice, section=section, link=link, call=call, answers=answers
        )

    def _show_buttons(self) -> None:
        # Imported late: ipywidgets takes longer to import than the check to run.
        from pytree_course.notebook.base import Help

        buttons = Help(self)
        if buttons.children:
            display(buttons)

    def hint(self) -> None:
        """Show one more hint, below those already opened."""
        display(self.next_hint())

    def solution(self) -> None:
        """Show the solution: after a correct answer, or after three tries."""
        display(self.solution_if_due())

    @property
    def _expected(self) -> ExpectedExercise:
        return self._checks.expected.expected(self._exercise.name)

    @property
    def is_solved(self) -> bool:
        """Whether a right answer has been checked."""
        return self._progress.correct

    @property
    def hints_left(self) -> int:
        """How many hints have not been opened yet."""
        return max(0, len(self._exercise.hints) - self._progress.hints)

    @property
    def is_solution_due(self) -> bool:
        """Whether this copy has the solution, and the learner may see it."""
        earned = self._progress.correct or self._progress.tries >= TRIES_BEFORE_SOLUTION
        return earned and self._solutions.exists()

    def next_hint(self) -> Feedback:
        """Open one more hint; return all opened hints."""
        if self.hints_left:
            self._record("hint")
        hints = self._exercise.hints
        opened = len(hints) - self.hints_left
        title = words.HINTS_TITLE.format(
            opened=opened, hints=len(hints), title=self._exercise.title
        )
        more = words.NOT_THE_LAST_HINT if self.hints_left else words.LAST_HINT
        return note("☞", title, [*hints[:opened], more, *self._checks.progress.take_warnings()])

    def solution_if_due(self) -> Feedback:
        """Return the solution, or say what is needed before it opens."""
        name = self._exercise.name
        paragraphs = [words.NO_SOLUTIONS]
        if self.is_solution_due:
            self._record("solution")
            paragraphs = self._read_solution()
        elif self._solutions.exists():
            left = TRIES_BEFORE_SOLUTION - self._progress.tries
            tries = f"{left} more {'tries' if left > 1 else 'try'}"
            paragraphs = [words.SOLUTION_CLOSED.format(tries=tries, name=name)]
        title = words.SOLUTION_TITLE.format(title=self._exercise.title)
        return note("☞", title, [*paragraphs, *self._checks.progress.take_warnings()])

    def _read_solution(self) -> list[str]:
        """Return the solution and other right answers, each as a paragraph."""
        name = self._exercise.name
        notebook = json.loads(self._solutions.read_text(encoding="utf-8"))
        sources = {cell["id"]: "".join(cell["source"]) for cell in notebook["cells"]}
        if self._exercise.is_practice:  # its first line is for the lesson
            _, _, solution = sources[our_version_id(name)].partition("\n")
        else:
            solution = sources[answer_id(name)]
        paragraphs = [f"```python\n{solution}\n```"]
        other_ids = [other_answer_id(name, number) for number in range(1, len(sources))]
        others = [sources[cell_id] for cell_id in other_ids if cell_id in sources]
        if others:
            paragraphs += [words.OTHER_SOLUTIONS, *others]
        return paragraphs

    @property
    def _solutions(self) -> Path:
        """The notebook that contains the solution."""
        files, slug = self._checks.files, self._exercise.section
        if not self._exercise.is_practice:
            return files.solutions
        notebook, _ = self._checks.expected.sections[slug].link_target(files, slug)
        return notebook

    @property
    def _progress(self) -> ExerciseProgress:
        return self._checks.progress.in_exercise(self._checks.expected.lesson, self._exercise.name)

    def _record(self, event: str, held: Sequence[str] = ()) -> None:
        self._checks.progress.add(self._checks.expected.lesson, self._exercise.name, event, held)


@contextmanager
def _note_if_slow() -> Iterator[None]:
    """Tell the learner how to stop their code if it runs for longer than SLOW_AFTER."""
    handles = []

    def show_note() -> None:
        slow = note("◷", words.SLOW_CODE_TITLE, [words.SLOW_CODE])
        # Outside of IPython, `display` prints the note, and returns nothing to update.
        if handle := display(slow, display_id=True):
            handles.append(handle)

    # In the context of the cell, so that the note is shown below it.
    timer = threading.Timer(SLOW_AFTER, copy_context().run, [show_note])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()  # it may be showing the note at this moment
        for handle in handles:
            handle.update(Feedback("", ""))


def _keep_findable(checks: Checks) -> None:
    """Let check cells find these checks, even if an answer defines a `check` of its own.

    That answer needs its own, so the name stays as it is: IPython replaces it in check cells.
    """
    shell: Any = get_ipython()
    if shell is not None:
        shell.user_ns[CHECKS_VARIABLE] = checks
        others = [each for each in shell.ast_transformers if not isinstance(each, _FindChecks)]
        shell.ast_transformers = [*others, _FindChecks(shell.user_ns)]


class _FindChecks(ast.NodeTransformer):
    """Replace the name `check` before the name of one of the exercises."""

    def __init__(self, names: dict[str, Any]) -> None:
        self._names = names

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        is_check = isinstance(node.value, ast.Name) and node.value.id == "check"
        if is_check and node.attr in dir(self._names.get(CHECKS_VARIABLE)):  # none after %reset
            node.value = ast.copy_location(ast.Name(CHECKS_VARIABLE, ast.Load()), node.value)
        return self.generic_visit(node)
