"""The sandbox: each tries to reach what lies outside of it, or to leave something inside.

An attempt that is held back raises that it was, and what it tried; the case asks for that word, so
that an attack which does not work for another reason is seen. What was reached is raised too.
"""

from collections.abc import Mapping
from textwrap import dedent

from tests.hostile.case import Family

family = Family("sandbox")

NAMES = (
    *("count_leaves", "leaf_shapes", "count_nones", "nan_paths", "same_structure"),
    *("leaf_at", "whole_shapes", "leaves_in_layer_order", "shared_leaves"),
)  # replace_leaves should raise an error, and what its answer raises is not told

_ATTEMPT = '''
import ctypes, errno, glob, os, resource, shutil, signal, socket, struct, subprocess, sys, time
libc, seccomp = ctypes.CDLL(None, use_errno=True), ctypes.CDLL("libseccomp.so.2")
reached, refused = [], []
def attempt(what, *tries):
    """Call each; what raises an OSError was refused, and what returns -1 or nothing too."""
    for each in tries:
        try:
            got = each()
            if got is None or got is False or got == -1:
                refused.append(f"{what}: {os.strerror(ctypes.get_errno())}")
            else:
                reached.append(f"{what}: {got!r}"[:200])
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            refused.append(f"{what}: {error}"[:200])
def put(place, text):
    """Write at once: what is buffered is refused only later, and silently."""
    file = os.open(place, os.O_WRONLY)
    try:
        return os.write(file, text.encode())
    finally:
        os.close(file)
def syscall(name, *arguments):
    number = ctypes.c_long(seccomp.seccomp_syscall_resolve_name(name.encode()))
    return lambda: libc.syscall(number, *arguments)
{code}
def answer(*inputs):
    if reached or not refused:
        raise RuntimeError("REACHED " + "; ".join(reached)[:600])
    raise RuntimeError(f"held back {len(refused)}: " + "; ".join(refused)[:600])
{name} = answer
'''
_turn = iter(NAMES * 5)


def held(attempts: Mapping[str, str], *, alone: bool = False, reason: str = "held back") -> None:
    """Add attempts that must be held back; the exercise matters to none of them."""
    for name, code in attempts.items():
        exercise = next(_turn)
        code = dedent(code).strip("\n")
        code = _ATTEMPT.replace("{code}", code).replace("{name}", exercise)
        family.case(name, {exercise: code}, is_local=not alone, reason=reason)


