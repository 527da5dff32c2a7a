"""Pages and tables: texts that are more than text to a browser, a spreadsheet, XML or a terminal.

That nothing in what is written is taken for more than text is tested of the whole class, in
`test_written.py`; here each text goes the whole way into it.
"""

from tests.hostile.case import Family

family = Family("pages")

SCRIPT = "<script>alert('PTC')</script><img src=x onerror=alert(1)>\"' onmouseover='alert(1)"
BREAK_OUT = "</style></svg></textarea></title><svg onload=alert(1)><iframe src=javascript:alert(1)>"
FORMULA = '=HYPERLINK(\\"http://x.example\\";A1)'


family.local(
    {
        ("a script in an error", "count_leaves"): (
            f"def count_leaves(tree): raise ValueError({SCRIPT + BREAK_OUT!r})"
        ),
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
        ("an error's text with half a character, NUL and the end of CDATA", "replace_leaves"): """
    def replace_leaves(tree, new_leaves):
        raise KeyError("\\ud800]]>\\uffff\\ufffe\\x00\\x08\\u2028\\u202e")
    """,
        ("a line of the answer that is a script", "shared_leaves"): f"""
    def shared_leaves(tree):
        raise ValueError; {SCRIPT!r}; "{FORMULA}"; "\\u202e{{{{ 7 * 7 }}}}{{% raw %}}[red]"
    """,
    }
)
