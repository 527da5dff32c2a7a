"""Compiled programs: kept for author's answers, and found by kernels that cannot list them."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import jax
import pytest

from pytree_course import compiled
from pytree_course.course import Course
from pytree_course.running.outcomes import PUBLIC_SEED
from pytree_course.sources import authors_answers
from pytree_course.sources.authors_answers import SEEDS, compile_for_kernels, run_answer
from pytree_course.sources.lesson_sources import read_sources
from tests.conftest import ROOT
from tests.sandboxes import needs_sandbox, started, value_in

pytestmark = pytest.mark.slow

FRESH = 4711

PROGRAM = """
import jax, jax.numpy as jnp
jax.config.update("jax_platforms", "cpu")
def tripled(x):
    return 3 * x + {number}
result = jax.jit(tripled)(jnp.arange(7)).tolist()
"""


@pytest.fixture
def cache(monkeypatch):
    """A cache of its own, empty, in a folder that sandboxes see and every user may enter."""
    folder = Path(tempfile.mkdtemp(prefix="compiled-", dir=sys.prefix))
    folder.chmod(0o755)
    monkeypatch.setattr(compiled, "CACHE", folder)
    compiled.programs_folder.cache_clear()
    options = [*compiled._READ_ONLY, "jax_compilation_cache_dir"]
    before = {name: getattr(jax.config, name) for name in options}
    _forget()
    yield folder
    for name, value in before.items():
        jax.config.update(name, value)
    _forget()
    compiled.programs_folder.cache_clear()
    shutil.rmtree(folder)  # as its owner may, who is not always root


def _forget():
    """Let JAX open its cache anew, with nothing compiled in memory."""
    jax.clear_caches()
    jax.experimental.compilation_cache.compilation_cache.reset_cache()


def entries(folder):
    return sorted(file.name for file in folder.iterdir())


def compile_here(number):
    compiled.use_compiled_programs(keep=True)
    exec(PROGRAM.format(number=number), {})
    assert any(name.startswith("jit_tripled") for name in entries(compiled.programs_folder()))


@pytest.fixture
def exercise():
    authors_answers._RUNS.clear()
    sources = read_sources(Course(ROOT).lesson("02_tree_map"))
    return sources, sources.exercises["global_norm"]


def test_where_no_folder_can_be_made_kernels_are_told_of_none(cache, monkeypatch):
    assert compiled.kernel_variables()[compiled.FOLDER_VARIABLE].startswith(str(cache))
    (cache / "file").touch()
    monkeypatch.setattr(compiled, "CACHE", cache / "file")
    compiled.programs_folder.cache_clear()
    assert compiled.kernel_variables() == {}


def test_each_process_finds_the_same_folder():
    code = "from pytree_course import compiled; print(compiled.programs_folder())"
    asked = [sys.executable, "-c", code]
    folders = {
        subprocess.check_output(asked, env=os.environ | {"PYTHONHASHSEED": seed}) for seed in "123"
    }
    assert len(folders) == 1


def test_kernels_are_shown_what_the_right_answer_compiles_and_it_compiles_once(
    cache, exercise, monkeypatch
):
    compile_for_kernels(*exercise)
    assert any(name.startswith("jit_") for name in entries(compiled.programs_folder()))
    authors_answers._RUNS.clear()
    monkeypatch.setattr(authors_answers, "run_check", None)
    compile_for_kernels(*exercise)


def test_what_a_gradings_fresh_cases_compile_is_never_kept(cache, exercise):
    sources, exercise = exercise
    run_answer(sources, exercise, exercise.solution, FRESH)
    assert FRESH not in SEEDS
    assert entries(compiled.programs_folder()) == []
    _forget()
    authors_answers._RUNS.clear()
    run_answer(sources, exercise, exercise.solution, PUBLIC_SEED)
    assert entries(compiled.programs_folder()) != []


@needs_sandbox
def test_a_kernel_finds_a_program_and_writes_none(cache, monkeypatch):
    from pytree_course.grading.sandbox import doors

    # This process may have a warm server already, which reads another folder.
    monkeypatch.setattr(doors.door, "make_sandbox", doors.fresh_sandbox)
    compile_here(1)
    before = entries(compiled.programs_folder())
    kernel = started()
    try:
        counted = "import jax\nseen = []\njax.monitoring.register_event_listener("
        counted += "lambda event, **more: seen.append(event.split('/')[-1]))\n"
        hit = value_in(kernel, counted + PROGRAM.format(number=1), "seen")
        assert "cache_hits" in hit and "cache_misses" not in hit
        other = value_in(kernel, "seen.clear()\n" + PROGRAM.format(number=2), "(result, seen)")
        assert other[0] == [2, 5, 8, 11, 14, 17, 20]
        assert "cache_hits" not in other[1]
    finally:
        kernel.stop()
    assert entries(compiled.programs_folder()) == before