held(
    {
        "network by TCP": """
    for address in [("127.0.0.1", 22), ("127.0.0.1", 8888), ("1.1.1.1", 80), ("10.0.2.2", 80),
                    ("169.254.169.254", 80), ("192.168.0.1", 53)]:
        attempt(address, lambda: socket.create_connection(address, 1))
    """,
        "network by UDP, ICMP and raw sockets": """
    def send(address):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as each:
            return each.sendto(b"x", address)
    for address in [("1.1.1.1", 53), ("10.0.2.3", 53), ("255.255.255.255", 9), ("224.0.0.1", 9)]:
        attempt(address, lambda: send(address))
    for family, kind, protocol in [(2, 3, 1), (2, 3, 255), (17, 3, 768), (10, 3, 58)]:
        attempt((family, kind), lambda: socket.socket(family, kind, protocol).fileno())
    """,
        "names by DNS, and IPv6": """
    attempt("DNS", lambda: socket.getaddrinfo("example.org", 80))
    attempt("IPv6", lambda: socket.create_connection(("2606:4700:4700::1111", 53), 1))
    attempt("link", lambda: socket.create_connection(("fe80::1%lo", 53), 1))
    """,
        "sockets of other families": """
    def made(family, kind):
        with socket.socket(family, kind) as each:
            return each.fileno()
    for family in (29, 38, 40, 44, 31, 17, 21, 30):  # CAN, ALG, VSOCK, XDP, Bluetooth, packets...
        for kind in (1, 2, 3, 5):
            attempt((family, kind), lambda: made(family, kind))
    """,
        "sockets of programs outside": """
    places = ["/run/dbus/system_bus_socket", "/var/run/docker.sock", "/run/systemd/private",
              "/tmp/.X11-unix/X0", "/run/user/0/bus", "/run/user/1000/bus", "/dev/log",
              os.environ.get("SSH_AUTH_SOCK", "/tmp/ssh-agent")]
    names = [chr(0) + name for name in ("/tmp/.X11-unix/X0", "/tmp/dbus-x", "snapd", "corpus")]
    for place in places + names:
        each = socket.socket(socket.AF_UNIX)
        attempt(place, lambda: each.connect(place) or "connected")
    """,
        "mounts and other roots": """
    attempt("mount", syscall("mount", b"none", b"/tmp", b"tmpfs", 0, None))
    attempt("bind", syscall("mount", b"/", b"/tmp", None, 4096, None))
    attempt("remount", syscall("mount", b"none", b"/usr", None, 32 | 4096, None))
    attempt("umount", syscall("umount2", b"/tmp", 2))
    attempt("chroot", syscall("chroot", b"/tmp"), lambda: os.chroot("/tmp") or 1)
    attempt("fsopen", syscall("fsopen", b"tmpfs", 0), syscall("open_tree", -100, b"/", 1))
    """,
        "namespaces": """
    for bit in (28, 17, 30, 29, 26, 27, 25):
        attempt(f"unshare {bit}", syscall("unshare", 1 << bit))
    attempt("setns", *[
        syscall("setns", os.open(each, os.O_RDONLY), 0) for each in glob.glob("/proc/1/ns/*")[:3]
        if os.access(each, os.R_OK)])
    attempt("clone3", syscall("clone3", ctypes.create_string_buffer(88), 88))
    attempt("unshare", lambda: subprocess.check_output(["unshare", "-Ur", "id"]))
    """,
        "system calls of the machine's own": """
    for name in ("bpf", "io_uring_setup", "userfaultfd", "perf_event_open", "memfd_create",
                 "shmget", "mq_open", "semget", "msgget", "reboot", "sethostname", "settimeofday",
                 "init_module", "kexec_load", "swapon", "syslog", "open_by_handle_at"):
        attempt(name, syscall(name, 0, ctypes.create_string_buffer(200), 128, 0, 0, 0))
    attempt("32 bits", lambda: os.path.exists("/dev/mem") or os.path.exists("/dev/kvm"))
    """,
        "other processes": """
    others = [int(each[6:]) for each in glob.glob("/proc/[0-9]*") if int(each[6:]) != os.getpid()]
    for pid in others:
        attempt(f"ptrace {pid}", syscall("ptrace", 16, pid, 0, 0))
        attempt(f"memory {pid}", syscall("process_vm_readv", pid, 0, 0, 0, 0, 0))
    # Only bubblewrap and what it started are there at all.
    attempt("others", lambda: len(others) > 12 and others)
    for pid in range(20_000, 20_100):
        if pid not in others and not os.path.exists(f"/proc/{pid}"):
            attempt(pid, lambda: os.kill(pid, 0) or "there")
    attempt("oom", lambda: put("/proc/self/oom_score_adj", "-1000"))
    """,
        "writing to what is shown": """
    import jax as library
    places = [os.path.dirname(library.__file__), sys.prefix, sys.base_prefix, "/course", "/usr/bin",
              "/usr/lib", "/", "/etc", "/dev", "/home", "/root", "/var", "/run", "/opt", "/srv",
              os.path.dirname(os.path.dirname(library.__file__))]
    places += [each for each in sys.path if os.path.isdir(each) and not each.startswith("/tmp")]
    for place in places:
        attempt(place, lambda: open(os.path.join(place, "evil.pth"), "w").write("import os"))
        attempt(place, lambda: os.mkdir(os.path.join(place, "evil")) or "made")
    attempt("check", lambda: open("/course/checks/check_01_leaves.py", "a").write("x"))
    attempt("python", lambda: os.chmod(sys.executable, 0o777) or "changed")
    attempt("swap", lambda: os.rename("/course", "/course2") or "renamed")
    """,
        "kernel settings in /proc and /sys": """
    for place in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/sys/vm/swappiness",
                  "/proc/self/uid_map", "/proc/self/setgroups", "/proc/sys/kernel/hostname",
                  "/sys/fs/cgroup/cgroup.procs", "/sys/kernel/uevent_helper", "/proc/1/oom_adj"):
        attempt(place, lambda: put(place, "1"))
    """,
        "accounts and rights": """
    def others(place):  # but for the folder through which Python is reached
        return [each for each in os.listdir(place)
                if not sys.prefix.startswith(f"{place}/{each}/")] or None
    for place in ("/etc/shadow", "/root/.ssh", "/root/.bashrc", "/home", "/var/lib"):
        attempt(place, lambda: others(place) if os.path.isdir(place) else open(place).read())
    attempt("setuid", lambda: os.setuid(0) or 1, lambda: os.setgid(0) or 1,
            lambda: os.setgroups([0]) or 1, lambda: os.setresuid(0, 0, 0) or 1)
    attempt("caps", lambda: int([line.split()[1] for line in open("/proc/self/status")
                                 if line.startswith("CapEff")][0], 16) or None)
    attempt("privileges", lambda: None if "NoNewPrivs:\\t1" in open("/proc/self/status").read()
            else "may gain some")
    for program in ("su", "sudo", "mount", "passwd", "newgrp", "ping"):
        if shutil.which(program):
            done = subprocess.run([program, "-c", "id"], capture_output=True, text=True, input="",
                                  timeout=20)
            attempt(program, lambda: "uid=0" in done.stdout)
    """,
        "a setuid file": """
    shutil.copy("/usr/bin/id", "/tmp/id")
    os.chmod("/tmp/id", 0o6777)
    attempt("run", lambda: "euid=0" in subprocess.check_output(["/tmp/id"], text=True))
    def is_seen_outside():  # by an account of the outside: a mount that has no nosuid
        flags = [line.split()[5] for line in open("/proc/self/mountinfo")
                 if line.split()[4] == "/tmp"]
        return None if "nosuid" in flags[-1] else flags
    attempt("nosuid", is_seen_outside)
    attempt("device", lambda: os.mknod("/tmp/zero", 0o20666, os.makedev(1, 5)) or "made")
    """,
        "limits raised": """
    for name in ("RLIMIT_NPROC", "RLIMIT_FSIZE", "RLIMIT_DATA", "RLIMIT_CPU", "RLIMIT_NOFILE",
                 "RLIMIT_CORE"):
        limit = getattr(resource, name)
        most = resource.getrlimit(limit)[1]
        attempt(name, lambda: resource.setrlimit(limit, (most + 1, most + 1)) or "raised")
    attempt("nice", lambda: os.setpriority(0, 0, -20) or "raised")
    attempt("FIFO", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)) or "raised")
    attempt("lock", lambda: libc.mlockall(3))
    """,
        "a priority below all others, to be kept waiting without using time": """
    plain = os.sched_param(0)
    for kind in (os.SCHED_IDLE, os.SCHED_BATCH, os.SCHED_IDLE | os.SCHED_RESET_ON_FORK):
        attempt(kind, lambda: os.sched_setscheduler(0, kind, plain) or "lowered")
    attempt("nice", lambda: os.setpriority(0, 0, 19) or "lowered")
    for place in ("autogroup", "sched", "timerslack_ns", "coredump_filter", "oom_score_adj"):
        attempt(place, lambda: put(f"/proc/self/{place}", "19"))
    """,
        "terminal and devices": """
    for place in ("/dev/console", "/dev/pts/0", "/dev/mem", "/dev/kmsg", "/dev/fuse", "/dev/kvm",
                  "/dev/sda", "/dev/vda", "/dev/loop0"):
        attempt(place, lambda: os.open(place, os.O_RDWR | os.O_NONBLOCK))
    import fcntl, mmap
    # These are /dev/null inside. A terminal has a size, and zeros without end can be mapped.
    terminal, zeros = (os.open(place, os.O_RDWR) for place in ("/dev/tty", "/dev/zero"))
    attempt("terminal", lambda: fcntl.ioctl(terminal, 0x5413, bytes(8)))
    attempt("zeros", lambda: mmap.mmap(zeros, 4096))
    attempt("shared memory of no file", lambda: mmap.mmap(-1, 4096))
    attempt("input", lambda: fcntl.ioctl(0, 0x5412, b"x"))
    own, _ = os.openpty()
    attempt("input of its own terminal", lambda: fcntl.ioctl(own, 0x5412, b"x"))
    """,
    }
)

