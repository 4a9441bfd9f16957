"""`similar`: how alike the output and a text are, by the embeddings of a model, or, where none is named, by the groups
of characters that both have. The result says which, since the second knows nothing of meaning."""

from __future__ import annotations

import unicodedata
from collections import Counter
from math import isfinite, sqrt
from typing import TYPE_CHECKING

from runner.assertions.base import AssertionKind, CheckResult, NotEvaluated
from runner.assertions.results import decide, show

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from runner.assertions.base import Evidence, Judges
    from runner.assertions.model import Assertion

THRESHOLD = 0.75
"""The least similarity of an assertion without one."""
NGRAMS = "character n-grams (no model)"
"""What measured where no model did."""
_LENGTH = 3
_DIGITS = 4
"""Of a similarity: what rounding does comes behind them, so that equal texts have 1."""


async def similar(assertion: Assertion, evidence: Evidence, judges: Judges) -> CheckResult:
    """The text of the output is at least as similar to the value, or to one of several, as the threshold says."""
    value, text = assertion.value, evidence.text
    least = THRESHOLD if assertion.threshold is None else assertion.threshold
    texts = value if isinstance(value, list) else [value]
    found, by = 0.0, NGRAMS
    if text.strip():
        embeddings = await judges.embed(assertion.options.connector or "", [text, *texts])
        if embeddings is None:
            found = max(ngram_similarity(text, one) for one in texts)
        else:
            (first, *others), by = embeddings.vectors, embeddings.by
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


def ngram_similarity(one: str, other: str) -> float:
    """From 0 to 1: the cosine of how often two texts have each group of three characters. Upper and lower case, forms
    of Unicode and the kind of blanks do not count."""
    first, second = _ngrams(one), _ngrams(other)
    return _cosine(first, second)


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
    words = unicodedata.normalize("NFKC", text).casefold().split()
    padded = f" {' '.join(words)} "
    return Counter(padded[at : at + _LENGTH] for at in range(len(padded) - _LENGTH + 1))


ASSERTIONS = {
    "similar": AssertionKind(
        check=similar,
        problem=problem_with_similar,
        fields=("value", "threshold", "options"),
        needs=("value",),
        waits=True,
    ),
}
