"""Odd but honest: right answers written as no author would, which must lose nothing."""

from pytree_course.course import Course
from tests.conftest import ROOT
from tests.hostile.case import LESSON, Family
from tests.hostile.students import right_answers, wrong_answer

family = Family("odd")

RIGHT = {name: f"\n{code}\n" for name, code in right_answers(Course(ROOT), LESSON).items()}
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
        ("prints at each call", "count_leaves"): (
            "def count_leaves(tree):\n    print(tree)\n    return len(jax.tree.leaves(tree))"
        ),
        ("a megabyte of prints", "count_leaves"): (
            COUNT + "for n in range(10_000):\n    print('x' * 100)"
        ),
        ("10,000 prints, each shown at once", "nan_paths"): (
            NAN + "for n in range(10_000):\n    print(n, flush=True)"
        ),
        ("a progress bar", "leaf_shapes"): (
            "import sys, time\n"
            "for n in range(200):\n    sys.stderr.write(f'\\r{n // 2} %')\n    sys.stderr.flush()\n"
            + SHAPES
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
        ("a plot", "nan_paths"): (
            "%matplotlib inline\nimport matplotlib.pyplot as plt\n"
            "plt.plot([1, 2, 3]); plt.title('where')\nplt.show()\n" + NAN
        ),
        ("display, rich output and a last expression", "same_structure"): (
            SAME
            + "from IPython.display import HTML, Markdown, display\ndisplay(HTML('<h1>me</h1>'))\n"
            "display(Markdown('# x'), {'a': 1})\ndraw([1, 2])\nsame_structure(1, 2)"
        ),
        ("clears its output", "replace_leaves"): (
            REPLACE
            + "from IPython.display import clear_output\nprint('x')\nclear_output(wait=True)"
        ),
        ("a trailing semicolon", "leaf_at"): (AT + "leaf_at({'w': 1}, 'w');"),
        ("the learner's own call of the check", "whole_shapes"): (
            WHOLE + "check.whole_shapes(whole_shapes)"
        ),
        ("hints and pictures asked for", "leaves_in_layer_order"): (
            ORDER + "check\ndraw({'layer2': 1})\nshow_progress(check)"
        ),
        ("prints inside that look like a report", "shared_leaves"): (
            "print('application/vnd.pytree-course.outcomes+json')\n" + SHARED
        ),
        # ---- how it is written
        ("a lambda", "count_leaves"): (
            "count_leaves = lambda tree, *, _=None: len(jax.tree.leaves(tree))"
        ),
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
        ("NumPy's integer where an int is asked", "count_nones"): """
def count_nones(tree):
    leaves = jax.tree.leaves(tree, is_leaf=lambda node: node is None)
    return np.sum([leaf is None for leaf in leaves], dtype=np.int64)
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
        ("NumPy's bool where a bool is asked", "same_structure"): """
def same_structure(a, b):
    return np.bool_(jax.tree.structure(a) == jax.tree.structure(b))
""",
        ("a class with __call__", "replace_leaves"): """
class Replace:
    def __init__(self, words="{} leaves needed, {} given"):
        self.words = words
    def __call__(self, tree, new_leaves):
        found, structure = jax.tree.flatten(tree)
        if len(found) != len(new_leaves):
            raise ValueError(self.words.format(len(found), len(new_leaves)))
        return structure.unflatten(new_leaves)
replace_leaves = Replace()
""",
        ("tabs", "leaf_at"): (AT.replace("    ", "\t")),
        ("Windows' line ends", "whole_shapes"): (WHOLE.replace("\n", "\r\n")),
        ("several definitions, the last one counts", "leaves_in_layer_order"): (
            "def leaves_in_layer_order(tree):\n    return []\n"
            "def leaves_in_layer_order(tree):\n    raise ValueError\n" + ORDER
        ),
        ("blank lines and comments before and after", "shared_leaves"): (
            "\n\n\n# " + "a long comment " * 2_000 + "\n\n\n" + SHARED + "\n\n   \n\n# the end"
        ),
        # ---- what it uses
        ("annotations that are not evaluated", "count_leaves"): (
            "from __future__ import annotations\nfrom typing import Any\n"
            "def count_leaves(tree: Any | NotThere) -> PyTree[int]:\n"
            "    return len(jax.tree.leaves(tree))"
        ),
        ("predictions that are computed", "predict_leaf_counts"): """
from collections import OrderedDict, deque
class Config(dict): pass
trees = dict(A={"w": np.ones((2, 3)), "b": np.zeros(3)}, B=[1, None, (2, None)], C=[(), {}, [[]]],
             D={"name": "abc", "point": (1.5, 2)}, E=OrderedDict(a=1, b=(2, 3)),
             F=[{1, 2, 3}, deque([4, 5])], G=Config(a=1, b=2), H={1: "a", "b": 2})
predictions = {}
for letter, tree in trees.items():
    try:
        predictions[letter] = len(jax.tree.leaves(tree))
    except Exception:
        predictions[letter] = "error"
""",
        ("recursion and a higher limit for it", "count_nones"): (
            "import sys\nsys.setrecursionlimit(5000)"
            + NONES
            + """
def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)
assert depth(2000) == 2000
"""
        ),
        ("asserts, test calls and doctests", "nan_paths"): (
            NAN
            + """
assert nan_paths({"w": float("nan")}) == ["w"], "!"
import doctest
def example():
    '''
    >>> 1 + 1
    2
    '''
doctest.run_docstring_examples(example, globals())
"""
        ),
        ("another module's error, chained", "replace_leaves"): """
def replace_leaves(tree, new_leaves):
    try:
        return jax.tree.unflatten(jax.tree.structure(tree), new_leaves)
    except ValueError as error:
        count = len(jax.tree.leaves(tree))
        raise ValueError(f"{count} leaves needed, {len(new_leaves)} given") from error
