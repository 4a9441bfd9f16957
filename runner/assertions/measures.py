"""What is measured of an answer: `latency_ms`, `seconds`, `model_calls`, `tokens`, `cost`, what it took; and `similar`,
how alike it and a text are, by the embeddings of a model, or, where none is named, by the groups of characters that
both have. The result says which, since the second knows nothing of meaning."""

from __future__ import annotations

import unicodedata
from collections import Counter
from math import isfinite, sqrt
from typing import TYPE_CHECKING, Any

from runner.amounts import Estimate
from runner.assertions.base import NotEvaluated, assertion_kind
from runner.assertions.results import decide, show

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from runner.assertions.base import CheckResult, Evidence, Judges
    from runner.assertions.model import Assertion

_NO_TOKENS = "the provider does not report how many tokens a call used, or reports an impossible number"
THRESHOLD = 0.75
"""The least similarity of an assertion without one."""
NGRAMS = "character n-grams (no model)"
"""What measured where no model did."""
_LENGTH = 3
_DIGITS = 4
"""Of a similarity: what rounding does comes behind them, so that equal texts have 1."""


async def measured(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """The answer took, or its model calls cost, at most this much, or a number between both bounds."""
    measure, verb, unit = _MEASURES[assertion.type]
    actual = measure(evidence)
    if actual is not None:
        return within(assertion, actual, verb, unit)
    if assertion.type == "model_calls":
        raise NotEvaluated("the number of model calls is unknown: the answer comes from a saved report")
    if assertion.type == "tokens":
        raise NotEvaluated(f"the number of tokens is unknown: {_NO_TOKENS}")
    why = _NO_TOKENS if evidence.tokens is None else "neither the provider nor the connector file gives a price"
    raise NotEvaluated(f"the cost is unknown: {why}")


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


async def similar(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """The text of the output is at least as similar to the value, or to one of several, as the threshold says."""
    value, text = assertion.value, evidence.text
    least = THRESHOLD if assertion.threshold is None else assertion.threshold
    texts = value if isinstance(value, list) else [value]
    found, by = 0.0, NGRAMS
    if text.strip():
        embeddings = await judges.embed(assertion.options.connector or "", [text, *texts])
        if embeddings is None:
            found = max(_cosine(_ngrams(text), _ngrams(one)) for one in texts)
        else:
            (first, *others), by = embeddings
            found = max(cosine(first, other) for other in others)
    measured = f"{found:g} by {by}"
    result = decide(
        assertion,
        found >= least,
        value,
        evidence.output,
        f"to be at least {least:g} similar to",
        wanted=show(value),
        found=f"{measured}: {show(evidence.output)}",
    )
    return result.replace(similarity=found, measured_by=by, message=result.message or measured)


def problem_with_similar(assertion: Assertion) -> str | None:
    """What is wrong with a `similar`."""
    value = assertion.value
    texts = value if isinstance(value, list) else [value]
    if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
        return '"similar" needs a "value" that is a non-empty string or a list of them'
    if assertion.options.metadata:
        return '"similar" accepts only "connector" in "options": the connector for embeddings'
    return None


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of two vectors. Raises NotEvaluated when they cannot be compared."""
    if len(one) != len(other):
        raise NotEvaluated(f"the embeddings have {len(one)} and {len(other)} numbers", infrastructure=True)
    if not all(map(isfinite, (*one, *other))) or not any(one) or not any(other):
        raise NotEvaluated("an embedding is all zeros", infrastructure=True)
    return _cosine(dict(enumerate(one)), dict(enumerate(other)))


def _cosine(one: Mapping[object, float], other: Mapping[object, float]) -> float:
    both = sum(number * other[key] for key, number in one.items() if key in other)
    lengths = sqrt(sum(number**2 for number in one.values())) * sqrt(sum(number**2 for number in other.values()))
    return round(both / lengths, _DIGITS) + 0.0 if lengths else 0.0


def _ngrams(text: str) -> Mapping[object, float]:
    """How often a text has each group of three characters. Upper and lower case, forms of Unicode and the kind of
    blanks do not count."""
    words = unicodedata.normalize("NFKC", text).casefold().split()
    padded = f" {' '.join(words)} "
    return Counter(padded[at : at + _LENGTH] for at in range(len(padded) - _LENGTH + 1))


_MEASURES: dict[str, tuple[Callable[[Evidence], float | None], str, str]] = {
    "latency_ms": (lambda evidence: evidence.milliseconds, "to take", "ms"),
    "seconds": (lambda evidence: evidence.milliseconds / 1000, "to take", "seconds"),
    "model_calls": (lambda evidence: evidence.model_calls, "to take", "model calls"),
    "tokens": (lambda evidence: evidence.tokens, "to take", "tokens"),
    "cost": (lambda evidence: evidence.cost, "to cost", "US dollars"),
}
"""Type → its figure, which is None where it is not known, and the words for it."""
ASSERTIONS = {
    **{name: assertion_kind(measured, problem_with_bounds, "value") for name in _MEASURES},
    "similar": assertion_kind(similar, problem_with_similar, "value threshold options", waits=True),
}
