"""A test module while it runs: its code in the form that workers take, its tests, and how their results are mapped to
its sources."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from scripttest.compile.builds import Source
from scripttest.compile.compiler import Compiled
from scripttest.protocol import encode
from scripttest.results import (
    TEST,
    Broken,
    Cause,
    CompileError,
    Failure,
    HostRecord,
    Inlined,
    Line,
    Listed,
    Location,
    LogLine,
    Outcome,
    ResultWarning,
    ScriptError,
    StackFrame,
    Started,
    Status,
    kind_of,
)
from scripttest.shortcuts.slicing import BootConfig
from scripttest.values import Value
from scripttest.workers.answers import EarlyFailure, mocked_of
from scripttest.workers.services import Selected

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from scripttest.diagnostics.stack import StackMapper
    from scripttest.shortcuts.slicing import Slices, Test


BIG = 50_000
"""A module with more characters of code than this is big, see `is_big`."""
MOST_EARLY = 10_000
"""At most this many captured lines of a module's top-level code are kept."""
_STATUSES = {status.value: status for status in Status}
_CAUSES = {cause.value: cause for cause in (Cause.ERROR, Cause.TIMEOUT, Cause.INFRASTRUCTURE, Cause.INCONCLUSIVE)}
"""Kind of a failure in a worker's words → its cause; all other kinds are failed checks."""


class Module(Value):
    """A test module that will run."""

    source: Source
    context: str
    """JSON of `ContextData` in `bindings/src/kernel.ts`."""
    timeout: float | None = None
    """Seconds that one test of it may take; None: as the others."""
    run: int = 0
    """Which of several runs of its tests it is for, from 1, where only that one runs; it becomes `ctx.metadata.run`."""
    whole: bool = False
    """Whether its realms have all of its code and all globals, also what no test names."""


class Order(Value):
    """What a worker gets to run one test."""

    plan: str
    """JSON of `Plan` in `bindings/src/core-state.ts`."""
    pieces: str
    """Its pieces of code."""


