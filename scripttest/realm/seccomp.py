"""What a worker may not ask of Linux any more: new processes, connections, changes of files, other processes.

A filter in the kernel refuses these calls, for every thread, for root too, and for good; a process that could still be
started would not gain rights either (`no_new_privs`). Both are set through the C library, by the private module that
`ctypes` stands on: importing that takes 0.5 ms, a fifth of `ctypes`. Systems without filters do without them.

Format: the instructions of `linux/bpf_common.h` on a `struct seccomp_data`.
"""

from __future__ import annotations

import os
import sys

_MACHINES = {"x86_64": (0xC000003E, 317, 0), "aarch64": (0xC00000B7, 277, 1)}
"""Machine → its number among architectures, the number of the call that sets a filter, its column below."""
_REFUSED = (
    # processes: execve, execveat, fork, vfork, clone, clone3, unshare, setns
    ((59, 322, 57, 58, 56, 435, 272, 308), (221, 281, 220, 435, 97, 268)),
    # connections: socket, socketpair, connect, bind, io_uring_setup
    ((41, 53, 42, 49, 425), (198, 199, 203, 200, 425)),
    # other processes: ptrace, process_vm_readv, process_vm_writev, kill, tkill, tgkill, rt_sigqueueinfo,
    # rt_tgsigqueueinfo, pidfd_send_signal, pidfd_open, pidfd_getfd
    ((101, 310, 311, 62, 200, 234, 129, 297, 424, 434, 438), (117, 270, 271, 129, 130, 131, 138, 240, 424, 434, 438)),
    # files: unlink, unlinkat, rename, renameat, renameat2, mkdir, mkdirat, rmdir, symlink, symlinkat, link, linkat,
    # mknod, mknodat, creat, truncate, ftruncate, openat2, open_by_handle_at, memfd_create
    (
        (87, 263, 82, 264, 316, 83, 258, 84, 88, 266, 86, 265, 133, 259, 85, 76, 77, 437, 304, 319),
        (35, 38, 276, 34, 36, 37, 33, 45, 46, 437, 265, 279),
    ),
    # their owners, modes and attributes: chmod, fchmod, fchmodat, fchmodat2, chown, fchown, lchown, fchownat,
    # setxattr, lsetxattr, fsetxattr, utimensat
    (
        (90, 91, 268, 452, 92, 93, 94, 260, 188, 189, 190, 280),
        (52, 53, 452, 55, 54, 5, 6, 7, 88),
    ),
    # the system: mount, umount2, pivot_root, chroot, bpf, perf_event_open, userfaultfd, keyctl, add_key, request_key,
    # init_module, finit_module, delete_module, kexec_load, reboot
    (
        (165, 166, 155, 161, 321, 298, 323, 250, 248, 249, 175, 313, 176, 246, 169),
        (40, 39, 41, 51, 280, 241, 282, 219, 217, 218, 105, 273, 106, 104, 142),
    ),
)
"""Numbers of calls, on x86_64 and on aarch64."""
_OPENING = (((257, 2), (2, 1)), ((56, 2),))
"""Calls that open files, with the position of their flags: openat, open."""
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

_LOAD, _EQUAL, _AT_LEAST, _ANY_OF, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | 1  # EPERM
_NO_NEW_PRIVILEGES = 38
_SET_FILTER, _ALL_THREADS, _AT_FULL_SPEED = 1, 1, 4


def confine() -> None:
    """Refuses these calls to all threads of this process from now on, where the system can."""
    machine = os.uname().machine
    if not sys.platform.startswith("linux") or machine not in _MACHINES or sys.maxsize < 1 << 32:
        return
    try:
        import _ctypes

        library = _ctypes.dlopen(None, 0)  # type: ignore[arg-type]
        prctl, syscall = (_ctypes.dlsym(library, name) for name in ("prctl", "syscall"))
        call = _ctypes.call_function
    except (ImportError, AttributeError, OSError):
        return
    architecture, set_filter, column = _MACHINES[machine]
    program = _program(architecture, column)
    # A `struct sock_fprog`: how many instructions, and where they are.
    where = id(program) + bytes.__basicsize__ - 1
    described = (len(program) // 8).to_bytes(8, "little") + where.to_bytes(8, "little")
    call(prctl, (_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    call(syscall, (set_filter, _SET_FILTER, _ALL_THREADS | _AT_FULL_SPEED, described))


def _program(architecture: int, column: int) -> bytes:
    """The filter: calls of another architecture are refused too."""
    refused = [number for group in _REFUSED for number in group[column]]
    steps = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _REFUSE), (_LOAD, 0, 0, 0)]
    steps += [(_AT_LEAST, 0, 1, 1 << 30), (_RETURN, 0, 0, _REFUSE)]
    for number in refused:
        steps += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _REFUSE)]
    for number, position in _OPENING[column]:
        steps += [(_EQUAL, 0, 4, number), (_LOAD, 0, 0, 16 + 8 * position)]
        steps += [(_ANY_OF, 0, 1, _WRITING), (_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _ALLOW)]
    steps.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(
        code.to_bytes(2, "little") + bytes((yes, no)) + value.to_bytes(4, "little") for code, yes, no, value in steps
    )
