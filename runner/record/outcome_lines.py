"""The outcomes of tests in lines of reports: how they are written and read (`runner.shapes.codec`)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any, TypeVar

from runner.record.outcomes import CHECK, error_text, place, stack_trace
from runner.shapes.codec import json_of, misfit_in, value_of
from scripttest import Cause, Failure, Location, Outcome, ResultWarning, StackFrame, Status
from scripttest.typing_names import Record
from scripttest.values import Value

AnyPlaced = TypeVar("AnyPlaced", Failure, ResultWarning)
_CAUSES = {cause.value: cause for cause in Cause}


def outcome_in(line: Record) -> Outcome:
    """How a test, or a subtest, ended."""
    return value_of(Outcome, line)


def outcome_misfit(line: Record) -> str | None:
    """The path of the first member of it that no outcome has, as `misfit_in` finds it."""
    return misfit_in(Outcome, line)


def outcome_record(outcome: Outcome) -> Record:
    """What a test, or a subtest, says of how it ended: `{status, duration_ms, error?, cause?, assertion?, location?,
    stack_trace?, errors?, failures?, assertion_count?, skip_reason?, todo?, only?, not_judged?, steps?, warnings?}`;
    `todo`: it is skipped because it is marked as unfinished, `only`: tests beside it did not run."""
    return json_of(outcome)


def below(root: str, outcome: Outcome) -> Outcome:
    """An outcome that was read, with the files of its places named from a folder."""

    def placed(one: AnyPlaced) -> AnyPlaced:
        files = [
            (frame, os.path.join(root, frame.location.file) if frame.location.file else "") for frame in one.frames
        ]
        return one.replace(
            frames=tuple(frame.replace(location=frame.location.replace(file=file)) for frame, file in files)
        )

    return outcome.replace(
        failures=tuple(map(placed, outcome.failures)),
        warnings=tuple(map(placed, outcome.warnings)),
        steps=tuple(below(root, step) for step in outcome.steps),
    )


def _failures_in(line: Record) -> tuple[Failure, ...]:
    """The failures of a result or subtest. Other tools write only the error, its cause and place, and values."""
    if line.get("failures") is not None:
        return tuple(value_of(Failure, item) for item in line["failures"])
    if not (line.get("error") or line.get("cause")):
        return ()
    error = str(line.get("error") or "it failed")
    is_check = error.startswith(CHECK)
    check = given if is_check and isinstance(given := line.get("assertion"), dict) else {}
    return (
        Failure(
            cause=_CAUSES.get(str(line.get("cause")), Cause.ASSERTION if is_check else Cause.ERROR),
            message=error.removeprefix(CHECK),
            type=str(check.get("type") or Cause.ASSERTION) if is_check else None,
            expected=check.get("expected"),
            actual=check.get("actual"),
            frames=_frame_at(line),
        ),
    )


def _frame_at(line: Record) -> tuple[StackFrame, ...]:
    """The frame for the place `file:line:column` of an object; empty where it has none."""
    found = re.fullmatch(r"(.+):(\d+):(\d+)", str(line.get("location") or ""))
    if not found:
        return ()
    location = Location(file=found[1], line=int(found[2]), column=int(found[3]))
    return (StackFrame(function="", location=location),)


def _of_decisive(make: Callable[[Failure], Any]) -> Callable[[Outcome], Any]:
    return lambda outcome: ... if outcome.decisive is None else make(outcome.decisive)


def _assertion(outcome: Outcome) -> Any:
    checked = next((failure for failure in outcome.failures if failure.type), None)
    said = ("type", "expected", "actual", "message")
    return ... if checked is None else {name: getattr(checked, name) for name in said}


def _says_more(warning: ResultWarning) -> bool:
    """Whether its frames say more than a place."""
    frames = warning.frames
    return len(frames) > 1 or any(frame.function or frame.location.length for frame in frames)


def _declare(cls: type[Value], **said: Any) -> None:
    """How objects of a class are written and read, which `runner.shapes.codec` says."""
    for name, value in said.items():
        setattr(cls, f"__{name}__", value)


_declare(Location, strict=True)
_declare(StackFrame, strict=True, members="function location", inline="location")
_declare(
    Failure,
    strict=True,
    members="cause message code_frame details type reason expected actual expected_text actual_text diff phase frames",
    readers={"cause": lambda line: _CAUSES.get(str(line.get("cause")), Cause.ERROR)},
)
_declare(
    ResultWarning,
    strict=True,
    members="kind message location frames code_frame details",
    writers={
        "location": lambda warning: place(warning) or ...,
        "frames": lambda warning: list(map(json_of, warning.frames)) if _says_more(warning) else ...,
    },
    readers={
        "kind": lambda line: str(line.get("kind") or ""),
        "frames": lambda line: tuple(value_of(StackFrame, one) for one in line.get("frames") or ()) or _frame_at(line),
    },
    checked="frames",
)
_declare(
    Outcome,
    members="status milliseconds error cause assertion location stack_trace errors failures assertions skip_reason todo"
    " only not_judged steps warnings",
    keys={"milliseconds": "duration_ms", "assertions": "assertion_count"},
    beside="name mocked inlined",
    writers={
        "duration_ms": lambda outcome: round(outcome.milliseconds),
        "error": _of_decisive(error_text),
        "cause": _of_decisive(lambda failure: failure.cause),
        "assertion": _assertion,
        "location": _of_decisive(lambda failure: place(failure) or ...),
        "stack_trace": _of_decisive(lambda failure: stack_trace(failure) if failure.frames else ...),
        "errors": lambda outcome: list(map(error_text, outcome.failures)) if len(outcome.failures) > 1 else ...,
        "steps": lambda outcome: [{"name": step.name, **json_of(step)} for step in outcome.steps] or ...,
    },
    readers={
        "name": lambda line: str(line.get("id", line.get("name", ""))),
        "failures": lambda line: _failures_in(line) if line["status"] == Status.FAILED else (),
    },
    checked="failures",
)
