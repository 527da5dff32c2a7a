"""Evaluate what a learner typed; where it fails, say what went wrong and what to do next."""

import difflib
import re
from typing import Any

from IPython.core.getipython import get_ipython

import __main__
from pytree_course.notebook.value_texts import error_words, without_addresses
from pytree_course.observing.observations import Object, Observation, all_parts
from pytree_course.texts import shorten

LONGEST_MESSAGE = 300


class Trouble(Exception):  # noqa: N818  # what it says is no error of ours
    """Something that cannot be shown, and advice, in which text between backticks is code."""

    def __init__(self, what: str, advice: str) -> None:
        super().__init__(what)
        self.what = without_addresses(shorten(what, LONGEST_MESSAGE))
        self.advice = advice

    def text(self) -> str:
        """Return it as plain text."""
        return f"{self.what}\n{self.advice}".strip()


def evaluate(expression: str) -> Any:
    """Return the value of an expression in the notebook's own namespace, or raise `Trouble`."""
    shell = get_ipython()
    names = __main__.__dict__ if shell is None else shell.user_ns
    try:
        return eval(expression.strip(), names)
    except (Exception, SystemExit) as error:
        raise Trouble(error_words(error), _advice(error, expression, names)) from None


def flattening_advice(observation: Observation) -> str:
    """Say why JAX could not flatten a tree, given what was observed of it."""
    failures = (
        (path, seen)
        for path, seen in all_parts(observation)
        if isinstance(seen, Object) and seen.failed
    )
    path, failed = next(failures, ((), None))
    if not isinstance(failed, Object):
        return ""
    where = f"`{''.join(path)}`" if path else "the root"
    if failed.type in ("dict", "defaultdict"):
        return (
            f"JAX sorts the keys of a dict, but cannot sort the keys of the {failed.type} at "
            f"{where}. Use keys of one kind: all strings, or all integers."
        )
    return (
        f"JAX called the flatten function of the `{failed.type}` at {where}, and the function "
        "failed. Fix the function and register the class again. If you run the cell of a class "
        "again, this makes a new class of the same name."
    )


def _advice(error: BaseException, expression: str, names: dict[str, Any]) -> str:
    match error:
        case SyntaxError() if re.match(r"\s*(import|from|def|class|for|if|with|del)\b", expression):
            return "This field shows an expression only. Write other statements into a cell."
        case SyntaxError() if re.match(r"\s*\w+\s*=[^=]", expression):
            return "Leave out the `=` and the name before it. To name a tree, use a cell."
        case SyntaxError():
            return "Look at the brackets, quotes and commas."
        case NameError(name=str(name)):
            near = difflib.get_close_matches(name, [each for each in names if each[:1] != "_"], 1)
            meant = f"Did you mean `{near[0]}`? If not, run" if near else "Run"
            return f"{meant} the cell that makes `{name}`, then press Show."
        case KeyError() | IndexError():
            return (
                "The tree has nothing at this place. Show the whole tree first, and read its paths."
            )
        case _:
            return "The expression itself failed, before JAX saw a tree."