# ---- one student to the next: both leave a mark, wherever they can, and look for the other's

held(
    {
        "compiled programs are listed": """
    place = os.environ.get("JAX_COMPILATION_CACHE_DIR", "/compiled")
    folder = os.open(place, os.O_PATH)
    attempt("list", lambda: os.listdir(place), lambda: [*os.scandir(place)])
    attempt("walk", lambda: [*os.walk(place)] or None, lambda: glob.glob(place + "/*") or None)
    attempt("by a descriptor", lambda: os.open(place, os.O_RDONLY | os.O_DIRECTORY))
    attempt("by a path's", lambda: os.listdir(f"/proc/self/fd/{folder}"))
    attempt("by another's", lambda: os.listdir(f"/proc/self/root{place}"))
    attempt("be allowed to", lambda: os.chmod(place, 0o777) or "changed")
    attempt("watch", lambda: libc.inotify_add_watch(libc.inotify_init(), place.encode(), 0xFFF))
    handle = ctypes.create_string_buffer(struct.pack("iI", 128, 0) + bytes(128))
    libc.name_to_handle_at(-100, place.encode(), handle, ctypes.byref(ctypes.c_int()), 0)
    attempt("by a handle", lambda: libc.open_by_handle_at(folder, handle, os.O_RDONLY))
    attempt("mount", lambda: libc.mount(place.encode(), b"/tmp", None, 4096, None))
    attempt("a shell", lambda: subprocess.check_output(["ls", place], stderr=subprocess.PIPE))
    """,
    }
)
held(
    {
        "compiled programs are written for others": """
    import jax
    from jax._src import lru_cache
    place = os.environ.get("JAX_COMPILATION_CACHE_DIR", "/compiled")
    mine = "jit_poisoned-" + "0" * 64 + "-cache"
    def create(name):
        with open(os.path.join(place, name), "wb") as file:
            return file.write(b"x") + 1
    attempt("create", lambda: create(mine), lambda: create("../" + mine))
    attempt("link", lambda: os.symlink("/tmp", os.path.join(place, mine)) or "linked")
    attempt("folder", lambda: os.mkdir(os.path.join(place, mine)) or "made")
    attempt("remove", lambda: os.rmdir(place) or "removed")
    attempt("move", lambda: os.rename(place, "/tmp/x") or "moved")
    attempt("mount over", lambda: libc.mount(b"/tmp", place.encode(), None, 4096, None))
    cache = lru_cache.LRUCache(place, max_size=-1)
    attempt("by JAX", lambda: cache.put("jit_poisoned", b"x") or "put")
    options = ("min_compile_time_secs", 0), ("min_entry_size_bytes", -1)
    for name, value in options:
        jax.config.update("jax_persistent_cache_" + name, value)
    jax.config.update("jax_raise_persistent_cache_errors", True)
    def compiled():
        try:
            return jax.jit(lambda x: x * 3.14159 + 2.71828)(1.0)
        except OSError:
            raise
        except Exception as error:
            raise OSError(str(error))
    if "JAX_COMPILATION_CACHE_DIR" in os.environ:  # a new environment has no programs to show yet
        attempt("by compiling", compiled)
    jax.config.update("jax_raise_persistent_cache_errors", False)
    """,
    },
    alone=True,
)

