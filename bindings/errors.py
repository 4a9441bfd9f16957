"""Errors of processes: those that scripts may catch, and those that they get as a value."""

from __future__ import annotations

from scripttest.values import Value


class ProcessError(Exception):
    """A process failed in a way that the script may catch; `code` is the HTTP-like code of Yao's exceptions."""

    def __init__(self, message: str, code: int = 500, missing: bool = False, infrastructure: bool = False) -> None:
        """`missing`: nothing answers it, neither a mock nor this host. `infrastructure`: what was asked broke, such as
        the host of a model; a test that this ends has no verdict."""
        super().__init__(message)
        self.message = message
        self.advice = ""
        """Added to the message for people. Scripts get only the message, which is that of Yao."""
        self.code = code
        self.missing = missing
        self.infrastructure = infrastructure
        self.hides_code = False
        """Whether scripts get an error without the code, as from Yao; reports show it."""


class ErrorValue(Value):
    """What a process answers that returns its error, and does not throw it: an `Error` for the script."""

    message: str


def bad(message: str) -> ProcessError:
    """An error of the caller, code 400."""
    return ProcessError(message, 400)


def failed(message: str) -> ProcessError:
    """An error of what was asked, code 500."""
    return ProcessError(message, 500)
