"""Errors around scripts.

ScriptError                     base class: a message, its place, and a hint
├── MissingScriptError          there is no script with this name
├── CompileError                the compiler refused a module
├── ModuleError                 a module could not be evaluated
└── HostError                   the host itself failed: a worker or the compiler cannot be started or ended by itself
"""

from __future__ import annotations

from enum import StrEnum

from scripttest.values import Value


class Cause(StrEnum):
    """Why something failed. Reports write the same words."""

    ASSERTION = "assertion"
    """A check failed."""
    ERROR = "error"
    """Something was thrown, or could not be evaluated."""
    TIMEOUT = "timeout"
    CRASH = "crash"
    """The worker died."""
    SETUP = "setup"
    """What runs before the test failed."""
    INFRASTRUCTURE = "infrastructure"
    """Something that the test needs broke, so it could not be judged."""
    INCONCLUSIVE = "inconclusive"
    """It was judged, but the votes do not decide."""
    PENDING = "pending"
    """Work was left unfinished, and `--strict` does not allow that."""
    CUT = "cut"
    """What a model answered ended within a call of a tool, or, with `--strict`, within a text."""


class Location(Value):
    """A place in a source file."""

    file: str
    """Absolute path."""
    line: int
    """From 1; 0 when unknown."""
    column: int
    """From 1; 0 when unknown."""
    length: int = 0
    """Characters from the column on that the message is about."""

    def __str__(self) -> str:
        """As it stands before a message."""
        return f"{self.file}:{self.line}:{self.column}"


class StackFrame(Value):
    """One frame of the user's code."""

    function: str
    """Empty for anonymous code."""
    location: Location


class ScriptError(Exception):
    """Base of the tree; `hint` says what to do about it."""

    missing = False
    """Whether the script does not exist."""

    def __init__(self, message: str, location: Location | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.location = location
        self.hint = hint


class MissingScriptError(ScriptError):
    """There is no script for the name of a process."""

    missing = True


class CompilerMessage(Value):
    """Something that the compiler says."""

    text: str
    location: Location | None

    def __str__(self) -> str:
        """With its place."""
        return self.text if self.location is None else f"{self.location}: {self.text}"


class CompileError(ScriptError):
    """The compiler refused a module, or could not compile it."""

    others: tuple[CompilerMessage, ...] = ()
    """Its further messages."""
    cause = Cause.ERROR
    """The cause: the module (`ERROR`), the compiler that ended (`CRASH`) or was killed (`INFRASTRUCTURE`), or the
    time that it took (`TIMEOUT`)."""


class HostError(ScriptError):
    """The host itself broke: the compiler or a worker cannot be started, or ended by itself."""
