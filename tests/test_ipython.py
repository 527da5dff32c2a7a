"""In a real kernel: how errors are shown."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.kernels import running_kernel


@pytest.mark.slow
def test_errors_look_as_ever_but_those_that_a_lesson_raises_on_purpose(course):
    on_purpose = "def fail():\n    raise ValueError('no')\nfail()"
    cell = new_code_cell(on_purpose, metadata={"tags": ["raises-exception"]})
    (course.root / "notebooks").mkdir(exist_ok=True)
    nbformat.write(new_notebook(cells=[cell]), course.root / "notebooks" / "shows.ipynb")
    with running_kernel(course.root / "exercises") as kernel:
        shows_errors(kernel, on_purpose)


def shows_errors(kernel, on_purpose):
    assert kernel(on_purpose) == "ValueError: no"
    assert "Traceback" in kernel(on_purpose.replace("no", "another"))
    for cell in ("no_such_name + 1", "eval('1 +')"):
        shown = kernel(cell)
        assert "Traceback" in shown
        assert cell.split()[0] in shown
    kernel("def check(): pass\ncheck.count = abs")
    shown = kernel("check.count(1 / 0)")
    assert "ZeroDivisionError" in shown and "AttributeError" not in shown
    for base in ("Exception", "BaseException"):  # its message raises
        mute = f"class Mute({base}):\n    def __str__(self):\n        raise self\nraise Mute"
        assert "Mute" in kernel(mute)
    mute = "class Mute:\n    def __repr__(self):\n        1 / 0\nraise KeyError(Mute())"
    assert "KeyError: '(its message raised ZeroDivisionError)'" in kernel(mute)
