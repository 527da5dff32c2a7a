"""The documents: most commands are run; every link leads somewhere, in notebooks too."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import nbformat
import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from pytree_course.authoring.building import build
from pytree_course.course import Course
from pytree_course.sources.source_cells import slug
from tests.conftest import MINI_COURSE, ROOT, ExerciseNotebook, copy_surroundings
from tests.made_submissions import ELEMENTS, RIGHT

DOCUMENTS = [
    ROOT / "README.md",
    ROOT / ".github/CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
NOTEBOOKS = sorted(
    file
    for name in ("notebooks", "exercises", "solutions")
    for file in (ROOT / name).rglob("*.ipynb")
    if ".ipynb_checkpoints" not in file.parts
)
NOT_RUN_HERE = re.compile(
    r"python3? course\.py (lab|test|classroom|site|answer|questions)\b.*|.*python \.ci/.*"
    r"|.* --(roster|corrections|dask|classroom) .*"
    r"|(uv|uvx|conda|dask|\.venv/bin/(ruff|python)) .*|\.venv/bin/mypy"
)
"""Commands that need more than a small course and two students: not run here."""


@cache
def tokens(file: Path) -> list[Token]:
    """Return what a document, or the text of a notebook, is made of, inline parts included."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".ipynb":
        cells = nbformat.reads(text, as_version=4).cells
        text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    found = MarkdownIt("gfm-like", {"linkify": False}).parse(text)
    return [part for token in found for part in (token, *(token.children or ()))]


def commands(document: Path) -> list[str]:
    """Return the commands in a document, in order, without their comments."""
    found = []
    for token in tokens(document):
        if token.info == "sh":
            found += [re.sub(r"\s+# .*", "", line) for line in token.content.splitlines()]
        elif token.type == "code_inline" and token.content.startswith("python3 course.py "):
            found.append(token.content)
    return found


@pytest.fixture
def teachers_copy(tmp_path: Path) -> Path:
    """Build a small course whose lesson has the name of lesson 1, with a class that handed in."""
    root = tmp_path / "course"
    for file in MINI_COURSE.rglob("*.*"):
        name, text = (
            each.replace("01_mini", "01_leaves")
            for each in (file.relative_to(MINI_COURSE).as_posix(), file.read_text("utf-8"))
        )
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    copy_surroundings(root)
    files = Course(root).lesson("01_leaves")
    build(files)
    for student, answers in {"ada": RIGHT, "bob": ELEMENTS}.items():
        notebook = ExerciseNotebook(files.blank)
        for exercise, code in answers.items():
            notebook.answer(exercise, code)
        notebook.file = root / "handed-in" / student / files.exercises.name
        notebook.file.parent.mkdir(parents=True)
        notebook.save()
    return root


@pytest.mark.slow
def test_the_commands_of_the_documents_do_what_they_say(teachers_copy):
    programs = Path(sys.executable).parent
    variables = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    # What course.py runs in the environment that it makes; here is one already.
    course_py = f'"{sys.executable}" -m pytree_course'
    in_order = dict.fromkeys(command for each in DOCUMENTS for command in commands(each))
    for command in in_order:
        if NOT_RUN_HERE.fullmatch(command):
            continue
        line = command.replace(".venv/bin", str(programs)).replace("python3 course.py", course_py)
        done = subprocess.run(
            ["bash", "-euc", line],
            cwd=teachers_copy,
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        # Where not all is solved yet, `check` ends with 1.
        not_all_right = done.returncode == 1 and "of 3 points" in done.stdout
        assert done.returncode == 0 or not_all_right, f"{command}\n{done.stdout}"


def links_in(file: Path) -> Iterator[str]:
    """Yield where links lead, and where pictures are."""
    for token in tokens(file):
        link = token.attrGet("href") or token.attrGet("src")
        yield from [link] if isinstance(link, str) else []
        if token.type.startswith("html"):
            yield from re.findall(r"""href=["']([^"']+)["']""", token.content)


def anchors(file: Path) -> set[str]:
    """Return the names of headings, as links on GitHub or in JupyterLab have them."""
    found = tokens(file)
    headings = [
        found[at + 1].content for at, each in enumerate(found) if each.type == "heading_open"
    ]
    if file.suffix == ".md":
        return {*map(slug, headings)}
    return {re.sub(r"[`*]", "", heading).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("files", [DOCUMENTS, NOTEBOOKS], ids=["documents", "notebooks"])
def test_every_link_leads_to_a_file_and_its_heading(files):
    for file in files:
        for link in links_in(file):
            if "://" in link:
                continue
            path, _, anchor = link.partition("#")
            target = (file.parent / path).resolve() if path else file
            assert target.exists(), f"{file}: {link}"
            if anchor and target.suffix == file.suffix:
                assert anchor in anchors(target), f"{file}: {link}"
