"""What the store has of earlier runs: results of a test by its name, and what two runs differ in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path

from runner.application.application import repository_of
from runner.compare.change_report import BeforeAfter
from runner.compare.change_verdict import change_between
from runner.compare.comparison import KINDS, compare
from runner.environment import Environment
from runner.errors import ConfigurationError, MissingError
from runner.mcp_server.answers import nearest
from runner.mcp_server.results import RunLines
from runner.record.fold import Execution
from runner.record.model import Suite
from runner.record.report import Report, events_of
from runner.reporters.console.change_lines import fact_of
from runner.reporters.console.verdict_lines import sentences
from runner.store.places import FILE
from runner.store.rows import key_of
from runner.store.store import Store
from runner.store.stored import StoredResult
from scripttest.typing_names import Record
from scripttest.values import Value

LOOKED_AT = 100
"""How many of the newest runs are looked through for a test."""


class KeptResult(Value):
    """The newest result of a test."""

    suite: Suite
    result: StoredResult


class KeptRuns:
    """The runs of a store."""

    def __init__(self, folder: Path, environment: Environment) -> None:
        """`environment` is that of commands, in the folder of the application."""
        self._folder, self._environment = folder, environment

    @contextmanager
    def _reading(self) -> Iterator[Store]:
        if not (self._folder / FILE).exists():
            raise MissingError("No run is stored yet", "Call run_tests first")
        with Store(self._folder) as store:
            yield store

    def result(self, test: str, input: str | None, run: str | None) -> KeptResult:
        """The newest result of a test, in the input and the run that are named, if they are. Raises
        MissingError when there is none, ConfigurationError for several."""
        with self._reading() as store:
            runs = [store.run(run)] if run else store.runs(limit=LOOKED_AT)
            names: dict[str, None] = {}
            for one in runs:
                suites = {key_of(suite): suite for suite in one.start.suites if not input or is_in(suite, input)}
                found = [one for one in store.results(one.id) if one.attempt == 0 and one.suite in suites]
                names |= dict.fromkeys(result.test for result in found)
                hits = [result for result in found if result.test == test]
                if len(hits) > 1:
                    those = ", ".join(suites[hit.suite].input for hit in hits[:10])
                    raise ConfigurationError(f"Several tests are named {test}", f"Name one of these inputs: {those}")
                if hits:
                    return KeptResult(suite=suites[hits[0].suite], result=hits[0])
        where = "".join(f" in {place}" for place in (input, run and f"run {run}") if place)
        raise MissingError(f"There is no stored result of {test}{where}", nearest(test, names, "results"))

    def line(self, kept: KeptResult) -> Record:
        """The whole result, as reports have it."""
        with self._reading() as store:
            return store.line(kept.result.seq)

    def run(self, kept: KeptResult) -> RunLines:
        """A run with this result alone."""
        result = kept.result
        with self._reading() as store:
            return self._told(store.ended_tests(result.run, result.seq - 1, result.seq))

    def whole_run(self, id: str) -> RunLines:
        """A run. Raises ConfigurationError when there is none."""
        with self._reading() as store:
            return self._told(store.report(id))

    def _told(self, report: Report) -> RunLines:
        run, so_far = RunLines(environment=self._environment), Execution()
        for event in events_of(report.replace(root=str(repository_of(self._environment.directory)))):
            so_far.add(event)
            run.on_event(event, so_far)
        run.summary = report.summary
        return run

    def newest(self, limit: int) -> list[tuple[str, str, str]]:
        """Id, time and state of the newest runs."""
        if not (self._folder / FILE).exists():
            return []
        with self._reading() as store:
            return [(run.id, run.started_at, run.state) for run in store.runs(limit=limit)]

    def difference(self, before: str | None, after: str | None) -> tuple[Record, list[Record]]:
        """`{before, after, verdict}` of two runs, and the changes, `{kind, input, test, fact, error?}`, regressions
        first. Raises ConfigurationError."""
        with self._reading() as store:
            newer = store.run(after or "latest").id
            older = store.run(before).id if before else _before(store, newer)
            if older is None:
                raise ConfigurationError(
                    f"There is no run before {newer} of the same tests", "Name it as before, or call run_tests again"
                )
            a, b = store.report(older), store.report(newer)
        verdict = change_between(a, b, names=BeforeAfter(a=older, b=newer))
        found = compare(a, b)
        changes = [
            {
                "kind": kind.key,
                "input": change.suite,
                "test": change.id,
                "fact": fact_of(kind.key, change),
                **({"error": change.error[:1000]} if change.error else {}),
            }
            for kind in KINDS
            for change in found.of(kind.key)
        ]
        return {"before": older, "after": newer, "verdict": " ".join(sentences(verdict))}, changes


def is_in(suite: Suite, input: str) -> bool:
    """Whether an input names a suite, or has it in it."""
    named = suite.input
    return (
        input in (named, suite.agent)
        or named.startswith((f"{input}.", f"{input.rstrip('/')}/"))
        or (suite.file.endswith(input) and bool(input))
        or fnmatch(named, input)
    )


def _before(store: Store, run: str) -> str | None:
    """The newest run before one that has a test in common with it."""
    ids = [one.id for one in store.runs()]
    tests = {*store.tests([run])}
    earlier = ids[ids.index(run) + 1 :][:LOOKED_AT]
    return next((one for one in earlier if not tests.isdisjoint(store.tests([one]))), None)