_MARKS = """
import ctypes, glob, os, secrets, socket, struct, sys
found, own = [], "left-" + secrets.token_hex(8)
libc = ctypes.CDLL(None)
def look_and_leave(place):
    try:
        for each in os.listdir(place):
            if each.startswith("left-"):
                found.append(f"{place}/{each}")
        open(f"{place}/{own}", "w").write(own)
    except OSError:
        pass
places = ["/tmp", "/dev/shm", "/var/tmp", "/run/lock", "/dev", "/", "/course", "/course/checks",
          sys.prefix, sys.prefix + "/cache", sys.prefix + "/cache/jax", os.path.expanduser("~"),
          os.getcwd(), "..", "/dev/mqueue", "/tmp/ipython", os.environ.get("TMPDIR", "/tmp")]
places += [each for each in sys.path if os.path.isdir(each)]
for place in {os.path.realpath(each) for each in places}:
    look_and_leave(place)
add_key, keyctl = {"x86_64": (248, 250), "aarch64": (217, 219)}[os.uname().machine]
for ring in (-1, -2, -3, -4, -5, -6):
    text = ctypes.create_string_buffer(4096)
    key = libc.syscall(keyctl, 10, ring, b"user", b"left", 0)
    if key > 0 and libc.syscall(keyctl, 11, key, text, 4096) > 0:
        found.append(f"key in {ring}")
    libc.syscall(add_key, b"user", b"left", own.encode(), len(own), ring)
try:
    found += [line for line in open("/proc/keys") if "left" in line]
except OSError:
    pass
meeting = socket.socket(socket.AF_UNIX)
try:
    meeting.bind(chr(0) + "left-here")
    meeting.listen()
except OSError as error:
    found.append(f"abstract socket: {error}")
for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
    each = socket.socket(socket.AF_INET, kind)
    try:
        each.bind(("127.0.0.1", 45678))
    except OSError as error:
        found.append(f"port: {error}")
try:
    import multiprocessing.shared_memory as shared
    shared.SharedMemory("left_here", create=True, size=16)
except OSError as error:
    found.append(f"shared memory: {error}")
for each in glob.glob("/proc/[0-9]*/cmdline"):
    try:
        if "left-process" in open(each).read():
            found.append("process " + each)
    except OSError:
        pass
import subprocess
for at in range(3):  # what lives on, in sessions of its own, without any pipe
    subprocess.Popen([sys.executable, "-S", "-c", "import os, signal, time\\n"
        "for n in range(1, 32):\\n"
        "    try: signal.signal(n, signal.SIG_IGN)\\n"
        "    except OSError: pass\\n"
        "if os.fork() == 0:\\n"
        "    os.setsid()\\n"
        "    if os.fork() == 0:\\n"
        "        time.sleep(1800)  # left-process"], start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
def count_leaves(tree):
    raise RuntimeError("FOUND " + str(found) if found else "found nothing of others")
"""

