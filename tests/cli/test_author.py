"""The authors' commands: what is built again, and what they are told."""

import pytest

from pytree_course.cli.app import console
from tests.conftest import edit, put


@pytest.mark.parametrize(
    ("asked", "is_new", "built"),
    [
        ([], False, {"01_mini": False, "00_map": False, "99_words": False}),
        ([], True, {"01_mini": False, "00_map": True, "99_words": False}),  # it shows the lessons
        (["--all"], False, {"01_mini": True, "00_map": True, "99_words": True}),
        (["99_words"], False, {"99_words": False, "00_map": False}),
    ],
)
def test_pages_that_show_the_lessons_are_built_again_where_facts_have_changed(
    course_py, course, monkeypatch, asked, is_new, built
):
    put(course.root / "sources/00_map/lesson.md", "course_map()")
    put(course.root / "sources/99_words/lesson.md", "Words.")
    put(course.root / "docs/plans.md", "")
    calls = []

    def build(files, tell, *, again):
        tell("looking at [it]")
        calls.append((files.stem, again))
        return is_new and files.has_exercises

    monkeypatch.setattr("pytree_course.authoring.building.build", build)
    shown = course_py("build", *asked)
    assert shown.returncode == 0
    assert shown.stdout.count("  looking at [it]\n") == len(calls)
    again = [call for call in calls if asked == ["99_words"] and call[1]]
    assert again == ([("99_words", True)] if asked == ["99_words"] else [])  # it was named
    assert dict(calls) == built
    assert "Leaves are not elements" in (course.root / "docs/plans.md").read_text("utf-8")


def test_the_code_of_an_answer_is_shown_and_other_names_are_refused_with_those_there_are(course_py):
    shown = course_py("answer", "1", "count_leaves", "nodes").stdout
    assert "return jax.tree.structure(tree).num_nodes" in shown
    for asked, said in (
        (("1", "count", "nodes"), "no exercise 'count': count_leaves, first_leaf."),
        (("1", "count_leaves", "none of it"), "no answer 'none of it': "),
    ):
        refused = course_py("answer", *asked)
        assert refused.returncode == 2
        assert said in refused.stderr


def test_the_site_and_the_release_go_where_they_are_told(course_py, whole, monkeypatch, tmp_path):
    monkeypatch.setattr(console, "width", 1000)
    written = []
    site = "pytree_course.authoring.website.write_site"
    monkeypatch.setattr(site, lambda course, folder: written.append((course.root, folder)))
    assert f"begins with {tmp_path / 'index.html'}" in course_py("site", tmp_path).stdout
    assert written == [(whole.root, tmp_path)]
    bundle = tmp_path / "bundle"
    assert "holds what learners get" in course_py("release", bundle, "--colab", "ada/x").stdout
    assert (bundle / "colab/notebooks/01_mini.ipynb").exists()
    edit(whole.lesson("01_mini").sources / "lesson.md", "Text.", "Other text.")
    assert course_py("release", tmp_path / "other").returncode == 2
