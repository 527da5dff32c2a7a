"""Put what was measured into docs/performance.md."""

from pathlib import Path
from typing import Any


def write_page(root: Path, content: dict[str, Any]) -> None:
    raise NotImplementedError
