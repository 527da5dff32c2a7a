"""The system calls that a learner's code may not make, as one filter for both doors."""

import errno
import functools
import os

import pyseccomp

from pytree_course.grading.sandbox import linux

# What mature sandboxes refuse (the lists of Flatpak and Docker), by what each call would reach.
_REFUSED = [
    # keys outlive a process: this refusal and the covered /proc/keys are what keeps them away
    *("add_key", "keyctl", "request_key"),
    # other processes
    *("kcmp", "pidfd_getfd", "process_madvise", "process_mrelease"),
    *("process_vm_readv", "process_vm_writev", "ptrace"),
    # namespaces, mounts, and files by handle, which no mount hides
    *("chroot", "mount", "pivot_root", "setns", "umount", "umount2", "unshare"),
    *("fanotify_init", "name_to_handle_at", "open_by_handle_at"),
    # the machine: modules, time, swap, accounts, log, NUMA, ports
    *("delete_module", "finit_module", "init_module", "kexec_file_load", "kexec_load", "reboot"),
    *("adjtimex", "clock_adjtime", "clock_settime", "settimeofday"),
    *("acct", "quotactl", "quotactl_fd", "swapoff", "swapon", "syslog", "uselib", "vhangup"),
    *("get_mempolicy", "mbind", "migrate_pages", "move_pages", "set_mempolicy"),
    *("ioperm", "iopl", "modify_ldt", "setdomainname", "sethostname"),
    # what has been the way out of many sandboxes
    *("bpf", "perf_event_open", "userfaultfd"),
]
# Libraries try these and do without.
_ABSENT = [
    *("io_uring_enter", "io_uring_register", "io_uring_setup"),
    *("fsconfig", "fsmount", "fsopen", "fspick", "mount_setattr", "move_mount", "open_tree"),
    "clone3",  # its flags cannot be looked at; the C library then calls clone
    # memory that is in no process and no folder, where it would not be measured
    *("memfd_create", "memfd_secret", "mq_open", "msgget", "semget", "shmget", "vmsplice"),
    # a machine, or a user, has a limited number of these, and one sandbox could take all
    *("io_cancel", "io_destroy", "io_getevents", "io_pgetevents", "io_setup", "io_submit"),
    *("inotify_init", "inotify_init1"),
    # priorities: code of the lowest one would wait for a processor, which costs it no time
    *("ioprio_set", "sched_setattr", "setpriority"),
]
# Calls newer than Linux 5.16, with the same number everywhere: what they will do is not known.
_NEWER = range(449, 600)

# Sockets of other families lead out of a network namespace (VSOCK) or deep into the kernel (ALG).
_FAMILIES = [1, 2, 16]  # AF_UNIX, AF_INET, AF_NETLINK: ipykernel needs these
# What may wait in a socket is counted by the operating system's default, so it may not be changed.
_SOCKET_LEVEL, _SIZES = 1, (7, 8, 32, 33)  # SOL_SOCKET, SO_SNDBUF, SO_RCVBUF, SO_...BUFFORCE
# Leases keep programs outside waiting for a file; notices of changed folders are as inotify's.
_FILE_COMMANDS = (1024, 1026)  # F_SETLEASE, F_NOTIFY
# The children of a process that ignores this signal vanish, with the processor time that they used.
# Otherwise it has to wait for them, or leave them to the sandbox's first process, which does.
_CHILD_ENDED = 17  # SIGCHLD
_TERMINAL_INPUT = [0x5412, 0x541C]  # TIOCSTI, TIOCLINUX
_SHARED_ANONYMOUS = 0x01 | 0x20  # MAP_SHARED, MAP_ANONYMOUS
_HUGE_PAGES = 0x40000  # MAP_HUGETLB
_PLAIN_PRIORITY = 0  # SCHED_OTHER
_WORD = 0xFFFFFFFF  # the kernel looks at no more of these arguments


def open_filter() -> int:
    """Return an open file: the filter, for this processor, in the form that the kernel reads."""
    calls = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    # Calls of another architecture (32 bits, x32) have other numbers.
    calls.set_attr(pyseccomp.Attr.ACT_BADARCH, pyseccomp.KILL_PROCESS)
    calls.set_attr(pyseccomp.Attr.CTL_OPTIMIZE, 2)  # look a call up in a tree, not in a list
    refused, absent = pyseccomp.ERRNO(errno.EPERM), pyseccomp.ERRNO(errno.ENOSYS)
    for name in _REFUSED:
        _deny(calls, refused, name)
    for name in _ABSENT:
        _deny(calls, absent, name)
    for number in _NEWER:
        calls.add_rule(absent, number)
    for flag in (*linux.NEW_NAMESPACES, linux.NEW_USER):
        _deny(calls, refused, "clone", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, flag, flag))
    for request in _TERMINAL_INPUT:
        _deny(calls, refused, "ioctl", _is(1, request))
    for flags in (_SHARED_ANONYMOUS, _HUGE_PAGES):
        _deny(calls, refused, "mmap", pyseccomp.Arg(3, pyseccomp.MASKED_EQ, flags, flags))
    _deny(calls, refused, "personality", pyseccomp.Arg(0, pyseccomp.NE, 0))
    # ZeroMQ aborts where it may not ask for the plain one.
    _deny(calls, refused, "sched_setscheduler", pyseccomp.Arg(1, pyseccomp.NE, _PLAIN_PRIORITY))
    no_such_family = pyseccomp.ERRNO(errno.EAFNOSUPPORT)
    for family in set(range(max(_FAMILIES))) - set(_FAMILIES):
        _deny(calls, no_such_family, "socket", pyseccomp.Arg(0, pyseccomp.EQ, family))
    _deny(calls, no_such_family, "socket", pyseccomp.Arg(0, pyseccomp.GT, max(_FAMILIES)))
    for size in _SIZES:
        _deny(calls, refused, "setsockopt", _is(1, _SOCKET_LEVEL), _is(2, size))
    for command in _FILE_COMMANDS:
        _deny(calls, refused, "fcntl", _is(1, command))
    for name in ("rt_sigaction", "sigaction", "signal"):
        is_set = pyseccomp.Arg(1, pyseccomp.NE, 0)  # and not only asked for
        _deny(calls, refused, name, _is(0, _CHILD_ENDED), is_set)
    file = os.memfd_create("system calls")
    with open(file, "wb", closefd=False) as writing:
        calls.export_bpf(writing)
    os.lseek(file, 0, os.SEEK_SET)
    return file


@functools.cache
def filter_instructions() -> bytes:
    """Return the filter's instructions."""
    with open(open_filter(), "rb") as file:
        return file.read()


def _is(argument: int, value: int) -> pyseccomp.Arg:
    return pyseccomp.Arg(argument, pyseccomp.MASKED_EQ, _WORD, value)


def _deny(
    calls: pyseccomp.SyscallFilter, action: int, name: str, *arguments: pyseccomp.Arg
) -> None:
    number = pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, name)
    if number != -1:  # known to this libseccomp
        calls.add_rule(action, number, *arguments)
