"""`yao-test mutate` on case files: how weak are the assertions? Answers are changed in ways that a user would hate, and
graded again by the code that grades them in a run. The agent's model is not asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from functools import partial
from pathlib import Path

from runner.assertions.base import AssertionResult
from runner.connectors.base import ClosedModels
from runner.errors import MissingError
from runner.execution.attempts import AttemptRun
from runner.execution.run import Run
from runner.execution.services import RunServices
from runner.execution.stopping import Budgets, Signals, Stop
from runner.modes.base import CaseAttempt
from runner.modes.transcripts import Transcripts, problem_with_transcript
from runner.mutation.answer_changes import OF_TOOLS, Change, ChangeKind, changes
from runner.mutation.talks import Asking, Talks, newest_talks
from runner.planning.planner import looking, make_plan
from runner.planning.regrading import alone
from scripttest import Cause, Status, TestKey
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.cases.model import Case
    from runner.connectors.base import Usage
    from runner.modes.base import CaseEnvironment
    from runner.planning.plan import CaseSource, RunPlan, RunRequest
    from runner.record.case_result import CaseResult
    from runner.record.model import TestResult
    from runner.record.report import Report

SCRIPTED = "scripted"
NOT_ASKED = "real models are called only with --ask-judges"
AT_ONCE = 16
"""How many changed answers are graded at the same time."""


class Noticed(Enum):
    """Whether a case notices a change; the value is the word for it."""

    YES = "noticed"
    NO = "missed"
    UNDECIDED = "undecided"


class Check(Value):
    """An assertion or a criterion of a case."""

    label: str
    """`contains "Order 52"`"""
    noticed: tuple[str, ...]
    """The changes with which it fails."""


class ChangeVerdict(ChangeKind):
    """What a case says of a changed answer."""

    noticed: Noticed
    answer: object
    """The changed answer of the last turn; the calls of tools, `{name, arguments}`, where these have changed."""
    reason: str = ""
    """Why it failed, or why nothing can be said."""


class CaseVerdict(Value):
    """What a case notices."""

    id: str
    line: int
    verdicts: tuple[ChangeVerdict, ...]
    checks: tuple[Check, ...]

    @property
    def counted(self) -> int:
        """How many changes have a verdict."""
        return sum(one.noticed is not Noticed.UNDECIDED for one in self.verdicts)

    @property
    def noticed(self) -> int:
        """How many changes it notices."""
        return sum(one.noticed is Noticed.YES for one in self.verdicts)

    @property
    def checks_nothing(self) -> bool:
        """Whether it would pass with any answer."""
        return self.counted > 0 and not self.noticed

    def kinds(self, noticed: Noticed) -> list[str]:
        """The kinds of changes that it notices always, or not always; or of which nothing is known."""
        missed = {one.kind for one in self.verdicts if one.noticed is Noticed.NO}
        unknown = {one.kind for one in self.verdicts if one.noticed is Noticed.UNDECIDED} - missed
        of_kind = {
            Noticed.NO: missed,
            Noticed.UNDECIDED: unknown,
            Noticed.YES: {one.kind for one in self.verdicts} - missed - unknown,
        }[noticed]
        return list(dict.fromkeys(one.kind for one in self.verdicts if one.kind in of_kind))


class CaseVerdicts(Value):
    """What some cases notice."""

    cases: tuple[CaseVerdict, ...]

    @property
    def counted(self) -> int:
        """How many changes have a verdict."""
        return sum(case.counted for case in self.cases)

    @property
    def noticed(self) -> int:
        """How many changes are noticed."""
        return sum(case.noticed for case in self.cases)

    @property
    def share(self) -> float | None:
        """The share of changes that are noticed; None when there are none."""
        return self.noticed / self.counted if self.counted else None


class FileVerdict(CaseVerdicts):
    """What the cases of a file notice; those that notice least come first."""

    label: str
    left_out: Mapping[str, str]
    """Cases without a verdict → why."""


class WeakCases(CaseVerdicts):
    """What came of it."""

    files: tuple[FileVerdict, ...]
    origin: str
    """The reports with the answers; empty where all agents were asked, which cost nothing."""
    warnings: tuple[str, ...] = ()
    stopped: str | None = None
    code: int | None = None
    """The exit code, where a signal ended it."""

    def below(self, least: float | None) -> list[FileVerdict]:
        """The files with a lower share than the least that is good enough."""
        return [file for file in self.files if least is not None and file.share is not None and file.share < least]


def find_weak_cases(
    request: RunRequest,
    read: Callable[[str], Report],
    *,
    named: str | None = None,
    store: Path | None = None,
    ask_judges: bool = False,
    told: Callable[[Asked], None] = lambda _: None,
    judged: Callable[[str, CaseVerdict, int], None] = lambda *_: None,
) -> WeakCases:
    """Changes the answers of the cases of a request, and grades them. Blocks. Raises ConfigurationError.

    Args:
        read: reads a report by its name.
        named: the report with the answers; None: the newest.
        store: the folder of the store, where there is one.
        ask_judges: whether judges may ask real models.
        told: hears how often judges will ask real models about changed answers, before they do.
        judged: hears what a case of a file notices as soon as it is known, and how many changes are left.
    """
    stop = Stop()
    environment, request = request.environment, looking(request)
    closed = None if ask_judges else ClosedModels(NOT_ASKED)
    with Signals(stop), RunServices(request, closed=closed) as services:
        plan = make_plan(request, agents=services.agents, fingerprints=services.fingerprints)
        run = Run(plan, services, stop)
        saved = [source for source in plan.sources if named is not None or not is_free(source, run)]
        talks = newest_talks(saved, named, read, environment, store)
        labels = {source.suite.label for source in saved}
        if labels and not talks and len(saved) == len(plan.sources) and not plan.modules:
            first = min(labels)
            raise MissingError(
                f"Cannot change answers: there is no stored run of {first}",
                f"Run it once with yao-test -i {first} -o run.jsonl, then pass the report: --from run.jsonl",
            )
        calls = _JudgeCalls(request.options, stop)
        services.count_usage(calls)
        work = _Work(plan, run, talks, labels, calls, told, judged)
        found: list[FileVerdict] = []
        with suppress(asyncio.CancelledError):
            found = services.agents().run(work.run(), lambda: stop.over)
        calls.end()
        return WeakCases(
            cases=tuple(case for file in found for case in file.cases),
            files=tuple(found),
            origin=", ".join(dict.fromkeys(one.origin for one in talks.values())),
            warnings=plan.warnings,
            stopped=stop.reason,
            code=stop.code,
        )


def is_free(source: CaseSource, run: Run) -> bool:
    """Whether asking the agent costs nothing: its model is scripted, or its answers are recorded."""
    options = run.case_environment(source.assistant.id).options
    return options.replay is not None or (options.connector or source.assistant.connector) == SCRIPTED


class Asked(Value):
    """How often real models are asked."""

    calls: int = 0
    cost: float | None = 0.0
    """US dollars; None: not known."""

    def plus(self, calls: int, cost: float | None) -> Asked:
        """The same with more calls."""
        return Asked(calls=self.calls + calls, cost=None if cost is None or self.cost is None else self.cost + cost)


class _JudgeCalls(Budgets):
    """Counts the calls of real models by judges, too."""

    asked = Asked()

    def spend(self, connector: str, usage: Usage, free: bool) -> None:
        """See `Budgets`."""
        if not free:
            self.asked = self.asked.plus(1, usage.cost)
        super().spend(connector, usage, free)


class _Talk(Value):
    """A case with the talk that is changed."""

    source: CaseSource
    environment: CaseEnvironment
    case: Case
    line: int
    result: TestResult
    asked: Asked = Asked()
    """What judges ask real models about one answer."""


class _Work:
    def __init__(
        self,
        plan: RunPlan,
        run: Run,
        talks: Mapping[str, Talks],
        saved: Collection[str],
        calls: _JudgeCalls,
        told: Callable[[Asked], None],
        judged: Callable[[str, CaseVerdict, int], None],
    ) -> None:
        self._plan, self._run, self._talks, self._saved, self._told = plan, run, talks, saved, told
        self._calls, self._judged, self._left = calls, judged, 0
        self._left_out: dict[str, dict[str, str]] = {}
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._asking = Asking(run)

    async def run(self) -> list[FileVerdict]:
        of_files: list[tuple[CaseSource, list[_Talk]]] = []
        for source in self._plan.sources:
            self._left_out[source.suite.label] = {}
            of_files.append((source, [talk async for talk in self._talks_of(source)]))
        await self._asking.finish()
        planned = []
        for source, talks in of_files:
            prompt = _prompt(source)
            for talk in talks:
                others = [other.result for other in talks if other is not talk]
                planned.append((talk, list(changes(talk.result, others, prompt))))
        asked = Asked()
        for talk, found in planned:
            cost = talk.asked.cost
            asked = asked.plus(talk.asked.calls * len(found), None if cost is None else cost * len(found))
        self._told(asked)
        self._left = sum(len(found) for _, found in planned)
        verdicts = await asyncio.gather(*(self._verdict(talk, found) for talk, found in planned))
        by_talk = {id(talk): verdict for (talk, _), verdict in zip(planned, verdicts, strict=True)}
        return [
            FileVerdict(
                label=source.suite.label,
                cases=tuple(
                    sorted((by_talk[id(talk)] for talk in talks), key=lambda one: one.noticed / (one.counted or 1))
                ),
                left_out=self._left_out[source.suite.label],
            )
            for source, talks in of_files
        ]

    async def _talks_of(self, source: CaseSource) -> AsyncIterator[_Talk]:
        """The cases of a file that pass with their talk as it is."""
        environment = self._run.case_environment(source.assistant.id)
        left_out = self._left_out[source.suite.label]
        for located in source.cases():
            case = located.case
            if case.skip:
                continue
            result = await self._told_then(source, case, located.line)
            if isinstance(result, str):
                left_out[case.id] = result
                continue
            talk = _Talk(source=source, environment=environment, case=alone(case), line=located.line, result=result)
            self._calls.asked = Asked()
            again = await self._graded(talk, result)
            if again.outcome.status is not Status.PASSED:
                said = again.outcome.failures[0].message if again.outcome.failures else "it is skipped"
                left_out[case.id] = f"it fails with its unchanged answer: {said}"
            else:
                yield talk.replace(asked=self._calls.asked)

    async def _told_then(self, source: CaseSource, case: Case, line: int) -> TestResult | str:
        """The saved talk of a case, or that of a scripted agent; or why there is none."""
        label = source.suite.label
        if label in self._saved:
            talks = self._talks.get(label)
            if talks is None:
                return f"there is no stored run of {label}; run it once with --store or -o"
            found = talks.results.get((label, case.id))
            refused = talks.refused.get((label, case.id), "it is not in the report")
            return found if found is not None else f"{talks.origin}: {refused}"
        result = await self._asking.result(source, case, line)
        return result if isinstance(result, str) else problem_with_transcript(result) or result

    async def _graded(self, talk: _Talk, result: TestResult) -> TestResult:
        source = talk.source
        key = TestKey(suite=source.suite.id, test=talk.case.id, run=1)
        transcripts = Transcripts(report="", suites=(), results={key: result}, refused={})
        environment = talk.environment.replace(transcripts=transcripts)
        attempt = CaseAttempt(environment, source.suite, source.folder, source.assistant, talk.case, 0, talk.line)
        return await AttemptRun(attempt).run()

    async def _verdict(self, talk: _Talk, found: Sequence[Change]) -> CaseVerdict:
        async def graded(change: Change) -> TestResult:
            async with self._slots:
                return await self._graded(talk, change.result)

        results = await asyncio.gather(*map(graded, found))
        noticed: dict[str, list[str]] = {}
        for change, result in zip(found, results, strict=True):
            for label, passed in _checks(result):
                noticed.setdefault(label, []).extend([] if passed else [change.label])
        verdict = CaseVerdict(
            id=talk.case.id,
            line=talk.line,
            verdicts=tuple(map(_of_change, found, results)),
            checks=tuple(Check(label=label, noticed=tuple(dict.fromkeys(of_one))) for label, of_one in noticed.items()),
        )
        self._left -= len(found)
        self._judged(talk.source.suite.label, verdict, self._left)
        return verdict


def _of_change(change: Change, result: TestResult) -> ChangeVerdict:
    verdict = partial(ChangeVerdict, kind=change.kind, about=change.about, answer=_changed(change))
    if result.outcome.status is Status.PASSED:
        return verdict(noticed=Noticed.NO)
    causes = {failure.cause for failure in result.outcome.failures}
    said = result.outcome.failures[0].message if result.outcome.failures else result.outcome.skip_reason or ""
    is_open = not result.outcome.failures or causes <= {Cause.INFRASTRUCTURE, Cause.INCONCLUSIVE}
    return verdict(noticed=Noticed.UNDECIDED if is_open else Noticed.YES, reason=said)


def _checks(result: TestResult) -> Iterator[tuple[str, bool]]:
    """The assertions and criteria of a case, each with whether it holds."""
    case = result.case
    assert case is not None
    rows: list[AssertionResult] = [*case.assertions, *(case.final_assertions or ())]
    rows += [row for turn in case.turns for row in turn.assertions]
    yield from ((_label(row), row.passed) for row in rows)
    yield from ((one.text, one.passed) for score in case.scores for one in score.assertions)
    yield from ((f"checkpoint {one.id}", one.passed) for one in case.checkpoints or ())


def _label(row: AssertionResult) -> str:
    said = row.path or row.value
    return row.type if said is None else f"{row.type} {json.dumps(said, ensure_ascii=False)}"


def _changed(change: Change) -> object:
    """The calls of tools, where these have changed, else the last answer."""
    case: CaseResult | None = change.result.case
    assert case is not None
    if change.kind in OF_TOOLS:
        tools = [*case.tools, *(tool for turn in case.turns for tool in turn.tools)]
        return [{"name": tool.name, "arguments": tool.arguments} for tool in tools]
    turns = [turn for turn in case.turns if turn.source]
    return turns[-1].answer if turns else case.response if case.output is None else case.output


def _prompt(source: CaseSource) -> str:
    texts = [prompt.get("content") for prompt in source.assistant.prompts if prompt.get("role") == "system"]
    return " ".join(text for text in texts if isinstance(text, str)).strip()
