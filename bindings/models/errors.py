"""What goes wrong in models, as scripts and users see it."""

from __future__ import annotations

from bindings.services import ProcessError


class ModelFileError(Exception):
    """The definition of a model cannot be used. The message names the file and says what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def bad(message: str) -> ProcessError:
    """An error of the caller, code 400."""
    return ProcessError(message, 400)


def failed(message: str) -> ProcessError:
    """An error of the database, code 500."""
    return ProcessError(message, 500)
