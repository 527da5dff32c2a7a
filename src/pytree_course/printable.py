"""Untrusted text made fit to be shown: no escapes, no hidden or reordering characters."""

import unicodedata

JOINERS = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"
"""They hold composed emoji together, and letters of Persian and other scripts apart."""


def printable(text: str) -> str:
    r"""Return a text as one line, in which what a terminal or XML would act on is written out.

    Control and format characters, line ends, overrides of the writing direction and lone surrogates
    become Python's escapes, such as `\x1b`.
    """
    return "".join(map(_printable, text))


def printable_lines(text: str) -> str:
    """Return a text of several lines, each of them printable."""
    lines = text.replace("\r\n", "\n").expandtabs(4).split("\n")
    return "\n".join(line if line.isprintable() else printable(line) for line in lines)


def _printable(character: str) -> str:
    if character in JOINERS:
        return character
    hidden = unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    if hidden or character in "\ufffe\uffff":
        return character.encode("unicode_escape").decode()
    return character
