"""Files: what may stand in a student's place in the class folder, or in a notebook's.

No case here but one has an answer that is run, so that they cost nothing.
"""

import gzip
import json
import os
from collections.abc import Callable
from typing import Any

from tests.hostile.case import COUNT, LESSON, NOTHING, Family

family = Family("files")

FILE = f"{LESSON}_exercises.ipynb"
WRONG = "def leaf_shapes(tree):\n    return 7"


def files(name: str, **more: Any) -> Callable[[Callable[..., None]], None]:

    def add(make: Callable[..., None]) -> None:
        family.case(name, make=make, **more)

    return add


# ---- in the place of a notebook


@files("a FIFO", state="unreadable", reason="a FIFO")
def _(folder, written):
    os.mkfifo(folder / FILE)


@files("a link to another's notebook", state=NOTHING, said="links are not followed")
def _(folder, written):
    (folder / FILE).symlink_to("../p-victim/01_leaves_exercises.ipynb")


@files("links to files of the machine", state=NOTHING, said="links are not followed")
def _(folder, written):
    for at, place in enumerate(
        ["/etc/shadow", "/dev/zero", "/proc/self/mem", ".", FILE, "/nowhere"]
    ):
        (folder / f"{LESSON}-{at}.ipynb").symlink_to(place)
    (folder / "notes").symlink_to("/")


# ---- in the place of a student's folder


@files("a notebook in the place of a folder", state=NOTHING)
def _(folder, written):
    folder.rmdir()
    folder.with_name("files-stray.ipynb").write_text(written({"count_leaves": COUNT}))


@files("12,000 files", state=NOTHING, said="more than 10,000 files")
def _(folder, written):
    many = folder / "many"
    many.mkdir()
    for at in range(12_000):
        (many / f"{at}.txt").touch()
    for at in range(40):
        (folder / f"\x1b[31m{at}\n.ipynb").touch()


@files("a folder without rights", state="graded" if os.geteuid() == 0 else NOTHING)
def _(folder, written):
    (folder / FILE).write_text(written({}))
    folder.chmod(0)


@files("40 notebooks", reason="of 40 notebooks, the last counts")
def _(folder, written):
    for at in range(40):
        (folder / f"{LESSON} ({at}).ipynb").write_text(written({}))


@files("40 notebooks, none with answer cells", state="unreadable", reason="are more than 10")
def _(folder, written):
    for at in range(40):
        (folder / f"{LESSON} ({at}).ipynb").write_text('{"cells": []}')


@files("a notebook of a million keys", state="unreadable", reason="entries: clear the outputs")
def _(folder, written):
    keys = ", ".join(f'"{at}": {{}}' for at in range(1_000_000))
    (folder / FILE).write_text(f'{{"cells": [], "metadata": {{{keys}}}}}')


@files("no folder, but a checkpoint", state=NOTHING)
def _(folder, written):
    (folder / ".ipynb_checkpoints").mkdir()
    name = f"{LESSON}-checkpoint.ipynb"
    (folder / ".ipynb_checkpoints" / name).write_text(written({"count_leaves": COUNT}))


@files(
    "files that Python, pytest, Git and IPython look for beside a notebook",
    earns=("count_leaves",),
    kinds={"leaf_shapes": "incorrect"},
)
def _(folder, written):
    (folder / FILE).write_text(written({"count_leaves": COUNT, "leaf_shapes": WRONG}))
    stop = "import os\nos._exit(7)\n"
    for name in ("conftest", "sitecustomize", "usercustomize", "jax", "json", "pytree_course"):
        (folder / f"{name}.py").write_text(stop)
        (folder.parent / f"{name}.py").write_text(stop)
    for name in ("pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml"):
        text = "[pytest]\naddopts = --nbval-sanitize-with x --collect-only\n"
        (folder / name).write_text(text)
    (folder / "evil.pth").write_text("import os; os._exit(7)\n")
    (folder / ".git" / "hooks").mkdir(parents=True)
    (folder / ".git" / "config").write_text("[core]\n\tfsmonitor = touch /tmp/pwned\n")
    startup = folder / ".ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "00.py").write_text(stop)


# ---- names


def named(name: str, student: str, **more: Any) -> None:

    def make(folder, written):
        (folder / FILE).write_text(written({}))

    family.case(f"a student called {name}", make=make, student=student, **more)


