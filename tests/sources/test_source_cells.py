"""The cells of a source: where each begins, and what it is called."""

import pytest

from pytree_course.sources.source_cells import AuthorMistakesError, read_cells, slug
from tests.conftest import put

SOURCE = """\
# Lesson

One.

## Two words!

Text.

```{code-cell} ipython3
:id: two-words-2
:tags: [a]

x = 1
```

+++ {"for": "you"}

More.

```python
## no heading
```

## Three

```{code-cell} ipython3
---
exercise: f
---
x = 1
```
"""


def test_a_cell_has_its_first_line_and_an_id_that_no_other_section_changes(tmp_path):
    cells = read_cells(put(tmp_path / "lesson.md", SOURCE))
    lines = SOURCE.splitlines()
    assert [(cell.kind, cell.id, lines[cell.line - 1]) for cell in cells] == [
        ("markdown", "lesson-1", "# Lesson"),
        ("markdown", "two-words-1", "## Two words!"),
        ("code", "two-words-2", "x = 1"),
        ("markdown", "two-words-3", "More."),
        ("markdown", "three-1", "## Three"),
        ("code", "three-2", "x = 1"),
    ]
    assert [cell.heading for cell in cells if cell.heading] == ["Lesson", "Two words!", "Three"]
    assert cells[-1].line == len(lines) - 1 and cells[-1].is_exercise
    assert (cells[2].metadata["tags"], cells[3].metadata) == (["a"], {"for": "you"})
    long = read_cells(put(tmp_path / "long.md", f"# {'word ' * 30}"))
    assert len(long[0].id) <= 64


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [("x\n\n```{code-cell}\n:a: [1\n```", 3, "YAML"), (None, 1, "missing")],
)
def test_a_source_that_cannot_be_read_is_named_with_its_line(tmp_path, text, line, message):
    file = tmp_path / "lesson.md"
    if text is not None:
        put(file, text)
    with pytest.raises(AuthorMistakesError, match=message) as refused:
        read_cells(file)
    assert [(each.file, each.line) for each in refused.value.mistakes] == [(file, line)]


def test_a_section_is_called_by_its_letters_and_digits():
    assert slug("  `jax.tree.map`, 2 times?") == "jax-tree-map-2-times"
