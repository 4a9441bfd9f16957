"""Runs a program of this machine in a jail: it reads the system's own files, writes in one folder, and reaches no
network, no other process and no variable of the environment.

The jail is put up by a process of its own, which then becomes the program: `python -I -S jail.py FOLDER PROGRAM ...`.
"""

from __future__ import annotations

import os
import sys

SECONDS = 30
"""Time that a program may take, on the clock and of the processor."""
MOST_BYTES = 64 * 1024 * 1024
"""The largest size of one file that it writes, including its output."""
MOST_MEMORY = 4 * 1024 * 1024 * 1024
PLACES = ("/usr/local/bin", "/usr/bin", "/bin")
"""Where programs are looked for."""
_READ = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/alternatives")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom")


def main() -> None:
    """Puts the jail up around this process, and becomes the program."""
    import resource

    from scripttest.walls import seccomp
    from scripttest.walls.confinement import EXECUTE, IN_FOLDER, READ_DIR, READ_FILE, WRITE_FILE, restrict
    from scripttest.walls.seccomp import give_up_privileges

    folder, program, *arguments = sys.argv[1:]
    os.chdir(folder)
    bounds = (
        (resource.RLIMIT_CPU, SECONDS),
        (resource.RLIMIT_FSIZE, MOST_BYTES),
        (resource.RLIMIT_AS, MOST_MEMORY),
        (resource.RLIMIT_CORE, 0),
    )
    for bound, most in bounds:
        resource.setrlimit(bound, (most, most))
    reading = EXECUTE | READ_FILE | READ_DIR
    rules = [(path, reading if os.path.isdir(path) else READ_FILE) for path in _READ if os.path.exists(path)]
    rules += [(path, READ_FILE | WRITE_FILE) for path in _DEVICES if os.path.exists(path)]
    restrict([*rules, (folder, IN_FOLDER)])
    give_up_privileges()
    seccomp.confine_program()
    os.execve(program, [os.path.basename(program), *arguments], {})


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    main()
