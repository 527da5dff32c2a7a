"""The table of modules in docs/architecture.md, generated from their first lines."""

import ast
import re
from pathlib import Path

from pytree_course.course import Course

PAGE = "docs/architecture.md"
_TABLE = re.compile(r"(?<=<!-- modules -->\n).*(?=<!-- end of modules -->)", re.DOTALL)


def with_module_table(course: Course) -> str:
    """Return the text of docs/architecture.md with its table of modules made from the code.

    A course without that page has none to write: "".
    """
    if not (course.root / PAGE).exists():
        return ""
    package = course.root / "src" / "pytree_course"
    modules = [file.relative_to(package) for file in package.rglob("*.py")]
    lines: list[str] = []
    for room in sorted({module.parts[0] for module in modules if len(module.parts) > 1}):
        lines += ["", f"### {room}", "", _first_line(package / room / "__init__.py"), ""]
        lines += _rows(package, [module for module in modules if module.parts[0] == room])
    top = _rows(package, [module for module in modules if len(module.parts) == 1])
    text = "\n".join(["", "### At the top", "", *top, *lines, "", ""])
    page = (course.root / PAGE).read_text(encoding="utf-8")
    return _TABLE.sub(lambda _: text, page)


def _rows(package: Path, modules: list[Path]) -> list[str]:
    named = sorted(module for module in modules if module.name != "__init__.py")
    cells = [f"| `{module.as_posix()}` | {_first_line(package / module)} |" for module in named]
    return ["| Module | |", "|---|---|", *cells]


def _first_line(file: Path) -> str:
    docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return docstring.partition("\n")[0].replace("|", "\\|")
