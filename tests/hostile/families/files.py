"""Files and cells: what may stand in the place of a student's notebook, or in it."""

import gzip
import json
import os
import zipfile
from collections.abc import Callable
from typing import Any

from tests.hostile.case import COUNT, LESSON, NOTHING, SHAPES, Family

family = Family("files")

FILE = f"{LESSON}_exercises.ipynb"
WRONG = "def count_leaves(tree):\n    return 1"
BOTH = {"count_leaves": COUNT, "leaf_shapes": SHAPES}


def case(name: str, **more: Any) -> Callable[[Callable[..., None]], None]:
    return lambda make: family.case(name, make=make, **more)


# ---- in the place of a notebook or a folder


@case("a hole of a terabyte", state="unreadable", reason="larger than 30 MB")
def _(folder, written):
    (folder / FILE).touch()
    os.truncate(folder / FILE, 2**40)


@case("a FIFO called as a zip", state=NOTHING, said="it is a FIFO, a device or a socket")
def _(folder, written):
    os.mkfifo(folder / "a.zip")


@case("folders nested 1,100 deep", state=NOTHING, said="folders nested 50 deep")
def _(folder, written):
    with zipfile.ZipFile(folder / "a.zip", "w") as zipped:
        zipped.writestr("d/" * 1_100 + FILE, written(BOTH))


@case("files that Python, pytest and IPython look for beside it", earns=tuple(BOTH))
def _(folder, written):
    (folder / FILE).write_text(written(BOTH))
    for name in ("conftest", "sitecustomize", "jax", "json", "pytree_course", "evil"):
        for place in (folder, folder.parent):
            (place / f"{name}.py").write_text("import os\nos._exit(7)\n")
    (folder / "evil.pth").write_text("import evil\n")
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --collect-only\n")
    startup = folder / ".ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "00.py").write_text("import evil")


# ---- names


def named(student: str = "", file: str = FILE, **more: Any) -> None:
    def make(folder, written):
        (folder / file).write_text(written({}))

    family.case(f"the name {student or file!r}"[:60], make=make, student=student, **more)


for name in (
    "-rf",
    "=cmd|' -C calc'!A0",
    "x\\..\\..\\y",
    "CON",
    "\x1b[2J\x1b[31mred\x07",
    "ada\n01_leaves: 24 points",
    os.fsdecode(b"caf\xe9\xff"),
    "\u202exslx.\u2066ada",
    "<img src=x onerror=alert(1)>",
    "n" * 255,
):
    named(name)
named("P-VICTIM", said="as 2 students")
named(file=f"{LESSON}\x1b[31m\nLeft out{os.fsdecode(bytes([0xFF]))}.ipynb")
named(file=f"{LESSON}<script>alert(1)<&script>.ipynb")


# ---- contents


def content(name: str, made: bytes, reason: str = "not a notebook") -> None:
    def write(folder, written):
        (folder / FILE).write_bytes(made)

    family.case(name, make=write, state="unreadable", reason=reason)


content("zeros", bytes(10_000))
content("nested 100,000 deep", b'{"a":' * 10**5 + b"1" + b"}" * 10**5, "nested")
content("compressed zeros", gzip.compress(bytes(50_000_000)))
content("a million keys", b'{"a": [' + b"{}, " * 10**6 + b"1]}", "entries: clear")


# ---- cells


def cells(name: str, answers: dict[str, str] = BOTH, **more: Any) -> Callable[..., None]:
    def add(change):
        def make(folder, written):
            content = json.loads(written(answers))
            changed = change(content, {cell["id"]: cell for cell in content["cells"]})
            (folder / FILE).write_text(json.dumps(changed or content), encoding="utf-8")

        family.case(name, make=make, **more)

    return add


@cells("check cells deleted, set-up too, and the rest reversed", earns=tuple(BOTH))
def _(content, cells):
    content["cells"] = [cell for cell in content["cells"][::-1] if cell["id"].endswith("-answer")]


@cells("another kernel and another format", earns=tuple(BOTH))
def _(content, cells):
    kernel = {"name": "bash", "display_name": "../../bin/sh", "argv": ["touch", "/tmp/x"]}
    content |= {"nbformat": 9, "nbformat_minor": "7", "metadata": {"kernelspec": kernel}}


@cells("a check, outputs and metadata that give points", {"count_leaves": WRONG})
def _(content, cells):
    data = {"application/vnd.pytree-course.outcomes+json": "[]", "text/plain": "✓ correct"}
    shown = {"output_type": "display_data", "metadata": {}, "data": data}
    cells["count_leaves-check"]["source"] = f"display({data}, raw=True)"
    for cell in cells.values():
        cell |= {"outputs": [shown], "execution_count": 1}
        cell["metadata"] |= {"trusted": True, "points": 100, "tags": ["nbval-skip", 7]}
        cell["metadata"].setdefault("nbgrader", {}).update(points=100, grade=True, solution=True)


@cells("ids and sources of wrong types", state=NOTHING, said="notebook without answer cells")
def _(content, cells):
    for number, cell in enumerate(cells.values()):
        cell |= {"id": [number, None, {"a": 1}, 2.5][number % 4], "metadata": {"id": []}}
        cell["source"] = [{"a": 1}, 7, None, [None, 7, {"x": []}]][number % 4]


@cells("cells that are no cells, and half characters", earns=tuple(BOTH))
def _(content, cells):
    cells["nan_paths-answer"]["source"] = ["\ud800", {}, None]
    content["cells"] += [None, 7, "code", [], {}, {"cell_type": []}, {"id": "count_leaves-answer"}]


family.case(
    "magics that leave the cell, and Python",
    {
        "count_leaves": "%%javascript\nIPython.notebook.kernel.execute('x')",
        "leaf_shapes": "%%capture\n%%python\nleaf_shapes = 1",
        "nan_paths": "%%bash\necho correct",
        "differences": "%run /course/checks/check_01_leaves.py\ndifferences = print",
        "same_structure": "%reset -f",
        "whole_shapes": "quit()",
        "shared_leaves": "raise SystemExit",
    },
)