class ModuleRun:
    """The state of a module while it runs."""

    def __init__(
        self,
        module: Module,
        compiled: Compiled,
        root: Path,
        called: Callable[[str], Compiled | None],
        timeout: float,
        runs: int,
    ) -> None:
        """`called` has the scripts that were called by `Process`; `timeout` is the time limit of a test in seconds;
        `runs` is how often each test runs."""
        self._runs = runs
        self.timeout = module.timeout or timeout
        """Seconds that one test may take."""
        self.module = module
        self.compiled = compiled
        self.slices: Slices | None = None
        self.selected = Selected(tests=())
        self.tests: tuple[Test, ...] = ()
        """The tests, each as often as it runs: index = position * runs + run - 1."""
        self.orders: list[Order] = []
        """For each test, what a worker gets."""
        self.left = 0
        self.again: set[int] = set()
        """Indexes of the tests that have begun more than once."""
        self._root = root
        self._called = called
        self._mapper: StackMapper | None = None
        self.early: list[LogLine] = []
        """Captured lines of its top-level code, until they belong to a test."""
        self.loads_again = False
        """Whether its top-level code runs again for the first test, because it has made host calls."""
        self._frame: bytes | None = None

    def position(self, index: int) -> tuple[int, int]:
        """The position of a test among the listed ones, and which run of it it is, by its index."""
        return index // self._runs, index % self._runs + 1

    def listed_by(
        self, sources: Mapping[str, str], kinds: tuple[str, ...], select: Callable[[Mapping[str, str]], Selected]
    ) -> Listed:
        """Takes the functions that a worker listed, name → source, and keeps the tests among them that `select`
        says, by their names and sources."""
        from scripttest.shortcuts.slicing import slice_module

        compiled = self.compiled
        slices = slice_module(compiled.scripts[-1].code, compiled.entry_start, compiled.exports, sources, kinds)
        self.selected = select({test.name: sources.get(test.entry, "") for test in slices.tests})
        selected = [test for test in slices.tests if test.name in self.selected.tests]
        self.slices = slices
        self.tests = tuple(test for test in selected for _ in range(self._runs))
        self.left = len(self.tests)
        if self.loads_again:
            self.early.clear()
        known = tuple(test.name for test in slices.tests)
        names = tuple(test.name for test in selected)
        return Listed(module=compiled.source.key, tests=names, known=known, beside=self.selected.beside)

    def order(self, filter: bool, seed: int | None) -> None:
        """Makes what a worker gets for each of the tests."""
        focuses = self.selected.focuses and ".only(" in self.compiled.scripts[-1].code
        more = {test.name: self._only(test.name, focuses) for test in self.tests}
        run = self.module.run if self._runs == 1 else None
        self.orders = [
            order_of(test, filter, self.position(index)[1] if run is None else run, seed, more[test.name])
            for index, test in enumerate(self.tests)
        ]
        if self.module.whole:
            self.orders = [one.replace(pieces="") for one in self.orders]

    def _only(self, name: str, focuses: bool) -> str:
        """What the plan of a test says of `t.only`."""
        selected = self.selected
        if selected.forbidden:
            return ',"only":"forbidden"'
        runs = ',"only":"runs"' if name in selected.only else ""
        return f'{runs},"focus":true' if focuses else runs

    def begun(self, index: int) -> list[HostRecord]:
        """The records of a test that begins, with the lines of the module's top-level code."""
        module, (position, run) = self.compiled.source.key, self.position(index)
        early, self.early = self.early, []
        return [
            Started(module=module, position=position, run=run, again=index in self.again),
            *[Line(module=module, position=position, line=line, run=run) for line in early],
        ]

    def printed(self, line: LogLine, index: int | None) -> list[HostRecord]:
        """The record of a captured line of a test; none of one of the top-level code, which is kept."""
        if line.level == "watch" and "\0" in line.text:
            line = line.replace(text=self._watched(*line.text.split("\0", 2)))
        if index is not None:
            position, run = self.position(index)
            return [Line(module=self.compiled.source.key, position=position, line=line, run=run)]
        if len(self.early) < MOST_EARLY:
            self.early.append(line)
        return []

    def _watched(self, stack: str, name: str, value: str) -> str:
        """The line of a call of `t.watch`, which is named by its first argument in the source if it has no name."""
        from scripttest.diagnostics.foreign_calls import first_argument

        frames = self.mapper.frames(stack)
        if not frames:
            return f"{name or 'value'} = {value}"
        at = frames[0].location
        file = os.path.relpath(at.file, self._root)
        return f"{file}:{at.line} {name or first_argument(at, 'watch') or 'value'} = {value}"

    @property
    def mapper(self) -> StackMapper:
        """Maps positions in realms to the module's sources."""
        if self._mapper is None:
            from scripttest.diagnostics.stack import StackMapper

            self._mapper = StackMapper(self.compiled, self._root, self._called)
        return self._mapper

    def listed(self, kinds: tuple[str, ...]) -> tuple[str, str]:
        """What a worker lists, apart by blanks: how the names of tests begin; and what else, tests under other names
        and what tests may not need."""
        from scripttest.shortcuts.slicing import declared

        exports = self.compiled.exports.items()
        renamed = [local for name, local in exports if name.startswith(kinds) and not local.startswith(kinds)]
        return " ".join(kinds), " ".join({*renamed, *declared(self.compiled.scripts[-1].code, kinds)})

    def place(self, index: int | None) -> StackFrame:
        """Where a test is declared, or where the module begins: the place of failures that have no position."""
        file = Location(file=str(self.compiled.source.test), line=1, column=1)
        if index is None:
            return StackFrame(function="", location=file)
        test = self.tests[index]
        return StackFrame(
            function=test.name,
            location=(self.mapper.declaration(test.offset, test.entry) if test.offset >= 0 else None) or file,
        )

    def placed(self, failure: Failure, index: int | None) -> Failure:
        """A failure without a position, placed where the test is declared; None: where the module begins."""
        frame = self.place(index)
        code = _code_frame(frame.location) if index is not None else ""
        return failure.replace(frames=(frame,), code_frame=code)

    @property
    def is_big(self) -> bool:
        """Whether reading off what its realms need takes longer than setting up one realm with everything."""
        return len(self.compiled.scripts[-1].code) > BIG

    def frame(self, boots: BootConfig) -> bytes:
        """The frame that loads the module into a worker, with realms that have only what the code needs."""
        if self._frame is None:
            from scripttest.shortcuts.slicing import scan

            code = "\n".join(script.code for script in self.compiled.scripts)
            seed = boots.seed([code])
            boot = boots.whole(seed) if self.module.whole else boots.own(scan(code, boots.names), seed)
            self._frame = self._encoded(boot, boots)
        return self._frame

    def whole_frame(self, boots: BootConfig) -> bytes:
        """The frame that loads the module, with realms that have everything."""
        return self._encoded(boots.whole(boots.seed(script.code for script in self.compiled.scripts)), boots)

    def _encoded(self, boot: str, boots: BootConfig) -> bytes:
        parts = [boot, boots.nested, self.module.context]
        for script in self.compiled.scripts:
            parts += [str(script.first_line), script.code]
        return encode("module", *parts)

    def outcome(self, record: dict[str, Any], name: str, index: int | None, seconds: float | None = None) -> Outcome:
        """The outcome in a worker's record, which `answers` has checked, with its positions mapped. `index` is that of
        the test, None: the module itself. `seconds` is the time limit that it had, None: that of every test."""
        if "failures" not in record:  # it passed, and there is nothing else to say
            return Outcome(
                name=name, status=Status.PASSED, milliseconds=record["duration_ms"], assertions=record["assertions"]
            )
        failures = [self._failure(failure, index, seconds) for failure in record["failures"]]
        if any(failure.cause is Cause.ASSERTION for failure in failures):  # a check that said no decides
            failures.sort(key=lambda failure: failure.cause is Cause.INFRASTRUCTURE)
        steps = tuple([self.outcome(step, step["name"], index, seconds) for step in record["steps"]])
        return Outcome(
            name=name,
            status=_STATUSES[record["status"]],
            milliseconds=record.get("duration_ms", 0),
            failures=tuple(failures),
            assertions=record.get("assertions", 0),
            skip_reason=record.get("skip_reason"),
            steps=steps,
            warnings=tuple([self._warning(warning, index) for warning in record.get("warnings", ())]),
            mocked=mocked_of(record),
            inlined=tuple([self._inlined(item) for item in record.get("inlined") or ()]),
            todo=bool(record.get("todo")),
            only=bool(record.get("only")),
            not_judged=record.get("not_judged", 0) + sum([step.not_judged for step in steps]),
        )

    def _inlined(self, record: dict[str, Any]) -> Inlined:
        frames = self.mapper.frames(record.get("stack") or "")
        test = str(self.compiled.source.test.resolve())
        return Inlined(
            text=record["text"],
            given=record.get("given"),
            location=frames[0].location if frames else None,
            source=self.compiled.text if frames and frames[0].location.file == test else None,
        )

    def _warning(self, record: dict[str, Any], index: int | None) -> ResultWarning:
        message, frames = record["message"], tuple(self.mapper.frames(record.get("stack") or ""))
        if record.get("named"):
            name = frames[0].function if frames else ""
            message = (f"{name}()" if name else "An async function") + message
            frames = frames[1:] or frames
        frames = frames or (self.place(index),)
        return ResultWarning(
            kind=record["kind"], message=message, frames=frames, code_frame=_code_frame(frames[0].location)
        )

    def _returns(self, index: int) -> tuple[StackFrame, ...]:
        """The place where a test function returns."""
        test = self.tests[index]
        place = self.mapper.last_return(test.offset) if test.offset >= 0 else None
        return (StackFrame(function=test.name, location=place),) if place else ()

    def _thrown(self, index: int, message: str) -> tuple[StackFrame, ...]:
        """The place where a test threw a value that is not an Error, and the place of the test, if that is another;
        empty when it is not known."""
        test = self.tests[index]
        found = self.mapper.thrown([other.offset for other in self.tests], test.offset, message)
        if found is None:
            return ()
        place, is_own = found
        if is_own:
            return (StackFrame(function=test.name, location=place),)
        return (StackFrame(function="", location=place), self.place(index))

    def cut_short(self, reported: Sequence[EarlyFailure], index: int, failure: Failure, milliseconds: float) -> Outcome:
        """The outcome of a test that a failure ended early. It comes after the failures that the test had reported."""
        name = self.tests[index].name
        of_steps: dict[str, list[Failure]] = {}
        for one in reported:
            of_steps.setdefault(one.test, []).append(self._failure(one.record, index))
        own = of_steps.pop(name, [])
        steps = tuple(
            Outcome(name=step, status=Status.FAILED, milliseconds=0, failures=tuple(failures))
            for step, failures in of_steps.items()
        )
        return Outcome(
            name=name, status=Status.FAILED, milliseconds=milliseconds, failures=(*own, failure), steps=steps
        )

    def _failure(self, record: dict[str, Any], index: int | None, seconds: float | None = None) -> Failure:
        kind, phase = record["kind"], record.get("phase")
        stack = record.get("stack") or ""
        message, frames = self.mapper.error(record["message"], stack, record.get("misspelt") or "")
        if record.get("stopped"):
            frames = self.mapper.stopped(stack)
        if frames and record.get("type"):
            frames = (_at_assertion(frames[0], record["type"]), *frames[1:])
        if kind == "error" and not frames and index is not None:
            frames = self._thrown(index, record["message"])
        if record.get("origin") and kind != "timeout":
            frames = self._with_origin(frames, record["origin"])
        known = bool(frames) or index is not None
        if record.get("waits") and not frames and index is not None:
            frames = self._returns(index)
        frames = frames or (self.place(index),)
        cause = _CAUSES.get(kind, Cause.ASSERTION)
        if cause is Cause.TIMEOUT:
            said = timeout_text(seconds or self.timeout, of_module=index is None)
            message = f"{said}: {message}" if message else said
        elif cause is not Cause.INFRASTRUCTURE and phase in ("BeforeAll", "BeforeEach", "TestMain"):
            cause = Cause.SETUP
        return Failure(
            cause=cause,
            message=message,
            type=record.get("type"),
            reason=record.get("reason"),
            expected=record.get("expected"),
            actual=record.get("actual"),
            expected_text=record.get("expected_text"),
            actual_text=record.get("actual_text"),
            diff=record.get("diff"),
            phase=phase,
            frames=frames,
            code_frame=_code_frame(frames[0].location) if known else "",
            details=self._details(record["details"]) if record.get("details") else _hint(message, record, frames),
        )

    def _with_origin(self, frames: tuple[StackFrame, ...], origin: str) -> tuple[StackFrame, ...]:
        """The frames of a failure, followed by those that set the timer from which it came, where none of the failure's
        is in the test file."""
        test = str(self.compiled.source.test.resolve())
        if any(frame.location.file == test for frame in frames):
            return frames
        set_by = self.mapper.frames(origin)
        of_test = [number for number, frame in enumerate(set_by) if frame.location.file == test]
        return (*frames, *set_by[of_test[0] if of_test else 0 :])

    def _details(self, details: list[dict[str, Any]]) -> str:
        """The details of an error besides its message, with the places of nested errors."""
        lines = []
        for detail in details:
            indent = "  " * detail["depth"]
            message, frames = self.mapper.error(detail["text"], detail.get("stack") or "")
            lines += [f"{indent}{line}" for line in message.split("\n")]
            if frames:
                at = frames[0].location
                lines.append(f"{indent}  at {at.file.removeprefix(f'{self._root}/')}:{at.line}:{at.column}")
        return "\n".join(lines)


