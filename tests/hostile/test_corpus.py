"""Every case of the corpus gets its verdict, and honest students beside it lose nothing."""

import unicodedata

import pytest

from tests.hostile.case import LESSON, NOTHING, Case
from tests.hostile.families import all_cases
from tests.hostile.grading import HONEST, VICTIM, GradedCorpus, Student, grade_corpus
from tests.reports.test_pages import SCRIPTS, assert_harmless
from tests.sandboxes import needs_sandbox

pytestmark = [pytest.mark.slow, needs_sandbox]

MAX_PAGE = 5_000_000


@pytest.fixture(scope="module")
def graded(request, tmp_path_factory) -> GradedCorpus:
    """Grade the class of all cases that this session tests."""
    calls = [getattr(item, "callspec", None) for item in request.session.items]
    cases = [call.params.get("case") for call in calls if call is not None]
    wanted = {case.id: case for case in cases if isinstance(case, Case)}
    return grade_corpus([*wanted.values()], tmp_path_factory.mktemp("corpus"))


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in all_cases()])
def test_a_case_gets_its_verdict_and_costs_no_right_answer(graded, case: Case):
    student = graded.student_of(case)
    attempt = graded.attempt(student)
    assert (NOTHING if attempt is None else str(attempt.state)) == case.state
    rows = [] if attempt is None else attempt.rows
    if case.is_local:
        rows = [row for row in rows if row.exercise in case.answers]
    points = {row.exercise: row.points for row in rows}
    earned = {
        row.exercise: row.exercise_points if row.exercise in case.earns else 0 for row in rows
    }
    assert points == earned, {row.exercise: row.explanation for row in rows}
    assert points.keys() >= set(case.earns)
    kinds = {row.exercise: row.kind for row in rows}
    assert {**kinds, **case.kinds} == kinds
    said = [attempt.reason] if attempt is not None else []
    errors = [getattr(row.failure.got, "message", "") for row in rows if row.failure is not None]
    assert case.reason in "\n".join([*said, *(row.explanation for row in rows), *errors])
    assert case.said in " ".join(f"{graded.done.stdout} {graded.done.stderr}".split())
    if case.make is None:
        assert graded.lost(student) == {}


def test_the_grading_came_to_its_end_and_honest_students_have_all_points(graded):
    assert graded.done.returncode == 0, graded.done.stderr[-2000:]
    assert [graded.lost(Student(name)) for name in HONEST] == [{}, {}, {}]
    assert graded.attempts[VICTIM, LESSON].points == 1


def test_no_process_no_temporary_file_and_no_secret_is_left(graded):
    assert (graded.left_processes, graded.left_files) == ([], [])
    assert [*graded.told_secrets()] == []


def test_no_page_runs_or_loads_anything_and_none_is_large(graded):
    pages = [graded.into / "report.html", *(graded.into / "students").glob("*.html")]
    texts = {page.name: page.read_text(encoding="utf-8") for page in pages}
    for name, text in texts.items():
        assert_harmless(text, SCRIPTS.get(name, ()))
    assert len(texts) > len({name for name, _ in graded.attempts})
    assert {name: len(text) for name, text in texts.items() if len(text) > MAX_PAGE} == {}


def test_the_terminal_is_given_no_escapes(graded):
    printed = graded.done.stdout + graded.done.stderr
    hidden = {letter for letter in printed if unicodedata.category(letter) in ("Cc", "Cf", "Cs")}
    assert hidden <= {"\n", "\r", "\t"}
