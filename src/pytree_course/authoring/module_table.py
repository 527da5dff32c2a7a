"""Generate the table of modules in docs/architecture.md from the first lines of the code."""

import ast
import re
from collections import defaultdict

from pytree_course.course import Course
from pytree_course.rendering import render

PAGE = "docs/architecture.md"
_TABLE = re.compile(r"(?<=<!-- modules -->\n).*(?=<!-- end of modules -->)", re.DOTALL)


def with_module_table(course: Course) -> str:
    """Return docs/architecture.md with its table of modules generated from the code.

    Return "" for a course without that page.
    """
    if not (course.root / PAGE).exists():
        return ""
    package = course.root / "src" / "pytree_course"
    rooms: dict[str, dict[str, str]] = defaultdict(dict)
    for file in sorted(package.rglob("*.py")):
        name = file.relative_to(package).as_posix()
        docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
        room = name.partition("/")[0] if "/" in name else ""
        rooms[room][name] = docstring.partition("\n")[0].replace("|", "\\|")
    text = render("authoring/modules.md", rooms=dict(sorted(rooms.items())))
    page = (course.root / PAGE).read_text(encoding="utf-8")
    return _TABLE.sub(lambda _: f"{text}\n\n", page)
