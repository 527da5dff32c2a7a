"""Linux system calls without a Python wrapper: namespaces, mounts, privileges, seccomp."""

import ctypes
import os
from pathlib import Path

NEW_USER = 0x10000000
NEW_MOUNTS = 0x00020000
# of mounts, cgroups, host name, IPC, processes and network; a user's is made before them
NEW_NAMESPACES = (NEW_MOUNTS, 0x02000000, 0x04000000, 0x08000000, 0x20000000, 0x40000000)

READ_ONLY, NO_SETUID, NO_DEVICES, NO_PROGRAMS = 1, 2, 4, 8
_REMOUNT, _BIND, _RECURSIVE, _PRIVATE = 32, 4096, 16384, 1 << 18
_NO_ACCESS_TIMES, _NO_FOLDER_TIMES, _RELATIVE_TIMES = 1024, 2048, 1 << 21
_KEPT = NO_SETUID | NO_DEVICES | NO_PROGRAMS | _NO_ACCESS_TIMES | _NO_FOLDER_TIMES
_STATVFS_RELATIVE_TIMES = 4096  # the only flag whose number is not that of the mount's

# of prctl
_SET_DUMPABLE, _SECCOMP, _DROP_BOUNDING, _NO_NEW_PRIVILEGES, _AMBIENT = 4, 22, 24, 38, 47
_CLEAR_ALL = 4
_CAPABILITIES_VERSION = 0x20080522
_FILTER_MODE, _INSTRUCTION_BYTES = 2, 8

_libc = ctypes.CDLL(None, use_errno=True)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def unshare(namespaces: int) -> None:
    """Leave namespaces for new ones; os.unshare has come with Python 3.12."""
    _checked(_libc.unshare(namespaces), "unshare")


def mount(kind: str, place: str, flags: int, data: str = "") -> None:
    """Mount a new file system."""
    _mount(kind.encode(), place.encode(), kind.encode(), flags, data.encode())


def mounts_are_own() -> None:
    """Let no mount from here on be seen outside of this namespace."""
    _mount(None, b"/", None, _RECURSIVE | _PRIVATE, None)


def bind(source: str, place: str) -> None:
    """Show a folder with all that is mounted in it in the place of another, as it is there."""
    _mount(source.encode(), place.encode(), None, _BIND | _RECURSIVE, None)


def cover(place: str) -> None:
    """Cover a file by /dev/null, read-only and no device: it cannot be opened."""
    _mount(os.devnull.encode(), place.encode(), None, _BIND, None)
    make_read_only(place, NO_DEVICES)


def make_read_only(place: str, more: int = 0) -> None:
    """Make a mount read-only; its other flags may not be taken away, and stay."""
    had = os.statvfs(place).f_flag
    flags = more | had & _KEPT | (_RELATIVE_TIMES if had & _STATVFS_RELATIVE_TIMES else 0)
    _mount(None, place.encode(), None, _REMOUNT | _BIND | READ_ONLY | flags, None)


def map_user(inside: int, user: int, group: int) -> None:
    """Give the user and the group of a new user namespace the number that they have inside."""
    set_dumpable(True)  # otherwise these files are root's
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{inside} {user} 1"),
        ("gid_map", f"{inside} {group} 1"),
    ):
        Path("/proc/self", name).write_text(text, encoding="ascii")


def set_dumpable(is_dumpable: bool) -> None:
    """Say whether other processes of the same user may look into this one."""
    _prctl(_SET_DUMPABLE, int(is_dumpable))


def drop_privileges() -> None:
    """Give up every capability, and the ways to get any, for good."""
    _prctl(_NO_NEW_PRIVILEGES, 1)
    _prctl(_AMBIENT, _CLEAR_ALL)
    for capability in range(int(Path("/proc/sys/kernel/cap_last_cap").read_text("ascii")) + 1):
        _prctl(_DROP_BOUNDING, capability)
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION, 0)
    _checked(_libc.capset(header, (ctypes.c_uint32 * 6)()), "capset")


def install_filter(instructions: bytes) -> None:
    """Filter each system call from here on."""
    program = _Program(len(instructions) // _INSTRUCTION_BYTES, instructions)
    _prctl(_SECCOMP, _FILTER_MODE, ctypes.addressof(program))


def _mount(
    source: bytes | None, place: bytes, kind: bytes | None, flags: int, data: bytes | None
) -> None:
    done = _libc.mount(source, place, kind, ctypes.c_ulong(flags), data)
    _checked(done, f"mount {place.decode()}")


def _prctl(option: int, *arguments: int) -> None:
    values = [*arguments, 0, 0, 0, 0][:4]
    _checked(_libc.prctl(option, *map(ctypes.c_ulong, values)), f"prctl {option}")


def _checked(result: int, what: str) -> None:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
