"""The structure of the notebook: cells deleted, doubled, moved, renamed, changed, and more."""

import json

from tests.hostile.case import COUNT, LESSON, SHAPES, Family

family = Family("structure")

WRONG = "def count_leaves(tree):\n    return 1"
BOTH = {"count_leaves": COUNT, "leaf_shapes": SHAPES}
FILE = f"{LESSON}_exercises.ipynb"


def notebook(name, answers=None, *, earns=(), **more):

    def add(change):
        def make(folder, written):
            content = json.loads(written(BOTH if answers is None else answers))
            changed = change(content, {cell["id"]: cell for cell in content["cells"]})
            content = content if changed is None else changed
            (folder / FILE).write_text(json.dumps(content), encoding="utf-8")

        family.case(name, make=make, earns=earns, **more)
        return change

    return add


EARN_BOTH = ("count_leaves", "leaf_shapes")


@notebook("check cells deleted, and set-up too", earns=EARN_BOTH)
def _(content, cells):
    content["cells"] = [each for each in content["cells"] if each["id"].endswith("-answer")]


@notebook("cells in reverse order", earns=EARN_BOTH)
def _(content, cells):
    content["cells"].reverse()


@notebook("a check cell that reports by itself", {"count_leaves": WRONG})
def _(content, cells):
    cells["count_leaves-check"]["source"] = (
        "from IPython.display import display\n"
        "display({'application/vnd.pytree-course.outcomes+json': '[]'}, raw=True)"
    )


@notebook("stored outputs that say all is right", {"count_leaves": WRONG})
def _(content, cells):
    said = "✓ count_leaves: correct"
    data = {"application/vnd.pytree-course.outcomes+json": "[]", "text/plain": said}
    shown = {"output_type": "display_data", "metadata": {}, "data": data}
    for cell in cells.values():
        if cell["cell_type"] == "code":
            cell |= {"outputs": [shown], "execution_count": 1}


@notebook("metadata that give points", {"count_leaves": WRONG})
def _(content, cells):
    content["metadata"]["trusted"] = True
    content["metadata"]["pytree_course"] = {"points": 100, "seed": 0, "graded": True}
    for cell in cells.values():
        cell["metadata"] |= {"trusted": True, "points": 100, "score": 100, "exercise": "x"}
        cell["metadata"].setdefault("nbgrader", {}).update(points=100, grade=True, solution=True)
        cell["metadata"]["tags"] = ["nbval-skip", "nbval-ignore-output", "raises-exception", 7]


@notebook("another kernel", earns=EARN_BOTH)
def _(content, cells):
    named = {"name": "bash", "display_name": "../../bin/sh", "language": "bash"}
    command = ["/bin/sh", "-c", "touch /tmp/kernelspec"]
    content["metadata"]["kernelspec"] = named | {"argv": command}


@notebook("an answer cell turned to Markdown", {"count_leaves": COUNT})
def _(content, cells):
    cells["count_leaves-answer"]["cell_type"] = "markdown"


@notebook(
    "an answer cell turned to Markdown, and its code in another cell",
    BOTH | {"count_leaves": "0"},
    earns=EARN_BOTH,
    reason="another cell that defines count_leaves counts",
)
def _(content, cells):
    cells["count_leaves-answer"]["cell_type"] = "raw"
    content["cells"].insert(2, {"cell_type": "code", "id": "mine", "source": COUNT, "metadata": {}})


@notebook("the right answer in a cell that is no answer cell", {"count_leaves": WRONG})
def _(content, cells):
    content["cells"] += [
        {"cell_type": "code", "id": f"mine-{n}", "metadata": {}, "source": COUNT} for n in range(3)
    ]


@notebook(
    "all answers merged into one cell",
    {"count_leaves": f"{COUNT}\n{SHAPES}"},
    earns=EARN_BOTH,
    reason="another cell that defines leaf_shapes counts",
)
def _(content, cells):
    content["cells"].remove(cells["leaf_shapes-answer"])


def split(content, cell, at):
    """Split a cell as JupyterLab does: both halves keep the metadata."""
    lines = cell["source"].strip().split("\n")
    half = cell | {"id": "the-other-half", "source": "\n".join(lines[at:])}
    cell["source"] = "\n".join(lines[:at])
    content["cells"].insert(content["cells"].index(cell) + 1, half)


@notebook("an answer cell split inside of a function", earns=EARN_BOTH, reason="the last 2 count")
def _(content, cells):
    split(content, cells["leaf_shapes-answer"], 3)


HELPED = """
def number_of(leaves):
    return len(leaves)
def count_leaves(tree):
    return number_of(jax.tree.leaves(tree))
"""


