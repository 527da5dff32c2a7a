"""The commands of course.py, as they are typed."""

import json
import subprocess
import sys

import pytest

from pytree_course.cli.main import main


@pytest.fixture
def run(course, monkeypatch, capsys):
    """Return a function that runs a command in the small course, in this process."""
    monkeypatch.chdir(course.root)

    def command(*arguments):
        monkeypatch.setattr(sys, "argv", ["course.py", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        shown = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, ended.value.code, shown.out, shown.err)

    return command


def test_help_names_every_command(run):
    shown = run("--help").stdout
    for name in ("lab", "test", "build", "check", "progress", "reset", "release"):
        assert name in shown


@pytest.mark.parametrize("name", ["1", "01", "mini", "01_mini"])
def test_a_lesson_has_several_names(run, name):
    done = run("check", name, "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["lesson"] == "01_mini"


def test_an_unknown_lesson_is_refused_with_those_there_are(run):
    done = run("check", "7")
    assert done.returncode == 2
    assert "no lesson '7'" in done.stderr
    assert "01_mini" in done.stderr


def test_the_table_has_points_verdicts_and_feedback(run, notebook):
    notebook.answer("count_leaves", "def count_leaves(tree):\n    return len(tree)").save()
    shown = run("check", "1").stdout
    assert "Not yet" in shown
    assert "You counted the container's" in shown
    assert "Not attempted" in shown
    assert "0 of 3 points, 0 of 2 exercises correct, on fresh cases." in shown


def test_progress_shows_what_was_solved_and_which_badges_that_earned(run, course):
    event = {"lesson": "01_mini", "exercise": "first_leaf", "event": "correct"}
    course.progress_file.write_text(json.dumps(event) + "\n", encoding="utf-8")
    shown = run("progress").stdout
    assert "✓ correct" in shown
    assert "1 of 2 exercises, 2 of 3 points" in shown
    assert "First leaf" in shown


def test_reset_keeps_the_learners_notebook(run, notebook, mini):
    notebook.answer("count_leaves", "mine").save()
    shown = run("reset", "1").stdout
    assert "kept" in shown
    assert mini.exercises.read_bytes() == mini.blank.read_bytes()
    assert len(list(mini.exercises.parent.glob("*kept-1*"))) == 1


def test_build_names_an_authors_mistake_and_fails(run, mini):
    exercises = mini.sources / "exercises.md"
    text = exercises.read_text(encoding="utf-8")
    exercises.write_text(text.replace('"two"]', '""]'), encoding="utf-8")
    done = run("build", "1")
    assert done.returncode == 2
    assert "hint 2 is empty" in done.stderr
    assert "exercises.md:" in done.stderr


@pytest.mark.parametrize("command", [["progress"], ["check", "1"], ["reset", "1"]])
def test_a_missing_file_of_the_course_is_named_without_a_traceback(run, mini, command):
    mini.expected.unlink()
    mini.blank.unlink()
    done = run(*command)
    assert done.returncode == 2
    assert "is missing" in done.stderr
    assert "Traceback" not in done.stderr


def test_outside_the_course_the_commands_say_where_to_go(tmp_path):
    line = [sys.executable, "-m", "pytree_course", "check", "1"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "`exercises`" in done.stderr
