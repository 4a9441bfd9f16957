"""Calls of the C library, and a filter in the kernel that answers "not permitted" to all calls of the system but some,
for root too, and for good.

Format: the instructions of `linux/bpf_common.h` on a `struct seccomp_data`. The lists of calls were traced with glibc
2.36 and Go 1.25; what is harmless and near is on them too, so that other versions do not fail. Numbers of calls:
`asm/unistd_64.h` for x86_64, `asm-generic/unistd.h` for aarch64."""

from __future__ import annotations

import os
import sys
from ctypes import CDLL, c_long, get_errno

MACHINES = {"x86_64": (0xC000003E, 317), "aarch64": (0xC00000B7, 277)}
"""Machine → its number among architectures, and the number of the call that sets a filter."""
LOAD, EQUAL, ANY_OF, AND, RETURN = 0x20, 0x15, 0x45, 0x54, 0x06
_ERROR = 0x00050000
ALLOW, REFUSE, ABSENT = 0x7FFF0000, _ERROR | 1, _ERROR | 38  # EPERM, ENOSYS
_SET_FILTER, _GET_ACTION = 1, 2
_ALL_THREADS, _AT_FULL_SPEED = 1, 4
NUMBERS: dict[str, tuple[int | None, int | None]] = {
    # memory
    "brk": (12, 214),
    "madvise": (28, 233),
    "membarrier": (324, 283),
    "mincore": (27, 232),
    "mlock": (149, 228),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "mremap": (25, 216),
    "msync": (26, 227),
    "munlock": (150, 229),
    "munmap": (11, 215),
    # time
    "alarm": (37, None),
    "clock_getres": (229, 114),
    "clock_gettime": (228, 113),
    "clock_nanosleep": (230, 115),
    "getitimer": (36, 102),
    "gettimeofday": (96, 169),
    "nanosleep": (35, 101),
    "setitimer": (38, 103),
    "time": (201, None),
    "timer_create": (222, 107),
    "timer_delete": (226, 111),
    "timer_getoverrun": (225, 109),
    "timer_gettime": (224, 108),
    "timer_settime": (223, 110),
    "timerfd_create": (283, 85),
    "timerfd_gettime": (287, 87),
    "timerfd_settime": (286, 86),
    "times": (100, 153),
    # processes, threads, and what they know of themselves
    "arch_prctl": (158, None),
    "clone": (56, 220),
    "clone3": (435, 435),
    "execve": (59, 221),
    "execveat": (322, 281),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "fork": (57, None),
    "futex": (202, 98),
    "getcpu": (309, 168),
    "getegid": (108, 177),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getgroups": (115, 158),
    "getpgid": (121, 155),
    "getpgrp": (111, None),
    "getpid": (39, 172),
    "getppid": (110, 173),
    "getrandom": (318, 278),
    "getresgid": (120, 150),
    "getresuid": (118, 148),
    "getrlimit": (97, 163),
    "getrusage": (98, 165),
    "getsid": (124, 156),
    "gettid": (186, 178),
    "getuid": (102, 174),
    "prctl": (157, 167),
    "prlimit64": (302, 261),
    "restart_syscall": (219, 128),
    "rseq": (334, 293),
    "sched_get_priority_max": (146, 125),
    "sched_get_priority_min": (147, 126),
    "sched_getaffinity": (204, 123),
    "sched_getparam": (143, 121),
    "sched_getscheduler": (145, 120),
    "sched_yield": (24, 124),
    "set_robust_list": (273, 99),
    "set_tid_address": (218, 96),
    "setpgid": (109, 154),
    "setrlimit": (160, 164),
    "setsid": (112, 157),
    "sysinfo": (99, 179),
    "umask": (95, 166),
    "uname": (63, 160),
    "vfork": (58, None),
    "wait4": (61, 260),
    "waitid": (247, 95),
    # signals
    "pause": (34, None),
    "rt_sigaction": (13, 134),
    "rt_sigpending": (127, 136),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "rt_sigsuspend": (130, 133),
    "rt_sigtimedwait": (128, 137),
    "sigaltstack": (131, 132),
    "signalfd4": (289, 74),
    "tgkill": (234, 131),
    # descriptors that are open
    "close": (3, 57),
    "close_range": (436, 436),
    "copy_file_range": (326, 285),
    "dup": (32, 23),
    "dup2": (33, None),
    "dup3": (292, 24),
    "epoll_create": (213, None),
    "epoll_create1": (291, 20),
    "epoll_ctl": (233, 21),
    "epoll_pwait": (281, 22),
    "epoll_pwait2": (441, 441),
    "epoll_wait": (232, None),
    "eventfd": (284, None),
    "eventfd2": (290, 19),
    "fadvise64": (221, 223),
    "fcntl": (72, 25),
    "flock": (73, 32),
    "getpeername": (52, 205),
    "getsockname": (51, 204),
    "getsockopt": (55, 209),
    "ioctl": (16, 29),
    "lseek": (8, 62),
    "pipe": (22, None),
    "pipe2": (293, 59),
    "poll": (7, None),
    "ppoll": (271, 73),
    "pread64": (17, 67),
    "preadv": (295, 69),
    "preadv2": (327, 286),
    "pselect6": (270, 72),
    "pwrite64": (18, 68),
    "pwritev": (296, 70),
    "pwritev2": (328, 287),
    "read": (0, 63),
    "readv": (19, 65),
    "select": (23, None),
    "sendfile": (40, 71),
    "shutdown": (48, 210),
    "socketpair": (53, 199),
    "splice": (275, 76),
    "tee": (276, 77),
    "write": (1, 64),
    "writev": (20, 66),
    # files
    "access": (21, None),
    "chdir": (80, 49),
    "creat": (85, None),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "fallocate": (285, 47),
    "fchdir": (81, 50),
    "fdatasync": (75, 83),
    "fgetxattr": (193, 10),
    "flistxattr": (196, 13),
    "fstat": (5, 80),
    "fstatfs": (138, 44),
    "fsync": (74, 82),
    "ftruncate": (77, 46),
    "getcwd": (79, 17),
    "getdents": (78, None),
    "getdents64": (217, 61),
    "getxattr": (191, 8),
    "lgetxattr": (192, 9),
    "link": (86, None),
    "linkat": (265, 37),
    "listxattr": (194, 11),
    "llistxattr": (195, 12),
    "lstat": (6, None),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "newfstatat": (262, 79),
    "open": (2, None),
    "openat": (257, 56),
    "openat2": (437, 437),
    "readahead": (187, 213),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "rename": (82, None),
    "renameat": (264, 38),
    "renameat2": (316, 276),
    "rmdir": (84, None),
    "stat": (4, None),
    "statfs": (137, 43),
    "statx": (332, 291),
    "symlink": (88, None),
    "symlinkat": (266, 36),
    "unlink": (87, None),
    "unlinkat": (263, 35),
    "utimensat": (280, 88),
}
"""Name → number on x86_64, on aarch64; None if there is no such call."""
WORKER = (
    "futex read write mprotect mmap munmap mremap madvise brk clock_nanosleep nanosleep clock_gettime gettimeofday time"
    " getrandom getrusage getpid gettid sched_yield close rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack"
    " restart_syscall rseq exit exit_group pread64"
).split()
"""A worker opens nothing any more: what it needs is loaded before, or, as the data of `Intl`, opened."""
COMPILER = (
    *(name for name in WORKER),
    *"clock_getres mincore arch_prctl execve getegid geteuid getgid getuid sched_getaffinity set_robust_list".split(),
    *"set_tid_address setpgid setsid uname dup2 dup3 epoll_create1 epoll_ctl epoll_pwait eventfd2 lseek pipe2".split(),
    *"pselect6 faccessat fstat getcwd getdents64 newfstatat readlinkat statx".split(),
)
"""Beside those of `COMPILER_CONDITIONS`. It is inherited from the thread that starts the compiler, so the calls of
`posix_spawn` are on it; where there is Landlock, `execve` reaches the compiler itself only."""
COMPILER_CONDITIONS: dict[str, tuple[int, str, tuple[int, ...]]] = {
    "openat": (2, "none of", (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC,)),
    # duplicating, and flags of descriptors and of open files; owners of signals, leases and pipes are refused
    "fcntl": (1, "one of", (0, 1, 2, 3, 4, 1030)),
    # the signal by which Go has its threads give way (SIGURG), which others ignore
    "tgkill": (2, "one of", (23,)),
    # threads and `vfork`, which share memory; no copies of the process
    "clone": (0, "all of", (0x100,)),
    # limits of its own
    "prlimit64": (0, "one of", (0,)),
}
"""Call → which of its arguments, from 0, has to be what."""
MISSING = ("clone3",)
"""Answered as by an older kernel, so that C libraries take `clone`, whose arguments a filter can see."""
_READ_AND_WRITE = (0x5401, 0x540F, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
"""What terminals are asked for, how much there is to read, and flags of descriptors."""
_COPY_FILE = (0x40049409, 0x4020940D)
_STREAMS = tuple(1 | flags for flags in (0, os.O_CLOEXEC, os.O_NONBLOCK, os.O_CLOEXEC | os.O_NONBLOCK))
_NAMESPACES = 0x7E020000
PROGRAM_CONDITIONS: dict[str, tuple[int, str, tuple[int, ...]]] = {
    "ioctl": (1, "one of", (*_READ_AND_WRITE, *_COPY_FILE)),
    # as for the compiler; also locks, and the size of a pipe
    "fcntl": (1, "one of", (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1031, 1032)),
    "tgkill": COMPILER_CONDITIONS["tgkill"],
    "clone": (0, "none of", (_NAMESPACES,)),
    "prlimit64": COMPILER_CONDITIONS["prlimit64"],
    # pairs that are connected, so that nobody else can be
    "socketpair": (1, "one of", _STREAMS),
    # for a file that is open, that is without a path
    "utimensat": (1, "null", ()),
}
"""As `COMPILER_CONDITIONS`."""
_NOT_OF_PROGRAMS = (*PROGRAM_CONDITIONS, *MISSING, "setpgid", "setsid")
"""The last two would lead out of the session, in which a program is ended."""
PROGRAM = (*(name for name in NUMBERS if name not in _NOT_OF_PROGRAMS),)
"""Of programs in a jail, beside `PROGRAM_CONDITIONS`. What changes a file by its name and is not kept to a folder by
every Landlock is not on it: permissions, owners, attributes, times, length."""
NO_NEW_PRIVILEGES = 38
GET_DUMPABLE, SET_DUMPABLE = 3, 4
_DROP_OF_BOUNDING_SET = 24
_LIBRARY = CDLL(None, use_errno=True)
_CAPABILITIES = (0x20080522).to_bytes(4, "little") + bytes(4)
"""The version of the header of `capset`, and this process."""


def missing() -> str:
    """Why there can be no filter here; empty when there can be one."""
    machine = os.uname().machine
    if machine not in MACHINES:
        return f"the numbers of the system calls of {machine} are not known"
    if sys.maxsize < 1 << 32:
        return "Python has 32 bits"
    try:
        syscall(MACHINES[machine][1], _GET_ACTION, 0, _ERROR.to_bytes(4, "little"))
    except OSError as error:
        return f"the kernel has no system call filters, or does not allow setting them: {error.strerror}"
    return ""


def confine_worker() -> None:
    """Leaves all threads of this process the calls of a worker. Raises OSError."""
    _set(_ALL_THREADS, program(os.uname().machine, WORKER, {}, ()))


def confine_compiler() -> None:
    """Leaves this thread, and what it starts, the calls of the compiler. Raises OSError."""
    _set(0, program(os.uname().machine, COMPILER, COMPILER_CONDITIONS, MISSING))


def confine_program() -> None:
    """Leaves this thread, and what it becomes and starts, the calls of a program in a jail. Raises OSError."""
    _set(0, program(os.uname().machine, PROGRAM, PROGRAM_CONDITIONS, MISSING))


def _set(flags: int, instructions: bytes) -> None:
    # A `struct sock_fprog`: how many instructions, and where they are.
    where = id(instructions) + bytes.__basicsize__ - 1
    described = (len(instructions) // 8).to_bytes(8, "little") + where.to_bytes(8, "little")
    prctl(NO_NEW_PRIVILEGES, 1)
    other = syscall(MACHINES[os.uname().machine][1], _SET_FILTER, flags | _AT_FULL_SPEED, described)
    if other:
        raise OSError(1, f"thread {other} has another filter")


def program(
    machine: str,
    allowed: list[str] | tuple[str, ...],
    conditions: dict[str, tuple[int, str, tuple[int, ...]]],
    absent: tuple[str, ...],
) -> bytes:
    """The instructions of a filter; calls of another architecture are refused. The lists below are its arguments."""
    column = list(MACHINES).index(machine)
    steps = [(LOAD, 0, 0, 4), (EQUAL, 1, 0, MACHINES[machine][0]), (RETURN, 0, 0, REFUSE), (LOAD, 0, 0, 0)]
    for names, answer in ((allowed, ALLOW), (absent, ABSENT)):
        for name in names:
            number = NUMBERS[name][column]
            if number is not None:
                steps += [(EQUAL, 0, 1, number), (RETURN, 0, 0, answer)]
    for name, (position, rule, values) in conditions.items():
        number = NUMBERS[name][column]
        assert number is not None
        if rule == "one of":
            checks = [step for value in values for step in ((EQUAL, 0, 1, value), (RETURN, 0, 0, ALLOW))]
        elif rule == "none of":
            checks = [(ANY_OF, 1, 0, values[0]), (RETURN, 0, 0, ALLOW)]
        elif rule == "null":  # all of its 64 bits
            upper = (LOAD, 0, 0, 20 + 8 * position)
            checks = [(EQUAL, 0, 3, 0), upper, (EQUAL, 0, 1, 0), (RETURN, 0, 0, ALLOW)]
        else:
            checks = [(AND, 0, 0, values[0]), (EQUAL, 0, 1, values[0]), (RETURN, 0, 0, ALLOW)]
        checks = [(LOAD, 0, 0, 16 + 8 * position), *checks, (RETURN, 0, 0, REFUSE)]
        steps += [(EQUAL, 0, len(checks), number), *checks]
    steps.append((RETURN, 0, 0, REFUSE))
    return _packed(steps)


def _packed(steps: list[tuple[int, int, int, int]]) -> bytes:
    return b"".join(
        code.to_bytes(2, "little") + bytes((yes, no)) + value.to_bytes(4, "little") for code, yes, no, value in steps
    )


def prctl(option: int, value: int = 0) -> int:
    """Asks something of this process, or of this thread. Raises OSError."""
    return _called("prctl", option, value, 0, 0, 0)


def syscall(number: int, *arguments: int | bytes) -> int:
    """Makes a call of the system by its number; bytes are passed by their address. Raises OSError."""
    return _called("syscall", number, *arguments)


def give_up_privileges() -> None:
    """Leaves this process, and what it becomes, no capability, also when it is root. Raises OSError."""
    try:
        for capability in range(64):
            prctl(_DROP_OF_BOUNDING_SET, capability)
    except OSError:  # it may not, as an ordinary user; or there is none of that number
        pass
    _called("capset", _CAPABILITIES, bytes(24))


def _called(name: str, *arguments: int | bytes) -> int:
    try:
        function = _LIBRARY[name]
    except AttributeError as error:  # a C library of another system
        raise OSError(38, f"the C library has no {name}") from error
    function.restype = c_long
    result: int = function(*(c_long(value) if isinstance(value, int) else value for value in arguments))
    if result == -1:
        number = get_errno()
        raise OSError(number, os.strerror(number))
    return result
