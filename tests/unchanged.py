"""A plugin of pytest: what passed is skipped while nothing that it reads has changed.

A test names what it reads in its mark, as in `@pytest.mark.reads("jupyter", "hatch_build.py")`; its
own file, the modules that tests share and the lock come with it. When it has passed, a digest of
all that is kept in the environment. With `--everyday`, the test is skipped until the digest is
another one. So are tests that are marked as `thorough`. A notebook passes when all its cells do.
"""

import json
import sys
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.environments import digest
from tests.lesson_reads import lesson_reads

ALL_READ = ("pyproject.toml", "requirements.txt", "conftest.py", "tests/[!t]*.py")
PASSED = "it passed, and nothing that it reads has changed: course.py test --all runs it"
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
        for item in items:
            if item.path.suffix == ".ipynb":
                for mark in lesson_reads(self.root, item.path.stem):
                    item.add_marker(mark)
            groups[item.nodeid.partition(".ipynb::")[0]].append(item)
        for name, group in groups.items():
            why = THOROUGH if group[0].get_closest_marker("thorough") else ""
            if paths := {path for mark in group[0].iter_markers("reads") for path in mark.args}:
                own = group[0].path.relative_to(self.root).as_posix()
                now = read(self.root, *sorted({*paths, *ALL_READ, own}))
                why = PASSED if self.passed.get(name) == now else why
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
                self.passed.pop(name, None)
        if self.told is None:
            self.file.parent.mkdir(exist_ok=True)
            draft = self.file.with_suffix(".draft")
            draft.write_text(json.dumps(self.passed, indent=1), "utf-8")
            draft.replace(self.file)
