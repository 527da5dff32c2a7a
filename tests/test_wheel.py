"""The wheel: `pytree-course lab` in an empty folder, and a notebook opened alone."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from pytree_course.authoring.notebooks import INSTALLED_ID
from pytree_course.authoring.release import for_colab
from pytree_course.course import Course
from pytree_course.released_files import read_bundle
from tests import made_submissions as answers
from tests.conftest import ROOT, ExerciseNotebook, contents
from tests.executed import outputs_of

pytestmark = pytest.mark.slow

RIGHT, WRONG = answers.RIGHT["count_leaves"], answers.ELEMENTS["count_leaves"]
CHECK = "count_leaves-check"


class Installed:
    """A wheel of the course, installed where nothing else of the course is in sight."""

    def __init__(self, source: Path, folder: Path) -> None:
        self.packages = folder / "packages"
        uv = [sys.executable, "-m", "uv"]
        wheel = ["build", "--quiet", "--wheel", "--no-build-isolation", "--out-dir", str(folder)]
        subprocess.run([*uv, *wheel, str(source)], check=True)
        [built] = folder.glob("*.whl")
        install = ["pip", "install", "--quiet", "--no-deps", "--target", str(self.packages)]
        subprocess.run([*uv, *install, str(built)], check=True)
        self.variables = os.environ | {
            "PYTHONPATH": str(self.packages),
            **{f"JUPYTER_{name}_DIR": str(folder / name) for name in ("CONFIG", "DATA", "RUNTIME")},
        }
        self.before = contents(self.packages)

    def command(self, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, str(self.packages / "bin" / "pytree-course"), *arguments]
        return subprocess.run(line, cwd=folder, env=self.variables, capture_output=True, text=True)

    def run_notebook(self, file: Path, **variables: str) -> dict[str, str]:
        """Run a notebook where it lies; return each code cell's output."""
        return outputs_of(file, self.variables | variables)

    def is_untouched(self) -> bool:
        """Say whether nothing was written among the packages but what Python itself caches."""
        now = {name: what for name, what in contents(self.packages).items() if name[-4:] != ".pyc"}
        return now.items() <= self.before.items()


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    return Installed(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture
def alone(tmp_path):
    """Return an exercise notebook that lies in a folder of its own."""
    folder = tmp_path / "downloads"
    folder.mkdir()
    shutil.copy(Course(ROOT).lesson("01_leaves").blank, folder / "01_leaves_exercises.ipynb")
    return with_one_exercise(folder / "01_leaves_exercises.ipynb")


def with_one_exercise(file: Path) -> ExerciseNotebook:
    """Keep what comes before a notebook's first check, and that: the rest takes time."""
    notebook = ExerciseNotebook(file)
    cells = notebook.cells
    del cells[cells.index(notebook.cell(CHECK)) + 1 :]
    return notebook


@pytest.fixture(scope="module")
def first_start(installed, tmp_path_factory):
    """Run `pytree-course lab` in an empty folder; return this, and where JupyterLab opened."""
    folder = tmp_path_factory.mktemp("pytrees")
    (folder / ".venv").mkdir()  # what is hidden is no obstacle
    line = [str(installed.packages / "bin" / "pytree-course"), "lab", "--no-browser"]
    server = subprocess.Popen(
        [sys.executable, *line, "--allow-root", "--ServerApp.port=0"],
        cwd=folder,
        env=installed.variables,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert server.stderr is not None
        opened = next(line for line in server.stderr if "/lab/tree/" in line)
    finally:
        # The command, and JupyterLab itself, which may not listen to SIGTERM yet.
        os.killpg(server.pid, signal.SIGKILL)
        server.communicate()
    return folder, opened


@pytest.fixture
def unpacked(first_start, tmp_path):
    return Path(shutil.copytree(first_start[0], tmp_path / "pytrees"))


# --- unpacking


def test_jupyterlab_opens_the_released_course_at_lesson_1(first_start):
    assert "/lab/tree/notebooks/01_leaves.ipynb" in first_start[1]
    assert contents(first_start[0]) == read_bundle(Course(ROOT))


def test_the_other_commands_work_in_the_unpacked_course(installed, unpacked):
    mine = with_one_exercise(unpacked / "exercises/01_leaves_exercises.ipynb")
    shown = installed.run_notebook(mine.answer("count_leaves", RIGHT).save())
    assert "Correct" in shown[CHECK]
    assert "1 of 9 exercises" in installed.command(unpacked / "notebooks", "progress").stdout
    graded = installed.command(unpacked, "check", "1").stdout
    assert "1 of 9 exercises correct, on the public cases." in graded
    assert "is kept as" in installed.command(unpacked, "reset", "1").stdout
    assert mine.file.with_name("01_leaves_exercises.kept-1.ipynb").exists()
    assert "Usage: pytree-course check" in installed.command(unpacked, "check", "--help").stdout
    assert "Question 1 of " in installed.command(unpacked, "review").stdout
    for command in ("build", "release"):
        refused = installed.command(unpacked, command, "elsewhere")
        assert refused.returncode == 2
        assert f"`{command}` is for authors" in refused.stderr


def test_a_folder_with_other_things_in_it_is_left_alone(installed, tmp_path):
    (tmp_path / "thesis.txt").write_text("mine", encoding="utf-8")
    done = installed.command(tmp_path, "lab")
    assert done.returncode == 2
    assert "thesis.txt" in done.stderr
    assert contents(tmp_path) == {"thesis.txt": b"mine"}


# --- a notebook alone


def test_a_notebook_alone_uses_the_installed_course(installed, alone):
    shown = installed.run_notebook(alone.answer("count_leaves", RIGHT).save())
    assert shown[INSTALLED_ID] == ""
    assert "Correct" in shown[CHECK]
    folder = alone.file.parent
    assert {*contents(folder)} == {"01_leaves_exercises.ipynb", "progress.jsonl"}
    assert "1 of 9 exercises" in installed.command(folder, "progress").stdout
    assert installed.is_untouched()


def test_an_unrelated_notebook_beside_it_is_left_as_it_is(installed, tmp_path):
    ours = "[call.__module__ for calls in shell.events.callbacks.values() for call in calls]"
    code = f"shell = get_ipython()\nprint('vote' in globals(), shell.custom_exceptions, {ours},"
    code += " vars(shell).get('showtraceback'))"
    file = tmp_path / "theirs.ipynb"
    cells = [nbformat.v4.new_code_cell(code, id="asks")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), file)
    said = installed.run_notebook(file)["asks"]
    assert said.startswith("False ()")
    assert said.strip().endswith("None")
    assert "pytree_course" not in said


def test_its_progress_goes_where_the_learner_says_and_its_links_lead_nowhere_dead(
    installed, alone, tmp_path
):
    chosen = tmp_path / "not yet" / "there"
    alone.answer("count_leaves", WRONG)
    shown = installed.run_notebook(alone.save(), PYTREE_COURSE_PROGRESS=str(chosen))
    assert re.search("Reread: [^<>(]+, in Lesson 1 ·", shown[CHECK])
    assert "<a href" not in shown[CHECK]
    assert '"tried"' in (chosen / "progress.jsonl").read_text(encoding="utf-8")
    assert not (alone.file.parent / "progress.jsonl").exists()


def test_a_notebook_without_the_course_says_what_to_do_in_one_sentence(installed, alone):
    hide = nbformat.v4.new_code_cell(
        "import sys\nsys.modules['pytree_course'] = None", id="hide", metadata={}
    )
    alone.content["cells"] = [hide, alone.cell(INSTALLED_ID)]
    said = installed.run_notebook(alone.save())[INSTALLED_ID].strip()
    assert "`python3 course.py lab`" in said
    assert len(said.splitlines()) == 1


# --- on Colab


def test_a_notebook_on_colab_installs_the_course_and_works(installed, alone, tmp_path):
    colab = for_colab(read_bundle(Course(ROOT)), "ada/pytrees")
    alone.file.write_bytes(colab["colab/exercises/01_leaves_exercises.ipynb"])
    notebook = with_one_exercise(alone.file).answer("count_leaves", WRONG)
    install = notebook.cell(INSTALLED_ID)
    code = "".join(install["source"]).replace("/content/pytrees", str(tmp_path / "drive"))
    # The course is there already: no test depends on the network.
    install["source"] = code.replace("%pip", "# %pip")
    shown = installed.run_notebook(notebook.save())
    assert shown[INSTALLED_ID] == ""
    address = "https://colab.research.google.com/github/ada/pytrees/blob/main/colab"
    assert f'<a href="{address}/notebooks/01_leaves.ipynb" target="_blank">' in shown[CHECK]
    assert (tmp_path / "drive" / "progress.jsonl").exists()
    assert installed.is_untouched()
