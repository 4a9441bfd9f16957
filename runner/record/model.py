"""The results of a run as values: its suites, the result of each test with its attempts, and what identifies both.

Events carry these values (`runner.record.events`), one fold counts them (`runner.record.fold`), and reports have
them as lines (`runner.record.lines`). What a case has in addition is in `runner.record.case_result`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from runner.record.outcomes import Verdict, verdict_of
from runner.shapes.json_value import JsonValue
from scripttest import Cause, Failure, LogLine, Outcome, Status, TestKey
from scripttest.values import Value, fields_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from bindings import OutsideCall
    from runner.assertions.base import AssertionResult
    from runner.record.case_result import CaseResult, Regradable
    from runner.record.stability import Attempt, Repeat, RunStatistics
    from scripttest.typing_names import Record


class TestPlace(Value):
    """The place of a test, or of one of its runs."""

    __test__ = False

    suite: str
    position: int
    """Position in the suite, from 0."""
    run: int = 0
    """Number of the run, from 1; 0: the only run, or the test with all its runs."""

    @property
    def place(self) -> TestPlace:
        """The place alone, where this is more."""
        return TestPlace(suite=self.suite, position=self.position, run=self.run)

    @property
    def of_test(self) -> TestPlace:
        """The place of the test, whichever run this is of."""
        return self.replace(run=0) if self.run else self


class ResultKey(Value):
    """The suite of a test, and its name or the id of the case."""

    suite: str
    id: str
    variant: str = ""
    """The variant of the agent; empty where a run has none."""

    @property
    def name(self) -> str:
        """What names the result where its suite does not: `hi [good]`."""
        return f"{self.id} [{self.variant}]" if self.variant else self.id

    @property
    def record(self) -> dict[str, Any]:
        """The key as JSON, `{suite, id, variant?, ...}`."""
        return {name: value for name, value in fields_of(self).items() if name != "variant" or value}

    @property
    def without_variant(self) -> str:
        """The suite as it is named in all variants."""
        return self.suite.removesuffix(f" [{self.variant}]") if self.variant else self.suite


SCRIPT_TEST, AGENT_TEST = KINDS = ("script_test", "agent_test")
"""What the design documents call a test module, and all other suites."""


def suite_in(line: Record) -> Suite:
    """The suite of a report, which says at least its `id` and its `kind`."""
    from runner.shapes.codec import kept

    known = {"label": line["id"], "file": "", "agent": "", "connector": ""}
    return kept(Suite, {"id": line["id"], "kind": line["kind"], **known, **line})


class Suite(JsonValue):
    """One source of tests, as reports have it: `in_report`."""

    id: str
    """Such as `scripts.expense.setup`; no other suite of the run has it."""
    kind: str
    """`SCRIPT_TEST` for a test module; all others, with cases, are `AGENT_TEST`."""
    label: str
    """Its name for people: the path `expense/src/setup_test.ts`, a message in quotes, or the id of a generator."""
    file: str
    """Absolute path of its file, in a report from the repository; empty when there is none."""
    agent: str
    connector: str = ""
    """What the run uses instead of the agent's own connector."""
    is_message: bool = False
    """Whether its only case is a message on the command line."""
    is_generated: bool = False
    """Whether an agent or a script made its cases for this run."""
    multi_turn: bool = False
    """Whether some of its cases have several turns."""
    variant: str = ""
    """The variant that its cases run with; empty: the run has no variants."""
    root: str = ""
    """The folder from which reports name files: the repository, else the application; empty in a report."""
    __members__ = "id kind label file agent connector! variant is_message is_generated multi_turn"
    __keys__ = {"is_message": "message", "is_generated": "generated", "multi_turn": "several_turns"}  # noqa: RUF012
    __beside__ = "root"
    __readers__ = {"root": lambda _: ""}  # noqa: RUF012

    @property
    def in_report(self) -> Suite:
        """It as reports have it: with the name that is the same on all machines, and its file from the repository."""
        if not self.root and self.id == self.name:
            return self
        from runner.record.writing import path_below

        return self.replace(id=self.name, file=path_below(self.root, self.file), root="")

    @property
    def without_variant(self) -> str:
        """The id of its input, which is the same for all variants."""
        return self.id.removesuffix(f" [{self.variant}]") if self.variant else self.id

    @property
    def has_cases(self) -> bool:
        """Whether its tests are cases, rather than script tests."""
        return self.kind == AGENT_TEST

    @property
    def name(self) -> str:
        """The name in the console and in reports; of cases it is their label, so that machines agree."""
        name = self.label if self.has_cases else self.id
        return self.name_of(name)

    @property
    def shown(self) -> str:
        """The name in documents: its label, and its variant."""
        return self.name_of(self.label)

    def name_of(self, test: str) -> str:
        """What names a test where the suite is not named beside it, as `ResultKey.name` does."""
        return f"{test} [{self.variant}]" if self.variant else test

    @property
    def input(self) -> str:
        """The value of `-i` that runs it."""
        return self.label[1:-1] if self.is_message else self.label if self.has_cases else self.id


def _case_in(line: Record) -> CaseResult | None:
    if "script" in line:
        return None
    from runner.record.case_result import CaseResult
    from runner.shapes.codec import kept

    return kept(CaseResult, line)


def _regradable_in(line: Record) -> Regradable | None:
    from runner.record.case_result import Regradable
    from runner.shapes.codec import misfit_in, value_of

    said = line.get("regrade")
    return value_of(Regradable, said) if said is not None and misfit_in(Regradable, said) is None else None


def _read_by(module: str, name: str) -> Any:
    def read(line: Record) -> Any:
        from importlib import import_module

        return getattr(import_module(f"runner.record.{module}"), name)(line)

    return read


