"""What goes wrong in models, as scripts and users see it."""

from __future__ import annotations

from bindings.services import ProcessError


class ModelFileError(Exception):
    """The definition of a model cannot be used."""

    def __init__(self, file: str, problem: str, hint: str = "", at: tuple[str | int, ...] = ()) -> None:
        """`problem` and `hint` say what is wrong and what to do; `at` is where, as keys and indexes from the outermost
        value inwards."""
        super().__init__(problem)
        self.message = f"Cannot read model {file}: {problem}"
        self.problem = problem
        self.hint = hint
        self.at = at


def bad(message: str) -> ProcessError:
    """An error of the caller, code 400."""
    return ProcessError(message, 400)


def failed(message: str) -> ProcessError:
    """An error of the database, code 500."""
    return ProcessError(message, 500)