def _hint(message: str, record: dict[str, Any], frames: Sequence[StackFrame]) -> str:
    """What to write instead of what a test wrote, as a line of details; empty where nobody knows."""
    if not message.startswith(("ReferenceError: ", "TypeError: ")):
        return ""
    from scripttest.diagnostics.foreign_calls import what_to_write

    hint = what_to_write(message, frames[0].location if frames else None)
    if hint is None and record.get("meant"):
        hint = f"There is no assertion {record['misspelt']}: did you mean {record['meant']}?"
    return f"  {hint}" if hint else ""


def failures_of(record: Mapping[str, Any]) -> Iterator[Failure]:
    """The failures in a worker's record, and in those of subtests, without places."""
    for failure in record["failures"]:
        yield Failure(cause=_CAUSES.get(failure["kind"], Cause.ASSERTION), message=failure["message"])
    for step in record["steps"]:
        yield from failures_of(step)


def timeout_text(seconds: float, of_module: bool) -> str:
    """The message for a test, or a module, whose time is up."""
    more = ": the top-level code of the module did not finish" if of_module else ""
    return f"timeout after {seconds:g}s{more}"


def order_of(test: Test, filter: bool, run: int, seed: int | None, more: str = "") -> Order:
    """What a worker gets for a test. `run` is 0 when the test runs once. Its random numbers depend on its name and on
    `seed`, if there is one. `more` are further members of its plan, each with a comma before it."""
    name, entry = _quoted(test.name), _quoted(test.entry)
    of_run = f',"run":{run}' if run else ""
    of_seed = "" if seed is None else f',"seed":{_quoted(f"{seed} {test.name}")}'
    kind = kind_of(test.name)
    of_kind = "" if kind == TEST else f',"kind":"{kind.lower()}"'
    plan = f'{{"name":{name},"entry":{entry},"filter":{str(filter).lower()}{of_run}{of_seed}{of_kind}{more}}}'
    return Order(plan=plan, pieces=test.pieces)


def _quoted(identifier: str) -> str:
    """An identifier as JSON, in which only characters outside ASCII must be escaped."""
    return f'"{identifier}"' if identifier.isascii() else json.dumps(identifier)


def _at_assertion(frame: StackFrame, type: str) -> StackFrame:
    from scripttest.diagnostics.stack import at_call

    return StackFrame(function=frame.function, location=at_call(frame.location, type))


def _code_frame(location: Location) -> str:
    from scripttest.diagnostics.sources import code_frame

    return code_frame(location)


def broken_by(module: str, error: ScriptError) -> Broken:
    """The record of a module that an exception of this package has broken."""
    frames = (StackFrame(function="", location=error.location),) if error.location and error.location.line else ()
    frame = _code_frame(error.location) if error.location else ""
    cause = error.cause if isinstance(error, CompileError) else Cause.ERROR
    others = error.others if isinstance(error, CompileError) else ()
    return Broken(
        module=module,
        failure=Failure(cause=cause, message=error.message, frames=frames, code_frame=frame),
        others=others,
        hint=error.hint,
    )
