"""What a process of the course leaves out when it starts, because loading it takes too long."""

import sys
from typing import Any

_GRAMMARS = "rfc3987_syntax"


def leave_out_grammars() -> None:
    """Keep jsonschema, which nbformat loads, from building a parser that the course does not need.

    It checks that texts are internationalised addresses, which nothing in a notebook has to be.
    It comes with JupyterLab, and takes a second and a half. jsonschema does without it.
    """
    modules: dict[str, Any] = sys.modules
    modules.setdefault(_GRAMMARS, None)  # to import it fails from now on
