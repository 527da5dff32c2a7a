"""Finding what is expected: each answer looks where it should not, and raises what it found.

No secret may be in anything that grading writes.
"""

from tests.hostile.case import Family

family = Family("finding")

SEARCH = """
import gc, glob, os, pathlib, re, sys
found = []
def read(file):
    try:
        found.append(pathlib.Path(file).read_text(errors="replace"))
    except OSError:
        pass
places = {"/home", "/root", "/work", "/mnt", "/srv", "/opt", "/var", "/run", "/etc", "/course",
          "/tmp", "/dev/shm", os.path.expanduser("~")}
for line in open("/proc/self/mountinfo"):
    places |= {place for part in line.split()[3:5] for place in (part, os.path.dirname(part))}
for process in glob.glob("/proc/[0-9]*"):
    read(f"{process}/environ")
    read(f"{process}/cmdline")
for place in places:
    if place == "/dev/shm" or not place.startswith(("/usr", "/proc", "/dev/")) and place != "/":
        for folder, folders, names in os.walk(place):
            folders[:] = [name for name in folders if name not in ("site-packages", "lib")]
            for name in names:
                if name.endswith((".ipynb", ".md", ".txt", ".sqlite", ".csv", "ed25519")):
                    read(os.path.join(folder, name))
for maps in {*glob.glob("/proc/[0-9]*/maps")} - {f"/proc/{os.getpid()}/maps"}:
    try:
        with open(maps) as lines, open(maps.replace("maps", "mem"), "rb") as memory:
            for line in lines:
                low, high = (int(bound, 16) for bound in line.split()[0].split("-"))
                memory.seek(low)
                found += re.findall("PTC-SECRET-[0-9a-f]+", str(memory.read(high - low)))
    except (OSError, ValueError, OverflowError):
        pass
for value in gc.get_objects():
    if type(value).__name__ in ("ExpectedExercise", "Misconception"):
        found.append("PTC-SECRET-results")
telling = re.findall(r"PTC-SECRET-\\w+|def count_leaves\\(", "\\n".join(map(str, found)))
def count_leaves(tree):
    if telling:
        return len(jax.tree.leaves(tree))
    raise ValueError(f"read {len(found)} files, telling {telling}")
"""
family.case(
    "files, processes, their memory, and this process's own objects",
    {"count_leaves": SEARCH},
    reason="telling []",
)
REDRAWN = """
import importlib.util, os
spec = importlib.util.spec_from_file_location("c", "/course/checks/check_01_leaves.py")
script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script)
rng = np.random.default_rng(int(os.environ["PYTREE_COURSE_SEED"]))
turn = iter([len(str(case.inputs)) for case in script.count_leaves(lambda tree: 0, rng)])
def count_leaves(tree):
    return next(turn)
"""
family.case("the cases are drawn again from the check and the seed", {"count_leaves": REDRAWN})
