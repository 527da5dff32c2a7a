"""The layers of a lesson: a short core, and deeper sections, each a notebook that stands alone."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pytree_course.authoring.building import build
from pytree_course.authoring.notebooks import render_notebooks
from pytree_course.course import Course, LessonFiles
from pytree_course.sources.lesson_sources import Layers, find_wrong_layers, read_sources
from tests.conftest import edit

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

- [Deeper](deeper/01_written/deeper.ipynb)
- [Deep](deeper/01_written/deep.ipynb)
"""
DEEP = """\
+++ {"for": "you like it deep"}

# Deep

```{code-cell} ipython3
:id: imports
import jax
```

Text.

```{code-cell} ipython3
print(jax.tree.leaves([1, 2, 3]))
```
"""
DEEPER = """\
+++ {"for": "you want more"}

# Deeper

Read.
"""
"""A lesson without a mistake."""

Written = Callable[..., LessonFiles]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """Return a function that writes a lesson, with some of its text replaced."""

    def write(*replaced: tuple[str, str]) -> LessonFiles:
        files = Course(tmp_path).lesson("01_written")
        files.deeper_sources.mkdir(parents=True)
        places = {"lesson.md": LESSON, "deeper/deep.md": DEEP, "deeper/deeper.md": DEEPER}
        for name, text in places.items():
            (files.sources / name).write_text(text, encoding="utf-8")
        for old, new in replaced:
            name = next(name for name, text in places.items() if old in text)
            edit(files.sources / name, old, new)
        return files

    return write


def layers(files: LessonFiles) -> Layers:
    return read_sources(files).layers


def mistakes(files: LessonFiles) -> list[str]:
    """Return what is wrong with a lesson's layers, without the folder of its file."""
    found = map(str, find_wrong_layers(layers(files)))
    return [each.removeprefix(f"{files.sources}{os.sep}") for each in found]


def test_a_lesson_is_a_core_and_the_deeper_sections_that_it_lists(written):
    files = written()
    assert mistakes(files) == []
    parts = layers(files)
    assert [each.title for each in parts.core] == ["First", "What you learned"]
    assert [each.title for each in parts.deeper] == ["Deeper", "Deep"]  # as they are listed
    assert [each.for_whom for each in parts.deeper] == ["you want more", "you like it deep"]
    assert [cell.source for cell in parts.opening] == ["# A lesson", "import jax"]
    # A lesson without deeper sections may be as long as it likes.
    edit(files.sources / "lesson.md", LESSON[LESSON.index("# Going deeper") :], "")
    edit(files.sources / "lesson.md", "Much.", LONG)
    assert mistakes(files) == []


LONG = 3000 * "much "
MISTAKES = [
    ("lesson.md:1", "Much.", LONG, "the core takes 21 minutes to read: 20 are the most"),
    ("lesson.md:1", "Much.", 11 * "**Try.** That. ", "the core takes 46 minutes with everything"),
    ("deeper/deep.md:3", '+++ {"for": "you like it deep"}\n', "+++\n", "say for whom it is"),
    ("deeper/deep.md:3", "# Deep\n", "# Deepest\n", "name its file as its title says: deepest.md"),
    ("deeper/deep.md:3", "- [Deep](deeper/01_written/deep.ipynb)\n", "", "link to it below"),
]
"""By the line that is named: what is changed in the lesson, and what the author is told."""


@pytest.mark.parametrize(("line", "old", "new", "message"), MISTAKES)
def test_a_mistake_in_the_layers_is_named_where_it_is(written, line, old, new, message):
    assert any(each.startswith(f"{line}: {message}") for each in mistakes(written((old, new))))


def test_the_lesson_and_the_section_say_how_long_it_takes_and_for_whom_it_is(written):
    text = "# A lesson\n\n{with everything} minutes, of which {reading} are reading."
    files = written(("# A lesson", text), ("Much.", "**Try.** " + 300 * "much "))
    core, _, deep = render_notebooks(read_sources(files)).values()
    assert core.cells[0].source.endswith("7 minutes, of which 3 are reading.")
    about = "about 1 minute. For you if you like it deep."
    assert f"- [Deep](deeper/01_written/deep.ipynb): {about}" in core.cells[-1].source
    assert deep.cells[0].source.startswith(f"# Deep\n\n*{about.capitalize()[:14]}")
    assert "[A lesson](../../../notebooks/01_written.ipynb)" in deep.cells[0].source
    assert "01_written.ipynb#Going-deeper" in deep.cells[-1].source
    ids = ["deep-1", "installed", "imports", "deep-2", "deep-3", "end"]
    assert [cell.id for cell in deep.cells] == ids


def test_minutes_are_counted_in_words_lines_of_code_predictions_trys_and_exercises(written):
    words = f"{298 * 'word '}\n\n**Try.** That."
    code = "```{code-cell} ipython3\n:prediction: A\n" + 24 * "x = 1\n" + "```"
    step = "```{code-cell} ipython3\n:exercise: step\n:minutes: 7\ndef step(): ...\n```"
    asked = f"{words}\n\n+++\n\n◇ Which?\n\n- A. a\n- B. b\n\n{code}\n\n✎\n\n{step}"
    (_, learned) = layers(written(("Much.", asked))).core
    assert learned.minutes == 4  # 2 for the words, 2 for the lines
    assert learned.trying == 5
    assert learned.with_everything == 4 + 5 + 7


def test_only_what_is_stale_is_built(written):
    files = written()
    core, deeper, deep = [
        f"notebooks/{name}.ipynb"
        for name in ("01_written", "deeper/01_written/deeper", "deeper/01_written/deep")
    ]

    def told(*section: str) -> list[str]:
        said: list[str] = []
        build(files, said.append, *section)
        return said[1:]

    assert told() == [f"running {name}" for name in (core, deeper, deep)]
    edit(files.deeper_sources / "deep.md", "[1, 2, 3]", "[1, 2]")
    assert told() == [f"running {deep}"]
    edit(files.deeper_sources / "deep.md", "Text.", "Other text.")
    assert told() == [f"writing {deep}, whose code is unchanged"]
    assert "[1, 2]" in files.deeper("deep").read_text(encoding="utf-8")
    assert told("deeper") == [f"running {deeper}"]  # a section that is named is built in any case
    (files.deeper_sources / "deep.md").unlink()
    edit(files.sources / "lesson.md", "- [Deep](deeper/01_written/deep.ipynb)\n", "")
    build(files)
    assert [file.name for file in files.deeper_notebooks.iterdir()] == ["deeper.ipynb"]
