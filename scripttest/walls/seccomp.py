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


with open(f"{os.path.dirname(__file__)}/calls.txt", encoding="utf-8") as file:
    _CALLS = [line.split() for line in file if line[0] != "#"]
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
PROGRAM = [name for name, *_ in _CALLS if name not in _NOT_OF_PROGRAMS]
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


def numbers_of(machine: str) -> dict[str, int]:
    """Name → number of each call that a machine has, as `calls.txt` says."""
    column = 1 + list(MACHINES).index(machine)
    return {call[0]: int(call[column]) for call in _CALLS if call[column] != "-"}


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
    numbers = numbers_of(machine)
    steps = [(LOAD, 0, 0, 4), (EQUAL, 1, 0, MACHINES[machine][0]), (RETURN, 0, 0, REFUSE), (LOAD, 0, 0, 0)]
    for names, answer in ((allowed, ALLOW), (absent, ABSENT)):
        for name in names:
            if name in numbers:
                steps += [(EQUAL, 0, 1, numbers[name]), (RETURN, 0, 0, answer)]
    for name, (position, rule, values) in conditions.items():
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
        steps += [(EQUAL, 0, len(checks), numbers[name]), *checks]
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
