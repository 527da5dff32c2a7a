"""Questions in a notebook: predictions before a cell is run, and the review."""

from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets
from IPython.core.getipython import get_ipython
from IPython.display import display

from pytree_course.built import PREDICT_ENDING
from pytree_course.course import Course
from pytree_course.executed_cells import is_meant_by_lesson
from pytree_course.judging.expected import BuiltLesson, Prediction
from pytree_course.learner.progress import Progress
from pytree_course.learner.questions import Question, is_same
from pytree_course.learner.review import Review
from pytree_course.notebook.base import Play, frame_layout, make_button
from pytree_course.rendering import Feedback, render


def predict(lesson: str, name: str) -> "Predict":
    """Ask for a prediction, and store the answer; `name` is the id of the cell below."""
    course = Course.of_notebook()
    files = course.lesson_named(lesson)
    predictions = BuiltLesson.read(files.expected).predictions
    if name not in predictions:
        raise LookupError(f"{files.stem} has no prediction {name!r}: build the lesson again.")
    progress = Progress.load(course.progress_file)
    earlier = progress.predictions.get((files.stem, name))
    widget = Predict(predictions[name], earlier.choice if earlier else None)

    def remember(choice: str) -> None:
        progress.predict(files.stem, name, choice)
        widget.warnings += progress.take_warnings()

    widget.remember = remember
    shell = get_ipython()
    if shell is not None:
        _reveal_by_answer(widget, name, shell)
    return widget


class Predict(Play):
    """A question that the next cell answers; `choice` is the learner's earlier choice."""

    def __init__(self, prediction: Prediction, choice: str | None = None) -> None:
        self.prediction = prediction
        self.remember: Callable[[str], None] = lambda choice: None
        self.warnings: list[str] = []  # about the learner's progress
        self.is_revealed = False
        self._status = ipywidgets.HTML()
        if prediction.options and choice not in prediction.options:  # of an earlier edition
            choice = None
        self._earlier_choice = choice
        self.entry = make_entry(prediction.options, "I predict")
        how = "Write it down and press Enter, then run the next cell."
        if prediction.options:
            how = "Choose by a click or by typing the letter. Then run the next cell."
        self._say(f"{how} Last time you predicted {choice}." if choice else how)
        self.entry.observe(lambda change: self._choose(change["new"]), names="value")
        # The static form invites to run the cell: the question itself is in the text above it.
        text = "Run this cell to write down your prediction."
        static = Feedback(render("notebook/invitation.html", text=text), text)
        super().__init__([self.entry, self._status], static)
        self.add_class("pytree-predict")  # by which `jupyter/lab_extension.js` knows it

    def _choose(self, choice: str | None) -> None:
        if self.is_revealed or not choice:
            return
        self.remember(choice)
        self._say(f"You predict {choice}. Now run the next cell.")

    def _say(self, text: str) -> None:
        self._status.value = render("notebook/status.html", text=" ".join([text, *self.warnings]))

    def reveal(self) -> Feedback | None:
        """End the prediction: say whether it was right, or None without a choice."""
        self.is_revealed = True
        self.entry.disabled = True
        choice = self.entry.value or self._earlier_choice
        answer = self.prediction.answer
        if not choice:
            self._say("No guess this time. Next time, guess first: it helps you remember.")
            return None
        self._say(f"You predicted {choice}.")
        text = f"✗ You predicted {choice}. It is {answer}."
        if is_same(choice, answer):
            text = f"✓ You predicted {choice}, and so it is."
        return Feedback(render("notebook/status.html", text=text), text)


def make_entry(
    options: Mapping[str, str], description: str, choice: str | None = None
) -> ipywidgets.ToggleButtons | ipywidgets.Text:
    """Make the input for an answer: a button for each letter, or a text field."""
    if not options:
        return ipywidgets.Text(
            value=choice or "",
            description=description,
            placeholder="write it here",
            continuous_update=False,
        )
    buttons = ipywidgets.ToggleButtons(
        options=[(letter, letter) for letter in options],
        value=choice if choice in options else None,
        tooltips=list(options.values()),
        description=description,
        style={"button_width": "4em"},
    )
    buttons.add_class("pytree-choice")  # by which `jupyter/lab_extension.js` takes typed letters
    return buttons


def _reveal_by_answer(widget: Predict, name: str, shell: Any) -> None:
    """Reveal a prediction when the cell that shows the answer has been run: `name` is its id.

    Where the front end has no ids, or others, it is the next cell that is run. The answer can be an
    error that the lesson raises on purpose; a `NameError` means that a cell above was not run.
    """
    asking: list[str | None] = []  # the id of the cell that asks, once it has run

    def after_cell(result: Any) -> None:
        cell_id = getattr(result.info, "cell_id", None)
        if not asking:
            asking.append(cell_id)
            return
        if cell_id and cell_id in asking:  # it asks anew
            shell.events.unregister("post_run_cell", after_cell)
            return
        if asking == [f"{name}{PREDICT_ENDING}"] and cell_id != name:
            return
        error = result.error_before_exec or result.error_in_exec
        if isinstance(error, NameError) or (error and not is_meant_by_lesson(result.info.raw_cell)):
            return  # it failed, and will be run again
        shell.events.unregister("post_run_cell", after_cell)
        outcome = widget.reveal()
        if outcome is not None:
            display(outcome)  # in the output of that cell

    shell.events.register("post_run_cell", after_cell)


INVITATION = "Run this cell to answer the questions that are due."


def review() -> "ReviewPlay":
    """Ask the questions that are due, about what you have read and tried."""
    return ReviewPlay(Review(Course.of_notebook()))


class ReviewPlay(Play):
    """Shows one question after the other, and what was wrong with an answer."""

    def __init__(self, due: Review) -> None:
        self._review = due
        static = Feedback(render("notebook/invitation.html", text=INVITATION), INVITATION)
        super().__init__([], static, layout=frame_layout())
        self.add_class("pytree-review")  # by which `jupyter/lab_extension.js` keeps it in sight
        self._ask()

    def _ask(self) -> None:
        question = self._review.next()
        if question is None:
            end = render("notebook/status.html", text=self._review.end)
            self.children = [ipywidgets.HTML(end)]
            return
        answer = make_entry(question.options, "My answer")
        text = ipywidgets.HTML(self._review.show(question).html)
        self.children = [text, answer]
        answer.observe(lambda change: self._explain(question, change["new"]), names="value")

    def _explain(self, question: Question, choice: str) -> None:
        text, answer = self.children
        answer.disabled = True
        # In an output, and no HTML widget: only there do links open notebooks.
        explanation = ipywidgets.Output()
        explanation.append_display_data(self._review.answer(question, choice))
        onward = ipywidgets.HBox([make_button("Next" if self._review.left else "Done", self._ask)])
        answered = ipywidgets.VBox([explanation, onward])
        answered.add_class("pytree-answered")  # the extension keeps it in sight
        self.children = [text, answer, answered]
