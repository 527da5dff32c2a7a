"""Whatever a submission is, and whatever grading it raises, it has a row; the class goes on."""

import json
import os
from dataclasses import replace

import pytest

from pytree_course.checking.reported import Outcome
from pytree_course.classroom.attempt import AttemptState
from pytree_course.grading.cell_run import CellRun
from pytree_course.grading.exercise_run import ExerciseRun
from pytree_course.grading.limits import ANSWER_CHARACTERS, NOTEBOOK_BYTES
from tests.made_submissions import RIGHT, MadeClass

pytestmark = pytest.mark.slow


@pytest.fixture
def made(course, tmp_path, monkeypatch):
    """Return a class whose answers run in this process."""
    made = MadeClass(course, tmp_path)
    made.run_without_kernels(monkeypatch)
    return made


def edited(change):
    """Return what changes a right notebook's JSON."""

    def edit(file):
        notebook = json.loads(file.read_text())
        change(notebook)
        file.write_text(json.dumps(notebook))

    return edit


def answer(notebook):
    return next(cell for cell in notebook["cells"] if cell["id"] == "count_leaves-answer")


def written(text):
    return lambda file: file.write_text(text)


def written_first(entries):
    return lambda file: file.write_text(file.read_text().replace("{", f"{{{entries}, ", 1))


def fifo(file):
    file.unlink()
    os.mkfifo(file)


def folder(file):
    file.unlink()
    file.mkdir()


UNREADABLE = {
    "empty": (written(" \n"), "is empty"),
    "nested": (written("[" * 100_000), "nested too deep"),
    "nested cells": (written('{"cells": ' + "[" * 100_000), "nested too deep"),
    "a number": (written(f'{{"cells": {"9" * 5_000}}}'), "has no cells"),
    "too large": (lambda file: os.truncate(file, NOTEBOOK_BYTES + 1), "larger than"),
    "a folder": (folder, "is a folder"),
} | ({"a fifo": (fifo, "is a FIFO")} if hasattr(os, "mkfifo") else {})

HARMLESS = {
    "number": edited(lambda notebook: notebook["metadata"].update(n=1)),
    "huge number": written_first(f'"n": {"9" * 5_000}'),
    "no number": written_first('"n": NaN, "m": -Infinity'),
    "duplicate keys": written_first('"cells": [], "n": 1, "n": 2'),
    "odd cells": edited(lambda notebook: notebook["cells"].extend([None, 1, [], {}, "cell"])),
    "odd ids": edited(lambda notebook: notebook["cells"].extend([{"id": []}, {"id": {"a": 1}}])),
    "a million lines": edited(
        lambda notebook: answer(notebook).update(
            source=[*([""] * 1_000_000), *answer(notebook)["source"]]
        )
    ),
    "half a character": edited(
        lambda notebook: answer(notebook).update(
            source=f"smile = '\ud83d'\n{RIGHT['count_leaves']}"
        )
    ),
}


def test_a_notebook_of_any_contents_has_a_row_and_what_is_harmless_loses_nothing(made):
    for student, (change, _) in UNREADABLE.items():
        change(made.hand_in(student, RIGHT))
    for student, change in HARMLESS.items():
        change(made.hand_in(student, RIGHT))
    assert made.grade().graded == len(HARMLESS)
    attempts = {attempt.student: attempt for attempt in made.attempts()}
    assert attempts.keys() == UNREADABLE.keys() | HARMLESS.keys()
    for student, (_, why) in UNREADABLE.items():
        assert attempts[student].state is AttemptState.UNREADABLE
        assert why in attempts[student].reason
        assert [row.kind for row in attempts[student].rows] == ["unreadable"] * 2
    assert {student: attempts[student].points for student in HARMLESS} == dict.fromkeys(HARMLESS, 3)


