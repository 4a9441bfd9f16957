"""Reads what a worker sends, and checks it, because a script may have taken the worker's process over.

`read_message` makes a record of each frame. It raises MessageError for a frame that no worker sends, which ends the
worker."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from scripttest.protocol import MessageError
from scripttest.results import LogLine, MockedCalls
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LEVELS = frozenset(("trace", "debug", "info", "warn", "error", "watch"))
"""Levels of captured lines."""
LONGEST_NUMBER = 9
"""At most this many digits in an index or in the number of a question."""
LONGEST = 1e12
"""No test takes this many milliseconds."""
DEEPEST = 100
"""Greatest depth of nested subtests, and of the details of an error."""
MOST_NESTED = 800
"""Greatest depth of the result of a function. What is made of it, such as reports, must not exceed the recursion limit
of Python, with several calls for each level."""
_TEXTS = "stack origin phase type reason expected_text actual_text diff misspelt meant"
"""Fields of a failure that are text or absent."""


class Functions(Value):
    """The answer to `discover`."""

    kind = "tests"
    sources: Mapping[str, str]
    """Name of a function → its source."""


class Unusable(Value):
    """The module could not be evaluated."""

    kind = "broken"
    record: dict[str, Any]
    """An outcome with the failure."""


class Begun(Value):
    """The first test, or the function, begins."""

    kind = "start"
    index: int
    """Of the test; of a function it means nothing."""


class Logged(Value):
    """A line that the running test printed."""

    kind = "log"
    line: LogLine


class EarlyFailure(Value):
    """A failure that the running test reports before its end."""

    kind = "failed"
    test: str
    """Name of the test or subtest."""
    record: dict[str, Any]


PLACES = "errors.Places"
"""The host call that asks for the places of a stack, in the files of the author."""


class HostCall(Value):
    """A host call, which waits for its answer."""

    kind = "call"
    number: str
    name: str
    arguments: str
    """JSON."""
    world: str
    """What the realm tells of its world, see `protocol`."""


class LibraryCall(Value):
    """Asks for the code of another script."""

    kind = "library"
    number: str
    script: str


class AnsweredBack(Value):
    """What a realm answers to a question of the host."""

    kind = "backed"
    number: str
    envelope: str
    world: str


class Reached(Value):
    """Where scripts with mutants got in a test, whose `Result` follows."""

    kind = "reached"
    rounds: int
    """How often loops and functions began a round."""
    mutants: tuple[int, ...]
    """Of each place that was reached, its first mutant."""
    is_endless: bool
    """Whether it met the bound on its rounds, or on how long it may wait."""
    values: tuple[str, ...] = ()
    """Values of the place that is noted: `=` and JSON, or `?` where that does not tell all of a value."""


class Told(Value):
    """What scripts with a recorder told in a test, whose `Result` follows, or in a module that is `Unusable`."""

    kind = "story"
    text: str
    """JSON, see `instrumented`."""


class Result(Value):
    """A test has ended."""

    kind = "result"
    index: int
    record: dict[str, Any]
    """Its outcome."""
    next: int | None
    """Index of the test that begins; None: there is no other one."""


class FunctionResult(Value):
    """A function has ended."""

    kind = "returned"
    record: dict[str, Any]
    """`ok` and `sent`; `missing`; or `error` with `message`, `stack` and `code`. With `unloaded` the error is that of
    loading the script. `world` is what it tells of its world, if it does."""


Question = HostCall | LibraryCall
Message = (
    Functions | Unusable | Begun | Logged | EarlyFailure | Question | AnsweredBack | Reached | Told | Result
    | FunctionResult
)  # fmt: skip


def read_message(kind: str, parts: list[str]) -> Message:
    """The record of a frame. Raises MessageError for a frame that no worker sends."""
    read = _READERS.get((kind, 0 if kind == "tests" else len(parts)))
    if read is None:
        raise MessageError(f"unexpected {kind} with {len(parts)} parts")
    try:
        return read(*parts)
    except RecursionError as error:
        raise MessageError("values that are nested too deeply") from error
    except ValueError as error:
        raise MessageError(str(error)) from error


def _result(index: str, text: str, following: str) -> Result:
    return Result(index=_index(index), record=_outcome(_value(text), 0), next=_index(following) if following else None)


def _functions(*parts: str) -> Functions:
    if len(parts) % 2:
        raise ValueError("a list of functions that are not pairs")
    return Functions(sources=dict(zip(parts[0::2], parts[1::2], strict=True)))


def _number(text: str) -> str:
    if not (text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER):
        raise ValueError("a number of another form")
    return text


def _index(text: str) -> int:
    return int(_number(text))


def _line(level: str, text: str) -> LogLine:
    value = _value(text)
    if level not in LEVELS or not isinstance(value, str):
        raise ValueError("a line that is not a string")
    return LogLine(level=level, text=value)


def mocked_of(record: dict[str, Any]) -> tuple[MockedCalls, ...]:
    """The calls in a checked record that mocks have answered."""
    return tuple([MockedCalls(name=name, count=count) for name, count in record.get("mocked") or ()])


def _broken(value: Any) -> dict[str, Any]:
    record = _outcome(value, 0)
    _first(record)
    return record


def _returned(value: Any) -> dict[str, Any]:
    record = _record(value, optional="world")
    _calls(record)
    if "ok" in record:
        if not isinstance(record.get("sent") or [], list):
            raise ValueError("sent messages that are not a list")
        return record
    if record.get("missing"):
        return {"missing": True}
    unloaded = "unloaded" in record
    error = record["error"] if "error" in record else _first(_outcome(record.get("unloaded", record), 0))
    code = _record(error, "message", optional="stack").get("code")
    if code is not None and (isinstance(code, bool) or not isinstance(code, int | float)):
        raise ValueError("a code that is not a number")
    answer = {name: record[name] for name in ("world", "mocked") if name in record} | {"error": error}
    return {**answer, "unloaded": True} if unloaded else answer


def _first(outcome: dict[str, Any]) -> dict[str, Any]:
    if not outcome.get("failures"):
        raise ValueError("an answer without a reason")
    failure: dict[str, Any] = outcome["failures"][0]
    return failure


def _outcome(value: Any, depth: int) -> dict[str, Any]:
    record = {"failures": [], "steps": [], **_record(value, optional="skip_reason", counts="assertions not_judged")}
    if record.get("status") not in ("passed", "failed", "skipped") or depth > DEEPEST:
        raise ValueError("an outcome of another kind")
    milliseconds = record.get("duration_ms", 0)
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float) or not 0 <= milliseconds < LONGEST:
        raise ValueError("a duration of another kind")
    _calls(record)
    for name in ("todo", "only"):
        if not isinstance(record.get(name, False), bool):
            raise ValueError(f"a record whose {name} is not a boolean")
    for failure in _list(record, "failures"):
        _failure(failure)
    record["steps"] = [_outcome(step, depth + 1) for step in _list(record, "steps")]
    for step in record["steps"]:
        _record(step, "name")
    for warning in _list(record, "warnings"):
        _record(warning, "kind message", optional="stack")
    for inlined in _list(record, "inlined"):
        _record(inlined, "text", optional="stack given")
    if record["status"] == "failed" and not record.get("failures") and not record.get("steps"):
        raise ValueError("an outcome that failed for no reason")
    return record


def _failure(value: Any) -> dict[str, Any]:
    record = _record(value, "kind message", optional=_TEXTS)
    for detail in _list(record, "details"):
        if _record(detail, "text", optional="stack", counts="depth").setdefault("depth", 0) > DEEPEST:
            raise ValueError("details of another kind")
    return record


def _record(value: Any, texts: str = "", optional: str = "", counts: str = "") -> dict[str, Any]:
    """A value, which has to be a record; names of members that are texts, texts or nothing, counts or nothing."""
    if not isinstance(value, dict):
        raise ValueError("a record that is not an object")
    given = [name for name in optional.split() if value.get(name) is not None]
    for name in (*texts.split(), *given):
        if not isinstance(value.get(name), str):
            raise ValueError(f"a record whose {name} is not a string")
    for name in counts.split():
        count = value.get(name, 0)
        if type(count) is not int or count < 0:
            raise ValueError(f"a record whose {name} is not a count")
    return value


def _calls(record: dict[str, Any]) -> None:
    """`mocked`: pairs of the name of a call and how often a mock answered it."""
    for pair in _list(record, "mocked"):
        if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) and type(pair[1]) is int):
            raise ValueError("calls of another kind")


def _list(record: dict[str, Any], name: str) -> list[Any]:
    value = record.get(name, [])
    if not isinstance(value, list):
        raise ValueError(f"a record whose {name} is not a list")
    return value


def _finite(text: str) -> float:
    number = float(text)
    if abs(number) == float("inf"):  # no number of JSON is NaN
        raise ValueError("a number without an end")
    return number


def _constant(name: str) -> None:
    raise ValueError(f"{name}, which is not JSON")


_value = partial(json.JSONDecoder.decode, json.JSONDecoder(parse_float=_finite, parse_constant=_constant))
"""The value of a JSON text."""


def _nested(text: str) -> Any:
    """The same of a text of which the value must not be nested too deeply."""
    value = _value(text)
    if text.count("{") + text.count("[") > MOST_NESTED:
        level = [value]
        for _ in range(MOST_NESTED):
            level = [inner for outer in level if isinstance(outer, dict | list) for inner in _inside(outer)]
        if level:
            raise ValueError("values that are nested too deeply")
    return value


def _inside(value: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


_READERS: dict[tuple[str, int], Callable[..., Message]] = {
    ("tests", 0): _functions,
    ("broken", 1): lambda text: Unusable(record=_broken(_value(text))),
    ("start", 0): lambda: Begun(index=0),
    ("start", 1): lambda index: Begun(index=_index(index)),
    ("log", 2): lambda level, text: Logged(line=_line(level, text)),
    ("failed", 2): lambda test, text: EarlyFailure(test=test, record=_failure(_value(text))),
    ("call", 4): lambda number, name, arguments, world: HostCall(
        number=_number(number), name=name, arguments=arguments, world=world
    ),
    ("library", 2): lambda number, script: LibraryCall(number=_number(number), script=script),
    ("backed", 3): lambda number, envelope, world: AnsweredBack(number=_number(number), envelope=envelope, world=world),
    ("result", 3): _result,
    ("reached", 4): lambda rounds, mutants, endless, values: Reached(
        rounds=_index(rounds),
        mutants=tuple(map(_index, mutants.split(" "))) if mutants else (),
        is_endless=endless == "endless",
        values=tuple(values.split("\n")[:-1]),
    ),
    ("story", 1): lambda text: Told(text=text),
    ("returned", 1): lambda text: FunctionResult(record=_returned(_nested(text))),
}
"""Kind of frame and number of its parts → what reads it. `tests` has any number of parts."""
