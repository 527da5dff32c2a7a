"""The server extension trusts what came with the course, and says which Python has the course."""

import os
import sys
from types import SimpleNamespace

import nbformat
import pytest
from jupyter_server.extension.manager import ExtensionManager
from nbformat.sign import NotebookNotary

from pytree_course.course import Course
from pytree_course.launcher import SERVERS_PYTHON

NAME = "pytree_course.server"


@pytest.fixture
def notary(tmp_path):
    """Return the notary of somebody who has never signed anything."""
    with NotebookNotary(data_dir=str(tmp_path)) as notary:
        yield notary


@pytest.fixture(autouse=True)
def _terminal(monkeypatch):
    """Keep what the extension says to terminals from the tests that come after."""
    monkeypatch.setenv(SERVERS_PYTHON, "another server's")


def start(**server):
    """Have Jupyter Server's own manager find the extension and load it."""
    serverapp = SimpleNamespace(reraise_server_extension_failures=False, **server)
    manager = ExtensionManager(serverapp=serverapp)
    assert manager.add_extension(NAME, enabled=True)
    manager.load_extension(NAME)


@pytest.mark.slow
def test_the_courses_notebooks_are_trusted_and_terminals_told_which_python_has_the_course(notary):
    start(contents_manager=SimpleNamespace(notary=notary))
    for files in Course.installed().lessons():
        for file in (*files.notebooks(), files.solutions, files.blank):
            assert notary.check_signature(nbformat.read(file, as_version=4)), file
    assert os.environ[SERVERS_PYTHON] == sys.executable


def test_a_server_that_cannot_sign_says_so_and_starts(caplog):
    start(contents_manager=SimpleNamespace(name="on some cloud"))
    [said] = [each.getMessage() for each in caplog.records if each.levelname == "WARNING"]
    assert NAME in said
    assert "no attribute 'notary'" in said
