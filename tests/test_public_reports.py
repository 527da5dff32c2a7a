"""Public reports: cited in the sources, shown where the same is taught, asked and explained."""

from pytree_course.authoring.building import build
from pytree_course.authoring.notebooks import render_exercises, render_notebooks
from pytree_course.judging.expected import BuiltLesson
from pytree_course.judging.feedback import feedback
from pytree_course.judging.judge import judge
from pytree_course.running.outcomes import PUBLIC_SEED
from pytree_course.running.run_cases import run_check
from pytree_course.sources.lesson_sources import read_sources
from tests.conftest import edit

LINK = "[jax#2348](https://github.com/jax-ml/jax/issues/2348)"
TWO = (
    f"<small>People met this: {LINK}, [tree#10](https://github.com/google-deepmind/tree/issues/10)"
)


def test_the_text_and_the_exercise_link_to_the_reports(unbuilt):
    cited = "Text.\n{met}`jax-ml/jax#2348, google-deepmind/tree#10`"
    edit(unbuilt.sources / "lesson.md", "Text.", cited)
    edit(unbuilt.sources / "exercises.md", "minutes: 3\n", "minutes: 3\nmet: [jax-ml/jax#2348]\n")
    sources = read_sources(unbuilt)
    core = render_notebooks(sources)[unbuilt.notebook]
    assert f"Text.<br>{TWO}</small>" in "\n".join(cell.source for cell in core.cells)
    exercises = [cell.source for cell in render_exercises(sources).cells]
    [with_title] = [text for text in exercises if text.startswith("## Count the leaves")]
    assert f"<br><small>People met this: {LINK}</small>\n\nPrompt." in with_title


def test_the_answer_of_a_prediction_is_asked_again_without_its_reports(unbuilt):
    answer = "```{code-cell} ipython3\n:prediction: C\nlen(jax.tree.leaves([1, (2, 3)]))\n```\n"
    edit(unbuilt.sources / "lesson.md", answer, f"{answer}\nThree. {{met}}`jax-ml/jax#2348`\n")
    assert "Three." in [each.why for each in read_sources(unbuilt).predictions.values()]


def test_an_explanation_links_to_the_reports_of_its_misconception(unbuilt):
    wrong = 'misconception="elements"'
    edit(unbuilt.sources / "answers.py", wrong, f'{wrong} met="jax-ml/jax#2348"')
    build(unbuilt)
    expected = BuiltLesson.read(unbuilt.expected).expected("count_leaves")
    outcomes = run_check(read_sources(unbuilt).checks["count_leaves"], [len], PUBLIC_SEED)
    shown = feedback(judge(expected, outcomes))
    assert '<a href="https://github.com/jax-ml/jax/issues/2348"' in shown.html
    assert "People met this: jax-ml/jax#2348" in shown.text
