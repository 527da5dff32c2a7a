"""Helpers for the author's texts: slugs, digests, the line of an error, explanations."""

import ast
import hashlib
import re
from pathlib import Path

from pytree_course.course import LessonFiles

FOLD = "<details>\n<summary>The answer, and why</summary>\n\n"
FOLD_END = "\n\n</details>"


def slug(title: str) -> str:
    """Return a section's name in cell ids: "Key paths" becomes "key-paths"."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def digest(*files: Path) -> str:
    """Return a digest of files' texts, the same on every system."""
    return text_digest(*(file.read_text(encoding="utf-8") for file in files))


def text_digest(*texts: str) -> str:
    """Return a digest of texts."""
    sha = hashlib.sha256()
    for text in texts:
        sha.update(text.encode() + b"\0")
    return f"sha256:{sha.hexdigest()}"


def exercises_digest(files: LessonFiles) -> str:
    """Return a digest of what the exercises, the solutions and checks/expected are made from."""
    folder = files.sources
    return digest(folder / "exercises.md", folder / "answers.py", files.check_script)


def line_named_in(error: Exception) -> int:
    """Return the line that an error's message names, or 1."""
    named = re.search(r"line (\d+)", str(error))
    return int(named[1]) if named else 1


def split_answer(text: str) -> tuple[str, str]:
    """Split the text below a prediction's cell into the answer's explanation and what follows."""
    found = re.search(r"^(\*\*Try\.\*\*|◇)", text, re.MULTILINE)
    at = found.start() if found else len(text)
    return text[:at].strip(), text[at:]


def with_closed_answer(text: str) -> str:
    """Fold the text below a prediction's cell, which says what is right: the reader opens it.

    What there is to try, and the next prediction, stay in sight.
    """
    answer, rest = split_answer(text)
    return f"{FOLD}{answer}{FOLD_END}\n\n{rest}".strip() if answer else text


def with_open_answer(text: str) -> str:
    """Unfold what `with_closed_answer` has folded."""
    return text.replace(FOLD, "").replace(FOLD_END, "")


def split_explanation(source: str) -> tuple[str, str]:
    """Split a cell of answers.py into the text that it starts with and the code after it."""
    module = ast.parse(source)
    explanation = ast.get_docstring(module)
    if explanation is None:
        return "", source
    code = "\n".join(source.splitlines()[module.body[0].end_lineno :])
    return " ".join(explanation.split()), code.strip("\n")
