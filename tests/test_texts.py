"""Strings: made printable, shortened, worded, digested and written."""

import stat

import pytest

from pytree_course.texts import (
    counted,
    cut_middle,
    defined_names,
    hours,
    join_remarks,
    printable,
    printable_lines,
    shorten,
    text_digest,
    truncate,
    truncate_around_difference,
    with_article,
    write_file,
    write_files,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("é 漢 🌳 \u200d", "é 漢 🌳 \u200d"),
        ("\x1b[31m\x00", r"\x1b[31m\x00"),
        ("\u202e\u2028\ud800\uffff", r"\u202e\u2028\ud800\uffff"),
        ("\x85\xad", r"\x85\xad"),
    ],
)
def test_what_is_hidden_or_obeyed_is_escaped(text, shown):
    assert printable(text) == shown
    assert printable(f"{text}\n") == f"{shown}\\n"
    assert printable_lines(f"a\r\n\t{text}") == f"a\n    {shown}"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (counted(1, "leaf", "leaves"), "1 leaf"),
        (counted(0, "leaf", "leaves"), "0 leaves"),
        (counted(12_345, "leaf", "leaves"), "12,345 leaves"),
        (hours(25), "25 min"),
        (hours(60), "1 h"),
        (hours(145), "2 h 25 min"),
        *((with_article(name[2:].strip()), name) for name in ("a KeyError", "a UnicodeError")),
        *((with_article(name[3:]), name) for name in ("an IndexError", "an UnboundLocalError")),
        (with_article("ndarray"), "an ndarray"),
        (cut_middle("abcdef", 6), "abcdef"),
        (cut_middle("abcdefg", 6), "abc…fg"),
        (truncate("abcdef", 6), "abcdef"),
        (truncate("abcdefg", 6), "abcde…"),
        (shorten("\0" * 99, 10), "\\x00\\…\\x00"),
        (shorten("a\nb", 10), r"a\nb"),
        (truncate_around_difference("abc", "abcd", 4), ("abc", "abcd")),
        (truncate_around_difference("aaaaaab", "aaaaaac", 6), ("…aaab", "…aaac")),
        (truncate_around_difference("abcdefg", "xbcdefg", 6), ("abcde…", "xbcde…")),
        (join_remarks("one", "", "two"), "one; two"),
        (
            defined_names("def f(): pass\nasync  def g(): ...\nclass H: ...\n    inner = 1"),
            {*"fgH"},
        ),
        (
            defined_names("x = 1\ny: int = 2\nz == 3\nw: int\nf(a=1)\ndef broken("),
            {"x", "y", "broken"},
        ),
    ],
)
def test_texts_in_short(said, expected):
    assert said == expected


def test_a_digest_tells_where_texts_end():
    assert text_digest("ab", "c") != text_digest("a", "bc")
    assert text_digest("a") == text_digest("a") != text_digest("a", "")


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path):
    file = tmp_path / "new" / "file"
    write_file(file, "ä\n", mode=0o600)
    assert file.read_bytes() == b"\xc3\xa4\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    (tmp_path / "folder" / "inside").mkdir(parents=True)
    contents = {
        tmp_path / "folder": lambda: b"x",
        file: lambda: b"new",
        tmp_path / "no": lambda: 1 / 0,
    }
    told = write_files(contents)
    assert [message.partition(": ")[2] for message in told] == [
        "Is a directory",
        "ZeroDivisionError: division by zero",
    ]
    assert file.read_bytes() == b"new"
    assert {each.name for each in tmp_path.iterdir()} == {"new", "folder"}
    assert [each.name for each in file.parent.iterdir()] == ["file"]
