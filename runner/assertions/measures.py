"""`latency_ms`, `seconds`, `model_calls`, `tokens`, `cost`: what the answer took."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.amounts import Estimate
from runner.assertions.base import AssertionKind, NotEvaluated
from runner.assertions.results import decide, show

if TYPE_CHECKING:
    from runner.assertions.base import CheckResult, Evidence, Judges
    from runner.assertions.model import Assertion

_NO_TOKENS = "the provider does not report how many tokens a call used, or reports an impossible number"


async def latency_ms(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """The answer took at most this number of milliseconds."""
    return within(assertion, evidence.milliseconds, "to take", "ms")


async def seconds(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """The answer took at most this many seconds."""
    return within(assertion, evidence.milliseconds / 1000, "to take", "seconds")


async def model_calls(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """Agents asked models at most so often for the answer."""
    if evidence.model_calls is None:
        raise NotEvaluated("the number of model calls is unknown: the answer comes from a saved report")
    return within(assertion, evidence.model_calls, "to take", "model calls")


async def tokens(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """The model calls of the answer took at most this many tokens, input and output together."""
    if evidence.tokens is None:
        raise NotEvaluated(f"the number of tokens is unknown: {_NO_TOKENS}")
    return within(assertion, evidence.tokens, "to take", "tokens")


async def cost(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """The model calls of the answer cost at most this many US dollars."""
    if evidence.cost is None:
        why = _NO_TOKENS if evidence.tokens is None else "neither the provider nor the connector file gives a price"
        raise NotEvaluated(f"the cost is unknown: {why}")
    return within(assertion, evidence.cost, "to cost", "US dollars")


def within(
    assertion: Assertion, actual: float, verb: str, unit: str, subject: str = "the answer", found: str = ""
) -> CheckResult:
    """Whether a number is at most what the value says, or between its `min` and `max`; `found` is said behind it."""
    bounds = assertion.value if isinstance(assertion.value, dict) else {"max": assertion.value}
    low, high = bounds.get("min"), bounds.get("max")
    held = (low is None or actual >= low) and (high is None or actual <= high)
    words = [f"at least {low}"] if low is not None else []
    words += [f"at most {high}"] if high is not None else []
    wanted = f"{' and '.join(words)} {unit}"
    shown = f"{'~' * isinstance(actual, Estimate)}{actual:.10g} {unit}{found}"
    return decide(assertion, held, assertion.value, actual, verb, subject=subject, wanted=wanted, found=shown)


def problem_with_bounds(assertion: Assertion) -> str | None:
    """What is wrong with the highest number, or `{max, min}`, of an assertion."""
    name, value = assertion.type, assertion.value
    if isinstance(value, dict):
        if not value or value.keys() - {"max", "min"} or not all(map(_is_bound, value.values())):
            return f'"{name}" takes a "value" with max and min, numbers of at least 0, not {show(value)}'
        if value.get("min", 0) > value.get("max", float("inf")):
            return f'"{name}" can never pass: min is more than max in {show(value)}'
        return None
    return None if _is_bound(value) else f'"{name}" needs "value": the highest number, or {{"max", "min"}}'


def _is_bound(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0


ASSERTIONS = {
    name: AssertionKind(check=check, problem=problem_with_bounds, fields=("value",), needs=("value",))
    for name, check in (
        ("latency_ms", latency_ms),
        ("seconds", seconds),
        ("model_calls", model_calls),
        ("tokens", tokens),
        ("cost", cost),
    )
}
