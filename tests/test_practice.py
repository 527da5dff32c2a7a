"""Exercises that stand in a lesson: practice, with the machinery of all exercises, no points."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from pytree_course.authoring.building import build, find_stale
from pytree_course.authoring.documents import read_marks
from pytree_course.course import PROGRESS_VARIABLE, Course, LessonFiles
from pytree_course.grading.lesson import GradedLesson
from pytree_course.judging.expected import BuiltLesson
from pytree_course.learner.progress import Progress
from pytree_course.learner.standings import standing
from pytree_course.sources.exercises import PLACEHOLDER
from pytree_course.sources.source_cells import AuthorMistakesError
from tests.conftest import MINI_COURSE, edit

PRACTICE = """\
```{code-cell} ipython3
:id: a-pair
pair = ("a", "b")
```

✎ **Write.** `names` returns the leaves of a tree as one string.

```{code-cell} ipython3
---
exercise: names
minutes: 2
stars: 1
hints: ["`jax.tree` finds leaves", "a string joins others"]
covers: T1
needs: [a-pair]
---
def names(tree=pair):
    # BEGIN SOLUTION
    return "".join(jax.tree.leaves(tree))
    # END SOLUTION
```

```{code-cell} ipython3
print(names(pair))
```

+++

## What you learned
"""
ANSWERS = '''

# %% exercise="names" variant="sum"
def names(tree=pair):
    return jax.tree.reduce(str.__add__, tree, "")


# %% exercise="names" variant="loop"
def names(tree=pair):
    return "".join([leaf for leaf in jax.tree.leaves(tree)])


# %% exercise="names" misconception="first"
"""You took the first leaf and left the others."""


def names(tree=pair):
    return [*jax.tree.leaves(tree), ""][0]


# %% exercise="names" misconception="backwards"
"""You joined the leaves from the last to the first."""


def names(tree=pair):
    return "".join(jax.tree.leaves(tree)[::-1])


# %% exercise="names" misconception="spaces"
"""You put a space between two leaves."""


def names(tree=pair):
    return " ".join(jax.tree.leaves(tree))
'''
CHECK = """
@check
def names(answer, rng):
    yield Case(answer, [])
    yield Case(answer, ["x", ("y", "z")])
    for first, second in rng.choice(list("pqrstuv"), (3, 2), replace=False):
        yield Case(answer, {"k": str(first), "l": [str(second)]})


if __name__"""


@pytest.fixture(scope="module")
def built_practice(tmp_path_factory) -> Path:
    """Build the small course with an exercise in its lesson."""
    root = tmp_path_factory.mktemp("practice") / "course"
    shutil.copytree(MINI_COURSE, root)
    files = Course(root).lesson("01_mini")
    lesson = files.sources / "lesson.md"
    edit(
        lesson,
        "import jax\n",
        'import jax\nfrom pytree_course import Checks\n\ncheck = Checks("01_mini")\n',
    )
    edit(lesson, "## What you learned\n", PRACTICE)
    with (files.sources / "answers.py").open("a", encoding="utf-8") as answers:
        answers.write(ANSWERS)
    edit(files.check_script, "\nif __name__", CHECK)
    (root / "sources" / "topics.toml").write_text('[T1]\nwhat = "Names"\nlesson = "01_mini"\n')
    build(files)
    return root


@pytest.fixture
def practice(built_practice: Path, tmp_path: Path) -> LessonFiles:
    """Return the files of a lesson of one's own with an exercise in it."""
    shutil.copytree(built_practice, tmp_path / "course")
    return Course(tmp_path / "course").lesson("01_mini")


def run_lesson(files: LessonFiles, tmp_path: Path, answer: str = "") -> dict[str, str]:
    """Run the lesson as a learner does; return what each code cell shows, by the cell's id."""
    notebook = nbformat.read(files.notebook, as_version=4)
    for cell in notebook.cells:
        if answer and cell.id == "names-answer":
            cell.source = answer
    client = NotebookClient(notebook, resources={"metadata": {"path": files.notebook.parent}})
    client.execute(stderr=subprocess.DEVNULL, env={**os.environ, PROGRESS_VARIABLE: str(tmp_path)})
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return {cell.id: "\n".join(map(shown_by, cell.outputs)) for cell in cells}


def shown_by(output) -> str:
    return output.get("text") or output.data["text/plain"]


def test_the_notebook_has_the_starter_the_check_and_our_version_folded(practice):
    cells = {cell.id: cell for cell in nbformat.read(practice.notebook, as_version=4).cells}
    prompt, answer, check, ours = [cells[id] for id in PARTS]
    assert "no points · ★☆☆ · about 2 minutes" in prompt.source
    assert PLACEHOLDER in answer.source and "join" not in answer.source
    assert check.source == "check.names(names)"
    assert '"".join' in ours.source and ours.metadata.jupyter.source_hidden
    assert find_stale(practice) == []


PARTS = ["leaves-are-not-elements-6", "names-answer", "names-check", "names-ours"]


def test_who_skips_it_goes_on_without_an_error(practice, tmp_path):
    shown = run_lesson(practice, tmp_path)
    assert "Not attempted" in shown["names-check"]
    assert "names · practice" in shown["names-check"]
    assert shown["leaves-are-not-elements-8"] == "ab\n"


def test_a_wrong_answer_is_explained_and_a_right_one_is_progress_without_points(practice, tmp_path):
    shown = run_lesson(
        practice, tmp_path, "def names(tree):\n    return ' '.join(jax.tree.leaves(tree))"
    )
    assert "You put a space between two leaves." in shown["names-check"]
    run_lesson(practice, tmp_path, "def names(tree):\n    return ''.join(jax.tree.leaves(tree))")
    progress = Progress.load(tmp_path / "progress.jsonl")
    now = standing(BuiltLesson.read(practice.expected), progress)
    assert progress.of("01_mini", "names").correct
    assert str(now).startswith("0 of 2 exercises, 0 of 3 points, practice 1 of 1")


def test_the_map_shows_it_as_the_next_thing_to_do(practice):
    now = standing(BuiltLesson.read(practice.expected), Progress(None))
    assert "Next: names (practice, about " in str(now)
    assert now.next.section == "leaves-are-not-elements"


def test_grading_and_the_exercise_notebooks_do_not_know_it(practice):
    assert list(GradedLesson(practice).points) == ["count_leaves", "first_leaf"]
    for file in (practice.exercises, practice.blank, practice.solutions):
        cells = json.loads(file.read_text())["cells"]
        assert "names" not in str([cell["id"] for cell in cells])


def test_the_table_of_topics_links_to_its_answer_cell(practice):
    [mark] = read_marks(Course(practice.root))["01_mini"]
    assert (mark.notebook, mark.cell_id) == ("notebooks/01_mini.ipynb", "names-answer")


MISTAKES = [
    ("✎ **Write.**", "**Write.**", "does not start with ✎"),
    ("needs: [a-pair]", "needs: [a-pear]", "no code cell above has the id 'a-pear'"),
    ("minutes: 2\n", "minutes: 2\npoints: 1\n", "`points` is for exercises in"),
]


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES)
def test_the_build_refuses_mistakes_of_practice_alone(practice, old, new, message):
    edit(practice.sources / "lesson.md", old, new)
    with pytest.raises(AuthorMistakesError, match=message):
        build(practice)