""",
        ("a thread that ends", "leaf_at"): """
import threading, queue
def leaf_at(tree, path_text):
    found = queue.Queue()
    def look():
        for path, leaf in jax.tree.leaves_with_path(tree):
            if jax.tree_util.keystr(path, simple=True, separator="/") == path_text:
                found.put([leaf])
        found.put([])
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    for leaf in found.get():
        return leaf
    raise KeyError(path_text)
""",
        ("another process that ends", "whole_shapes"): (
            "import subprocess\n"
            "print(subprocess.run(['echo', 'hi'], capture_output=True, text=True))\n"
            "!echo from the shell\n" + WHOLE
        ),
        ("a shell that waits for its children", "count_leaves"): (
            "!sleep 0.1 & wait\n!timeout 5 echo hi\nimport subprocess\n"
            "assert subprocess.check_output('sleep 0.1 & wait; echo hi', shell=True) == b'hi\\n'\n"
            + COUNT
        ),
        ("await at the top, and asyncio", "leaves_in_layer_order"): (
            "import asyncio\nawait asyncio.sleep(0)\n"
            "async def one():\n    return 1\nassert await one()\n" + ORDER
        ),
        ("a random seed, and other global state", "shared_leaves"): (
            "import random\nrandom.seed(0)\nnp.random.seed(0)\ncount = 0\n" + SHARED
        ),
        # ---- what it sets
        ("a cache", "count_leaves"): """
from functools import lru_cache
@lru_cache(maxsize=None)
def by_structure(structure):
    return structure.num_leaves
def count_leaves(tree):
    return by_structure(jax.tree.structure(tree))
""",
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
        ("JAX's settings", "count_nones"): (
            "jax.config.update('jax_enable_x64', True)\n"
            "jax.config.update('jax_debug_nans', False)\n"
            + NONES
            + "\njax.config.update('jax_enable_x64', False)\n"
        ),
        ("NumPy's settings", "nan_paths"): (
            "np.seterr(all='raise')\nnp.set_printoptions(precision=2, threshold=3)\n" + NAN
        ),
        ("settings by which checks of others would fail", "leaf_shapes"): (
            "jax.config.update('jax_enable_x64', True)\njax.config.update('jax_debug_nans', True)\n"
            "np.seterr(all='raise')\n" + SHAPES
        ),
        ("a magic for the time", "same_structure"): (
            SAME + "%timeit -n 2 -r 1 same_structure([1], [2])\n%time same_structure(1, 2)\n%who"
        ),
        ("the whole cell is timed", "replace_leaves"): ("%%time\n" + REPLACE.strip()),
        ("the whole cell is captured", "leaf_at"): (
            "%%capture noise\nprint('hidden')\n" + AT.strip()
        ),
        ("a file is written and read", "whole_shapes"): (
            WHOLE
            + """
with open("notes.txt", "w") as file:
    file.write("mine")
assert open("notes.txt").read() == "mine"
%pwd
"""
        ),
        ("half a second of sleep", "leaves_in_layer_order"): (
            "import time\ntime.sleep(0.5)\n" + ORDER
        ),
        ("an input that is caught", "shared_leaves"): (
            "try:\n    input('your name? ')\nexcept Exception as error:\n    print(error)\n"
            + SHARED
        ),
        ("warnings are errors, until the end of the cell", "nan_paths"): (
            """
import warnings
with warnings.catch_warnings():
    warnings.simplefilter("error")
"""
            + NAN
        ),
    }
)

family.case(
    "every warning is an error from now on",
    {"count_leaves": "import warnings\nwarnings.simplefilter('error')\n" + COUNT},
    earns=["count_leaves", "nan_paths", "shared_leaves"],
)
family.case(
    "stdout is another, and the folder too",
    {
        "count_leaves": "import io, os, sys\nsys.stdout = io.StringIO()\nos.makedirs('x')\n"
        "os.chdir('x')\n" + COUNT
    },
    earns=["count_leaves", "leaf_at"],
)
family.case(
    "names of the set-up cell are used for something else",
    {
        "count_leaves": "from jax import tree as jnp\nnp = 1\ndraw = show_progress = None\n"
        "list_ = [print]\n" + COUNT
    },
    earns=["count_leaves", "same_structure"],
)

# ---- what it does to its surroundings, which must not cost a right answer anything

ENVIRONMENT = "import os\nos.environ.clear()\n"
odd(
    {
        ("the environment cleared", "count_leaves"): (ENVIRONMENT + COUNT),
        ("the environment cleared by a call", "leaf_shapes"): (
            SHAPES.replace("    return", "    __import__('os').environ.clear()\n    return")
        ),
        ("a helper named as the checks are", "count_nones"): (
            "def check(leaf):\n    return leaf is None\n"
            + NONES.replace("leaf is None for", "check(leaf) for")
        ),
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

longest = right_answers(Course(ROOT), "05_mlp")  # the lesson whose answers take the most time
first, answer = next(iter(longest.items()))
family.case(
    "a slow first answer beside all others of a lesson",
    longest | {first: f"import time\ntime.sleep(15)\n{answer}"},
    lesson="05_mlp",
    earns=[*longest],
)

# Two forks whose lists are one contain themselves: JAX would follow them for ever, and in CPython
# 3.11 leave hardly any calls to what comes after.
nodes = right_answers(Course(ROOT), "03_custom_nodes")
shared = wrong_answer(Course(ROOT), "03_custom_nodes", "fork", "the_default_list_is_filled")
family.case(
    "forks that contain themselves, beside right answers",
    nodes | {"fork": shared.source},
    lesson="03_custom_nodes",
    earns=[name for name in nodes if name != "fork"],
)
