"""How long the explorer takes to draw a tree: python .ci/benchmarks/explorer_time.py [SIZE]...

The time is the kernel's, from a new expression to the HTML that the page is sent: evaluating,
flattening, drawing, listing. Three shapes of trees are timed at each size, without and with
`is_leaf`; the size of the HTML is what the browser then has to lay out.
"""

import statistics
import sys
import time

from rich.console import Console
from rich.table import Table

from pytree_course import explore

REPEATS = 7
TARGET = 0.5  # seconds
SIZES = tuple(map(int, sys.argv[1:])) or (0, 10, 1_000, 10_000)
SHAPES = {
    "flat dict": "{{f'k{{i}}': float(i) for i in range({0})}}",
    "layers of w and b": "[{{'w': float(i), 'b': None, 'c': 1}} for i in range({0} // 2)]",
    "deep pairs": "[[[(j, {{'x': i}}) for j in range(5)]] for i in range({0} // 10)]",
}


def seconds(expression: str, is_leaf: str) -> tuple[float, int]:
    """Time a new expression in an explorer, and return the size of its HTML."""
    explorer = explore("[]")
    explorer.is_leaf.value = is_leaf
    start = time.perf_counter()
    explorer.expression.value = expression
    return time.perf_counter() - start, len(explorer.view.value)


def main() -> None:
    """Print a table: shape, leaves, median and longest time, size of the HTML."""
    table = Table("Tree", "Leaves", "is_leaf", "median, ms", "longest, ms", "HTML, kB")
    slowest = 0.0
    seconds("[1]", "as JAX does it")  # what is loaded once is not timed
    for size in SIZES:
        for shape, pattern in SHAPES.items():
            for is_leaf in ("as JAX does it", "tuples are leaves"):
                runs = [seconds(pattern.format(size), is_leaf) for _ in range(REPEATS)]
                times = [run[0] for run in runs]
                slowest = max(slowest, *times)
                figures = (1000 * statistics.median(times), 1000 * max(times), runs[0][1] / 1000)
                table.add_row(shape, f"{size:,}", is_leaf, *(f"{each:.1f}" for each in figures))
    console = Console()
    console.print(table)
    target = f"the target is {1000 * TARGET:.0f} ms"
    console.print(f"Slowest: {1000 * slowest:.0f} ms; {target}.")


if __name__ == "__main__":
    main()
