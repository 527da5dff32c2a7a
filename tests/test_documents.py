"""The documents: most commands are run; every named path, and every link, leads somewhere.

So do the links of lessons, exercises and pages; nothing is fetched to find out.
"""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from pkgutil import resolve_name

import nbformat
import pytest
import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from pytree_course.authoring.building import build
from pytree_course.course import Course
from pytree_course.judging.expected import BuiltLesson
from pytree_course.sources.source_cells import slug
from tests.conftest import MINI_COURSE, ROOT, ExerciseNotebook, copy_surroundings
from tests.lesson_reads import CLASS
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
    r"python3? course\.py (lab|test|classroom|site)\b.*|.* --(roster|corrections|dask|classroom) .*"
    r"|.*_SCREENSHOTS=.*|.*python \.ci/.*|.* 1/older-names"
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
@pytest.mark.reads("*.md", "docs/*.md", "course.py", "src/pytree_course/cli", *CLASS)
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


def test_arguments_after_test_reach_pytest(tmp_path):
    line = [sys.executable, "course.py", "test", "--fast", "-k", "01_leaves", "--collect-only"]
    line += ["tests/test_lessons.py"]
    # In a process of its own, and not in those of this run.
    line += ["--quiet", "--numprocesses", "0"]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "test_lessons.py::test_prose_and_code_cells_are_short[01_leaves]" in done.stdout
    assert "02_tree_map]" not in done.stdout


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


JAX_DOCS = re.compile(r"https://docs\.jax\.dev/en/\w+/([\w./-]+)\.html")
SUPERSEDED = {
    *["advanced_autodiff", "aot", "array_refs", "async_dispatch", "beginner_guide", "benchmarking"],
    *["buffer_donation", "custom_pytrees", "debugging", "debugging/index", "errors"],
    *["debugging/slow_tracing_compilation", "gradient-checkpointing", "jax-101", "jit-compilation"],
    *["key-concepts", "notebooks/Common_Gotchas_in_JAX", "notebooks/autodiff_cookbook", "parallel"],
    *["notebooks/autodiff_remat", "notebooks/shard_map", "notebooks/thinking_in_jax", "profiling"],
    *["persistent_compilation_cache", "pytrees", "random-numbers", "tracing", "type_promotion"],
    *["external-callbacks", "working-with-pytrees"],
}
"""Pages of JAX's documentation that its levels 101 to 501 replace. Most are in JAX's own list,
docs/superseded.rst: they stay at their addresses, and nobody maintains them any more."""
OF_JAX = re.compile(r"https://docs\.jax\.dev/en/latest/_autosummary/([\w.]+)\.html(#[\w.-]+)?")


def assert_maintained(link: str) -> None:
    """Check that a link to the web is encrypted, and that JAX has and maintains what it names."""
    assert not link.startswith("http:"), link
    assert "jax.readthedocs.io" not in link, "JAX's documentation is at docs.jax.dev"
    page = JAX_DOCS.match(link)
    assert not page or page[1] not in SUPERSEDED, link
    if "/_autosummary/" in link:
        named = OF_JAX.fullmatch(link)
        assert named, link
        resolve_name(named[1])  # raises where JAX has no such name


@pytest.mark.parametrize(
    "file", [*DOCUMENTS, *NOTEBOOKS], ids=lambda file: file.relative_to(ROOT).as_posix()
)
def test_every_link_leads_to_a_file_and_its_heading_or_to_a_page_that_is_maintained(file):
    for link in links_in(file):
        if "://" in link:
            if file in NOTEBOOKS:
                assert_maintained(link)
            continue
        path, _, anchor = link.partition("#")
        target = (file.parent / path).resolve() if path else file
        assert target.exists(), link
        if anchor and target.suffix == file.suffix:
            assert anchor in anchors(target), link


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda each: each.name)
def test_every_path_that_is_named_exists(document):
    folders = ("sources/", "src/", "tests/", "checks/", "docs/", ".ci/")
    for token in tokens(document):
        is_path = token.type == "code_inline" and token.content.startswith(folders)
        # 06_name is the lesson that an author may add.
        if is_path and not re.search(r"[ :*<>]|NN|06_name", token.content):
            # The table of modules names them from the package on.
            places = [folder / token.content for folder in (ROOT, ROOT / "src" / "pytree_course")]
            assert any(place.exists() for place in places), token.content


def test_every_option_that_is_named_is_one():
    said = (ROOT / "docs" / "teaching.md").read_text(encoding="utf-8")
    table = "\n".join(line for line in said.splitlines() if line.startswith("| `--"))
    options = {*re.findall(r"`(--[a-z]+)", table)}
    line = [sys.executable, "-m", "pytree_course", "grade", "--help"]
    variables = {**os.environ, "COLUMNS": "200"}
    shown = subprocess.run(line, capture_output=True, text=True, env=variables, check=True).stdout
    assert len(options) > 5
    for option in options:
        assert option in shown


def test_the_readme_counts_lessons_and_exercises_right():
    lessons = [BuiltLesson.read(files.expected) for files in Course(ROOT).lessons()]
    exercises = sum(len(lesson.graded) for lesson in lessons)
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert len(lessons) == 5
    assert re.search(rf"five lessons, in which you predict [^.]*, and {exercises} exercises", text)


def test_the_citation_and_the_readme_say_what_pyproject_says():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    addresses = project.get("urls", {})
    assert citation["version"] == project["version"]
    assert citation["license"] == "Apache-2.0"
    assert citation.get("url") == addresses.get("Homepage")
    assert citation.get("repository-code") == addresses.get("Repository")
    assert addresses.get("Homepage", "") in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "Apache License" in (ROOT / "LICENSE").read_text(encoding="utf-8")
