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
    "NumPy's generator draws the public cases": """
    draw = np.random.default_rng
    np.random.default_rng = lambda seed=None: draw(0)
    np.random.Generator = lambda bits: draw(0)
""",
    "the seed in the environment is the public one": """
    import os
    os.environ["PYTREE_COURSE_SEED"] = "0"
    os.putenv("PYTREE_COURSE_SEED", "0")
""",
    # ---- Python
    "imports give modules that lie": """
    import builtins, sys, types
    class Lies(types.ModuleType):
        def __getattr__(self, name):
            return lambda *a, **k: ["number", "int", 1]
    for name in list(sys.modules):
        if name.startswith("pytree_course.") or name in ("json", "dataclasses"):
            sys.modules[name] = Lies(name)
    found = builtins.__import__
    builtins.__import__ = lambda name, *a, **k: (
        Lies(name) if name.startswith("pytree_course") else found(name, *a, **k))
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
    "errors are not shown": """
    shell = get_ipython()
    shell.showtraceback = shell.showsyntaxerror = lambda *a, **k: None
    shell._showtraceback = lambda *a, **k: None
    shell.set_custom_exc((BaseException,), lambda *a, **k: None)
    shell.kernel.outstream_class.write = lambda *a: None
""",
    "the check is read from the history": """
    def read(*inputs):
        shell = get_ipython()
        seen = [In[-1], In, shell.history_manager.input_hist_raw, Out, _ih, _oh]
        raise ValueError(str(seen))
    lazy = read
""",
    "every execute reply says ok": """
    kernel = get_ipython().kernel
    send = kernel.session.send
    def forged(stream, kind, content=None, *a, **k):
        kind = getattr(kind, "get", lambda *_: kind)("msg_type", kind)
        if kind == "execute_reply":
            content = {"status": "ok", "execution_count": 1, "payload": [], "user_expressions": {}}
        if kind in ("error", "stream"):
            return None
        return send(stream, kind, content, *a, **k)
    kernel.session.send = forged
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
            for name in ("predictions", "leaf_at"):
                get_ipython().user_ns[name] = lambda *a: 1
    threading.Thread(target=later, daemon=True).start()
    count_leaves = lambda tree: 1
    """,
        "nan_paths": "nan_paths = lambda params: []",
    },
)
