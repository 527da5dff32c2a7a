"""The seccomp filter: the system calls that an answer may make.

The list was recorded from honest answers, all lessons and the programs that they may start: Python,
JAX, NumPy, Matplotlib and shells; `.ci/record_system_calls.py` records it again. Any other call
fails as if Linux did not have it (ENOSYS), and libraries then do without it.
"""

import errno
import fcntl
import functools
import os
import socket
import termios

import pyseccomp

# Calls that this processor does not have, such as `open` on ARM, are skipped.
ALLOWED = (
    # open files, and data in them
    "open openat openat2 creat close close_range dup dup2 dup3 pipe pipe2",
    "read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 sendfile",
    "lseek _llseek flock fsync fdatasync fallocate fadvise64 readahead ftruncate copy_file_range",
    # files by name
    "stat lstat fstat newfstatat statx statfs fstatfs access faccessat faccessat2 readlink",
    "readlinkat getdents getdents64 getcwd chdir fchdir umask truncate mkdir mkdirat rmdir unlink",
    "unlinkat rename renameat renameat2 link linkat symlink symlinkat mknod mknodat chmod fchmod",
    "fchmodat fchmodat2 chown fchown lchown fchownat utime utimes utimensat futimesat",
    "getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr",
    # memory
    "brk mmap munmap mremap mprotect madvise mincore msync membarrier",
    # processes and threads
    "execve fork vfork exit exit_group wait4 waitid kill tkill tgkill pidfd_open pidfd_send_signal",
    "getpid getppid gettid getpgid getpgrp setpgid getsid setsid getuid geteuid getgid getegid",
    "getresuid getresgid getgroups setuid setgid setreuid setregid setresuid setresgid setfsuid",
    "setfsgid capget getrlimit setrlimit prlimit64 getrusage times getpriority ioprio_get sysinfo",
    "uname arch_prctl set_tid_address set_robust_list get_robust_list rseq futex futex_waitv",
    "sched_yield sched_getaffinity sched_setaffinity sched_getparam sched_getscheduler",
    "sched_getattr sched_get_priority_max sched_get_priority_min sched_rr_get_interval getcpu",
    "restart_syscall getrandom",
    # signals and time
    "rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigsuspend rt_sigtimedwait",
    "rt_sigqueueinfo rt_tgsigqueueinfo sigaltstack pause signalfd signalfd4 alarm getitimer",
    "setitimer gettimeofday time clock_gettime clock_getres nanosleep clock_nanosleep timer_create",
    "timer_settime timer_gettime timer_getoverrun timer_delete timerfd_create timerfd_settime",
    "timerfd_gettime",
    # events and sockets
    "select pselect6 poll ppoll epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait",
    "epoll_pwait2 eventfd eventfd2",
    "socketpair bind listen accept accept4 connect shutdown getsockname",
    "getpeername getsockopt setsockopt send sendto sendmsg sendmmsg recv recvfrom recvmsg recvmmsg",
)
_NAMESPACES = 0x7E020000  # CLONE_NEW...: start a process in new namespaces
# Others could lease or watch files of the host (F_SETLEASE, F_NOTIFY).
_FILE_COMMANDS = (
    *(fcntl.F_DUPFD, fcntl.F_DUPFD_CLOEXEC, fcntl.F_GETFD, fcntl.F_SETFD, fcntl.F_GETFL),
    *(fcntl.F_SETFL, fcntl.F_GETLK, fcntl.F_SETLK, fcntl.F_SETLKW, fcntl.F_OFD_GETLK),
    *(fcntl.F_OFD_SETLK, fcntl.F_OFD_SETLKW, fcntl.F_GETOWN, fcntl.F_SETOWN, fcntl.F_GETPIPE_SZ),
)
# Python does not know these numbers. Their names here are those in Linux's headers.
_TIOCGSID, _TIOCGPTPEER, _TIOCGPTN, _TIOCSPTLCK = 0x5429, 0x5441, 0x80045430, 0x40045431
_SIOCGIFNAME, _SIOCGIFCONF, _SIOCGIFFLAGS = 0x8910, 0x8912, 0x8913
_SIOCGIFADDR, _SIOCGIFHWADDR, _SIOCGIFINDEX = 0x8915, 0x8927, 0x8933
_PR_SET_PDEATHSIG, _PR_GET_PDEATHSIG, _PR_GET_DUMPABLE = 1, 2, 3
_PR_SET_NAME, _PR_GET_NAME, _PR_CAPBSET_READ = 15, 16, 23

_DEVICE_COMMANDS = (
    *(termios.TCGETS, termios.TCSETS, termios.TCSETSW, termios.TCSETSF, termios.TCFLSH),
    *(termios.TIOCSCTTY, termios.TIOCNOTTY, termios.TIOCGPGRP, termios.TIOCSPGRP, _TIOCGSID),
    *(termios.TIOCGWINSZ, termios.TIOCSWINSZ, _TIOCGPTPEER, _TIOCGPTN, _TIOCSPTLCK),
    *(termios.FIONREAD, termios.FIONBIO, termios.FIOCLEX, termios.FIONCLEX),
    *(_SIOCGIFNAME, _SIOCGIFCONF, _SIOCGIFFLAGS, _SIOCGIFADDR, _SIOCGIFHWADDR, _SIOCGIFINDEX),
)
_PROCESS_OPTIONS = (
    *(_PR_SET_PDEATHSIG, _PR_GET_PDEATHSIG, _PR_GET_DUMPABLE),
    *(_PR_SET_NAME, _PR_GET_NAME, _PR_CAPBSET_READ),
)
# Sockets of other families lead out of a network namespace (VSOCK) or deep into the kernel (ALG).
_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_NETLINK)  # ipykernel needs these
_PRIORITIES = (os.SCHED_OTHER,)  # ZeroMQ aborts if it may not set it
_LOW_BITS = 0xFFFFFFFF  # the kernel ignores the others of these arguments


@functools.cache
def filter_instructions() -> bytes:
    """Return the filter for this processor, as the instructions that Linux loads."""
    calls = pyseccomp.SyscallFilter(pyseccomp.ERRNO(errno.ENOSYS))
    # Calls of another architecture (32 bits, x32) have other numbers.
    calls.set_attr(pyseccomp.Attr.ACT_BADARCH, pyseccomp.KILL_PROCESS)
    calls.set_attr(pyseccomp.Attr.CTL_OPTIMIZE, 2)  # a binary search, not a list

    def allow(names: str, *arguments: pyseccomp.Arg) -> None:
        for number in map(_number_of, names.split()):
            if number >= 0:
                calls.add_rule(pyseccomp.ALLOW, number, *arguments)

    allow(" ".join(ALLOWED))
    allow("clone", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, _NAMESPACES, 0))
    # `nice` continues if this is forbidden, but gives up if it does not exist.
    calls.add_rule(pyseccomp.ERRNO(errno.EPERM), _number_of("setpriority"))
    for names, argument, values in (
        ("fcntl fcntl64", 1, _FILE_COMMANDS),
        ("ioctl", 1, _DEVICE_COMMANDS),
        ("prctl", 0, _PROCESS_OPTIONS),
        ("socket", 0, _FAMILIES),
        ("sched_setscheduler", 1, _PRIORITIES),
    ):
        for value in values:
            allow(names, pyseccomp.Arg(argument, pyseccomp.MASKED_EQ, _LOW_BITS, value))
    with open(os.memfd_create("system calls"), "w+b") as file:
        calls.export_bpf(file)
        file.seek(0)
        return file.read()


def _number_of(call: str) -> int:
    """Return a call's number on this processor, negative if it does not have the call."""
    return int(pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, call))
