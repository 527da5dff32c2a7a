"""Building: sources in, notebooks and slides out; the author's mistakes are found first."""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from pytree_course.authoring.building import build, find_stale
from pytree_course.authoring.notebooks import slide_types
from pytree_course.authoring.validation import find_mistakes_in_text
from pytree_course.built import other_answer_id, show_outputs
from pytree_course.course import Course, LessonFiles
from pytree_course.sources.lesson_sources import read_sources
from pytree_course.sources.source_cells import AuthorMistakesError, SourceCell
from tests.conftest import edit


def built_files(files: LessonFiles) -> list[Path]:
    return [files.notebook, files.exercises, files.solutions, files.expected, files.blank]


@pytest.mark.parametrize("name", ["files", "standing"])
def test_an_exercise_whose_check_could_not_be_called_is_refused(unbuilt, name):
    for file in (*unbuilt.sources.glob("*.*"), unbuilt.check_script):
        file.write_text(file.read_text("utf-8").replace("first_leaf", name), "utf-8")
    with pytest.raises(AuthorMistakesError, match=rf"`check\.{name}` is taken"):
        build(unbuilt)


PREDICTED = "{code-cell} ipython3\n:prediction: C\nlen(jax.tree.leaves([1, (2, 3)]))\n```\n"


@pytest.mark.slow
def test_text_below_a_prediction_is_folded_and_what_varies_from_run_to_run_is_not_stored(mini):
    lesson = mini.sources / "lesson.md"
    below = "```{code-cell} ipython3\n6 + 1\n```\n\n```{code-cell} ipython3\n6 + 2\n```\n"
    edit(lesson, PREDICTED, f"{PREDICTED}\nThree.\n\n**Try.** A dict.\n\n{below}")
    edit(lesson, "jax.tree.leaves([1, 2])", "import time\ntime.time()")
    edit(lesson, "```{code-cell} ipython3\nimport time", VARYING)
    build(mini)
    cells = nbformat.read(mini.notebook, as_version=4).cells
    # It begins with the letter; and outputs that could be seen below the question wait.
    [folded] = [cell.source for cell in cells if "<details>" in cell.source]
    assert folded.endswith("\n\n**C.** Three.\n\n</details>\n\n**Try.** A dict.")
    waiting = [cell for cell in cells if cell.source.startswith("6 + ")]
    assert [cell.outputs for cell in waiting] == [[], []]
    for cell in waiting:
        show_outputs(cell)
    assert [cell.outputs[0].data["text/plain"] for cell in waiting] == ["7", "8"]
    [varying] = [cell for cell in cells if cell.source.startswith("import time")]
    assert (varying.outputs, varying.execution_count) == ([], None)


def test_cells_have_stable_ids_and_no_trace_of_their_run(mini):
    notebook = nbformat.read(mini.solutions, as_version=4)
    assert [cell.id for cell in notebook.cells if "-other" not in cell.id] == [
        "exercises-1",
        "installed",
        "setup",
        "count-the-leaves-1",
        "count_leaves-answer",
        "count_leaves-check",
        "the-first-leaf-1",
        "first_leaf-answer",
        "first_leaf-check",
    ]
    prompt = next(cell.source for cell in notebook.cells if cell.id == "the-first-leaf-1")
    assert "★★☆ · 2 points · about 4 minutes" in prompt
    assert "../notebooks/01_mini.ipynb#Leaves-are-not-elements" in prompt
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert {cell.execution_count for cell in code} == {1}
    allowed = {"nbgrader", "tags"}
    folded = {"jupyter", "slideshow"}
    for cell in code:
        assert set(cell.metadata) == allowed | (folded if cell.id == "installed" else set())