def test_an_answer_that_is_too_long_is_not_run_and_said(made):
    made.hand_in("eve", RIGHT | {"count_leaves": "#" * (ANSWER_CHARACTERS + 1)})
    made.grade()
    (eve,) = made.attempts()
    assert [row.kind for row in eve.rows] == ["not attempted", "correct"]
    assert "holds 100,001 characters, more than the 100,000 that may run" in eve.rows[0].explanation
    assert eve.answers.keys() == {"first_leaf"}


def outcome(**values):
    nothing = {"kind": "none", "type": "NoneType"}
    return replace(Outcome(inputs=[nothing], written=["None"], observation=nothing), **values)


def nested(deep):
    observation = {"kind": "number", "type": "int", "value": 1}
    for _ in range(deep):
        observation = {
            "kind": "node",
            "type": "list",
            "aux": None,
            "children": [["0", observation]],
        }
    return observation


HARMFUL_REPORTS = {
    "no observation": [None],
    "no outcome": [5] * 6,
    "nested": [outcome(observation=nested(50_000))] * 6,
    "huge number": [outcome(observation={"kind": "number", "type": "int", "value": 10**5_000})] * 6,
    "no kind": [outcome(observation={})] * 6,
    "a set": [outcome(printed={1, 2})] * 6,
}


def reporting(monkeypatch, made, reports):
    """Let kernels report this, by student, as if nothing had looked at it."""
    by_answer = {f"# {student}": report for student, report in reports.items()}

    def run(answers, *_):
        report = by_answer[answers["count_leaves"]]
        return {"count_leaves": ExerciseRun(CellRun(), CellRun(report))}

    monkeypatch.setattr("pytree_course.classroom.tasks.run_answers", run)
    for student in reports:
        made.hand_in(student, {"count_leaves": f"# {student}"})


def test_what_cannot_be_judged_or_recorded_is_a_row_that_says_so(made, monkeypatch):
    canary = {"ada": [outcome()] * 6, "zoe": [outcome()] * 6}
    reporting(monkeypatch, made, {**HARMFUL_REPORTS, **canary})
    summary = made.grade()
    attempts = {attempt.student: attempt for attempt in made.attempts()}
    assert attempts.keys() == HARMFUL_REPORTS.keys() | canary.keys()
    for student in canary:
        assert [row.kind for row in attempts[student].rows] == ["incorrect", "not attempted"]
    failed = {student for student in attempts if attempts[student].state is AttemptState.FAILED}
    assert failed == HARMFUL_REPORTS.keys() - {"no observation"}  # one outcome, where six are due
    for student in HARMFUL_REPORTS:
        assert attempts[student].points == 0
    for student in failed:
        assert "If this happens again, look at the notebook yourself" in attempts[student].reason
    assert len(summary.failed) == len(made.grade().failed) == len(failed)


def test_the_terminal_gets_no_escapes_and_no_path_of_a_student(made, monkeypatch, capsys):
    made.hand_in("eve\x1b[2J\nada", RIGHT).write_text("\x1b[2J")
    made.hand_in("ada", {}, "\x1b[2Jessay.ipynb")
    made.hand_in(os.fsdecode(b"j\xfcrgen"), RIGHT)
    assert made.run_here(monkeypatch, "--unsandboxed") == 0
    said = capsys.readouterr()
    assert "\x1b[2J" not in said.out + said.err
    assert "eve\\x1b[2J\\nada" in said.out
    assert "j\\udcfcrgen" in said.out
    assert "Left out: ada/\\x1b[2Jessay.ipynb: its name begins with none of" in said.err


def test_what_raises_before_judging_costs_its_submission_only(made, monkeypatch):
    made.hand_in("ada", {"count_leaves": "count_leaves = None"})
    made.hand_in("bob", RIGHT)

    raised = iter([RecursionError("too deep")])

    def first_raises(lesson, runs):
        for error in raised:
            raise error
        return []

    monkeypatch.setattr("pytree_course.classroom.runs.failed_exercises", first_raises)
    summary = made.grade()
    assert (summary.graded, len(summary.failed)) == (1, 1)
    assert {each.state for each in made.attempts()} == {AttemptState.GRADED, AttemptState.FAILED}
