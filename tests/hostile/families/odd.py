"""Odd but honest: right answers written as no author would, which must lose nothing."""

from tests.hostile.case import RIGHT as SOLUTIONS
from tests.hostile.case import Family

family = Family("odd")

RIGHT = {name: f"\n{code}\n" for name, code in SOLUTIONS.items()}
COUNT, SHAPES, NONES = RIGHT["count_leaves"], RIGHT["leaf_shapes"], RIGHT["count_nones"]
NAN, SAME, REPLACE = RIGHT["nan_paths"], RIGHT["same_structure"], RIGHT["replace_leaves"]
AT, WHOLE, SHARED = RIGHT["leaf_at"], RIGHT["whole_shapes"], RIGHT["shared_leaves"]
ORDER = RIGHT["leaves_in_layer_order"]
PREDICTIONS = dict(A=2, B=2, C=0, D=3, E=3, F=2, G=1, H="error")


def odd(answers):
    for (name, exercise), code in answers.items():
        family.local({(name, exercise): code}, earns=[exercise])


# ---- what it shows

odd(
    {
        ("800 prints, each shown at once", "nan_paths"): (
            NAN + "for n in range(800):\n    print(n, flush=True)"
        ),
        ("warnings and logging", "count_nones"): """
import warnings, logging
logging.basicConfig(level=logging.DEBUG)
logging.getLogger("jax").warning("look")
warnings.warn("about to count")
def count_nones(tree):
    warnings.warn(f"counting {tree}")
    logging.error("an error that is none")
    return sum(leaf is None for leaf in jax.tree.leaves(tree, is_leaf=lambda node: node is None))
""",
        ("display, rich output and a last expression", "same_structure"): (
            SAME
            + "from IPython.display import HTML, Markdown, display\ndisplay(HTML('<h1>me</h1>'))\n"
            "display(Markdown('# x'), {'a': 1})\ndraw([1, 2])\nsame_structure(1, 2)"
        ),
        # ---- how it is written
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
        # ---- what it uses
        ("annotations that are not evaluated", "count_leaves"): (
            "from __future__ import annotations\nfrom typing import Any\n"
            "def count_leaves(tree: Any | NotThere) -> PyTree[int]:\n"
            "    return len(jax.tree.leaves(tree))"
        ),
        # ---- what it sets
        ("jit of one's own, and jax.debug.print", "leaf_shapes"): (
            SHAPES
            + """
@jax.jit
def twice(x):
    jax.debug.print("x = {}", x)
    return 2 * x
twice(jnp.arange(3)).block_until_ready()
"""
        ),
        ("settings by which checks of others would fail", "leaf_shapes"): (
            "jax.config.update('jax_enable_x64', True)\njax.config.update('jax_debug_nans', True)\n"
            "np.seterr(all='raise')\n" + SHAPES
        ),
        ("the whole cell is timed", "replace_leaves"): ("%%time\n" + REPLACE.strip()),
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
        ("the checks deleted", "leaf_at"): ("del check, Checks\n" + AT),
    }
)

# ---- wrong answers that raise what few do: the verdict is of what was raised

MUTE = "class Mute({base}):\n    def __str__(self):\n        raise self\nraise Mute"
STOP = "class Stop(BaseException): pass\ndef replace_leaves(tree, new_leaves):\n    raise Stop"
INTERRUPT = "def whole_shapes(tree):\n    raise KeyboardInterrupt"
LEFT = "def shared_leaves(tree):\n    raise GeneratorExit"
for name, exercise, code, reason in (
    ("an error without a text", "same_structure", MUTE.format(base="Exception"), "Mute: (its"),
    ("no Exception, and no text", "nan_paths", MUTE.format(base="BaseException"), "Mute: (its"),
    ("a BaseException of its own", "replace_leaves", STOP, "Stop"),
    ("an interrupt that nobody made", "whole_shapes", INTERRUPT, "interrupted"),
    ("a generator that is left", "shared_leaves", LEFT, "GeneratorExit"),
):
    family.local({(name, exercise): code}, kind="error", reason=reason)
