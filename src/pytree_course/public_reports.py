"""Public reports of people whom a pytree surprised, cited where the course teaches the same.

A report is an issue, a pull request or a discussion on GitHub, written as `jax-ml/jax#2348`.
Nothing fetches it.
"""

import re
from collections.abc import Iterable, Sequence

REPORT = re.compile(r"[\w-]+/[\w.-]+#\d+")
CITATION = re.compile(r"[ \n]*\{met\}`(?P<reports>[^`]*)`")
"""A citation in the Markdown of a lesson, with the blanks before it."""


def split_reports(text: str) -> list[str]:
    """Return the reports that a text names, separated by commas."""
    return [report.strip() for report in text.split(",")]


def malformed_reports(reports: Iterable[str]) -> list[str]:
    """Return a message for each report that is not written as a report is."""
    return [
        f"{report!r} is not the name of a public report: write it as jax-ml/jax#2348"
        for report in reports
        if not REPORT.fullmatch(report)
    ]


def report_links(reports: Sequence[str]) -> list[tuple[str, str]]:
    """Return the short name and the address of each report: GitHub leads on to pull requests."""
    links = []
    for report in reports:
        name, _, number = report.partition("#")
        _, _, repository = name.partition("/")
        links.append((f"{repository}#{number}", f"https://github.com/{name}/issues/{number}"))
    return links


def people_met(reports: Sequence[str]) -> str:
    """Return a quiet line of Markdown that links to reports."""
    links = ", ".join(f"[{name}]({address})" for name, address in report_links(reports))
    return f"<small>People met this: {links}</small>"


def with_links(markdown: str) -> str:
    """Replace the citations in the Markdown of a lesson by links, each on a line of its own."""
    return CITATION.sub(
        lambda citation: f"<br>{people_met(split_reports(citation['reports']))}", markdown
    )


def without_citations(markdown: str) -> str:
    """Leave the citations out of the Markdown of a lesson."""
    return CITATION.sub("", markdown)
