"""`yao-test mutate` on case files: how weak are the assertions? Answers are changed in ways that a user would hate, and
graded again by the code that grades them in a run. The agent's model is not asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from runner.assertions.base import AssertionResult
from runner.connectors.base import ClosedModels
from runner.errors import MissingError
from runner.execution.attempts import AttemptRun
from runner.execution.run import Run
from runner.execution.stopping import Budgets
from runner.modes.base import CaseAttempt
from runner.modes.transcripts import Transcripts, problem_with_transcript
from runner.mutation.answer_changes import OF_TOOLS, Change, ChangeKind, changes
from runner.mutation.talks import Asking, Talks, newest_talks, planned
from runner.mutation.verdicts import Score, Status, score_of
from runner.planning.regrading import alone
from scripttest import Cause, TestKey
from scripttest import Status as TestStatus
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.cases.model import Case
    from runner.connectors.base import Usage
    from runner.modes.base import CaseEnvironment
    from runner.planning.plan import CaseSource, RunRequest
    from runner.record.case_result import CaseResult
    from runner.record.model import TestResult
    from runner.record.report import Report

SCRIPTED = "scripted"
NOT_ASKED = "real models are called only with --ask-judges"
AT_ONCE = 16
"""How many changed answers are graded at the same time."""


WORDS = {Status.KILLED: "noticed", Status.UNDECIDED: "undecided", Status.SURVIVED: "missed"}
"""Whether a case notices a change, from the best to the worst → the word for it in documents."""


class Check(Value):
    """An assertion or a criterion of a case."""

    assertion: str
    """`contains "Order 52"`"""
    notices: tuple[str, ...]
    """The changes with which it fails."""


class ChangeVerdict(ChangeKind):
    """What a case says of a changed answer."""

    __members__ = "kind! about! verdict! answer reason!"
    __beside__ = "status"

    status: Status
    answer: Any
    """The changed answer of the last turn; the calls of tools, `{name, arguments}`, where these have changed."""
    reason: str = ""
    """Why it failed, or why nothing can be said."""

    @property
    def verdict(self) -> str:
        """Whether the case notices it, in a word."""
        return WORDS[self.status]


class CaseVerdict(Value):
    """What a case notices."""

    __members__ = "id line checks_nothing! notices misses undecided"
    __writers__ = {  # noqa: RUF012
        "notices": lambda case: case.kinds(Status.KILLED),
        "misses": lambda case: case.kinds(Status.SURVIVED),
        "undecided": lambda case: case.kinds(Status.UNDECIDED),
    }

    id: str
    line: int
    changes: tuple[ChangeVerdict, ...]
    assertions: tuple[Check, ...]

    @property
    def total(self) -> Score:
        """How many changes it notices."""
        return score_of(one.status for one in self.changes)

    @property
    def checks_nothing(self) -> bool:
        """Whether it would pass with any answer."""
        return self.total.share == 0

    def kinds(self, status: Status) -> list[str]:
        """The kinds of changes that it notices always, or not always; or of which nothing is known."""
        worst: dict[str, Status] = {}
        for one in self.changes:
            worst[one.kind] = max(worst.get(one.kind, one.status), one.status, key=list(WORDS).index)
        return [kind for kind, found in worst.items() if found is status]


class FileVerdict(Value):
    """What the cases of a file notice; those that notice least come first."""

    __members__ = "file score noticed counted"
    __writers__ = {  # noqa: RUF012
        "score": lambda file: file.total.share,
        "noticed": lambda file: file.total.noticed,
        "counted": lambda file: file.total.counted,
    }

    file: str
    cases: tuple[CaseVerdict, ...]
    left_out: Mapping[str, str]
    """Cases without a verdict → why."""

    @property
    def total(self) -> Score:
        """How many changes its cases notice."""
        return score_of(one.status for case in self.cases for one in case.changes)


class WeakCases(Value):
    """What came of it."""

    files: tuple[FileVerdict, ...]
    origin: str
    """The reports with the answers; empty where all agents were asked, which cost nothing."""
    warnings: tuple[str, ...] = ()
    stopped: str | None = None
    code: int | None = None
    """The exit code, where a signal ended it."""

    @property
    def total(self) -> Score:
        """How many changes all cases notice."""
        return score_of(one.status for file in self.files for case in file.cases for one in case.changes)


def find_weak_cases(
    request: RunRequest,
    read: Callable[[str], Report],
    *,
    named: str | None = None,
    store: Path | None = None,
    ask_judges: bool = False,
    told: Callable[[Asked], None] = lambda _: None,
) -> WeakCases:
    """Changes the answers of the cases of a request, and grades them. Blocks. Raises ConfigurationError.

    Args:
        read: reads a report by its name.
        named: the report with the answers; None: the newest.
        store: the folder of the store, where there is one.
        ask_judges: whether judges may ask real models.
        told: hears how often judges will ask real models about changed answers, before they do.
    """
    with planned(request, None if ask_judges else ClosedModels(NOT_ASKED)) as run:
        plan, stop = run.plan, run.stop
        saved = [source for source in plan.sources if named is not None or not is_free(source, run)]
        talks = newest_talks(saved, named, read, request.environment, store)
        labels = {source.suite.label for source in saved}
        if labels and not talks and len(saved) == len(plan.sources) and not plan.modules:
            first = min(labels)
            raise MissingError(
                f"Cannot change answers: there is no stored run of {first}",
                f"Run it once with yao-test -i {first} -o run.jsonl, then pass the report: --from run.jsonl",
            )
        calls = _JudgeCalls(request.options, stop)
        run.services.count_usage(calls)
        work = _Work(run, talks, labels, calls, told)
        found: list[FileVerdict] = []
        with suppress(asyncio.CancelledError):
            found = run.services.agents().run(work.run(), lambda: stop.over)
        calls.end()
        return WeakCases(
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
        run: Run,
        talks: Mapping[str, Talks],
        saved: Collection[str],
        calls: _JudgeCalls,
        told: Callable[[Asked], None],
    ) -> None:
        self._run, self._talks, self._saved, self._told = run, talks, saved, told
        self._calls = calls
        self._left_out: dict[str, dict[str, str]] = {}
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._asking = Asking(run)

    async def run(self) -> list[FileVerdict]:
        of_files = []
        for source in self._run.plan.sources:
            self._left_out[source.suite.label] = {}
            talks, changed = [talk async for talk in self._talks_of(source)], []
            for talk in talks:
                others = [other.result for other in talks if other is not talk]
                changed.append((talk, list(changes(talk.result, others, _prompt(source)))))
            of_files.append((source.suite.label, changed))
        await self._asking.finish()
        asked = Asked()
        for talk, found in (one for _, changed in of_files for one in changed):
            for _ in found:
                asked = asked.plus(talk.asked.calls, talk.asked.cost)
        self._told(asked)
        return list(await asyncio.gather(*(self._file(label, changed) for label, changed in of_files)))

    async def _file(self, label: str, changed: Sequence[tuple[_Talk, list[Change]]]) -> FileVerdict:
        verdicts = await asyncio.gather(*(self._verdict(talk, found) for talk, found in changed))
        weakest = sorted(verdicts, key=lambda one: one.total.share or 0)
        return FileVerdict(file=label, cases=tuple(weakest), left_out=self._left_out[label])

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
            if again.outcome.status is not TestStatus.PASSED:
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
            found = talks.of_cases.get(case.id, "it is not in the report")
            return f"{talks.origin}: {found}" if isinstance(found, str) else found
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
        return CaseVerdict(
            id=talk.case.id,
            line=talk.line,
            changes=tuple(map(_of_change, found, results)),
            assertions=tuple(
                Check(assertion=label, notices=tuple(dict.fromkeys(of_one))) for label, of_one in noticed.items()
            ),
        )


def _of_change(change: Change, result: TestResult) -> ChangeVerdict:
    verdict = partial(ChangeVerdict, kind=change.kind, about=change.about, answer=_changed(change))
    if result.outcome.status is TestStatus.PASSED:
        return verdict(status=Status.SURVIVED)
    causes = {failure.cause for failure in result.outcome.failures}
    said = result.outcome.failures[0].message if result.outcome.failures else result.outcome.skip_reason or ""
    is_open = not result.outcome.failures or causes <= {Cause.INFRASTRUCTURE, Cause.INCONCLUSIVE}
    return verdict(status=Status.UNDECIDED if is_open else Status.KILLED, reason=said)


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
