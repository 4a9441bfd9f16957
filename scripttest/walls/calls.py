"""The calls of Linux that a worker and the compiler may make, by name, with their numbers.

The lists were traced with glibc 2.36 and Go 1.25; what is harmless and near is on them too, so that other versions do
not fail. Numbers: `asm/unistd_64.h` for x86_64, `asm-generic/unistd.h` for aarch64.
"""

from __future__ import annotations

import os

NUMBERS: dict[str, tuple[int | None, int | None]] = {
    # memory
    "brk": (12, 214),
    "madvise": (28, 233),
    "mincore": (27, 232),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "mremap": (25, 216),
    "munmap": (11, 215),
    # time
    "clock_getres": (229, 114),
    "clock_gettime": (228, 113),
    "clock_nanosleep": (230, 115),
    "gettimeofday": (96, 169),
    "nanosleep": (35, 101),
    "time": (201, None),
    # threads, and what the process knows of itself
    "arch_prctl": (158, None),
    "clone": (56, 220),
    "clone3": (435, 435),
    "execve": (59, 221),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "futex": (202, 98),
    "getegid": (108, 177),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getpid": (39, 172),
    "getrandom": (318, 278),
    "gettid": (186, 178),
    "getuid": (102, 174),
    "prlimit64": (302, 261),
    "restart_syscall": (219, 128),
    "rseq": (334, 293),
    "sched_getaffinity": (204, 123),
    "sched_yield": (24, 124),
    "set_robust_list": (273, 99),
    "set_tid_address": (218, 96),
    "setpgid": (109, 154),
    "setsid": (112, 157),
    "uname": (63, 160),
    # signals
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132),
    "tgkill": (234, 131),
    # descriptors that are open
    "close": (3, 57),
    "dup2": (33, None),
    "dup3": (292, 24),
    "epoll_create1": (291, 20),
    "epoll_ctl": (233, 21),
    "epoll_pwait": (281, 22),
    "eventfd2": (290, 19),
    "fcntl": (72, 25),
    "lseek": (8, 62),
    "pipe2": (293, 59),
    "pread64": (17, 67),
    "pselect6": (270, 72),
    "read": (0, 63),
    "write": (1, 64),
    # files, to read
    "faccessat": (269, 48),
    "fstat": (5, 80),
    "getcwd": (79, 17),
    "getdents64": (217, 61),
    "newfstatat": (262, 79),
    "openat": (257, 56),
    "readlinkat": (267, 78),
    "statx": (332, 291),
}
"""Name → number on x86_64, on aarch64; None where there is no such call."""

WORKER = (
    "futex read write mprotect mmap munmap mremap madvise brk clock_nanosleep nanosleep clock_gettime gettimeofday time"
    " getrandom getpid gettid sched_yield close rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack restart_syscall"
    " rseq exit exit_group pread64"
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
OUTWARD: dict[str, tuple[int | None, int | None]] = {
    "socket": (41, 198),
    "io_uring_setup": (425, 425),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kill": (62, 129),
    "tkill": (200, 130),
    "pidfd_send_signal": (424, 424),
    "pidfd_getfd": (438, 438),
    "setsid": (112, 157),
    "setpgid": (109, 154),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "chroot": (161, 51),
    "pivot_root": (155, 41),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "open_by_handle_at": (304, 265),
    "userfaultfd": (323, 282),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
}
"""Calls that a program in a jail may not make, with their numbers: those from `chmod` on
are not kept to its folder by Landlock."""
SET_TIMES = (280, 88)
"""`utimensat`, which a program may make for a file that it has open, that is without a path."""
