"""A test module while it runs: its code in the form that workers take, its tests, and the records of these."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from scripttest.compile.builds import Compiled, Source
from scripttest.protocol import encode
from scripttest.results import (
    TEST,
    HostRecord,
    Line,
    Listed,
    LogLine,
    Outcome,
    Started,
    Status,
    kind_of,
)
from scripttest.shortcuts.slicing import BootConfig
from scripttest.values import Value
from scripttest.workers.services import Selected

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from scripttest.shortcuts.slicing import Slices, Test
    from scripttest.workers.outcomes import Outcomes


BIG = 50_000
"""A module with more characters of code than this is big, see `is_big`."""
_PLAIN = {"status", "duration_ms", "assertions", "failures", "steps"}
"""What workers say of a test that passed, if there is nothing else to say."""
MOST_EARLY = 10_000
"""At most this many captured lines of a module's top-level code are kept."""


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
        self.plans: list[str] = []
        """For each test, JSON of `Plan` in `bindings/src/core-state.ts`."""
        self.left = 0
        self.again: set[int] = set()
        """Indexes of the tests that have begun more than once."""
        self._root = root
        self._called = called
        self._outcomes: Outcomes | None = None
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

    def plan(self, filter: bool, seed: int | None) -> None:
        """Makes the plans of the tests. The random numbers of a test depend on its name and on `seed`, if there is
        one."""
        selected = self.selected
        focuses = selected.focuses and not selected.forbidden and ".only(" in self.compiled.scripts[-1].code
        self.plans.clear()
        for index, test in enumerate(self.tests):
            kind = kind_of(test.name)
            said = {
                "run": self.module.run if self._runs == 1 else self.position(index)[1],
                "seed": "" if seed is None else f"{seed} {test.name}",
                "kind": "" if kind == TEST else kind.lower(),
                "only": "forbidden" if selected.forbidden else "runs" if test.name in selected.only else "",
                "focus": focuses,
            }
            more = {name: value for name, value in said.items() if value}
            self.plans.append(json.dumps({"name": test.name, "entry": test.entry, "filter": filter, **more}))

    def pieces(self, index: int) -> str:
        """What a worker puts back into the base for a test; see `Test.pieces`."""
        return "" if self.module.whole else self.tests[index].pieces

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
            line = line.replace(text=self.outcomes.watched(*line.text.split("\0", 2)))
        if index is not None:
            position, run = self.position(index)
            return [Line(module=self.compiled.source.key, position=position, line=line, run=run)]
        if len(self.early) < MOST_EARLY:
            self.early.append(line)
        return []

    @property
    def outcomes(self) -> Outcomes:
        """Makes outcomes of what workers say of its tests."""
        if self._outcomes is None:
            from scripttest.workers.outcomes import Outcomes

            self._outcomes = Outcomes(self.compiled, self._root, self._called, self.timeout)
        self._outcomes.tests = self.tests
        return self._outcomes

    def outcome(self, record: dict[str, Any], name: str, index: int | None, seconds: float | None = None) -> Outcome:
        """See `Outcomes.outcome`."""
        if record.keys() == _PLAIN and record["status"] == Status.PASSED and not record["steps"]:
            milliseconds, assertions = record["duration_ms"], record["assertions"]
            return Outcome(name=name, status=Status.PASSED, milliseconds=milliseconds, assertions=assertions)
        return self.outcomes.outcome(record, name, index, seconds)

    def listed(self, kinds: tuple[str, ...]) -> tuple[str, str]:
        """What a worker lists, apart by blanks: how the names of tests begin; and what else, tests under other names
        and what tests may not need."""
        from scripttest.shortcuts.slicing import declared

        exports = self.compiled.exports.items()
        renamed = [local for name, local in exports if name.startswith(kinds) and not local.startswith(kinds)]
        return " ".join(kinds), " ".join({*renamed, *declared(self.compiled.scripts[-1].code, kinds)})

    @property
    def is_big(self) -> bool:
        """Whether it may have work for many workers."""
        return len(self.compiled.scripts[-1].code) > BIG

    def frame(self, boots: BootConfig) -> bytes:
        """The frame that loads the module into a worker, with realms that have only what the code needs."""
        if self._frame is None:
            from scripttest.shortcuts.slicing import scan

            code = "\n".join(script.code for script in self.compiled.scripts)
            seed = boots.seed([code])
            boot = boots.whole(seed) if self.module.whole else boots.own(scan(code, boots.names), seed)
            parts = [boot, boots.nested, self.module.context]
            for script in self.compiled.scripts:
                parts += [str(script.first_line), script.code]
            self._frame = encode("module", *parts)
        return self._frame
