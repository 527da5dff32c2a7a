"""Look for answers' code in files, whatever its whitespace."""

import json
import re
from collections.abc import Iterable, Iterator

from pytree_course.sources.exercises import Exercise


def find_leaks(contents: dict[str, bytes], exercises: Iterable[Exercise]) -> set[tuple[str, str]]:
    """Return which answer is found in which file. What a starter itself says is no leak."""
    files = {name: squeeze("\n".join(texts_in(name, each))) for name, each in contents.items()}
    found = set()
    for exercise in exercises:
        for answer in [exercise.solution, *exercise.variants, *exercise.misconceptions]:
            source = squeeze(answer.source)
            if source != squeeze(exercise.starter.source):
                holding = (name for name, text in files.items() if source in text)
                found |= {(name, f"{exercise.name}: {answer.name}") for name in holding}
    return found


def texts_in(name: str, content: bytes) -> Iterator[str]:
    """Return the texts of a file; those of JSON one by one, the lines of a cell together."""
    if name.endswith(".png"):
        return  # a person has to look at it
    text = content.decode()
    if name.endswith((".json", ".ipynb")):
        yield from _strings(json.loads(text))
    else:
        yield text


def squeeze(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _strings(data: object) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for value in data.values():
            yield from _strings(value)
    elif isinstance(data, list) and data and all(isinstance(each, str) for each in data):
        yield "".join(data)
    elif isinstance(data, list):
        for value in data:
            yield from _strings(value)