for which in ("one", "the next", "a third"):
    family.case(
        f"marks for other students, by {which}",
        {"count_leaves": _MARKS},
        reason="found nothing of others",
    )
held(
    {
        "what a machine has only so many of": """
    import fcntl
    kept = []
    def terminals():
        for _ in range(64):
            kept.append(os.openpty())
        return len(kept)
    def lease(command):
        with open(os.__file__) as file:
            return fcntl.fcntl(file, command, fcntl.F_RDLCK) + 1
    attempt("64 terminals", terminals)
    context = ctypes.c_ulong()
    attempt("asynchronous input", syscall("io_setup", 65_536, ctypes.byref(context)))
    attempt("inotify", libc.inotify_init)
    attempt("a lease", lambda: lease(1024))
    """,
        "larger sockets": """
    def larger(option):
        with socket.socket(socket.AF_UNIX) as each:
            each.setsockopt(socket.SOL_SOCKET, option, 2**22)
            return True
    for option in (socket.SO_SNDBUF, socket.SO_RCVBUF, 32, 33):
        attempt(("size", option), lambda: larger(option))
    """,
        "memory of the system's kernel by Landlock, io_uring, keys and filters": """
    attribute = ctypes.create_string_buffer(struct.pack("Q", 0x1FFF), 8)
    attempt("Landlock", lambda: libc.syscall(444, attribute, ctypes.c_long(8), 0))
    attempt("a rule", lambda: libc.syscall(445, 0, 1, attribute, 0))
    attempt("a filter", lambda: libc.prctl(22, 2, attribute))
    attempt("of a socket", lambda: socket.socket().setsockopt(1, 26, bytes(16)) or "attached")
    attempt("a larger pipe", lambda: __import__("fcntl").fcntl(os.pipe()[0], 1031, 2**20))
    attempt("a segment", lambda: libc.shmget(0, 4096, 0o1600))
    """,
    }
)
_USED_UP = """
    import fcntl, select
    made, _ = os.pipe()
    locked = os.open("/tmp/file", os.O_CREAT | os.O_RDWR)
    begins, ends = os.pipe()
    def watches(taken, kept=[]):
        kept.append(select.epoll())
        for number in range(100, 250):
            os.dup2(made, number)
            kept[-1].register(number)
    def locks(taken):
        fcntl.lockf(locked, fcntl.LOCK_EX, 1, 2 * taken + os.getpid() * 2**32)
    def use_up(taken=0):
        end = time.monotonic() + 5
        try:
            while time.monotonic() < end:
                USE(taken)
                taken += 1
        except OSError as error:
            os.write(ends, bytes([error.errno]))
        time.sleep(1000)
    for _ in range(48):
        try:
            child = os.fork()
        except OSError as error:  # a new process is counted, too
            os.write(ends, bytes([error.errno]))
            break
        if child == 0:
            use_up()
    def refused_to_all():
        if (number := os.read(begins, 1)[0]) != errno.EAGAIN:
            return number
        raise OSError(number, os.strerror(number))
    attempt("USE", refused_to_all)
"""
for use, what in {"watches": "watches of epoll", "locks": "record locks"}.items():
    # Its own kernel may end for want of a watch, before it can say so: the others' do not.
    held({f"{what} by 48 processes": _USED_UP.replace("USE", use)}, alone=True, reason="")