named("as a notebook", f"{LESSON}-x.ipynb")
named("as an option", "-rf")
named("as a long option", "--into=.")
named("as a formula", "=cmd|' -C calc'!A0")
named("as a formula with @", "@SUM(1+1)*cmd|' -C calc'!A0")
named("as a formula after a tab", "\t=1+1;=2+2")
named("as a full-width formula", "＝1+1")
named("as a path upwards", "x\\..\\..\\y")
named("as dots", "...", state=NOTHING)
named("with an escape", "\x1b[2J\x1b[31mred\x07")
named("on two lines", "ada\n01_leaves: 24 of 24 points\r\nbob")
named("not in UTF-8", os.fsdecode(b"caf\xe9\xff"))
named("from right to left", "\u202exslx.\u2066ada")
named("as an element", "<img src=x onerror=alert(1)>")
named("as an attribute", "\"onmouseover='alert(1)' x=\"")
named("as an end of CDATA", "]]>&lt;\ufffe\uffff")
named("as long as can be", "n" * 255)
named("as a device of Windows", "CON")
named("as a template", "{{ 7 * 7 }}{% raw %}[red]{0}%s")
named("as Canvas's row of points", "    Points Possible")
named("as two students of another case", "P-VICTIM", said="as 2 students")


def called(name: str, file: str, **more: Any) -> None:

    def make(folder, written):
        (folder / file).write_text(written({}))

    family.case(f"a notebook {name}", make=make, **more)


called("with an escape in its name", f"{LESSON}\x1b[31m\x07.ipynb")
called("on two lines", f"{LESSON}\nLeft out.ipynb")
called("not in UTF-8", f"{LESSON}{os.fsdecode(bytes([0xFF]))}.ipynb")
called("with an element in its name", f"{LESSON}<script>alert(1)<&script>.ipynb")
called("called by dots and letters", f"..{LESSON}.ipynb.ipynb", state=NOTHING, said="begins with")


# ---- times


@files("a timestamp of its own")
def _(folder, written):
    for name, text in (("first", "no JSON"), ("last", written({}))):
        (folder / name).mkdir()
        (folder / name / FILE).write_text(text)
    os.utime(folder / "first" / FILE, (10**9, 10**9))
    for name, text in (("first", "2999-01-01 00:00:00 UTC"), ("last", "99999-13-40 UTC")):
        (folder / name / "timestamp.txt").write_text(text)


# ---- contents


def content(name: str, make: Callable[[str], str | bytes], **more: Any) -> None:

    def write(folder, written):
        made = make(written({}))
        (folder / FILE).write_bytes(made if isinstance(made, bytes) else made.encode())

    family.case(name, make=write, **more)


def unreadable(
    name: str, make: Callable[[str], str | bytes], reason: str = "not a notebook"
) -> None:
    content(name, make, state="unreadable", reason=reason)


def without_cells(text: str) -> str:
    return text.replace('"cells"', '"cellars"')


unreadable("blanks", lambda text: " \n" * 1000, "is empty")
unreadable("zeros", lambda text: bytes(10_000))
unreadable("no JSON", lambda text: text[:-1])
unreadable("JSON that is a list", lambda text: f"[{text}]", "no cells")
unreadable("JSON that is null", lambda text: "null", "no cells")
unreadable("no cells", without_cells, "no cells")
unreadable("cells that are a text", lambda text: '{"cells": "x"}', "no cells")
unreadable(
    "nested 100,000 deep and closed", lambda text: '{"a":' * 10**5 + "1" + "}" * 10**5, "nested"
)
unreadable("UTF-16", lambda text: text.encode("utf-16"))
unreadable("compressed", lambda text: gzip.compress(text.encode()))
unreadable("compressed zeros", lambda text: gzip.compress(bytes(50_000_000)))
unreadable("a web page", lambda text: "<!DOCTYPE html><script>alert(1)</script>")
content("a byte order mark", lambda text: "\ufeff" + text)


@files("a hole of a terabyte", state="unreadable", reason="larger than 30 MB")
def _(folder, written):
    (folder / FILE).touch()
    try:
        os.truncate(folder / FILE, 2**40)
    except OSError:  # more than this file system can say
        os.truncate(folder / FILE, 2**32)


@files("an answer of half characters and NUL")
def _(folder, written):
    notebook = json.loads(written({"count_leaves": "X"}))
    for cell in notebook["cells"]:
        if cell["source"] == "X":
            cell["source"] = ["\ud800", {}, None]
    (folder / FILE).write_text(json.dumps(notebook))
