"""Runs one attempt of a case, in any mode: the hooks around it, its time limit, and its outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import cache
from importlib import import_module
from typing import Any

from bindings import ProcessError
from runner.agents.answer import AgentError
from runner.agents.chat import FunctionRun
from runner.amounts import in_words
from runner.connectors.usage import CaseTime
from runner.errors import RunnerError
from runner.execution.services import with_external_calls
from runner.execution.suite_run import HookError, call_hook, told_of_case, told_of_result
from runner.modes.base import CaseAttempt
from runner.modes.mode import Mode
from runner.record.model import TestResult
from runner.reporters.stream import describe
from scripttest import Cause, Failure, HostError, Outcome, ResultWarning, ScriptError, Status, code_frame

_LAST = {Cause.INFRASTRUCTURE: 1, Cause.INCONCLUSIVE: 2}
"""Cause → its rank among the failures of an attempt, after those that are verdicts."""


class AttemptRun:
    """An attempt while it runs."""

    def __init__(self, attempt: CaseAttempt) -> None:
        self.attempt = attempt
        self.mode = Mode(attempt)
        self._time: CaseTime | None = None

    async def run(self) -> TestResult:
        """Runs the case to its end and frees everything that it held. All errors become part of the result; only
        cancellation is raised."""
        try:
            return await self._run()
        finally:
            self.attempt.world.close()

    def break_off(self, **fields: Any) -> None:
        """Ends the turn that is under way, if there is one, with fields of its result."""
        if self._time is not None:
            self.mode.break_off(self._time.now(), **fields)

    async def _run(self) -> TestResult:
        attempt, case = self.attempt, self.attempt.case
        if case.skip:
            return self.skipped(case.skip if isinstance(case.skip, str) else None)
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
                self.mode = _mode_named(case.run_by)(attempt)
                await self.mode.run()
        except TimeoutError:
            frames, awaited = attempt.chat.stopped, attempt.chat.awaited
            failure = Failure(
                cause=Cause.TIMEOUT,
                message=f"timeout after {in_words(seconds)}",
                frames=frames,
                code_frame=code_frame(frames[0].location) if frames else "",
                details=f"  It waited for {awaited[0]}" if awaited else "",
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
        mode = self.mode
        if failure is not None:
            mode.failures.append(failure)
        warnings = await self._after(case.after, data, milliseconds, seconds) if case.after and prepared else []
        skipped = Status.PASSED if mode.skip_reason is None else Status.SKIPPED
        return self._ended(Status.FAILED if mode.failures else skipped, milliseconds, warnings)

    async def _after(self, after: str, data: Any, milliseconds: float, seconds: float) -> list[ResultWarning]:
        """Runs the hook after the case; the warning of the result if it fails."""
        attempt, mode = self.attempt, self.mode
        status = Status.FAILED if mode.failures else Status.PASSED
        output = mode.answer.output if mode.answer else None
        record = told_of_result(attempt.case.id, status, milliseconds, output, mode.failures)
        try:
            async with CaseTime(seconds):
                await _hook(attempt, after, "after", [told_of_case(attempt.case), record, data])
        except HookError as error:
            why = error.failure
            return [
                ResultWarning(
                    kind="after", message=why.message, frames=why.frames, code_frame=why.code_frame, details=why.details
                )
            ]
        except TimeoutError:
            return [ResultWarning(kind="after", message=f"after {after}: timeout after {in_words(seconds)}")]
        return []

    def failed(self, failure: Failure) -> TestResult:
        """The result of a case that could not begin."""
        self.mode.failures.append(failure)
        return self._ended(Status.FAILED, 0)

    def skipped(self, reason: str | None) -> TestResult:
        """The result of a case that is skipped."""
        self.mode.skip_reason = reason
        return self._ended(Status.SKIPPED, 0)

    def interrupted(self, reason: str) -> TestResult:
        """The partial result of a case that was cancelled."""
        mode = self.mode
        self.break_off(status=Status.SKIPPED, skip_reason=reason)
        mode.failures, mode.skip_reason, mode.score = [], reason, None
        milliseconds = sum(turn.milliseconds for turn in mode.turns)
        return self._ended(Status.SKIPPED, milliseconds).replace(cut_short=True)

    def _ended(self, status: Status, milliseconds: float, warnings: list[ResultWarning] | None = None) -> TestResult:
        """The result. Verdicts come before what broke, because the first failure is the cause of the whole."""
        attempt, mode = self.attempt, self.mode
        case, chat, world = attempt.case, attempt.chat, attempt.world
        fingerprints = attempt.environment.fingerprints
        fingerprint = None
        if fingerprints is not None:
            fingerprint = fingerprints.of_case(
                attempt.assistant.id,
                case,
                attempt.written,
                attempt.folder,
                chat.parts,
                chat.variant,
                world,
                graded=mode.is_graded,
            )
        result = TestResult(
            suite=attempt.suite.id,
            name=case.id,
            position=attempt.position,
            outcome=Outcome(
                name=case.id,
                status=status,
                milliseconds=milliseconds,
                failures=tuple(sorted(mode.failures, key=lambda failure: _LAST.get(failure.cause, 0))),
                assertions=len(mode.assertions),
                skip_reason=mode.skip_reason,
                not_judged=mode.not_judged,
                warnings=(*attempt.warnings, *(warnings or ())),
            ),
            logs=tuple(chat.logs),
            case=mode.result(),
            fingerprint=fingerprint,
            regradable=mode.regradable(),
        )
        return with_external_calls(result, world)


@cache
def _mode_named(name: str) -> type[Mode]:
    """The class of a mode, whose module is loaded when the first case of its kind runs."""
    module, _, own = name.partition(".")
    found: type[Mode] = getattr(import_module(f"runner.modes.{module}"), own)
    return found


async def _hook(attempt: CaseAttempt, reference: str, kind: str, arguments: list[Any]) -> Any:
    return await call_hook(attempt.environment, attempt.assistant, attempt.chat, reference, kind, arguments)


class CaseRun:
    """Runs one case, with all its trials."""

    def __init__(self, make: Callable[[], CaseAttempt]) -> None:
        """`make` creates a new attempt at the case, with a new chat."""
        self._make = make
        self.last = AttemptRun(make())
        """The attempt that runs, or has run last."""
        self._ended: list[TestResult] = []
        self.functions: list[FunctionRun] = []
        """The calls of hooks and tools of the first attempt that failed; see `Chat.functions`."""

    async def run(self, within: Callable[[CaseAttempt], AbstractAsyncContextManager[None]]) -> TestResult:
        """Runs the case to its end, each attempt `within` a context. All errors become part of the result; only
        cancellation is raised."""
        case = self.last.attempt.case
        count = 1 if case.skip else getattr(case, "trials", 1)
        for number in range(1, count + 1):
            if number > 1:
                self.last = AttemptRun(self._make())
            attempt = self.last.attempt
            if count > 1:
                attempt.chat.context["chat_id"] += f"-{number}"
            async with within(attempt):
                self._ended.append(await self.last.run())
            if self._ended[-1].status == Status.FAILED:
                self.functions = self.functions or attempt.chat.functions
        if count == 1:
            return self._ended[0]
        from runner.record.combining import of_trials

        return of_trials(self._ended)

    def interrupted(self, reason: str) -> TestResult | None:
        """The partial result of a case that was cancelled; None when there is nothing to report."""
        ended = self._ended
        result = self.last.interrupted(reason)
        if not ended:
            return result if self.last.mode.turns else None
        from runner.record.combining import listed_trials

        assert result.case is not None
        return result.replace(case=result.case.replace(trials=listed_trials([*ended, result])))
