"""How widgets are written as HTML: the style sheet, and the frames around what is shown."""

import hashlib

from pytree_course.drawing.colours import LEAF
from pytree_course.judging.feedback import LOOKS, VerdictLook
from pytree_course.judging.verdicts import VerdictKind
from pytree_course.rendering import TEMPLATES, render

BORDER = "1px solid var(--jp-border-color1, #8884)"
EDGE = f"4px solid {LEAF}"  # the left side, which feedback has in the colour of its verdict

FRAMES = {
    "good": VerdictLook("✓", "works", "solid", "var(--jp-info-color1, #0288d1)"),
    "bad": VerdictLook("✗", "fails", "dashed", "var(--jp-warn-color1, #d9730d)"),
}

TEMPLATES.globals["trouble_look"] = LOOKS[VerdictKind.ERROR]


def block(name: str, linking: str = "", *, framed: bool, **values: object) -> str:
    """Fill a template inside an element that has style rules of its own.

    They are those of the same name in the style sheet, where § stands for the element, and those of
    `linking`. A live widget draws its frame around its controls too, and so needs none here.
    """
    inner = render(f"notebook/{name}.html", **values)
    sheet = TEMPLATES.get_template("notebook/styles.css").module
    own_style = getattr(sheet, name, str)
    style = f"{sheet.block()}{own_style()}{linking}"  # type: ignore[attr-defined]
    unique = "pt-" + hashlib.sha256((inner + style).encode()).hexdigest()[:8]
    # The class twice outranks the notebook's own rules for tables and code.
    rules = style.replace("§", f".{unique}.{unique}").strip()
    edges = f"border:{BORDER};border-left:{EDGE}" if framed else ""
    return render("notebook/block.html", unique=unique, edges=edges, rules=rules, inner=inner)
