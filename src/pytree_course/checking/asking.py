"""Ask the questions of a review, one after the other, and say what was wrong with an answer."""

from datetime import UTC, datetime

from pytree_course.checking.expected import Expected
from pytree_course.checking.feedback import Feedback, shown
from pytree_course.checking.progress import Progress
from pytree_course.checking.questions import Question
from pytree_course.checking.review import due
from pytree_course.course import Course


class Review:
    """The questions that are due, and the learner's progress with them."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._progress = Progress.load(course.progress_file)
        self._lessons = {files.stem: Expected.read(files.expected) for files in course.lessons()}
        self.questions = due(self._lessons.values(), self._progress, datetime.now(UTC))

    def asked(self, question: Question) -> Feedback:
        """Show a question, and how far the review is."""
        number = self.questions.index(question) + 1
        title = self._lessons[question.about.lesson].title
        return shown(
            "question", question=question, number=number, of=len(self.questions), lesson=title
        )

    def answer(self, question: Question, choice: str) -> Feedback:
        """Keep an answer, and say whether it is right; a wrong one is explained."""
        misconception = question.chosen(choice).misconception
        held = misconception.name if misconception else ""
        is_right = question.is_right(choice)
        self._progress.review(question.about, question.case, right=is_right, held=held)
        lesson = self._lessons[question.about.lesson]
        section = lesson.sections[misconception.section if misconception else question.section]
        notebook = self._course.lesson(lesson.lesson).notebook
        return shown(
            "answered",
            question=question,
            is_right=is_right,
            chosen=question.chosen(choice),
            news=self._progress.news(),
            section=section.title,
            link=self._course.link(notebook, section.title),
        )