@pytest.mark.slow
def test_solutions_show_the_two_variants_least_like_the_solution_and_a_new_cell_changes_no_id(mini):
    before = [cell.id for cell in nbformat.read(mini.blank, as_version=4).cells]
    edit(mini.sources / "exercises.md", "Intro.", "Intro.\n\n+++\n\nMore of it.")
    variant = '# %% exercise="count_leaves" variant="named"\n'
    variant += "def count_leaves(tree):\n    return len(jax.tree.leaves(tree=tree))\n\n\n"
    first = '# %% exercise="count_leaves" variant="reduce"'
    edit(mini.sources / "answers.py", first, variant + first)
    build(mini)
    cells = {cell.id: cell.source for cell in nbformat.read(mini.solutions, as_version=4).cells}
    others = [cells[other_answer_id("count_leaves", number)] for number in (1, 2)]
    assert all(each.startswith("```python\ndef count_leaves(tree):") for each in others)
    assert not any("tree=tree" in each for each in others)
    assert other_answer_id("count_leaves", 3) not in cells
    after = [cell.id for cell in nbformat.read(mini.blank, as_version=4).cells]
    assert [cell_id for cell_id in after if cell_id != "exercises-2"] == before


@pytest.mark.parametrize(
    ("which", "old", "new", "why", "command"),
    [
        ("notebook", "Text.", "Other text.", "edited by hand", "build"),
        ("solutions", "all 6 cases passed", "all 7 cases passed", "outputs", "build"),
        ("exercises", "Prompt.", "No prompt.", "edited by hand", "reset"),
        ("blank", "Prompt.", "No prompt.", "edited by hand", "build"),
        ("expected", '"points": 1', '"points": 9', "edited by hand", "build"),
        ("expected/first_leaf", '"float",3.5', '"float",4.5', "edited by hand", "build"),
    ],
)
def test_an_edited_built_file_is_named_with_the_command_that_fixes_it(
    mini, which, old, new, why, command
):
    which, _, exercise = which.partition("/")
    file = getattr(mini, which)
    if exercise:
        file = file.with_suffix("") / f"{exercise}.json"
    edit(file, old, new)
    [stale] = find_stale(mini)
    assert stale.file == getattr(mini, which)
    assert why in stale.why
    assert stale.command == f"python3 course.py {command} 01_mini"
    if which == "expected":
        build(mini)
        assert find_stale(mini) == []


def test_a_changed_lesson_makes_only_its_notebook_stale_and_every_missing_file_is_named(mini):
    edit(mini.sources / "lesson.md", "Text.", "Other text.")
    assert [(stale.file, stale.why) for stale in find_stale(mini)] == [
        (mini.notebook, "its sources have changed since it was built")
    ]
    for file in built_files(mini):
        file.unlink()
    assert {stale.file for stale in find_stale(mini)} == {*built_files(mini)}


@pytest.mark.slow
def test_a_changed_check_makes_the_exercises_stale_and_the_build_runs_the_solutions_again(mini):
    assert "all 6 cases passed" in mini.solutions.read_text(encoding="utf-8")
    more = "[None])\n    yield Case(as_int(answer), [None, None])"
    edit(mini.check_script, "[None])", more)
    files = Course(mini.root).lesson("01_mini")
    stale = {stale.file for stale in find_stale(files)}
    assert stale == {mini.exercises, mini.solutions, mini.expected, mini.blank}
    assert build(files)
    assert find_stale(files) == []
    assert "all 7 cases passed" in mini.solutions.read_text(encoding="utf-8")


VARYING = "```{code-cell} ipython3\n:tags: [varies]\nimport time"
LESSON, EXERCISES, ANSWERS = "lesson.md", "exercises.md", "answers.py"
COUNTING = "deeper/counting-without-a-list.md"
LOOP = '# %% exercise="first_leaf" variant="loop"'
SOLUTION = "    # BEGIN SOLUTION\n    return len(jax.tree.leaves(tree))\n    # END SOLUTION"
HINTS = '["one `jax.tree`", "two", '

