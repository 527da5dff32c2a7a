"""Fixtures: a small course, built once, and copies of it to work in."""

import json
import os
import shutil
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import settings

from pytree_course.__main__ import main
from pytree_course.authoring.building import build
from pytree_course.course import Course, LessonFiles
from pytree_course.launcher import wait_for_turn
from pytree_course.released_files import FILES, FOLDERS
from tests.ports import give_kernels_such_ports

# course.py sets it when it is called from another folder; the tests look in folders of their own.
for name in ("PYTREE_COURSE", "PYTREE_COURSE_PROGRESS", "PYTREE_COURSE_LINKS"):
    os.environ.pop(name, None)

give_kernels_such_ports()

# How long an example takes says something of the machine, and nothing of the course.
settings.register_profile("course", settings.get_profile("default"), deadline=None)
settings.load_profile("course")

ROOT = Path(__file__).parents[1]
MINI_COURSE = ROOT / "tests" / "mini_course"


@pytest.fixture(scope="session")
def built_course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the small course once for all processes of a run; nobody may change this copy."""
    of_run = tmp_path_factory.getbasetemp()
    of_run = of_run.parent if "PYTEST_XDIST_WORKER" in os.environ else of_run
    root, is_built = of_run / "built" / "course", of_run / "built" / "is-built"
    is_built.parent.mkdir(exist_ok=True)
    with (is_built.parent / "lock").open("a+b") as lock:
        wait_for_turn(lock.fileno())
        if not is_built.exists():
            shutil.rmtree(root, ignore_errors=True)
            shutil.copytree(MINI_COURSE, root)
            build(Course(root).lesson("01_mini"))
            is_built.touch()
    return root


@pytest.fixture
def course(built_course: Path, tmp_path: Path) -> Course:
    """Return a built course of one's own."""
    root = tmp_path / "course"
    shutil.copytree(built_course, root)
    return Course(root)


@pytest.fixture
def mini(course: Course) -> LessonFiles:
    """Return the files of the small course's only lesson."""
    return course.lesson("01_mini")


@pytest.fixture
def unbuilt(tmp_path: Path) -> LessonFiles:
    """Return the small course's sources, not built yet."""
    shutil.copytree(MINI_COURSE, tmp_path / "course")
    return Course(tmp_path / "course").lesson("01_mini")


@pytest.fixture
def whole(course: Course) -> Course:
    """Return a small course with everything around its lesson."""
    copy_surroundings(course.root)
    return course


@pytest.fixture
def course_py(course, monkeypatch, capsys):
    """Return a function that runs a command in the small course, in this process."""
    monkeypatch.chdir(course.root)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["course.py", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        shown = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, ended.value.code, shown.out, shown.err)

    with patch.dict(os.environ):  # some commands set variables for what they start
        yield run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return where a class hands in, a folder that is not made yet."""
    return tmp_path / "class"


@pytest.fixture
def made(course: Course, course_py: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a class whose answers run in kernels, as they do for a teacher."""
    from tests.made_submissions import SAME_PROCESS, MadeClass

    pool = nullcontext(SAME_PROCESS)
    monkeypatch.setattr("pytree_course.class_grading.pool.local_pool", lambda *_, **__: pool)
    monkeypatch.setenv("COLUMNS", "200")
    return MadeClass(course, course_py, tmp_path)


@pytest.fixture
def quick(made: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a class whose answers run in this process."""
    made.run_without_kernels(monkeypatch)
    return made


def copy_surroundings(root: Path) -> None:
    """Copy into a course what is released around its lessons."""
    for name in (*FILES, *FOLDERS):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        (root / name).parent.mkdir(exist_ok=True)
        copy(ROOT / name, root / name)


def edit(file: Path, old: str, new: str) -> None:
    """Replace a text in a file where it stands first; it has to be there."""
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


def put(file: Path, text: str = "{}") -> Path:
    """Write a file, and make the folders that it lies in."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files in a folder by their names."""
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


class ExerciseNotebook:
    """An exercise notebook that a test writes answers into."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.content = json.loads(file.read_text(encoding="utf-8"))

    @property
    def cells(self) -> list[dict]:
        """The notebook's cells, to be changed in place."""
        return self.content["cells"]

    def cell(self, cell_id: str) -> dict:
        """Return a cell by its id."""
        return next(cell for cell in self.cells if cell["id"] == cell_id)

    def answer(self, exercise: str, code: str) -> "ExerciseNotebook":
        """Write code into an exercise's answer cell."""
        self.cell(f"{exercise}-answer")["source"] = code
        return self

    def save(self) -> Path:
        """Write the notebook and return its path."""
        self.file.write_text(json.dumps(self.content), encoding="utf-8")
        return self.file


@pytest.fixture
def notebook(mini: LessonFiles) -> ExerciseNotebook:
    """Return the small lesson's exercise notebook, as handed out."""
    return ExerciseNotebook(mini.exercises)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of a whole run, before a release."""
    parser.addoption("--all", action="store_true", help="Run also the tests marked as thorough.")


def is_thorough(item: pytest.Item) -> bool:
    """Say whether a test is for `--all`."""
    return item.get_closest_marker("thorough") is not None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is thorough, and run what takes long first; all that needs a browser does."""
    for item in items:
        if (ROOT / "tests" / "browser") in item.path.parents:
            item.add_marker("slow")
    if not config.option.all:
        config.hook.pytest_deselected(items=[item for item in items if is_thorough(item)])
        items[:] = [item for item in items if not is_thorough(item)]
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