class TestResult(JsonValue):
    """How a test ended, or one run of it."""

    __test__ = False

    suite: str
    name: str
    position: int
    """Position in the suite, from 0."""
    outcome: Outcome
    logs: tuple[LogLine, ...] = ()
    """What its scripts wrote, and what the run noted."""
    case: CaseResult | None = None
    """The result of a case; None for a script test."""
    run: int = 0
    """Which of several runs it is, from 1; 0: the result of the test."""
    earlier_errors: tuple[str, ...] = ()
    """Why it broke in the passes before the one that this is the result of (`--retry-errors`)."""
    attempts: tuple[Attempt, ...] = ()
    """The runs of a test that was run several times. All else is of the first of them that ended like the test, but for
    the duration, which is their mean, what a case took, which is their sum, and the warnings: those of all, each once.
    """
    stability: RunStatistics | None = None
    """What the runs have in common; None when there were none, or all were skipped."""
    variant: str = ""
    """The variant that it ran with, in a report."""
    policy: Any = None
    """In the result of one run: the policy of its case, as its file has it; None: it has none."""
    repeat: Repeat | None = None
    """The state of the case's policy after its runs."""
    digest: str = ""
    """What stands for the content of its case in a report that is not ours."""
    is_resumed: bool = False
    """Whether it is from the report of an earlier run, which this one resumes."""
    fingerprint: Mapping[str, Any] | None = None
    """The digests of what it depends on, for a run that resumes this one; see `runner.fingerprints`."""
    regradable: Regradable | None = None
    """What grading it again needs in addition."""
    outside: tuple[OutsideCall, ...] = ()
    """The calls that left its scripts, in the order of their first, and who answered them."""
    judgements: tuple[AssertionResult, ...] = ()
    """The verdicts of judges that a script has asked with `t.assert.Agent`."""
    cut_short: bool = False
    """Whether the run ended before the case did: it is skipped, and has no verdict."""
    story: tuple[dict[str, Any], ...] = ()
    """What happened in a failed script test, see `runner.record.story`."""
    calls: dict[str, Any] | None = None
    """The calls of a script test, for spans: those of agents, models and tools, as in the trace of a case."""
    __keys__ = {"name": "id", "policy": "repeat", "regradable": "regrade"}  # noqa: RUF012
    __readers__ = {  # noqa: RUF012
        "name": lambda line: str(line["id"]),
        "case": _case_in,
        "outcome": _read_by("lines", "outcome_in"),
        "logs": _read_by("outcomes", "logs_in"),
        "attempts": _read_by("stability", "attempts_in"),
        "stability": _read_by("stability", "stability_in"),
        "repeat": _read_by("stability", "repeat_in"),
        "regradable": _regradable_in,
        "calls": lambda _: None,
        "is_resumed": lambda _: False,
        "run": lambda line: line["run"] if isinstance(line.get("run"), int) else 0,
    }

    @property
    def is_read(self) -> bool:
        """Whether it is from a report."""
        return "_line" in self.__dict__

    @property
    def line(self) -> Record:
        """Its line in the report that it was read from, or as it was made for this run; it must not be changed."""
        found: Record = self.__dict__.get("_line") or self.__dict__["_made"]
        return found

    @property
    def status(self) -> Status:
        """`passed`, `failed` or `skipped`."""
        return self.outcome.status

    @property
    def verdict(self) -> Verdict:
        """The verdict on it."""
        return verdict_of(self.outcome.status, self.outcome.cause)

    @property
    def as_run(self) -> Attempt:
        """It as one run."""
        from runner.record.stability import attempt_of
        from runner.record.votes import judging_of

        return attempt_of(self.outcome, self.case, self.run or 1, judging_of(self.case, self.judgements))

    @property
    def runs(self) -> tuple[Attempt, ...]:
        """Its runs, of which there is at least one."""
        return self.attempts or (self.as_run,)

    @property
    def place(self) -> TestPlace:
        """Where its test stands in the run."""
        return TestPlace(suite=self.suite, position=self.position, run=self.run)

    @property
    def key(self) -> TestKey:
        """The run of a test that it is of, also when that is the only one."""
        return TestKey(suite=self.suite, test=self.name, run=self.run or 1)


CAUSES = {"pending": Cause.PENDING, "cut": Cause.CUT}
"""Kind of a warning → cause of the failure that it becomes; `error` for all other kinds."""

TOLD = ("retried",)
"""Kinds of warnings that only say how a result was made, and that fail nothing."""


def strict(result: TestResult) -> TestResult:
    """A result in which every warning has become a failure, after those that it had; other results as they are."""
    outcome = result.outcome
    told = tuple(warning for warning in outcome.warnings if warning.kind in TOLD)
    failures = tuple(
        Failure(
            cause=CAUSES.get(warning.kind, Cause.ERROR),
            message=warning.message,
            frames=warning.frames,
            code_frame=warning.code_frame,
        )
        for warning in outcome.warnings
        if warning.kind not in TOLD
    )
    if not failures:
        return result
    failures = (*outcome.failures, *failures)
    outcome = outcome.replace(status=Status.FAILED, failures=failures, warnings=told, skip_reason=None)
    return result.replace(outcome=outcome, cut_short=False)


def key_of(result: TestResult) -> ResultKey:
    """The key of a result in a report."""
    return ResultKey(suite=result.suite, id=result.name, variant=result.variant)


def by_key(results: Iterable[TestResult]) -> dict[ResultKey, list[TestResult]]:
    """The results of each key, of which there are several when a name occurs twice."""
    found: dict[ResultKey, list[TestResult]] = {}
    for result in results:
        found.setdefault(key_of(result), []).append(result)
    return found
