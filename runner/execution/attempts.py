"""Runs one attempt of a case, in any mode: the hooks around it, its time limit, and its outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from bindings import ProcessError
from runner.agents.answer import AgentError
from runner.agents.chat import JudgeUse
from runner.connectors.timing import CaseTime
from runner.durations import in_words
from runner.errors import RunnerError
from runner.execution.outside import with_outside
from runner.execution.suite_run import Hook, HookError, told_of_case
from runner.modes.base import CaseAttempt
from runner.reporters.stream import describe
from runner.results.model import TestResult
from scripttest import Cause, Failure, HostError, Outcome, ResultWarning, ScriptError, Status, code_frame

_LAST = {Cause.INFRASTRUCTURE: 1, Cause.INCONCLUSIVE: 2}
"""Cause → its rank among the failures of an attempt, after those that are verdicts."""


async def run_attempt(attempt: CaseAttempt) -> TestResult:
    """Runs a case to its end and frees everything that it held. All errors become part of the result; only cancellation
    is raised."""
    try:
        return await _run(attempt)
    finally:
        attempt.world.close()


async def _run(attempt: CaseAttempt) -> TestResult:
    case = attempt.case
    if case.skip:
        attempt.skip_reason = case.skip if isinstance(case.skip, str) else None
        return ended(attempt, Status.SKIPPED, 0)
    seconds = case.timeout.seconds if case.timeout else attempt.environment.timeout
    time = CaseTime(seconds)
    attempt.now = time.now
    started = time.now()
    data: Any = None
    prepared = False
    try:
        async with time:
            if case.fixtures:
                await asyncio.to_thread(attempt.database.load, case.fixtures)
            if case.before:
                data = await _hook(attempt, case.before, "before", [told_of_case(case)])
            prepared = True
            await _mode_of(attempt)(attempt)
    except TimeoutError:
        frames = attempt.chat.stopped
        attempt.failures.append(
            Failure(
                cause=Cause.TIMEOUT,
                message=f"timeout after {in_words(seconds)}",
                frames=frames,
                code_frame=code_frame(frames[0].location) if frames else "",
            )
        )
        attempt.end(status=Status.FAILED, error=attempt.failures[-1].message)
    except HookError as error:
        attempt.failures.append(error.failure)
    except AgentError as error:
        attempt.failures.append(error.failure)
    except ProcessError as error:
        attempt.failures.append(Failure(cause=Cause.ERROR, message=f"fixtures: {error.message}"))
    except (RunnerError, ScriptError) as error:
        hint = f". {error.hint}" if error.hint else ""
        broken = isinstance(error, HostError) or (isinstance(error, RunnerError) and error.infrastructure)
        cause = Cause.INFRASTRUCTURE if broken else Cause.ERROR
        attempt.failures.append(Failure(cause=cause, message=f"agent error: {error.message}{hint}"))
    except Exception as error:  # a fault of this tool costs one case, not the run
        attempt.failures.append(
            Failure(cause=Cause.INFRASTRUCTURE, message=f"the tool failed in it: {describe(error)}")
        )
    milliseconds = (time.now() - started) * 1000
    if case.after and prepared:
        await _after(attempt, data, milliseconds, seconds)
    status: Status = (
        Status.FAILED if attempt.failures else Status.SKIPPED if attempt.skip_reason is not None else Status.PASSED
    )
    return ended(attempt, status, milliseconds)


async def _after(attempt: CaseAttempt, data: Any, milliseconds: float, seconds: float) -> None:
    """Runs the hook after a case; if it fails, the result gets a warning."""
    assert attempt.case.after is not None
    record = {
        "id": attempt.case.id,
        "status": "failed" if attempt.failures else "passed",
        "duration_ms": round(milliseconds),
        "output": attempt.answer.output if attempt.answer else None,
        "error": attempt.failures[0].message if attempt.failures else None,
    }
    try:
        async with CaseTime(seconds):
            await _hook(attempt, attempt.case.after, "after", [told_of_case(attempt.case), record, data])
    except HookError as error:
        why = error.failure
        attempt.after_failed = ResultWarning(
            kind="after", message=why.message, frames=why.frames, code_frame=why.code_frame, details=why.details
        )
    except TimeoutError:
        message = f"after {attempt.case.after}: timeout after {in_words(seconds)}"
        attempt.after_failed = ResultWarning(kind="after", message=message)


async def _hook(attempt: CaseAttempt, reference: str, kind: str, arguments: list[Any]) -> Any:
    return await Hook(environment=attempt.environment, assistant=attempt.assistant, chat=attempt.chat).call(
        reference, kind, arguments
    )


def _mode_of(attempt: CaseAttempt) -> Any:
    from importlib import import_module

    return import_module(f"runner.modes.{attempt.case.runs}").run


def ended(attempt: CaseAttempt, status: Status, milliseconds: float) -> TestResult:
    """Makes the result of a case. Verdicts come before what broke, because the first failure is the cause of
    the whole."""
    failures = tuple(sorted(attempt.failures, key=lambda failure: _LAST.get(failure.cause, 0)))
    outcome = Outcome(
        name=attempt.case.id,
        status=status,
        milliseconds=milliseconds,
        failures=failures,
        assertions=len(attempt.assertions),
        skip_reason=attempt.skip_reason,
        not_judged=attempt.not_judged,
        warnings=attempt.warnings,
    )
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
            graded=attempt.is_graded,
        )
    logs = tuple(attempt.chat.logs)
    result = TestResult(
        suite=attempt.suite,
        name=attempt.case.id,
        position=attempt.position,
        outcome=outcome,
        logs=logs,
        case=attempt.result(),
        fingerprint=fingerprint,
        regradable=attempt.regradable,
    )
    return with_outside(result, attempt.world)


class CaseRun:
    """Runs one case, with all its trials."""

    def __init__(self, make: Callable[[], CaseAttempt]) -> None:
        """`make` creates a new attempt at the case, with a new chat."""
        self._make = make
        self._attempt = make()
        self._ended: list[TestResult] = []

    async def run(self, within: Callable[[CaseAttempt], AbstractAsyncContextManager[None]]) -> TestResult:
        """Runs the case to its end, each attempt `within` a context. All errors become part of the result; only
        cancellation is raised."""
        count = getattr(self._attempt.case, "trials", 1)
        if count == 1 or self._attempt.case.skip:
            async with within(self._attempt):
                return await run_attempt(self._attempt)
        for number in range(1, count + 1):
            if number > 1:
                self._attempt = self._make()
            self._attempt.chat.context["chat_id"] += f"-{number}"
            async with within(self._attempt):
                self._ended.append(await run_attempt(self._attempt))
        from runner.results.combining import of_trials

        return of_trials(self._ended)

    @property
    def shared_judges(self) -> list[JudgeUse]:
        """See `CaseAttempt`."""
        return self._attempt.shared_judges

    def failed(self, failure: Failure) -> TestResult:
        """The result of a case that could not begin."""
        self._attempt.failures.append(failure)
        return ended(self._attempt, Status.FAILED, 0)

    def skipped(self, reason: str) -> TestResult:
        """The result of a case that is skipped."""
        self._attempt.skip_reason = reason
        return ended(self._attempt, Status.SKIPPED, 0)

    def interrupted(self, reason: str) -> TestResult | None:
        """The partial result of a case that was cancelled; None when there is nothing to report."""
        attempt = self._attempt
        attempt.end(status=Status.SKIPPED, skip_reason=reason)
        if not attempt.turns and not self._ended:
            return None
        attempt.end(status=Status.SKIPPED, skip_reason=reason)
        attempt.failures.clear()
        attempt.skip_reason, attempt.score = reason, None
        result = ended(attempt, Status.SKIPPED, sum(turn.milliseconds for turn in attempt.turns)).replace(
            cut_short=True
        )
        if not self._ended:
            return result
        from runner.results.combining import listed_trials

        assert result.case is not None
        return result.replace(case=result.case.replace(trials=listed_trials([*self._ended, result])))
