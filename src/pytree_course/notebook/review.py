"""The review: questions about what was read, each answered at once."""

import ipywidgets

from pytree_course.course import Course
from pytree_course.learner.questions import Question
from pytree_course.learner.review import NOTHING_DUE, Review
from pytree_course.notebook.base import Play, button, frame_layout
from pytree_course.notebook.prediction import entry
from pytree_course.rendering import Feedback, render

INVITATION = "Run this cell to answer the questions that are due."
DONE = "That was all for today. Come back when you like."


def review() -> "ReviewPlay":
    """Ask the questions that are due, about what you have read and tried."""
    return ReviewPlay(Review(Course.find()))


class ReviewPlay(Play):
    """Shows one question after the other, and what was wrong with an answer."""

    def __init__(self, asked: Review) -> None:
        self._review = asked
        self._left = [*asked.questions]
        static = Feedback(render("notebook/invitation.html", text=INVITATION), INVITATION)
        super().__init__([], static, layout=frame_layout())
        self._ask(NOTHING_DUE)

    def _ask(self, otherwise: str = DONE) -> None:
        if not self._left:
            self.children = [ipywidgets.HTML(render("notebook/status.html", text=otherwise))]
            return
        question = self._left.pop(0)
        answer = entry(question.options, "My answer")
        shown = ipywidgets.HTML(self._review.asked(question).html)
        self.children = [shown, answer]
        answer.observe(lambda change: self._answered(question, change["new"]), names="value")

    def _answered(self, question: Question, choice: str) -> None:
        shown, answer = self.children
        answer.disabled = True
        # In an output, and no HTML widget: only there do links open notebooks.
        said = ipywidgets.Output()
        said.append_display_data(self._review.answer(question, choice))
        onward = ipywidgets.HBox([button("Next" if self._left else "Done", self._ask)])
        self.children = [shown, answer, said, onward]
