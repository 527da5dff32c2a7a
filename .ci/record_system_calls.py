"""Record the system calls of honest answers: python .ci/record_system_calls.py [LESSON ...]

The solutions, and what else an answer may use (`HONEST` in the tests of the sandbox), run under
strace in sandboxes that start from nothing. Printed are the calls that were refused, those that
were made, and those that are allowed though nothing here made them: from these, `system_calls.py`
is changed.
A refused call is no mistake where everything ran: libraries do without it.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))

from pytree_course.course import Course
from pytree_course.grading import limits
from pytree_course.grading.exercise_run import run_answers
from pytree_course.grading.kernels import WatchedKernel
from pytree_course.grading.lesson_to_grade import make_run_settings, read_lesson
from pytree_course.grading.sandbox import policy, system_calls
from pytree_course.grading.sandbox.doors import use_server
from pytree_course.grading.submission import read_submission
from pytree_course.running.outcomes import PUBLIC_SEED
from tests.grading.test_sandbox import HONEST

CALL = re.compile(r"(\w+)\((.*)")
RESUMED = re.compile(r"<\.\.\. \w+ resumed>(.*)")
SEPARATOR = re.compile(r", |\)")
UNFINISHED = " <unfinished ...>"
BY_ARGUMENT = {"fcntl": 1, "ioctl": 1, "prctl": 0, "socket": 0, "sched_setscheduler": 1}
"""The calls of which only some are allowed, and the argument that decides."""
STRACE = "strace --follow-forks --quiet=all --signal=none --output"
SLOWER = 20  # times, at most, than without strace


def main() -> None:
    for name in ("START_SECONDS", "EXERCISE_SECONDS", "SUBMISSION_SECONDS"):
        setattr(limits, name, SLOWER * getattr(limits, name))
    made, refused = Counter[str](), Counter[str]()
    with TemporaryDirectory() as folder:
        trace_sandboxes(Path(folder))
        run_honest_answers(sys.argv[1:])
        for trace in Path(folder).iterdir():
            for call, is_refused in calls_inside(trace.read_text(errors="replace").splitlines()):
                (refused if is_refused else made)[call] += 1
    print("\nRefused:", *(f"{call} ({times} times)" for call, times in refused.most_common()))
    print("\nMade:", *sorted(made))
    print("\nAllowed, but not made:", *sorted({*" ".join(system_calls.ALLOWED).split()} - {*made}))


def trace_sandboxes(folder: Path) -> None:
    """Start each sandbox from nothing from now on, with a trace of its own in the folder."""
    use_server(None)
    make_command, numbers = policy.bwrap_command, count()
    policy.bwrap_command = lambda command: [
        *(*STRACE.split(), str(folder / str(next(numbers)))),
        *make_command(command),
    ]


def run_honest_answers(names: list[str]) -> None:
    """Run the solutions of lessons, of all by default, and what else answers may use."""
    course = Course.above()
    for files in [course.lesson_named(name) for name in names] or course.lessons():
        lesson = read_lesson(files, PUBLIC_SEED)
        settings = make_run_settings(lesson, {}, in_sandbox=True)
        answers = read_submission(files.solutions, files.read_starters()).answers
        runs = run_answers(answers, settings)
        failed = [name for name, run in runs.items() if run.check.outcomes is None]
        print(f"{files.stem}: {len(runs)} solutions; without results: {failed or 'none'}")
    for what, code in HONEST.items():
        kernel = WatchedKernel(Path(), {"checks/check.py": ""}, {}, in_sandbox=True)
        kernel.start_exercise()
        print(f"{what}: {kernel.run_cell(code).error or 'no error'}")
        kernel.stop()


def calls_inside(trace: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Yield each call behind the filter, and whether the filter refused it.

    Only the processes of the sandbox begin after one of them has switched the filter on.
    """
    outside, begun, is_filtered = set(), {}, False
    for line in trace:
        process, _, text = line.partition(" ")
        text = text.strip()
        if not is_filtered:
            outside.add(process)
            if text.startswith("prctl(PR_SET_SECCOMP"):
                outside.remove(process)
                is_filtered = True
        elif process not in outside:
            if text.endswith(UNFINISHED):
                begun[process] = text.removesuffix(UNFINISHED)
                continue
            if resumed := RESUMED.fullmatch(text):
                text = begun.pop(process, "") + resumed[1]
            if call := CALL.fullmatch(text):
                name, arguments = call.groups()
                if name in BY_ARGUMENT:
                    name += f" {SEPARATOR.split(arguments)[BY_ARGUMENT[name]]}"
                yield name, " = -1 ENOSYS" in arguments


if __name__ == "__main__":
    main()
