"""Runs one attempt of a case, in any mode: the hooks around it, its time limit, and its outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from importlib import import_module
from typing import Any

from bindings import ProcessError
from runner.agents.answer import AgentError
from runner.agents.chat import FunctionRun, JudgeUse
from runner.amounts import in_words
from runner.connectors.timing import CaseTime
from runner.errors import RunnerError
from runner.execution.external_calls import with_external_calls
from runner.execution.suite_run import Hook, HookError, told_of_case
from runner.modes.base import CaseAttempt, Mode
from runner.modes.outcome import ModeOutcome
from runner.record.model import TestResult
from runner.reporters.stream import describe
from scripttest import Cause, Failure, HostError, Outcome, ResultWarning, ScriptError, Status, code_frame

_LAST = {Cause.INFRASTRUCTURE: 1, Cause.INCONCLUSIVE: 2}
"""Cause → its rank among the failures of an attempt, after those that are verdicts."""


class AttemptRun:
    """An attempt while it runs."""

    def __init__(self, attempt: CaseAttempt) -> None:
        self.attempt = attempt
        self._mode: Mode | None = None
        """None: it has not begun."""
        self._time: CaseTime | None = None

    @property
    def outcome(self) -> ModeOutcome:
        """What has come of it so far."""
        return ModeOutcome() if self._mode is None else self._mode.outcome()

    async def run(self) -> TestResult:
        """Runs the case to its end and frees everything that it held. All errors become part of the result; only
        cancellation is raised."""
        try:
            return await self._run()
        finally:
            self.attempt.world.close()

    def break_off(self, **fields: Any) -> None:
        """Ends the turn that is under way, if there is one, with fields of its result."""
        if self._mode is not None and self._time is not None:
            self._mode.break_off(self._time.now(), **fields)

    async def _run(self) -> TestResult:
        attempt, case = self.attempt, self.attempt.case
        if case.skip:
            reason = case.skip if isinstance(case.skip, str) else None
            return ended(attempt, ModeOutcome(skip_reason=reason), Status.SKIPPED, 0)
        seconds = case.timeout.seconds if case.timeout else attempt.environment.options.case_timeout
        time = self._time = CaseTime(seconds)
        started = time.now()
        data: Any = None
        prepared = False
        failure: Failure | None = None
        try:
            async with time:
                if case.fixtures:
                    await asyncio.to_thread(attempt.database.load, case.fixtures)
                if case.before:
                    data = await _hook(attempt, case.before, "before", [told_of_case(case)])
                prepared = True
                self._mode = import_module(f"runner.modes.{case.runs}").mode_of(attempt)
                await self._mode.run()
        except TimeoutError:
            frames = attempt.chat.stopped
            failure = Failure(
                cause=Cause.TIMEOUT,
                message=f"timeout after {in_words(seconds)}",
                frames=frames,
                code_frame=code_frame(frames[0].location) if frames else "",
            )
            self.break_off(status=Status.FAILED, error=failure.message)
        except (HookError, AgentError) as error:
            failure = error.failure
        except ProcessError as error:
            failure = Failure(cause=Cause.ERROR, message=f"fixtures: {error.message}")
        except (RunnerError, ScriptError) as error:
            hint = f". {error.hint}" if error.hint else ""
            broken = isinstance(error, HostError) or (isinstance(error, RunnerError) and error.infrastructure)
            cause = Cause.INFRASTRUCTURE if broken else Cause.ERROR
            failure = Failure(cause=cause, message=f"agent error: {error.message}{hint}")
        except Exception as error:  # a fault of this tool costs one case, not the run
            failure = Failure(cause=Cause.INFRASTRUCTURE, message=f"internal error: {describe(error)}")
        milliseconds = (time.now() - started) * 1000
        outcome = self.outcome
        if failure is not None:
            outcome = outcome.replace(failures=(*outcome.failures, failure))
        warning = await _after(attempt, outcome, data, milliseconds, seconds) if case.after and prepared else None
        skipped = Status.PASSED if outcome.skip_reason is None else Status.SKIPPED
        return ended(attempt, outcome, Status.FAILED if outcome.failures else skipped, milliseconds, warning)


async def _after(
    attempt: CaseAttempt, outcome: ModeOutcome, data: Any, milliseconds: float, seconds: float
) -> ResultWarning | None:
    """Runs the hook after a case; if it fails, the warning of the result."""
    assert attempt.case.after is not None
    record = {
        "id": attempt.case.id,
        "status": "failed" if outcome.failures else "passed",
        "duration_ms": round(milliseconds),
        "output": outcome.answer.output if outcome.answer else None,
        "error": outcome.failures[0].message if outcome.failures else None,
    }
    try:
        async with CaseTime(seconds):
            await _hook(attempt, attempt.case.after, "after", [told_of_case(attempt.case), record, data])
    except HookError as error:
        why = error.failure
        return ResultWarning(
            kind="after", message=why.message, frames=why.frames, code_frame=why.code_frame, details=why.details
        )
    except TimeoutError:
        message = f"after {attempt.case.after}: timeout after {in_words(seconds)}"
        return ResultWarning(kind="after", message=message)
    return None


async def _hook(attempt: CaseAttempt, reference: str, kind: str, arguments: list[Any]) -> Any:
    return await Hook(environment=attempt.environment, assistant=attempt.assistant, chat=attempt.chat).call(
        reference, kind, arguments
    )


def ended(
    attempt: CaseAttempt,
    outcome: ModeOutcome,
    status: Status,
    milliseconds: float,
    warning: ResultWarning | None = None,
) -> TestResult:
    """Makes the result of a case. Verdicts come before what broke, because the first failure is the cause of
    the whole."""
    fingerprints = attempt.environment.fingerprints
    fingerprint = None
    if fingerprints is not None:
        from runner.fingerprints.parts import parts_of_database, parts_of_world

        more = [*parts_of_database(attempt.database), *parts_of_world(attempt.world)]
        others = {part: fingerprints.parts.of(part) for part in more}
        fingerprint = fingerprints.of_case(
            attempt.assistant.id,
            attempt.case,
            attempt.folder,
            {**attempt.chat.parts, **others},
            attempt.chat.variant,
            judged=attempt.world.is_judged,
            graded=outcome.is_graded,
        )
    result = TestResult(
        suite=attempt.suite,
        name=attempt.case.id,
        position=attempt.position,
        outcome=Outcome(
            name=attempt.case.id,
            status=status,
            milliseconds=milliseconds,
            failures=tuple(sorted(outcome.failures, key=lambda failure: _LAST.get(failure.cause, 0))),
            assertions=len(outcome.assertions),
            skip_reason=outcome.skip_reason,
            not_judged=outcome.not_judged(of_scores=not attempt.case.graded),
            warnings=attempt.warnings if warning is None else (*attempt.warnings, warning),
        ),
        logs=tuple(attempt.chat.logs),
        case=attempt.result(outcome),
        fingerprint=fingerprint,
        regradable=attempt.regradable(outcome),
    )
    return with_external_calls(result, attempt.world)


class CaseRun:
    """Runs one case, with all its trials."""

    def __init__(self, make: Callable[[], CaseAttempt]) -> None:
        """`make` creates a new attempt at the case, with a new chat."""
        self._make = make
        self._attempt = AttemptRun(make())
        self._ended: list[TestResult] = []
        self.functions: list[FunctionRun] = []
        """The calls of hooks and tools of the first attempt that failed; see `Chat.functions`."""

    async def run(self, within: Callable[[CaseAttempt], AbstractAsyncContextManager[None]]) -> TestResult:
        """Runs the case to its end, each attempt `within` a context. All errors become part of the result; only
        cancellation is raised."""
        case = self._attempt.attempt.case
        count = getattr(case, "trials", 1)
        if count == 1 or case.skip:
            async with within(self._attempt.attempt):
                return self._noted(await self._attempt.run())
        for number in range(1, count + 1):
            if number > 1:
                self._attempt = AttemptRun(self._make())
            attempt = self._attempt.attempt
            attempt.chat.context["chat_id"] += f"-{number}"
            async with within(attempt):
                self._ended.append(self._noted(await self._attempt.run()))
        from runner.record.combining import of_trials

        return of_trials(self._ended)

    def _noted(self, result: TestResult) -> TestResult:
        if result.status == Status.FAILED:
            self.functions = self.functions or self._attempt.attempt.chat.functions
        return result

    @property
    def shared_judges(self) -> list[JudgeUse]:
        """See `CaseAttempt`."""
        return self._attempt.attempt.shared_judges

    def failed(self, failure: Failure) -> TestResult:
        """The result of a case that could not begin."""
        return ended(self._attempt.attempt, ModeOutcome(failures=(failure,)), Status.FAILED, 0)

    def skipped(self, reason: str) -> TestResult:
        """The result of a case that is skipped."""
        return ended(self._attempt.attempt, ModeOutcome(skip_reason=reason), Status.SKIPPED, 0)

    def interrupted(self, reason: str) -> TestResult | None:
        """The partial result of a case that was cancelled; None when there is nothing to report."""
        self._attempt.break_off(status=Status.SKIPPED, skip_reason=reason)
        outcome = self._attempt.outcome.replace(failures=(), skip_reason=reason, score=None)
        if not outcome.turns and not self._ended:
            return None
        milliseconds = sum(turn.milliseconds for turn in outcome.turns)
        result = ended(self._attempt.attempt, outcome, Status.SKIPPED, milliseconds).replace(cut_short=True)
        if not self._ended:
            return result
        from runner.record.combining import listed_trials

        assert result.case is not None
        return result.replace(case=result.case.replace(trials=listed_trials([*self._ended, result])))
