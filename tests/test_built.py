"""The format of built notebooks: hidden outputs, and what of a machine may not be stored."""

import sys
from importlib import import_module
from types import SimpleNamespace

import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from pytree_course.built import (
    METADATA_KEY,
    OUTPUTS,
    brief_traceback,
    hide_outputs,
    hides_outputs,
    leave_out_grammars,
    outputs_digest,
    pytest_collection_modifyitems,
    strip_machine_details,
)


def test_outputs_are_hidden_and_shown_again_and_their_digest_knows_both():
    def digest():
        return outputs_digest(new_notebook(cells=[cell]))

    outputs = [new_output("stream", text="2")]
    cell = new_code_cell("1 + 1", outputs=outputs, execution_count=1)
    open_digest, was_hidden = digest(), hides_outputs(cell)
    hide_outputs(cell)
    assert (was_hidden, hides_outputs(cell)) == (False, True)
    assert (cell.outputs, cell.execution_count) == ([], None)
    hidden_digest = digest()
    cell.metadata[METADATA_KEY][OUTPUTS][0].text = "3"
    assert len({open_digest, hidden_digest, digest()}) == 3
    items = [SimpleNamespace(cell=each) for each in (cell, new_code_cell("2"), None)]
    pytest_collection_modifyitems([*items, SimpleNamespace()])  # nbval compares them, too
    assert ([each.text for each in cell.outputs], cell.execution_count) == (["3"], 1)


def test_jsonschema_is_kept_from_building_a_parser(monkeypatch):
    monkeypatch.delitem(sys.modules, "rfc3987_syntax", raising=False)
    leave_out_grammars()
    with pytest.raises(ImportError):
        import_module("rfc3987_syntax")


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ("leaked from f at /tmp/ipykernel_31/2893.py:3", "leaked from f at this cell:3"),
        (r"at C:\Users\me\ipykernel_3\44.py:3", "at this cell:3"),
        ("in '/usr/lib/jax/api.py'", "in '…/api.py'"),
        ("<function f at 0x7f6c9b1d2ca0>, 0x12", "<function f at 0x…>, 0x12"),
        ("at key path ['a']/['b'], a/b/c, 1 / 2", "at key path ['a']/['b'], a/b/c, 1 / 2"),
        ("see https://docs.jax.dev/en/latest/errors.html", None),
    ],
)
def test_an_errors_message_loses_folders_and_addresses_only(message, kept):
    assert strip_machine_details(message) == (kept or message)
    assert brief_traceback("ValueError", message) == [f"ValueError: {kept or message}"]