MISTAKES = {
    ANSWERS: [
        (LOOP, LOOP.replace("first", "frist"), "there is no exercise 'frist_leaf'"),
        (
            '# %% exercise="count_leaves" variant="reduce"',
            f"{LOOP}\ndef first_leaf(tree):\n    return jax.tree.leaves(tree)[0]\n\n\n"
            '# %% exercise="count_leaves" variant="reduce"',
            "it belongs further up: 'first_leaf' is a later exercise than 'count_leaves'",
        ),
        (LOOP, "# %%", 'begin the cell with # %% exercise="..."'),
        (LOOP, LOOP.removesuffix(' variant="loop"'), 'say variant="..."'),
        (
            "def first_leaf(tree):\n    for leaf",
            "def first_leaves(tree):\n    for leaf",
            "'loop' does not run: it does not define first_leaf",
        ),
        (
            "return len(tree)",
            "return len(jax.tree.leaves(tree))",
            "no case tells the misconception 'elements' from the right answer",
        ),
        (
            "return len(tree)",
            "return jax.tree.structure(tree).num_nodes",
            "no case tells 'elements' and 'nodes' apart",
        ),
        ("lambda n, _: n + 1, tree, 0", "lambda n, _: n, tree, 0", "the variant 'reduce' fails"),
        (
            "return len(tree)",
            "return len(jax.tree.leaves(tree)) + (tree == {})",
            "only one case tells 'elements' from the right answer",
        ),
        ('"""You counted nodes."""', "", "needs an explanation"),
        ('misconception="nodes"', 'misconception="nodes" met="jax 2348"', "write it as jax-ml/"),
    ],
    EXERCISES: [
        (SOLUTION, "    return len(jax.tree.leaves(tree))", "the starter passes"),
        (HINTS, "[", "1 hints"),
        ("section: leaves-are-not-elements", "section: elsewhere", "no section 'elsewhere'"),
        ("points: 1\n", "", "missing required field `points`"),
        ("points: 1\n", "points: [1\n", "YAML"),
        ("points: 1\n", "points: 1\nhint: [one]\n", "contains unknown field `hint`"),
        ("points: 1\n", "points: 1\nmet: [jax#2348]\n", "write it as jax-ml/jax#2348"),
        (":id: setup\n", "", "add the set-up cell"),
    ],
    LESSON: [
        (":prediction: C\n", "", "the prediction needs its answer"),
        (":prediction: C", ":prediction: D", "the prediction needs its answer"),
        ("◇ **Predict.**", "**Predict.**", "does not start with ◇"),
        ("Text.", "Text. {met}`jax#2348`", "write it as jax-ml/jax#2348"),
        (PREDICTED, f"{PREDICTED}\nThree, and B counts elements.\n", "name an option as (B)"),
        (
            PREDICTED,
            f"{PREDICTED}\nThree.\n\n+++\n\n**The fix:** none.\n",
            "fold it with the answer",
        ),
        ("at the ends.", 3000 * "much ", "the core takes 21 minutes to read: 20 are the most"),
        ("at the ends.", 11 * "**Try.** It. ", "the core takes 47 minutes with everything"),
    ],
    COUNTING: [
        (' {"for": "you count leaves"}', "", "say for whom it is"),
        ("# Counting without", "# Counting with", "name its file as its title says: "),
        ("# Counting without", "# Counting with", "link to it below"),
    ],
}
"""By file: what is changed in it, and what the author is told of that file."""


