"""How many files and connections the operating system lets the command have at once (`ulimit -n`), and how many tests
at a time fit into that."""

from __future__ import annotations

KEPT = 40
"""Descriptors for the rest: modules, libraries, the store, reports, the compiler."""
EACH = 3
"""Descriptors of a test under way: its connection to a model, a file that it reads, pipes to a worker."""
FEW = 16
"""As many at a time fit into the smallest limit in use, 256 of macOS."""


def make_room(parallel: int) -> int:
    """Raises the soft limit as far as so many tests at a time need, and the hard limit allows. Returns how many fit:
    `parallel`, or fewer, but one at least."""
    if parallel <= FEW:
        return parallel
    from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit, setrlimit

    soft, hard = getrlimit(RLIMIT_NOFILE)
    needed = KEPT + EACH * parallel
    if soft != RLIM_INFINITY and soft < needed:
        soft = needed if hard == RLIM_INFINITY else min(hard, needed)
        setrlimit(RLIMIT_NOFILE, (soft, hard))
    return parallel if soft == RLIM_INFINITY else max(1, min(parallel, (soft - KEPT) // EACH))
