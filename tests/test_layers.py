"""The layers of a lesson: a core of at most 20 minutes, and deeper sections that stand alone."""

import dis
import os
import subprocess
import symtable
from collections.abc import Callable
from pathlib import Path

import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from pytree_course.authoring.building import CELL_TIMEOUT
from pytree_course.authoring.notebooks import render_lesson
from pytree_course.course import NOBODY_VARIABLE, Course, LessonFiles
from pytree_course.sources.core_and_deeper import Layers, Section, find_wrong_layers
from pytree_course.sources.lesson_sources import read_sources
from pytree_course.sources.source_cells import SourceCell
from tests.conftest import ROOT
from tests.lesson_reads import each_of

LESSONS = Course(ROOT).lessons()
LESSON = """\
# A lesson

```{code-cell} ipython3
import jax
```

+++

## First

```{code-cell} ipython3
small = {"w": 1}
```

+++

## What you learned

Much.

# Going deeper

Choose.

```{code-cell} ipython3
large = [1, 2, 3]
```

+++ {"for": "you like it deep"}

## Deep

```{code-cell} ipython3
mine = 1
```

```{code-cell} ipython3
print(jax.tree.leaves(large), mine)
```

+++ {"for": "you want more"}

## Deeper

Read.
"""
"""A lesson without a mistake."""

Written = Callable[..., LessonFiles]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """Return a function that writes a lesson, with some of its text replaced."""

    def write(*replaced: tuple[str, str]) -> LessonFiles:
        files = Course(tmp_path).lesson("01_written")
        text = LESSON
        for old, new in replaced:
            assert old in text
            text = text.replace(old, new, 1)
        files.sources.mkdir(parents=True)
        (files.sources / "lesson.md").write_text(text, encoding="utf-8")
        return files

    return write


def layers(files: LessonFiles) -> Layers:
    return read_sources(files).layers


def mistakes(files: LessonFiles) -> list[str]:
    """Return what is wrong with a lesson's layers, without the folder of its file."""
    found = map(str, find_wrong_layers(layers(files)))
    return [each.removeprefix(f"{files.sources}{os.sep}") for each in found]


def test_a_lesson_is_parted_at_going_deeper(written):
    files = written()
    assert mistakes(files) == []
    parts = layers(files)
    assert [each.title for each in parts.core] == ["First", "What you learned"]
    assert [each.title for each in parts.deeper] == ["Deep", "Deeper"]
    assert [each.for_whom for each in parts.deeper] == ["you like it deep", "you want more"]
    assert [cell.source for cell in parts.opening] == ["# A lesson", "import jax"]
    assert parts.set_up[-1].source == "large = [1, 2, 3]"


MISTAKES = [
    ("# A lesson", "Much.", 3000 * "much ", "the core takes 21 minutes to read: 20 are the most"),
    ("## Deep", '+++ {"for": "you like it deep"}\n', "+++\n", "say for whom it is"),
]
"""By the line that is named: what is changed in the lesson, and what the author is told."""


@pytest.mark.parametrize(("line", "old", "new", "message"), MISTAKES)
def test_a_mistake_in_the_layers_is_named_where_it_is(written, line, old, new, message):
    files = written((old, new))
    lines = (files.sources / "lesson.md").read_text(encoding="utf-8").splitlines()
    number = next(at for at, each in enumerate(lines, 1) if line in each)
    (found,) = mistakes(files)
    assert found.startswith(f"lesson.md:{number}: {message}")


def test_a_lesson_without_deeper_sections_has_no_mistake_in_its_layers(written):
    start = LESSON.index("# Going deeper")
    files = written((LESSON[start:], ""), ("Much.", 5000 * "much "))
    assert mistakes(files) == []
    assert layers(files).deeper == []


def test_under_a_deeper_heading_stands_how_long_it_takes_and_for_whom_it_is(written):
    texts = {cell.id: cell.source for cell in render_lesson(read_sources(written())).cells}
    assert texts["deep-1"] == "## Deep\n\n*About 1 minute. For you if you like it deep.*\n"
    assert texts["first-1"] == "## First"


def test_minutes_are_counted_in_words_lines_of_code_predictions_and_trys(written):
    words = f"{298 * 'word '}\n\n**Try.** That."
    code = "```{code-cell} ipython3\n:prediction: A\n" + 24 * "x = 1\n" + "```"
    files = written(("Much.", f"{words}\n\n+++\n\n◇ Which?\n\n- A. a\n- B. b\n\n{code}"))
    (_, learned) = layers(files).core
    assert learned.minutes == 4  # 2 for the words, 2 for the lines
    assert learned.trying == 5


def test_the_opening_says_what_was_counted(written):
    text = "# A lesson\n\nReading: {reading} minutes; {with everything} with every Try."
    files = written(("# A lesson", text), ("Much.", "**Try.** " + 300 * "much "))
    (opening, *_) = render_lesson(read_sources(files)).cells
    assert opening.source.endswith("Reading: 3 minutes; 7 with every Try.")


@pytest.mark.slow
@each_of(LESSONS)
def test_each_deeper_section_runs_after_the_opening_and_the_set_up_alone(files):
    parts = layers(files)
    notebook = new_notebook()
    for section in parts.deeper:
        notebook.cells += alone(section, [*parts.opening, *parts.set_up])
    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT,
        allow_errors=True,
        resources={"metadata": {"path": str(files.notebook.parent)}},
    )
    if notebook.cells:
        client.execute(stderr=subprocess.DEVNULL, env={**os.environ, NOBODY_VARIABLE: "1"})
    failed = [
        f"{cell.metadata.section}: {output.ename}: {output.evalue} in:\n{cell.source}"
        for cell in notebook.cells
        for output in cell.outputs
        if output.output_type == "error" and "raises-exception" not in cell.metadata.tags
    ]
    assert not failed, "\n\n".join(failed)


@pytest.mark.parametrize("files", LESSONS, ids=lambda files: files.stem)
def test_no_deeper_section_overwrites_a_name_that_the_core_goes_on_to_use(files):
    # A reader may leave the core for a deeper section, and come back.
    parts = layers(files)
    core = [cell for section in parts.core for cell in section.code]
    used = set().union(*(names_read(cell) - names_bound(cell) for cell in core))
    overwritten = {
        section.title: names
        for section in parts.deeper
        if (names := set().union(*map(names_bound, section.code)) & used)
    }
    assert not overwritten


def names_bound(cell: SourceCell) -> set[str]:
    """Return the names that a code cell gives a meaning, for the cells that are run after it."""
    # Unlike the symbols, bytecode tells a comprehension's names apart on every Python.
    steps = dis.get_instructions(compile(cell.source, cell.id, "exec"))
    return {step.argval for step in steps if step.opname == "STORE_NAME"}


def names_read(cell: SourceCell) -> set[str]:
    """Return the names that a code cell reads, in its functions too."""
    scopes = [symtable.symtable(cell.source, cell.id, "exec")]
    for scope in scopes:  # it grows meanwhile
        scopes += scope.get_children()
    symbols = [symbol for scope in scopes for symbol in scope.get_symbols()]
    return {each.get_name() for each in symbols if each.is_global() and each.is_referenced()}


def alone(section: Section, before: list[SourceCell]) -> list[NotebookNode]:
    """Return the code of a section and what comes before it, to be run without earlier names."""
    cells = [new_code_cell("%reset -f", metadata={"tags": [], "section": section.title})]
    for cell in (*before, *section.code):
        if cell.kind == "code":
            metadata = {"tags": cell.metadata.get("tags", []), "section": section.title}
            cells.append(new_code_cell(cell.source, metadata=metadata))
    return cells