@notebook(
    "an answer cell split below a helper, after an earlier try",
    BOTH | {"count_leaves": HELPED},
    earns=EARN_BOTH,
    reason="there 3 times; the last 2 count",
)
def _(content, cells):
    split(content, cells["count_leaves-answer"], 2)
    earlier = cells["count_leaves-answer"] | {"id": "an-earlier-try", "source": WRONG}
    content["cells"].insert(0, earlier)


# The cell above defines what the second check asks for, as it does in the learner's own notebook.
@notebook(
    "answer cells with each other's ids",
    BOTH,
    earns=("leaf_shapes",),
    kinds={"count_leaves": "error"},
)
def _(content, cells):
    first, second = cells["count_leaves-answer"], cells["leaf_shapes-answer"]
    first["source"], second["source"] = second["source"], first["source"]


@notebook(
    "a doubled answer cell, the right one last",
    {"count_leaves": WRONG},
    earns=("count_leaves",),
    reason="2 times",
)
def _(content, cells):
    content["cells"].append(cells["count_leaves-answer"] | {"source": COUNT})


@notebook("a doubled answer cell, the wrong one last", {"count_leaves": COUNT}, reason="2 times")
def _(content, cells):
    content["cells"].append(cells["count_leaves-answer"] | {"source": WRONG})


@notebook("ten thousand answer cells", {"count_leaves": WRONG}, reason="10001 times")
def _(content, cells):
    content["cells"] += [cells["count_leaves-answer"]] * 10_000


@notebook("no ids", earns=EARN_BOTH)
def _(content, cells):
    for cell in cells.values():
        del cell["id"]


@notebook("one cell without an id, and one that is a copy", earns=EARN_BOTH)
def _(content, cells):
    del cells["count_leaves-answer"]["id"]
    cells["leaf_shapes-answer"]["id"] = "a-copy"


@notebook(
    "an answer cell and its copy, the right one last",
    {"count_leaves": WRONG},
    earns=("count_leaves",),
    reason="2 times",
)
def _(content, cells):
    content["cells"].append(cells["count_leaves-answer"] | {"id": "a-copy", "source": COUNT})


@notebook("ids that are no texts", BOTH)
def _(content, cells):
    for number, cell in enumerate(cells.values()):
        cell["id"] = [number, None, {"a": 1}, 2.5, True][number % 5]
        cell["metadata"] = {"id": [], "nbgrader": "x"}


@notebook("sources that are no texts", BOTH)
def _(content, cells):
    for number, cell in enumerate(cells.values()):
        cell["source"] = [{"a": 1}, 7, None, [None, 7, {"x": []}]][number % 4]


@notebook("cells that are no cells", earns=EARN_BOTH)
def _(content, cells):
    content["cells"] += [None, 7, "code", [], {}, {"cell_type": []}, {"id": "count_leaves-answer"}]
    content["metadata"] = []


@notebook("attachments and a stored output of ten megabytes", earns=EARN_BOTH)
def _(content, cells):
    cells["setup"]["attachments"] = {"x.png": {"image/png": "A" * 10**6}}
    cells["setup"]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "x" * 10**7}]


@notebook("format 3", state="unreadable", reason="no cells")
def _(content, cells):
    cell = {"cell_type": "code", "input": COUNT, "language": "python", "outputs": []}
    version = {"nbformat": 3, "nbformat_minor": 0, "metadata": {}}
    return version | {"worksheets": [{"cells": [cell]}]}


@notebook("format 9.7", earns=EARN_BOTH)
def _(content, cells):
    content["nbformat"], content["nbformat_minor"] = 9, "7"


@notebook("the notebook of another lesson", reason="none of the answer cells")
def _(content, cells):
    for cell in cells.values():
        cell["id"] = "other-" + cell["id"]
        cell["metadata"] = {}


@notebook("a lesson's stamp that is another's", {"count_leaves": WRONG})
def _(content, cells):
    content["metadata"]["pytree_course"] = {"release": "\x1b[31m" * 100, "version": [1]}
    for key in list(content["metadata"]):
        if "pytree" in key:
            content["metadata"][key] = "9" * 1000


@notebook("a check cell's id on an answer", {"count_leaves": WRONG})
def _(content, cells):
    cells["count_leaves-check"]["id"] = "count_leaves-answer"
    cells["count_leaves-check"]["source"] = "check = None\ncount_leaves = None"


family.case(
    "magics that leave the cell",
    {
        "count_leaves": "%%javascript\nIPython.notebook.kernel.execute('x')",
        "leaf_shapes": "%%capture\n%%python\nleaf_shapes = 1",
        "nan_paths": "%%bash\necho correct",
        "leaf_at": "%run /course/checks/check_01_leaves.py\nleaf_at = print",
        "same_structure": "%reset -f",
    },
)
family.case(
    "cells that leave Python", {"count_leaves": "raise SystemExit", "leaf_shapes": "quit()"}
)
