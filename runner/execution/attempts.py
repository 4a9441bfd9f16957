"""Runs one attempt of a case, in any mode: the hooks around it, its time limit, and its outcome."""

from __future__ import annotations

import asyncio
from typing import Any

from bindings import ProcessError
from runner.agents.answer import AgentError
from runner.connectors.timing import CaseTime
from runner.durations import in_words
from runner.errors import RunnerError
from runner.execution.hooks import Hook, HookError, told_of_case
from runner.execution.outside import with_outside
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
