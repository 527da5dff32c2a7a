"""Odd but honest: right answers written as no author would, which must lose nothing."""

from tests.hostile.case import RIGHT as SOLUTIONS
from tests.hostile.case import Family

family = Family("odd")

RIGHT = {name: f"\n{code}\n" for name, code in SOLUTIONS.items()}
COUNT, SHAPES, NAN = RIGHT["count_leaves"], RIGHT["leaf_shapes"], RIGHT["nan_paths"]
SAME, DIFFERENCES = RIGHT["same_structure"], RIGHT["differences"]
WHOLE, SHARED = RIGHT["whole_shapes"], RIGHT["shared_leaves"]


def odd(answers):
    for (name, exercise), code in answers.items():
        family.local({(name, exercise): code}, earns=[exercise])


# ---- what it shows

odd(
    {
        ("800 prints, each shown at once", "nan_paths"): (
            NAN + "for n in range(800):\n    print(n, flush=True)"
        ),
        ("display, rich output and a last expression", "same_structure"): (
            SAME
            + "from IPython.display import HTML, Markdown, display\ndisplay(HTML('<h1>me</h1>'))\n"
            "display(Markdown('# x'), {'a': 1})\ndraw([1, 2])\nsame_structure(1, 2)"
        ),
        # ---- how it is written
        ("a comment that tells nbval to skip it", "count_leaves"): "# NBVAL_SKIP\n" + COUNT,
        ("predictions as NumPy's integers, with spaces and capitals", "predict_leaf_counts"): """
predictions = {"A": np.int64(2), "B": jnp.int32(2), "C": np.array(0), "D": 3, "E": 3, "F": 2,
               "G": True + 0, "H": " ERROR "}
predictions["note"] = "mine"
""",
        ("a partial", "leaf_shapes"): """
from functools import partial
def named(separator, tree):
    return {jax.tree_util.keystr(path, simple=True, separator=separator): np.shape(leaf)
            for path, leaf in jax.tree.leaves_with_path(tree)}
leaf_shapes = partial(named, "/")
""",
        ("names in other scripts, and a docstring of odd characters", "nan_paths"): (
            '''
# -*- coding: utf-8 -*-
def nan_paths(params):
    """Größe ∑ 数 \\N{SNOWMAN} \U0001f984 \x7f ‮right to left‬ <script>alert(1)</script>"""
    größe = "/"
    путь = [jax.tree_util.keystr(où, simple=True, separator=größe)
            for où, 葉 in jax.tree.leaves_with_path(params) if np.isnan(葉).any()]
    return путь
'''
        ),
        ("Windows' line ends", "whole_shapes"): (WHOLE.replace("\n", "\r\n")),
        # ---- what it uses, and what it sets
        ("annotations that are not evaluated", "count_leaves"): (
            "from __future__ import annotations\nfrom typing import Any\n"
            "def count_leaves(tree: Any | NotThere) -> PyTree[int]:\n"
            "    return len(jax.tree.leaves(tree))"
        ),
        ("settings by which checks of others would fail", "leaf_shapes"): (
            "jax.config.update('jax_enable_x64', True)\njax.config.update('jax_debug_nans', True)\n"
            "np.seterr(all='raise')\n" + SHAPES
        ),
        ("an input that is caught", "shared_leaves"): (
            "try:\n    input('your name? ')\nexcept Exception as error:\n    print(error)\n"
            + SHARED
        ),
    }
)


# ---- what it does to its surroundings, which must not cost a right answer anything

ENVIRONMENT = "import os\nos.environ.clear()\n"
odd(
    {
        ("the environment cleared", "count_leaves"): (ENVIRONMENT + COUNT),
        ("the checks deleted", "differences"): ("del check, Checks\n" + DIFFERENCES),
    }
)

# ---- wrong answers that raise what few do: the verdict is of what was raised

MUTE = "class Mute(BaseException):\n    def __str__(self):\n        raise self\nraise Mute"
STOP = "class Stop(BaseException): pass\ndef differences(a, b):\n    raise Stop"
INTERRUPT = "def whole_shapes(tree):\n    raise KeyboardInterrupt"
for name, exercise, code, reason in (
    ("no Exception, and no text", "same_structure", MUTE, "Mute: (its"),
    ("a BaseException of its own", "differences", STOP, "Stop"),
    ("an interrupt that nobody made", "whole_shapes", INTERRUPT, "interrupted"),
):
    family.local({(name, exercise): code}, kind="error", reason=reason)
