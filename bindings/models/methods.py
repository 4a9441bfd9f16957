"""Tables of the methods of models and of tables: how many arguments each needs, what they are, and what answers it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from bindings.errors import ProcessError, bad
from scripttest.typing_names import Json

Method = tuple[int, str, Callable[..., Json]]
"""The least number of arguments; a word for each of them, with the default after `=`; and the function that is called
with them. A word is a kind that `_converted` knows, or `process`, which is replaced by the name of the process."""


def method_of(methods: Mapping[str, Method], process: str, group: str) -> Method:
    """The method that a process names, in any case; `group` is what it belongs to. Raises ProcessError."""
    name = process.rpartition(".")[2]
    found = methods.get(name.lower())
    if found is None:
        raise no_method(process, f"{group}.{name}")
    return found


def no_method(process: str, name: str) -> ProcessError:
    """The error of a call of a method that is not there."""
    return ProcessError(f"{process} Handler -> {name} not found", 404, missing=True)


def arguments(method: Method, process: str, values: list[Json]) -> Iterator[Json]:
    """What the function of a method is called with. Raises ProcessError when arguments are missing or wrong."""
    least, form, _ = method
    needs(process, values, least)
    place = 0
    for word in form.split():
        kind, has_default, default = word.partition("=")
        if kind == "process":
            yield process
            continue
        value = values[place] if place < len(values) else None
        place += 1
        if value is None and has_default:
            value = {} if kind == "record" else default
        try:
            yield _converted(kind, value)
        except (TypeError, ValueError, OverflowError) as error:
            expected = "a number" if kind == "whole" else error
            raise bad(f"{process}: argument {place} must be {expected}") from None


def needs(process: str, values: list[Json], least: int) -> None:
    """Raises ProcessError when there are fewer arguments."""
    if len(values) < least:
        raise bad(f"{process} Missing parameters, {least} parameters are required")


def _converted(kind: str, value: Json) -> Json:
    """An argument as a kind of it; `any` is left as it is. Raises ValueError with what it must be."""
    if kind == "record" and not isinstance(value, Mapping):
        raise ValueError("an object")
    if kind in ("array", "names", "rows") and not isinstance(value, list):
        raise ValueError("an array")
    if kind == "rows" and not all(isinstance(row, list) for row in value):
        raise ValueError("an array of arrays")
    if kind == "names":
        return [str(name) for name in value]
    if kind == "options":
        return value if isinstance(value, Mapping) else {}
    if kind == "whole":
        return int(float(value))
    return str(value) if kind == "text" else value
