"""The errors of models, as scripts and users see them."""

from __future__ import annotations

from bindings.errors import ProcessError


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


class UnknownColumnsError(ProcessError):
    """Rows are asked for of a built-in model of which only the name is known; `model` is its id."""

    def __init__(self, asked: str, model: str) -> None:
        """`asked` names the caller."""
        super().__init__(f"{asked}: the columns of {model} are not known here, only its name", 404, missing=True)
        self.model = model


def bad(message: str) -> ProcessError:
    """An error of the caller, code 400."""
    return ProcessError(message, 400)


def failed(message: str) -> ProcessError:
    """An error of the database, code 500."""
    return ProcessError(message, 500)