FAILING_CELL = (
    LESSON,
    "jax.tree.leaves([1, 2])",
    "print(1)\njax.tree.leafs([1, 2])",
    "the cell 'leaves-are-not-elements-5' raised AttributeError",
)


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        *((name, *mistake) for name, mistakes in MISTAKES.items() for mistake in mistakes),
        pytest.param(*FAILING_CELL, marks=pytest.mark.slow),  # a kernel runs it
    ],
)
def test_an_authors_mistake_stops_the_build_and_is_named(unbuilt, name, old, new, message):
    edit(unbuilt.sources / name, old, new)
    with pytest.raises(AuthorMistakesError) as caught:
        build(unbuilt)
    mistakes = [mistake for mistake in caught.value.mistakes if message in mistake.message]
    assert mistakes, f"not among:\n{caught.value}"
    assert mistakes[0].file == unbuilt.sources / name
    lines = mistakes[0].file.read_text(encoding="utf-8").splitlines()
    assert 1 <= mistakes[0].line <= len(lines)
    if "misconception 'elements'" in message:
        marked = '# %% exercise="count_leaves" misconception="elements"'
        assert lines[mistakes[0].line - 1] == marked
    # A lesson runs after its exercises are written.
    left = [unbuilt.notebook] if "raised" in message else built_files(unbuilt)
    assert not any(file.exists() for file in left)


def test_an_exercise_without_a_check_stops_the_build(unbuilt):
    edit(unbuilt.check_script, "def first_leaf(", "def first_leaf_of_all(")
    with pytest.raises(AuthorMistakesError, match="'first_leaf' has no check"):
        build(unbuilt)


def test_headings_start_cells_but_not_inside_code(unbuilt):
    more = "Text.\n\n```python\n## no heading\n```\n\n## Second section\n\nMore."
    edit(unbuilt.sources / "lesson.md", "Text.", more)
    sources = read_sources(unbuilt)
    assert list(sources.sections)[:3] == ["mini", "leaves-are-not-elements", "second-section"]
    assert "no-heading" not in sources.sections
    below = f"{PREDICTED}\nThree.\n\n## Third section\n\n**The fix:** of this section.\n"
    edit(unbuilt.sources / "lesson.md", PREDICTED, below)
    assert find_mistakes_in_text(read_sources(unbuilt)) == []  # it is not the answer's


@pytest.mark.slow
def test_a_cell_that_should_raise_shows_its_error_and_no_more_of_this_machine(unbuilt):
    raising = 'raise TypeError(f"{__file__}:1 {object()} and https://docs.jax.dev/en/pytrees")'
    cell = "```{code-cell} ipython3\n:tags: [raises-exception, nbval-ignore-output]\n"
    more = f"{cell}__file__ = '/home/ada/lessons/x.py'\n{raising}\n```\n\n"
    edit(unbuilt.sources / "lesson.md", "◇", f"{more}◇")
    build(unbuilt)
    assert find_stale(unbuilt) == []
    [output] = [
        output
        for cell in nbformat.read(unbuilt.notebook, as_version=4).cells
        for output in cell.get("outputs", ())
        if output.output_type == "error"
    ]
    message = "…/x.py:1 <object object at 0x…> and https://docs.jax.dev/en/pytrees"
    assert (output.ename, output.evalue) == ("TypeError", message)
    assert output.traceback == [f"TypeError: {message}"]


# --- slides


def cell(cell_id, source, kind="markdown", **metadata):
    return SourceCell(kind, source, metadata, Path("lesson.md"), 1, cell_id)


def test_sections_predictions_and_answers_have_steps_of_their_own():
    cells = [
        cell("title", "# Lesson"),
        cell("section", "## Section"),
        cell("text", "Short."),
        cell("question", "◇ **Predict.** What?"),
        cell("answer", "1 + 1", "code", prediction="2"),
        cell("why", "Because."),
    ]
    assert slide_types(cells) == {
        "title": "slide",
        "section": "slide",
        "question": "subslide",
        "answer": "fragment",
    }


@pytest.mark.slow
def test_the_deck_shows_each_answer_and_no_widget_to_click_on(mini, tmp_path):
    command = [sys.executable, "-m", "nbconvert", "--to", "slides", "--output-dir", tmp_path]
    done = subprocess.run([*command, mini.notebook], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    slides = (tmp_path / "01_mini.slides.html").read_text(encoding="utf-8")
    assert "predict(" not in slides
    assert "Run this cell" not in slides
    assert re.search(r"<pre>3\s*</pre>", slides)
    assert "Going deeper" in slides
