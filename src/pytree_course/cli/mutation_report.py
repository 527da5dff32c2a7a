"""What the command `cases` prints: which wrong answers a check does not tell from right ones."""

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pytree_course.authoring.case_table import COUNTS, numbers
from pytree_course.authoring.mutation_testing import FRESH_SEEDS, Findings


def show_findings(found: Findings, console: Console) -> None:
    """Print what is left to do for one exercise, or that nothing is."""
    lines = [f"  survives: {name}" for name in found.survivors]
    lines += [
        f"  listed as equivalent, but refused or gone: {name}" for name in found.not_equivalent
    ]
    lines += [f"  only one case tells this misconception: {name}" for name in found.on_one_case]
    if found.memoriser not in (None, len(FRESH_SEEDS)):
        refused = f"{found.memoriser} of {len(FRESH_SEEDS)}"
        lines.append(f"  the memoriser of the public cases is refused on {refused} seeds only")
    symbol, style = ("✓", "green") if found.is_fine else ("✗", "yellow")
    console.print(Text(f"{symbol} {found.exercise.name}", style=style))
    for line in lines:
        console.print(Text(line), soft_wrap=True)


def show_totals(found: Sequence[Findings], console: Console) -> None:
    """Print a table with a line for each exercise."""
    table = Table(box=box.SIMPLE_HEAD, padding=0)
    table.add_column("Exercise", overflow="fold")
    for heading in (*COUNTS, "ms"):
        table.add_column(heading, justify="right", no_wrap=True)
    for each in found:
        table.add_row(Text(each.exercise.name), *numbers(each), f"{each.seconds * 1000:.0f}")
    totals = (
        sum(each.mutants for each in found),
        sum(each.killed for each in found),
        sum(each.equivalent for each in found),
        sum(len(each.survivors) for each in found),
    )
    table.add_section()
    table.add_row("all", "", *map(str, totals), "", "", "")
    console.print(table)
