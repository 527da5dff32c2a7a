"""Exercises as their author wrote them: in exercises.md, in a lesson, and their answers."""

import shutil

import pytest

from pytree_course.course import Course
from pytree_course.sources.exercises import PLACEHOLDER
from pytree_course.sources.lesson_sources import read_sources
from pytree_course.sources.source_cells import AuthorMistakesError
from tests.conftest import ROOT, edit

SOLUTION = "    # BEGIN SOLUTION\n    return len(jax.tree.leaves(tree))\n    # END SOLUTION"
NODES = 'misconception="nodes"'


def test_an_exercise_has_its_facts_and_answers(unbuilt):
    answers = unbuilt.sources / "answers.py"
    edit(answers, NODES, f'{NODES} section="what-you-learned" met="jax-ml/jax#1, jax-ml/jax#2"')
    starter = '# %% exercise="count_leaves" starter=True\ncount_leaves = len\n\n\n'
    edit(answers, "# %%", f"{starter}# %%")
    count, first = read_sources(unbuilt).exercises.values()
    assert (count.title, count.points, count.core, count.answers) == (
        *("Count the leaves", 1, True, ["count_leaves"]),
    )
    assert (first.silent_bug, first.core, first.question, first.met) == (True, False, "", [])
    assert count.setup.startswith("import jax\n") and count.hints[2].startswith("```python")
    assert count.starter.source == "count_leaves = len"
    doc = 'def first_leaf(tree):\n    """Return the first leaf of `tree`."""\n'
    assert first.starter.source == f"{doc}    {PLACEHOLDER}"
    assert first.solution.source.startswith(f"{doc}    leaves = ")
    assert "SOLUTION" not in first.solution.source
    assert not count.is_prediction
    assert [answer.name for answer in first.all_answers[2:4]] == ["loop", "subclass of the error"]
    elements, nodes = count.misconceptions[:2]
    assert (elements.section, elements.met) == (count.section, [])
    assert (nodes.section, nodes.met) == ("what-you-learned", ["jax-ml/jax#1", "jax-ml/jax#2"])


def test_an_exercise_that_defines_no_function_asks_for_predictions(unbuilt):
    file, solution = unbuilt.sources / "exercises.md", "# BEGIN SOLUTION\nguess = 1\n# END SOLUTION"
    doc = '    """Return how many leaves `tree` has."""\n'
    edit(file, f"def count_leaves(tree):\n{doc}{SOLUTION}", solution)
    edit(file, "core: true", "core: true\nanswers: [guess]")
    count = read_sources(unbuilt).exercises["count_leaves"]
    assert count.is_prediction
    assert (count.starter.source, count.solution.source) == (PLACEHOLDER, "guess = 1")


def test_practice_needs_the_imports_and_the_cells_it_names():
    sources = read_sources(Course(ROOT).lesson("01_leaves"))
    practice = sources.exercises["leaves_of"]
    assert (practice.points, practice.core, practice.title) == (0, True, "Write leaves_of")
    assert "\nimport jax\n" in practice.setup and practice.section in sources.sections
    assert practice.is_practice and "leaves_of" not in sources.graded
    assert sources.practice_digest


EXERCISE = "exercise: leaves_of\n"
MISTAKES = [
    ("✎ **Write** `leaves_of", "**Write** `leaves_of", "does not start with ✎"),
    (EXERCISE, f"{EXERCISE}needs: [a-pear]\n", "no code cell above has the id 'a-pear'"),
    (EXERCISE, f"{EXERCISE}points: 1\n", "unknown field `points`"),
]


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES)
def test_mistakes_in_practice_are_named(tmp_path, old, new, message):
    shutil.copytree(Course(ROOT).lesson("01_leaves").sources, tmp_path / "sources" / "01_leaves")
    files = Course(tmp_path).lesson("01_leaves")
    edit(files.sources / "lesson.md", old, new)
    with pytest.raises(AuthorMistakesError, match=message):
        read_sources(files)


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("return len(tree)", "return len(tree", 2, "SyntaxError"),
        ('"elements"', '"elements" changes="structure"', 1, "begin this line with"),
    ],
)
def test_a_mistake_in_an_answer_is_named_with_its_line(unbuilt, old, new, line, message):
    answers = unbuilt.sources / "answers.py"
    edit(answers, old, new)
    with pytest.raises(AuthorMistakesError, match=message) as refused:
        read_sources(unbuilt)
    [mistake] = refused.value.mistakes
    begins = answers.read_text("utf-8").splitlines().index("def count_leaves(tree):", 11)
    assert mistake.line == begins + line
