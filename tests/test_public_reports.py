"""Public reports: cited in the sources, linked where the same is taught, asked and explained."""

from pytree_course.authoring.notebooks import render_exercises, render_notebooks
from pytree_course.judging.feedback import feedback
from pytree_course.judging.judge import judge
from pytree_course.public_reports import malformed_reports
from pytree_course.sources.authors_answers import expect_exercise, run_answer
from pytree_course.sources.lesson_sources import read_sources
from tests.conftest import edit

LINK = "[jax#2348](https://github.com/jax-ml/jax/issues/2348)"
TREE = "[tree#10](https://github.com/google-deepmind/tree/issues/10)"


def test_the_text_the_exercise_and_the_explanation_link_to_the_reports(unbuilt):
    cited = "Text.\n{met}`jax-ml/jax#2348, google-deepmind/tree#10`"
    edit(unbuilt.sources / "lesson.md", "Text.", cited)
    edit(unbuilt.sources / "exercises.md", "minutes: 3\n", "minutes: 3\nmet: [jax-ml/jax#2348]\n")
    wrong = 'misconception="elements"'
    edit(unbuilt.sources / "answers.py", wrong, f'{wrong} met="jax-ml/jax#2348"')
    sources = read_sources(unbuilt)
    core = render_notebooks(sources)[unbuilt.notebook]
    met = f"Text.<br><small>People met this: {LINK}, {TREE}</small>"
    assert met in "\n".join(cell.source for cell in core.cells)
    exercises = [cell.source for cell in render_exercises(sources).cells]
    [with_title] = [text for text in exercises if text.startswith("## Count the leaves")]
    assert f"<br><small>People met this: {LINK}</small>\n\nPrompt." in with_title
    count = sources.exercises["count_leaves"]
    outcomes = run_answer(sources, count, count.misconceptions[0], seed=0)
    shown = feedback(judge(expect_exercise(sources, count, seed=0), outcomes))
    assert '<a href="https://github.com/jax-ml/jax/issues/2348"' in shown.html
    assert "People met this: jax-ml/jax#2348" in shown.text


def test_a_report_that_is_not_written_as_one_is_named():
    wrong = ["jax#1", "jax-ml/jax", "jax-ml/jax#1a"]
    assert len(malformed_reports(["jax-ml/jax#1", "a-b/c.d_e#22", *wrong])) == 3
