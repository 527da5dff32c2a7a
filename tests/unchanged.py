"""A plugin of pytest: `--everyday` skips the tests that no change can have broken.

A test names the files and folders that it reads in its mark, as in
`@pytest.mark.reads("src/pytree_course/jupyter")`. With `--everyday` it is skipped

- if it has passed: while the digest of these files, of its own file, of the modules that tests
  share and of the lock is the one recorded in the environment;
- if it is not recorded, as in a clean clone: unless git finds that one of these files, or its own
  file, differs from the commit before the last one (on a branch: from where it left `origin`).
  Where git cannot tell, as in a shallow clone, the test runs.

Tests that are marked as `thorough` run with `course.py test --all` only. So a change of one lesson
runs that lesson's tests and the cells of its notebooks; a change of the engine runs the tests of
its rooms, all of lesson 1 and the solutions of all lessons; everything unmarked always runs.
A notebook passes when all its cells do.
"""

import json
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from contextlib import suppress
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from tests.environments import digest
from tests.lesson_reads import notebook_reads

ALL_READ = ("pyproject.toml", "requirements.txt", "conftest.py", "tests/[!t]*.py")
PASSED = "it passed, and nothing that it reads has changed: course.py test --all runs it"
UNTOUCHED = "no recent commit or edit changed what it reads: course.py test --all runs it"
FAILED = "failed"
"""The record of a test that failed: no digest, so it runs again."""

THOROUGH = "others are like it: course.py test --all runs it"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    text = "Skip what passed and reads nothing new, and what is thorough; but not with -k."
    parser.addoption("--everyday", action="store_true", help=text)
    kept = Path(sys.prefix) / "cache" / "passed.json"
    parser.addoption("--record", type=Path, default=kept, help="File that says what has passed.")


def pytest_configure(config: pytest.Config) -> None:
    """Begin to record."""
    config.pluginmanager.register(Record(config), "record")


class Record:
    """What has passed, read when the tests begin and written when they have ended."""

    def __init__(self, config: pytest.Config) -> None:
        self.root, self.file = config.rootpath, config.option.record
        self.is_everyday = config.option.everyday and not config.option.keyword
        # Workers are told, so that all of them skip the same tests.
        self.told = getattr(config, "workerinput", {}).get("passed")
        text = self.file.read_text("utf-8") if self.file.exists() else "{}"
        self.passed: dict[str, str] = self.told if self.told is not None else json.loads(text)
        self.counts: Counter[tuple[str, str, int]] = Counter()
        self.failed: set[str] = set()

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker what passed before."""
        node.workerinput["passed"] = self.passed

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Skip what need not run; note what the others read, for the record."""
        read, groups = cache(digest), defaultdict(list)
        changed = changed_files(self.root) if self.is_everyday else None
        for item in items:
            if item.path.suffix == ".ipynb":
                for mark in notebook_reads(self.root, item.path):
                    item.add_marker(mark)
            groups[item.nodeid.partition(".ipynb::")[0]].append(item)
        for name, group in groups.items():
            why = THOROUGH if group[0].get_closest_marker("thorough") else ""
            if paths := {path for mark in group[0].iter_markers("reads") for path in mark.args}:
                own = group[0].path.relative_to(self.root).as_posix()
                now = read(self.root, *sorted({*paths, *ALL_READ, own}))
                if name in self.passed:
                    why = PASSED if self.passed[name] == now else why
                elif changed is not None and not reads_any({*paths, own}, changed):
                    why = UNTOUCHED
                for item in group:
                    item.user_properties.append(("reads", [name, now, len(group)]))
            if why and self.is_everyday:
                for item in group:
                    item.add_marker(pytest.mark.skip(reason=why))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count what passes, and what fails in any phase."""
        for name, value in report.user_properties:
            if name == "reads" and isinstance(value, list):
                self.counts[tuple(value)] += report.when == "call" and report.passed
                self.failed |= {value[0]} if report.failed else set()

    def pytest_sessionfinish(self) -> None:
        """Record what has passed; what failed is not skipped, whatever it did before."""
        for (name, now, count), passed in self.counts.items():
            if passed == count:
                self.passed[name] = now
            if name in self.failed:
                self.passed[name] = FAILED
        if self.told is None:
            with suppress(OSError):  # where the environment cannot be written, all is tested anew
                self.file.parent.mkdir(exist_ok=True)
                draft = self.file.with_suffix(".draft")
                draft.write_text(json.dumps(self.passed, indent=1), "utf-8")
                draft.replace(self.file)


def changed_files(root: Path) -> list[str] | None:
    """Return the files that differ from a commit before the last one, or None without history."""

    def git(*arguments: str) -> str | None:
        line = ["git", "-C", str(root), *arguments]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        return done.stdout if done.returncode == 0 else None

    if shutil.which("git") is None:
        return None
    base = git("merge-base", "HEAD~", "origin/HEAD") or git("rev-parse", "--verify", "HEAD~")
    if base is None:
        return None
    differing = git("diff", "--name-only", "--no-renames", "--relative", "-z", base.strip())
    untracked = git("ls-files", "--others", "--exclude-standard", "-z")
    if differing is None or untracked is None:
        return None
    return [name for name in f"{differing}{untracked}".split("\0") if name]


def reads_any(patterns: set[str], changed: list[str]) -> bool:
    """Say whether one of the files is matched by a pattern, or lies in a folder that is."""
    files = [PurePosixPath("/", name) for name in changed]
    paths = {path for file in files for path in (file, *file.parents)}
    return any(path.match(f"/{pattern}") for path in paths for pattern in patterns)
