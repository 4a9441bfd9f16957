"""What pytest finds in the files of an application, and what it decides itself."""

GIVEN = frozenset({"input", "run", "skip-interactive", "watch", "quiet", "output", "max-failures", "fail-fast"})
"""Flags that the configuration file does not set here: pytest has its own of the kind."""
CLOSED = "a real model answers: --yao-models asks it"
"""Why a test or a case is skipped."""
OF_PYTEST = frozenset(("filterwarnings", "parametrize", "skip", "skipif", "usefixtures", "xfail"))
"""Markers with which pytest itself does something."""
