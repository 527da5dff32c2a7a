"""Skip a slow import that the course does not need."""

import sys
from typing import Any

_GRAMMARS = "rfc3987_syntax"


def leave_out_grammars() -> None:
    """Keep jsonschema, which nbformat imports, from building its parser of international addresses.

    That takes a second and a half, and nothing in a notebook is checked with it. The parser comes
    with JupyterLab; jsonschema works without it.
    """
    modules: dict[str, Any] = sys.modules
    modules.setdefault(_GRAMMARS, None)  # from now on, importing it fails
