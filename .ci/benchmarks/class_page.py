"""Put what class_time.py and same_verdicts.py measured into docs/performance.md.

python .ci/benchmarks/class_page.py
"""

import json
import statistics
from pathlib import Path
from typing import Any

from class_plots import write_plot_of_engines, write_plots_of_sizes
from page_parts import put, short, table
from pytree_course.course import Course

Content = dict[str, Any]
Run = dict[str, Any]


def main() -> None:
    root = Course.around().root
    write_page(root, json.loads(results(root, "class_time").read_text(encoding="utf-8")))
    verdicts = results(root, "same_verdicts")
    if verdicts.exists():
        write_page_of_verdicts(root, json.loads(verdicts.read_text(encoding="utf-8")))


def results(root: Path, name: str) -> Path:
    return root / "benchmarks" / "results" / f"{name}.json"


def write_page(root: Path, content: Content) -> None:
    """Write the tables and the plots of what was measured, also where it was stopped early."""
    paragraphs = [machine(content["machine"])]
    if runs := chosen(content, "engines"):
        paragraphs += ["### The same class, graded by each", engines(content, runs)]
        paragraphs += [write_plot_of_engines(root, medians(runs)), honest(content)]
        paragraphs += ["### Where the time goes", of_stages(runs)]
    if runs := chosen(content, "workers"):
        paragraphs += ["### Notebooks at once", of_workers(runs)]
    if runs := chosen(content, "sizes"):
        paragraphs += ["### Larger classes", of_sizes(runs), write_plots_of_sizes(root, runs)]
    put(root, "class_time", "\n\n".join(filter(None, paragraphs)))


def chosen(content: Content, part: str) -> list[Run]:
    """Return the runs of one part."""
    return [run for run in content["runs"] if run["part"] == part]


def medians(runs: list[Run]) -> dict[str, dict[str, float]]:
    """Return the median of the seconds, by engine and by lesson."""
    found: dict[str, dict[str, list[float]]] = {}
    for run in runs:
        found.setdefault(run["engine"], {}).setdefault(run["lesson"], []).append(run["seconds"])
    return {
        engine: {lesson: statistics.median(times) for lesson, times in sorted(lessons.items())}
        for engine, lessons in found.items()
    }


def machine(about: dict[str, Any]) -> str:
    """Name the machine and what ran on it."""
    return (
        f"Measured on {about['date']} with commit `{about['commit']}` on {about['cores']} cores of "
        f"{about['processor']}, {about['memory_gb']} GB of memory, {about['system']}, Python "
        f"{about['python']}, JAX {about['jax']}; before it began, {about['busy']} processes were "
        f"waiting for a core. {about['compiled_before']} compiled programs of the author's answers "
        "were there from earlier gradings, and each lesson was graded once before it was timed. "
        f"The course knew {about['misconceptions']:,} misconceptions."
    )


def engines(content: Content, runs: list[Run]) -> str:
    """Return the table of the engines: seconds, and how many times nbgrader's speed."""
    by_engine = medians(runs)
    lessons = sorted({run["lesson"] for run in runs})
    theirs = by_engine.get("nbgrader", {})
    rows = []
    for engine, about in content["engines"].items():
        if engine not in by_engine:
            continue
        times = by_engine[engine]
        cells = [
            cell(times[lesson], theirs.get(lesson)) if lesson in times else "" for lesson in lessons
        ]
        rounds = len({run["round"] for run in runs if run["engine"] == engine})
        rows.append([about, *cells, str(rounds)])
    size = max(run["submissions"] for run in runs)
    header = [f"{size} submissions, seconds", *map(in_words, lessons), "rounds"]
    return table(header, rows)


def cell(seconds: float, nbgraders: float | None) -> str:
    """Write a time; in brackets, how many times as fast as nbgrader that is."""
    times = f" ({short(nbgraders / seconds)} ×)" if nbgraders else ""
    return short(seconds) + times


def in_words(stem: str) -> str:
    number, _, topic = stem.partition("_")
    return f"lesson {int(number)}, {topic.replace('_', ' ')}"


def honest(content: Content) -> str:
    """Say how many marks were compared with what the answers deserve."""
    marks = sum(run["marks"] for run in content["runs"])
    differing = sum(run["differing"] for run in content["runs"])
    return (
        "In brackets: how many times as fast as nbgrader. Medians where there was more than one "
        f"round. In all runs together, {marks:,} marks were compared with what answers deserve; "
        f"{differing or 'none'} differed."
    )


def of_stages(runs: list[Run]) -> str:
    """Return the table of the stages of the course's own grading."""
    own = [run for run in runs if run["engine"] == "course"]
    rows = []
    for lesson in sorted({run["lesson"] for run in own}):
        of_lesson = [run for run in own if run["lesson"] == lesson]
        stages = [run["stages"] for run in of_lesson]
        names = ("first_row", "rows", "reports", "in_kernels")
        middle = [statistics.median(each[name] for each in stages) for name in names]
        cpu = statistics.median(run["cpu_seconds"] for run in of_lesson)
        rows.append([in_words(lesson), *map(short, middle), short(cpu)])
    header = ["seconds", "to the first verdicts", "to the last", "tables and pages"]
    header += ["all submissions, added up", "processor time"]
    return table(header, rows) if rows else ""


def of_workers(runs: list[Run]) -> str:
    """Return the table of times against the number of notebooks at once."""
    numbers = sorted({run["workers"] for run in runs})
    times = [
        statistics.median(run["seconds"] for run in runs if run["workers"] == number)
        for number in numbers
    ]
    lesson, size = runs[0]["lesson"], runs[0]["submissions"]
    row = [f"{in_words(lesson)}, {size} submissions, seconds", *map(short, times)]
    return table(["`--jobs`", *map(str, numbers)], [row])


def of_sizes(runs: list[Run]) -> str:
    """Return the table of time and memory against the size of a class."""
    header = ["submissions", "seconds", "a submission", "again, nothing changed"]
    header += ["MB: all", "the grader", "sandboxes"]
    rows = []
    for run in sorted(runs, key=lambda each: each["submissions"]):
        memory = run["memory"]
        each = run["seconds"] / run["submissions"]
        row = [str(run["submissions"]), short(run["seconds"]), f"{each:.2f}", short(run["again"])]
        more = "over " if memory["unseen"] else ""
        rows.append([*row, *(f"{more}{memory[of]:.0f}" for of in ("whole", "grader", "sandboxes"))])
    return table(header, rows)


def write_page_of_verdicts(root: Path, content: Content) -> None:
    """Write the table of what was compared with the first way to grade."""
    first, *others = content["ways"]
    rows = [[way["about"], f"{way['compared']:,}", str(way["differing"])] for way in others]
    header = [f"against {first['about']}", "rows compared", "differing"]
    about = content["machine"]
    said = f"{content['submissions']} submissions, commit `{about['commit']}`, {about['date']}:"
    put(root, "same_verdicts", f"{said}\n\n{table(header, rows)}")


if __name__ == "__main__":
    main()
