"""`latency_ms`, `tokens`, `cost`: what the answer took."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.assertions.base import Kind, NotEvaluated
from runner.assertions.verdicts import decide, show

if TYPE_CHECKING:
    from runner.assertions.base import Evidence, Judges, Verdict
    from runner.assertions.model import Assertion


async def latency_ms(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """The answer took at most so many milliseconds."""
    return _bounded(assertion, evidence.milliseconds, "to take", "ms")


async def tokens(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """The model calls of the answer took at most so many tokens, input and output together."""
    if evidence.tokens is None:
        raise NotEvaluated("the tokens are not known: the provider does not say how many, or says what cannot be")
    return _bounded(assertion, evidence.tokens, "to take", "tokens")


async def cost(assertion: Assertion, evidence: Evidence, judges: Judges) -> Verdict:
    """The model calls of the answer cost at most so many US dollars."""
    if evidence.cost is None:
        raise NotEvaluated("the cost is not known: neither the provider nor the connector file says a price")
    return _bounded(assertion, evidence.cost, "to cost", "US dollars")


def problem(assertion: Assertion) -> str | None:
    """What is wrong with an assertion of these types."""
    name, value = assertion.type, assertion.value
    if isinstance(value, dict):
        if not value or value.keys() - {"max", "min"} or not all(map(_is_bound, value.values())):
            return f'"{name}" takes numbers from 0 up as max and min in "value", not {show(value)}'
        if value.get("min", 0) > value.get("max", float("inf")):
            return f'"{name}" can never hold: min is more than max in {show(value)}'
        return None
    return None if _is_bound(value) else f'"{name}" needs "value": the highest number, or {{"max", "min"}}'


def _bounded(assertion: Assertion, actual: float, verb: str, unit: str) -> Verdict:
    value = assertion.value
    bounds = value if isinstance(value, dict) else {"max": value}
    low, high = bounds.get("min"), bounds.get("max")
    held = (low is None or actual >= low) and (high is None or actual <= high)
    words = [f"at least {low}"] if low is not None else []
    words += [f"at most {high}"] if high is not None else []
    wanted = f"{' and '.join(words)} {unit}"
    found = f"{actual:.10g} {unit}"
    return decide(assertion, held, value, actual, verb, subject="the answer", wanted=wanted, found=found)


def _is_bound(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0


ASSERTIONS = {
    "latency_ms": Kind(check=latency_ms, problem=problem, fields=("value",), needs=("value",)),
    "tokens": Kind(check=tokens, problem=problem, fields=("value",), needs=("value",)),
    "cost": Kind(check=cost, problem=problem, fields=("value",), needs=("value",)),
}
"""Types of assertions that are checked here."""
