"""What passed is skipped while nothing that it reads has changed; what failed never is."""

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT

TESTS = """
import pathlib, pytest

@pytest.mark.reads("read", "more/*.txt")
def test_reads():
    assert "wrong" not in pathlib.Path("read").read_text()

@pytest.mark.thorough
def test_is_like_others():
    pass

def test_always_runs():
    pass
"""


@pytest.fixture
def outcomes(tmp_path):
    """Return a function that runs the tests above, and says what each of them came to."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_some.py").write_text(TESTS)
    (tmp_path / "more").mkdir()
    always_read = ("pyproject.toml", "requirements.txt", "conftest.py", "tests/shared.py")
    for name in ("pytest.ini", "more/first.txt", *always_read):
        (tmp_path / name).touch()

    def run(*options, text="right"):
        (tmp_path / "read").write_text(text)
        line = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "tests.unchanged"]
        done = subprocess.run(
            [*line, "-rA", "--record", str(tmp_path / "record.json"), *options],
            cwd=tmp_path,
            # Without the plugins of all packages, each of which takes its time.
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            capture_output=True,
            text=True,
        )
        words = ("PASSED", "FAILED", "SKIPPED")
        lines = [line for line in done.stdout.splitlines() if line.startswith(words)]
        return sorted("skipped" if line[0] == "S" else line.split(" - ")[0] for line in lines)

    return run


READS, LIKE_OTHERS, ALWAYS = (
    f"PASSED tests/test_some.py::test_{name}" for name in ("reads", "is_like_others", "always_runs")
)


@pytest.mark.parametrize("processes", ["0", "2"])
def test_what_passed_is_skipped_until_what_it_reads_changes(outcomes, tmp_path, processes):
    workers = ("-p", "xdist", "--numprocesses", processes)
    assert outcomes(*workers) == [ALWAYS, LIKE_OTHERS, READS]
    assert outcomes(*workers, "--everyday") == [ALWAYS, "skipped", "skipped"]
    assert outcomes(*workers, "--everyday", text="right too") == [ALWAYS, READS, "skipped"]
    (tmp_path / "more" / "other.txt").touch()
    assert outcomes(*workers, "--everyday", text="right too") == [ALWAYS, READS, "skipped"]


def test_what_is_named_or_failed_is_not_skipped_though_nothing_changed(outcomes):
    outcomes()
    assert outcomes("--everyday", "-k", "reads or like") == [LIKE_OTHERS, READS]
    failed = READS.replace("PASSED", "FAILED")
    assert outcomes("--everyday", text="wrong") == [failed, ALWAYS, "skipped"]
    assert outcomes("--everyday", text="wrong") == [failed, ALWAYS, "skipped"]


def test_without_a_record_a_test_runs_when_a_commit_or_an_edit_changed_what_it_reads(
    outcomes, tmp_path
):
    def commit(*names):
        for name in names:
            (tmp_path / name).write_text(f"{name}\n")
        identity = "-c user.name=Ada -c user.email=ada@example.org"
        for line in ("init --quiet", "add --all", f"{identity} commit --quiet -m -"):
            subprocess.run(["git", *line.split()], cwd=tmp_path, check=True)

    def everyday(text="right"):
        made = outcomes("--everyday", text=text)
        (tmp_path / "record.json").unlink()
        return made

    (tmp_path / "read").write_text("right")
    (tmp_path / ".gitignore").write_text("__pycache__\nrecord.json\n")
    commit("other")
    assert everyday() == [ALWAYS, READS, "skipped"]  # there is no commit to compare with
    commit("other still")
    assert everyday() == [ALWAYS, "skipped", "skipped"]
    assert everyday(text="right too") == [ALWAYS, READS, "skipped"]
    (tmp_path / "more" / "new.txt").touch()
    assert everyday() == [ALWAYS, READS, "skipped"]
    commit("more/new.txt")
    assert everyday() == [ALWAYS, READS, "skipped"]
    commit("other yet")
    assert everyday() == [ALWAYS, "skipped", "skipped"]
    (tmp_path / "more" / "new.txt").unlink()
    assert everyday() == [ALWAYS, READS, "skipped"]
