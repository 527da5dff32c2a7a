"""Linux system calls without a Python wrapper: namespaces, mounts, privileges, seccomp."""

import ctypes
import os
from pathlib import Path

CLONE_NEWNS = 0x00020000  # all constants are named as in Linux's headers
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
_MS_REMOUNT, _MS_BIND, _MS_REC, _MS_PRIVATE = 32, 4096, 1 << 14, 1 << 18
_LOCKED_FLAGS = MS_NOSUID | MS_NODEV | MS_NOEXEC  # a user namespace may not clear them

_PR_SET_DUMPABLE = 4
_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 22, 2
_LINUX_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def unshare(namespaces: int) -> None:
    """Leave namespaces for new ones; os.unshare came with Python 3.12."""
    _check(_libc.unshare(namespaces), "unshare")


def mount(kind: str, path: str, flags: int, data: str = "") -> None:
    """Mount a new file system."""
    _mount(kind.encode(), path.encode(), kind.encode(), flags, data.encode())


def make_mounts_private() -> None:
    """Stop mounts from propagating out of this namespace."""
    _mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None)


def bind(source: str, path: str) -> None:
    """Bind-mount a folder, with the mounts below it."""
    _mount(source.encode(), path.encode(), None, _MS_BIND | _MS_REC, None)


def cover(path: str) -> None:
    """Cover a file with a /dev/null that is no device any more: it cannot be opened."""
    _mount(os.devnull.encode(), path.encode(), None, _MS_BIND, None)
    make_read_only(path, MS_NODEV)


def make_read_only(path: str, extra_flags: int = 0) -> None:
    """Make a mount read-only; Linux itself keeps the flags about access times."""
    locked_flags = os.statvfs(path).f_flag & _LOCKED_FLAGS  # statvfs has the same numbers
    flags = _MS_REMOUNT | _MS_BIND | MS_RDONLY | locked_flags | extra_flags
    _mount(None, path.encode(), None, flags, None)


def map_user(inside: int, user: int, group: int) -> None:
    """Set the id that the user and the group have inside a new user namespace."""
    set_dumpable(True)  # otherwise these files belong to root
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{inside} {user} 1"),
        ("gid_map", f"{inside} {group} 1"),
    ):
        Path("/proc/self", name).write_text(text, encoding="ascii")


def set_dumpable(is_dumpable: bool) -> None:
    """Set whether other processes of the same user may inspect this one."""
    _prctl(_PR_SET_DUMPABLE, int(is_dumpable))


def drop_privileges() -> None:
    """Give up every capability, and every way to regain one."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    _prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    for capability in range(int(Path("/proc/sys/kernel/cap_last_cap").read_text("ascii")) + 1):
        _prctl(_PR_CAPBSET_DROP, capability)
    header = (ctypes.c_uint32 * 2)(_LINUX_CAPABILITY_VERSION_3, 0)
    _check(_libc.capset(header, (ctypes.c_uint32 * 6)()), "capset")  # all sets empty


def install_filter(instructions: bytes) -> None:
    """Filter every system call from now on."""
    program = _Program(len(instructions) // 8, instructions)  # an instruction has eight bytes
    _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(program))


def _mount(
    source: bytes | None, path: bytes, kind: bytes | None, flags: int, data: bytes | None
) -> None:
    result = _libc.mount(source, path, kind, ctypes.c_ulong(flags), data)
    _check(result, f"mount {path.decode()}")


def _prctl(option: int, *arguments: int) -> None:
    values = [*arguments, 0, 0, 0, 0][:4]  # prctl reads four arguments
    _check(_libc.prctl(option, *map(ctypes.c_ulong, values)), f"prctl {option}")


def _check(result: int, call: str) -> None:
    """Raise the error of a system call that failed."""
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{call}: {os.strerror(error)}")
