"""One attempt of one case, whatever its mode: hooks around it, its deadline, and its outcome."""

from __future__ import annotations

from typing import Any

from runner.agents.answer import AgentError
from runner.connectors.timing import CaseTime
from runner.durations import in_words, seconds_of
from runner.errors import RunnerError
from runner.execution.hooks import Hook, HookError, agent_failure, case_record
from runner.modes.base import CaseAttempt
from runner.results.model import TestResult
from scripttest import Cause, Failure, HostError, Outcome, ScriptError, Status


async def attempt(trial: CaseAttempt) -> TestResult:
    """Runs a case to its end; whatever goes wrong is in the result. Only cancelling it raises."""
    case = trial.case
    if case.skip:
        trial.skip_reason = case.skip if isinstance(case.skip, str) else None
        return ended(trial, Status.SKIPPED, 0)
    seconds = seconds_of(case.timeout, "timeout") if case.timeout else trial.setting.timeout
    time = CaseTime(seconds)
    trial.now = time.now
    started = time.now()
    data: Any = None
    prepared = False
    try:
        async with time:
            if case.before:
                data = await _hook(trial, case.before, "before", [case_record(case)])
            prepared = True
            await _mode_of(trial)(trial)
    except TimeoutError:
        trial.failures.append(Failure(cause=Cause.TIMEOUT, message=f"timeout after {in_words(seconds)}"))
        trial.end(status=Status.FAILED, error=trial.failures[-1].message)
    except HookError as error:
        trial.failures.append(error.failure)
    except AgentError as error:
        trial.failures.append(agent_failure(error))
    except (RunnerError, ScriptError) as error:
        hint = f". {error.hint}" if error.hint else ""
        broken = isinstance(error, HostError) or (isinstance(error, RunnerError) and error.infrastructure)
        cause = Cause.INFRASTRUCTURE if broken else Cause.ERROR
        trial.failures.append(Failure(cause=cause, message=f"agent error: {error.message}{hint}"))
    except Exception as error:  # a fault of this tool costs one case, not the run
        trial.failures.append(
            Failure(cause=Cause.INFRASTRUCTURE, message=f"the case broke the tool: {type(error).__name__}: {error}")
        )
    milliseconds = (time.now() - started) * 1000
    if case.after and prepared:
        await _after(trial, data, milliseconds, seconds)
    status: Status = (
        Status.FAILED if trial.failures else Status.SKIPPED if trial.skip_reason is not None else Status.PASSED
    )
    return ended(trial, status, milliseconds)


async def _after(trial: CaseAttempt, data: Any, milliseconds: float, seconds: float) -> None:
    """The hook after a case; one that fails is a warning."""
    assert trial.case.after is not None
    record = {
        "id": trial.case.id,
        "status": "failed" if trial.failures else "passed",
        "duration_ms": round(milliseconds),
        "output": trial.answer.output if trial.answer else None,
        "error": trial.failures[0].message if trial.failures else None,
    }
    try:
        async with CaseTime(seconds):
            await _hook(trial, trial.case.after, "after", [case_record(trial.case), record, data])
    except HookError as error:
        trial.chat.logs.append(("warn", error.failure.message))
    except TimeoutError:
        trial.chat.logs.append(("warn", f"after {trial.case.after}: timeout after {in_words(seconds)}"))


async def _hook(trial: CaseAttempt, reference: str, kind: str, arguments: list[Any]) -> Any:
    return await Hook(setting=trial.setting, assistant=trial.assistant, chat=trial.chat).call(
        reference, kind, arguments
    )


def _mode_of(trial: CaseAttempt) -> Any:
    from importlib import import_module

    return import_module(f"runner.modes.{trial.case.runs.value}").run


def ended(trial: CaseAttempt, status: Status, milliseconds: float) -> TestResult:
    """The result of a case. What broke beside a verdict comes after it: the first failure is the cause of the whole."""
    failures = tuple(sorted(trial.failures, key=lambda failure: failure.cause == Cause.INFRASTRUCTURE))
    outcome = Outcome(
        name=trial.case.id,
        status=status,
        milliseconds=milliseconds,
        failures=failures,
        assertions=len(trial.assertions),
        skip_reason=trial.skip_reason,
        not_judged=trial.not_judged,
        warnings=trial.warnings,
    )
    digest = ""
    if trial.setting.digests:
        from runner.planning.resume import digest_of

        digest = digest_of(trial.case)
    logs = tuple(trial.chat.logs)
    return TestResult(
        suite=trial.suite,
        name=trial.case.id,
        position=trial.position,
        outcome=outcome,
        logs=logs,
        case=trial.result(),
        digest=digest,
    )
