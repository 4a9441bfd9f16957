"""Adds the external calls and the judgements of a test to its result, and the warnings of its world. A call that
nothing answered also becomes a warning."""

from __future__ import annotations

from bindings import CLOCK_STANDS, AnsweredBy, OutsideCall, World
from runner.record.model import TestResult
from scripttest import Cause, ResultWarning


def with_external_calls(result: TestResult, world: World | None) -> TestResult:
    """A result with the calls in the ledger of its world. No warning says what a failure already does."""
    own = [OutsideCall(name=one.name, answered=AnsweredBy.MOCKED, count=one.count) for one in result.outcome.mocked]
    calls = (*own, *(world.ledger.calls if world is not None else ()))
    of_clock = _of_clock(result, world)
    judgements = tuple(world.judgements) if world is not None else ()
    noted = tuple(world.warnings) if world is not None else ()
    if not calls and not of_clock and not judgements and not noted:
        return result
    said = [failure.message for failure in result.outcome.failures]
    warnings = tuple(
        ResultWarning(kind="missing", message=call.warning)
        for call in calls
        if call.answered is AnsweredBy.MISSING and not any(call.message in message for message in said)
    )
    outcome = result.outcome.replace(warnings=(*result.outcome.warnings, *noted, *of_clock, *warnings))
    return result.replace(outcome=outcome, outside=calls, judgements=judgements)


def _of_clock(result: TestResult, world: World | None) -> tuple[ResultWarning, ...]:
    """A warning for a test that timed out while it had stopped its clock."""
    stood = world is not None and world.clock.stopped_at is not None
    said = any(warning.kind == "clock" for warning in result.outcome.warnings)
    if said or not stood or all(failure.cause is not Cause.TIMEOUT for failure in result.outcome.failures):
        return ()
    return (ResultWarning(kind="clock", message=f"The test timed out while its clock was stopped: {CLOCK_STANDS}"),)
