"""Results are the same whatever the settings of JAX in a shell or a start-up file."""

import json
import os
import subprocess
import sys

import jax
import pytest

from pytree_course.course import Course
from pytree_course.jax_configuration import SETTINGS, XLA_FLAGS
from pytree_course.judging.expected import BuiltLesson
from pytree_course.judging.judge import judge
from pytree_course.judging.verdicts import VerdictKind
from pytree_course.running.outcomes import PUBLIC_SEED
from pytree_course.sources import authors_answers
from pytree_course.sources.lesson_sources import read_sources
from tests.conftest import ROOT
from tests.kernels import running_kernel

pytestmark = pytest.mark.slow


def test_the_course_computes_with_jaxs_defaults_and_exact_products():
    program = "import jax, json; print(json.dumps(jax.config.values, default=str))"
    said = subprocess.check_output([sys.executable, "-c", program], text=True)
    defaults = {**json.loads(said), "jax_default_matmul_precision": "highest"}
    assert {name: defaults[name] for name in SETTINGS} == SETTINGS


@pytest.mark.parametrize(
    ("setting", "own", "lesson", "exercise"),
    [
        ("jax_enable_x64", True, "03_custom_nodes", "history"),
        ("jax_disable_jit", True, "04_aux_data", "repeat"),
        ("jax_default_prng_impl", "rbg", "05_mlp", "next_batch"),
        ("jax_threefry_partitionable", False, "02_tree_map", "add_noise"),
        ("jax_debug_nans", True, "04_aux_data", "repeat"),
        ("jax_numpy_rank_promotion", "raise", "03_custom_nodes", "model_state"),
        ("jax_numpy_dtype_promotion", "strict", "04_aux_data", "static_wrapper"),
        ("jax_check_tracer_leaks", True, "03_custom_nodes", "running_mean"),
    ],
)
def test_a_check_undoes_a_learners_setting_and_puts_it_back(
    setting, own, lesson, exercise, monkeypatch
):
    monkeypatch.setattr(authors_answers, "_RUNS", {})
    files = Course(ROOT).lesson(lesson)
    sources, stored = read_sources(files), BuiltLesson.read(files.expected)
    answered = sources.exercises[exercise]
    default = jax.config.values[setting]
    jax.config.update(setting, own)
    try:
        outcomes = authors_answers.run_answer(sources, answered, answered.solution, PUBLIC_SEED)
        assert jax.config.values[setting] == own
    finally:
        jax.config.update(setting, default)
    assert judge(stored.expected(exercise), outcomes).kind is VerdictKind.CORRECT


def test_every_command_but_lab_starts_without_the_shells_settings(course_py, monkeypatch):
    for setting in ("JAX_ENABLE_X64", "JAX_PLATFORMS", XLA_FLAGS):
        monkeypatch.setenv(setting, "1")
    monkeypatch.setattr("pytree_course.cli.learner.run_in_course", lambda *_: 0)
    course_py("lab")
    assert os.environ[XLA_FLAGS] == "1"
    course_py("progress")
    assert [name for name in os.environ if name.startswith(("JAX_", "XLA_"))] == ["JAX_PLATFORMS"]


@pytest.mark.parametrize(
    ("variable", "value"), [("JAX_PLATFORMS", "no_such_device"), (XLA_FLAGS, "--no_such_flag=1")]
)
def test_a_setting_that_a_check_cannot_undo_is_named(mini, variable, value):
    with running_kernel(mini.exercises.parent, **{variable: value}) as run:
        said = run('from pytree_course import Checks\ncheck = Checks("01_mini")')
        if variable != XLA_FLAGS:  # which would end the kernel
            said = run("check.count_leaves(lambda tree: 3)")
    assert variable in said and value in said
