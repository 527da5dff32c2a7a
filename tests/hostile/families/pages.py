"""Pages and tables: texts that are more than text to a browser, a spreadsheet, XML or a terminal.

That nothing in what is written is taken for more than text is tested of the whole class, in
`test_corpus.py`; here each text goes the whole way into it.
"""

from tests.hostile.case import Family

family = Family("pages")

SCRIPT = "<script>alert('PTC')</script><img src=x onerror=alert(1)>\"' onmouseover='alert(1)"
BREAK_OUT = "</style></svg></textarea></title><svg onload=alert(1)><iframe src=javascript:alert(1)>"
FORMULA = '=HYPERLINK(\\"http://x.example\\";A1)'


family.local(
    {
        ("an error's type that is a script", "leaf_shapes"): (
            f"def leaf_shapes(tree): raise type({SCRIPT!r}, (Exception,), {{}})({BREAK_OUT!r})"
        ),
    },
    kind="error",
)
family.local(
    {
        (
            "printed output that is a script, a formula, an escape and an end of CDATA",
            "nan_paths",
        ): f"""
    def nan_paths(params):
        control = "\\x1b]0;pwned\\x07\\x1b[2J\\uffff\\x00\\x0b"
        for text in ({SCRIPT!r}, "{FORMULA}", control, "]]>"):
            print(text)
        return ["{FORMULA}"]
    """,
        ("a result's type, keys and names that reorder what is read", "same_structure"): """
    Named = type("\\u202eKey\\u2066\\x1b[31m", (dict,), {})
    jax.tree_util.register_pytree_with_keys(
        Named, lambda each: ((("\\ud800", 1), ("]]>", 2)), "\\u202e"), lambda *a: Named())
    def same_structure(a, b):
        return {"\\u202e\\ud800": Named(), "]]>": "\\uffff"}
    """,
    }
)
