"""Tampering: what JAX, NumPy, IPython, Python and the kernel do is changed before the check runs.

Each hands in wrong answers to several exercises: what the change makes of any of them must earn
nothing.
"""

from textwrap import dedent

from tests.hostile.case import Family

family = Family("tampering")

LAZY = {
    "count_leaves": "count_leaves = lambda tree: 1",
    "same_structure": "same_structure = globals().get('lazy', lambda a, b: True)",
    "whole_shapes": "whole_shapes = globals().get('lazy', lambda tree: [])",
}


# ---- JAX and NumPy

TAMPERED = {
    "jax.tree sees one leaf everywhere": """
    leaf = jax.tree.structure(0)
    for module in (jax.tree, jax.tree_util):
        for name in dir(module):
            if "leaves" in name:
                setattr(module, name, lambda *a, **k: [0])
            if "flatten" in name:
                setattr(module, name, lambda *a, **k: ([0], leaf))
""",
    "the seed in the environment is the public one": """
    import os
    os.environ["PYTREE_COURSE_SEED"] = "0"
    os.putenv("PYTREE_COURSE_SEED", "0")
""",
    "a check script of one's own": """
    import sys, os, pathlib, shutil
    shutil.copytree("/course", "/tmp/course", dirs_exist_ok=True)
    script = pathlib.Path("/tmp/course/checks/check_01_leaves.py")
    script.chmod(0o644)
    script.write_text(script.read_text().replace("yield from shuffled(rng, cases)", "")
                      .replace("yield Case(answer, tree)", "yield Case(lambda tree: 1, tree)"))
    os.environ["PYTREE_COURSE"] = "/tmp/course"
    from pytree_course import Checks
    check = Checks("01_leaves")
""",
    # ---- IPython and the kernel
    "later cells are rewritten": """
    import ast
    shell = get_ipython()
    class Drop(ast.NodeTransformer):
        def visit_Expr(self, node):
            return ast.Pass() if "check." in ast.unparse(node) else node
        def visit_Assert(self, node):
            return ast.Pass()
    shell.ast_transformers.append(Drop())
    shell.input_transformers_cleanup.append(
        lambda lines: ["pass\\n"] if "check." in "".join(lines) else lines)
""",
    "the check is read from the history": """
    def read(*inputs):
        shell = get_ipython()
        seen = [In[-1], In, shell.history_manager.input_hist_raw, Out, _ih, _oh]
        raise ValueError(str(seen))
    lazy = read
""",
}
for name, code in TAMPERED.items():
    changed = f"{dedent(code).strip()}\n{LAZY['count_leaves']}"
    family.case(name, LAZY | {"count_leaves": changed})

# ---- from one exercise to another

family.case(
    "a patch that helps one's own right answers is no reason to lose their points",
    {
        "count_leaves": """
    leaves = jax.tree.leaves
    jax.tree.leaves = lambda tree, is_leaf=None: leaves(tree, is_leaf=is_leaf)
    def count_leaves(tree):
        return len(jax.tree.leaves(tree))
    """,
    },
    earns=["count_leaves", "whole_shapes"],
)
family.case(
    "a thread that changes the answers of later exercises",
    {
        "count_leaves": """
    import threading, time
    def later():
        while True:
            time.sleep(0.001)
            for name in ("predictions", "leaf_shapes"):
                get_ipython().user_ns[name] = lambda *a: 1
    threading.Thread(target=later, daemon=True).start()
    count_leaves = lambda tree: 1
    """,
        "nan_paths": "nan_paths = lambda params: []",
    },
)
