"""A filter in the kernel that answers "not permitted" to all calls of the system but some, for root too, and for good.

Format: the instructions of `linux/bpf_common.h` on a `struct seccomp_data`.
"""

from __future__ import annotations

import os
import sys

from scripttest.walls.calls import COMPILER, COMPILER_CONDITIONS, MISSING, NUMBERS, PROGRAM, PROGRAM_CONDITIONS, WORKER
from scripttest.walls.system import NO_NEW_PRIVILEGES, prctl, syscall

MACHINES = {"x86_64": (0xC000003E, 317), "aarch64": (0xC00000B7, 277)}
"""Machine → its number among architectures, and the number of the call that sets a filter."""
LOAD, EQUAL, ANY_OF, AND, RETURN = 0x20, 0x15, 0x45, 0x54, 0x06
_ERROR = 0x00050000
ALLOW, REFUSE, ABSENT = 0x7FFF0000, _ERROR | 1, _ERROR | 38  # EPERM, ENOSYS
_SET_FILTER, _GET_ACTION = 1, 2
_ALL_THREADS, _AT_FULL_SPEED = 1, 4


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
        return f"the kernel has no filters for system calls, or does not let them be set: {error.strerror}"
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
    """The instructions of a filter; calls of another architecture are refused. See `calls` for the arguments."""
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
