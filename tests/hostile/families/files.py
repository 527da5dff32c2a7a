"""Files and cells: what may stand in the place of a student's notebook, or in it."""

import gzip
import json
import os
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


@case("a FIFO", state="unreadable", reason="a FIFO")
def _(folder, written):
    os.mkfifo(folder / FILE)


@case("links", state=NOTHING, said="links are not followed")
def _(folder, written):
    for at, place in enumerate(["../p-victim", "/etc/shadow", "/dev/zero", ".", "/nowhere"]):
        (folder / f"{LESSON}-{at}.ipynb").symlink_to(place)
    (folder / "notes").symlink_to("/")
    (folder / FILE).symlink_to(f"../p-victim/{FILE}")


@case("12,000 files", state=NOTHING, said="more than 10,000 files")
def _(folder, written):
    (folder / "many").mkdir()
    for at in range(12_000):
        (folder / "many" / f"{at}.txt").touch()


@case("a hole of a terabyte", state="unreadable", reason="larger than 30 MB")
def _(folder, written):
    (folder / FILE).touch()
    os.truncate(folder / FILE, 2**40)


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
    "--into=.",
    "=cmd|' -C calc'!A0",
    "\t=1+1;=2+2",
    "＝1+1",
    "x\\..\\..\\y",
    "CON",
):
    named(name)
for name in ("\x1b[2J\x1b[31mred\x07", "ada\n01_leaves: 24 points", os.fsdecode(b"caf\xe9\xff")):
    named(name)
for name in ("\u202exslx.\u2066ada", "<img src=x onerror=alert(1)>", "]]>&lt;\ufffe\uffff"):
    named(name)
for name in ("n" * 255, "{{ 7 * 7 }}{% raw %}[red]{0}%s", "    Points Possible"):
    named(name)
named("P-VICTIM", said="as 2 students")
named(file=f"{LESSON}\x1b[31m\nLeft out{os.fsdecode(bytes([0xFF]))}.ipynb")
named(file=f"{LESSON}<script>alert(1)<&script>.ipynb")


# ---- contents


def content(name: str, make: Callable[[str], str | bytes], reason: str = "not a notebook") -> None:
    def write(folder, written):
        made = make(written({}))
        (folder / FILE).write_bytes(made if isinstance(made, bytes) else made.encode())

    family.case(name, make=write, state="unreadable" if reason else "graded", reason=reason)


content("a byte order mark", lambda text: "\ufeff" + text, "")
content("blanks", lambda text: " \n" * 1000, "is empty")
content("zeros", lambda text: bytes(10_000))
content("half a notebook", lambda text: text[:-1])
content("a list", lambda text: f"[{text}]", "no cells")
content("cells that are a text", lambda text: '{"cells": "x"}', "no cells")
content("nested 100,000 deep", lambda text: '{"a":' * 10**5 + "1" + "}" * 10**5, "nested")
content("compressed zeros", lambda text: gzip.compress(bytes(50_000_000)))
content("a million keys", lambda text: '{"a": [' + "{}, " * 10**6 + "1]}", "entries: clear")


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


@cells("a doubled answer cell, the wrong one last", {"count_leaves": COUNT}, reason="2 times")
def _(content, cells):
    content["cells"].append(cells["count_leaves-answer"] | {"source": WRONG})


@cells("ten thousand answer cells", {"count_leaves": WRONG}, reason="10001 times")
def _(content, cells):
    content["cells"] += [cells["count_leaves-answer"]] * 10_000


@cells("ids and sources of wrong types")
def _(content, cells):
    for number, cell in enumerate(cells.values()):
        cell |= {"id": [number, None, {"a": 1}, 2.5][number % 4], "metadata": {"id": []}}
        cell["source"] = [{"a": 1}, 7, None, [None, 7, {"x": []}]][number % 4]


@cells("cells that are no cells, and half characters", earns=tuple(BOTH))
def _(content, cells):
    cells["nan_paths-answer"]["source"] = ["\ud800", {}, None]
    content["cells"] += [None, 7, "code", [], {}, {"cell_type": []}, {"id": "count_leaves-answer"}]


@cells("format 3", state="unreadable", reason="no cells")
def _(content, cells):
    cell = {"cell_type": "code", "input": COUNT, "language": "python", "outputs": []}
    return {"nbformat": 3, "metadata": {}, "worksheets": [{"cells": [cell]}]}


family.case(
    "magics that leave the cell, and Python",
    {
        "count_leaves": "%%javascript\nIPython.notebook.kernel.execute('x')",
        "leaf_shapes": "%%capture\n%%python\nleaf_shapes = 1",
        "nan_paths": "%%bash\necho correct",
        "leaf_at": "%run /course/checks/check_01_leaves.py\nleaf_at = print",
        "same_structure": "%reset -f",
        "whole_shapes": "quit()",
        "shared_leaves": "raise SystemExit",
    },
)
