"""Progress is one file that is only ever added to."""

from pytree_course.checking.progress import Progress


def test_what_is_added_is_there_after_a_restart(tmp_path):
    file = tmp_path / "progress.jsonl"
    progress = Progress.load(file)
    for event in ("tried", "hint", "tried", "correct", "tried"):
        progress.add("01_leaves", "count_leaves", event)
    again = Progress.load(file).of("01_leaves", "count_leaves")
    assert again == progress.of("01_leaves", "count_leaves")
    assert (again.correct, again.tries, again.hints) == (True, 2, 1)


def test_two_notebooks_at_once_lose_nothing(tmp_path):
    file = tmp_path / "progress.jsonl"
    one, other = Progress.load(file), Progress.load(file)
    one.add("01_leaves", "count_leaves", "correct")
    other.add("02_tree_map", "sgd_step", "correct")
    both = Progress.load(file)
    assert both.of("01_leaves", "count_leaves").correct
    assert both.of("02_tree_map", "sgd_step").correct


def test_a_damaged_line_is_counted_and_the_others_are_kept(tmp_path):
    file = tmp_path / "progress.jsonl"
    Progress.load(file).add("01_leaves", "count_leaves", "correct")
    with file.open("ab") as stream:
        stream.write(b'{"lesson": "01_lea\n\xff\n[]\n{"lesson": 1}\n')
    progress = Progress.load(file)
    assert progress.unreadable_lines == 4
    assert progress.of("01_leaves", "count_leaves").correct


def test_without_a_file_progress_is_kept_in_memory(tmp_path):
    progress = Progress.load(None)
    progress.add("01_leaves", "count_leaves", "correct")
    assert progress.of("01_leaves", "count_leaves").correct
    assert not list(tmp_path.iterdir())
