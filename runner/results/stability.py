"""The stability of a test that ran several times (seed 004, "Stability Analysis").

Pure functions over values, without events or reports. Attempts that were skipped, or that could not be judged because
something else broke, count only in `errors`. The same holds for attempts that passed because their judges could not
judge, unless there are no others.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence

from runner.amounts import mean
from runner.results.model import Attempt, Stability
from runner.results.verdict import Verdict
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CLASSES = ((100.0, "stable"), (80.0, "mostly stable"), (50.0, "unstable"), (0.0, "highly unstable"))
"""Pass rate in percent from which on a test is in a class."""
SHOWN_K = (1, 2, 3, 5, 10, 20, 50, 100)
"""Values of k, besides the number of runs, for which pass@k and pass^k are given."""
Z = 1.959963984540054
"""Two-sided 95 % point of the normal distribution."""


def stability_of(attempts: Sequence[Attempt], stops: bool = False) -> Stability | None:
    """The stability of a test; None when none of its runs could be judged. With `stops`, the runs ended when their
    verdict stood, so pass@k and pass^k say nothing."""
    from statistics import fmean, pstdev

    judged = _judged(attempts)
    if not judged:
        return None
    count = len(judged)
    passed = sum(attempt.verdict is Verdict.PASSED for attempt in judged)
    durations = [attempt.duration_ms for attempt in judged]
    costs = [attempt.cost for attempt in judged if attempt.cost is not None]
    tokens = round(fmean(attempt.tokens for attempt in judged))
    shown = () if stops else sorted({k for k in SHOWN_K if k < count} | {count})
    return Stability(
        judged=count,
        passed=passed,
        failed=count - passed,
        errors=sum(attempt.verdict.is_none for attempt in attempts) or None,
        pass_rate=pass_rate(passed, count),
        consistency=consistency([attempt.answer for attempt in judged]),
        stable=passed == count,
        classification=classification(passed, count),
        avg_duration_ms=round(fmean(durations)),
        min_duration_ms=min(durations),
        max_duration_ms=max(durations),
        std_deviation_ms=round(pstdev(durations), 1),
        confidence_interval=confidence_interval(passed, count),
        pass_at_k={k: round(pass_at(passed, count, k), 4) for k in shown},
        pass_hat_k={k: round(pass_hat(passed, count, k), 4) for k in shown},
        avg_tokens=tokens or None,
        avg_cost=round(mean(costs), 6) if costs else None,
    )


def pass_rate(passed: int, count: int) -> float:
    """Percent with one digit behind the point; 0 and 100 mean none and all, 0 also that there were no runs."""
    if not count:
        return 0.0
    rate = round(100 * passed / count, 1)
    if passed == count or not passed:
        return rate
    return min(99.9, max(0.1, rate))


def classification(passed: int, count: int) -> str:
    """The class of a test with this pass rate, by the table of seed 004."""
    rate = 100 * passed / count
    return next(name for least, name in CLASSES if rate >= least)


def shown_of(attempts: Sequence[Attempt], min_pass_rate: float) -> int:
    """Index of the attempt that a test ends like: one that failed when its pass rate is below `min_pass_rate` percent,
    else one that broke, else one that passed, else one that was skipped; the first of these."""
    judged = _judged(attempts)
    passed = sum(attempt.verdict is Verdict.PASSED for attempt in judged)
    fails = bool(judged) and pass_rate(passed, len(judged)) < min_pass_rate
    verdicts = [attempt.verdict for attempt in attempts]
    wanted = [Verdict.BROKEN, Verdict.INCONCLUSIVE, Verdict.PASSED, Verdict.SKIPPED]
    return next(
        verdicts.index(verdict) for verdict in ([Verdict.FAILED] if fails else []) + wanted if verdict in verdicts
    )


def _judged(attempts: Sequence[Attempt]) -> list[Attempt]:
    ended = [attempt for attempt in attempts if attempt.verdict in (Verdict.PASSED, Verdict.FAILED)]
    return [attempt for attempt in ended if attempt.judged] or ended


def consistency(answers: Sequence[str]) -> float:
    """Share of the runs with the most frequent answer, with two decimals; 1.0 when all answers are equal."""
    share = max(Counter(answers).values()) / len(answers)
    return 1.0 if share == 1 else min(0.99, round(share, 2))


def confidence_interval(passed: int, count: int) -> tuple[float, float]:
    """Wilson score interval at 95 %, in percent with one digit."""
    share, squared = passed / count, Z * Z
    middle = share + squared / (2 * count)
    width = Z * math.sqrt(share * (1 - share) / count + squared / (4 * count * count))
    low, high = ((middle + sign * width) / (1 + squared / count) for sign in (-1, 1))
    return round(100 * max(0.0, low), 1), round(100 * min(1.0, high), 1)


def pass_at(passed: int, count: int, k: int) -> float:
    """pass@k: the probability that at least one of k runs passes, estimated without bias from `count` runs."""
    return 1 - math.comb(count - passed, k) / math.comb(count, k)


def pass_hat(passed: int, count: int, k: int) -> float:
    """pass^k: the probability that all of k runs pass, estimated without bias from `count` runs."""
    return math.comb(passed, k) / math.comb(count, k)


def normalised(value: Any) -> str:
    """A JSON value as a text that is equal for outputs that mean the same: the order of keys, blanks and line breaks
    within texts, forms of Unicode, and `1.0` for `1` make no difference. It may be nested to any depth."""
    pieces: list[str] = []
    left: list[Any] = [value]
    while left:
        item = left.pop()
        if isinstance(item, _Piece):
            pieces.append(item.text)
        elif isinstance(item, list | tuple):
            left += reversed(_joined("[", [[one] for one in item], "]"))
        elif isinstance(item, dict):
            named = sorted(((str(key), one) for key, one in item.items()), key=lambda pair: pair[0])
            left += reversed(_joined("{", [[_Piece(text=f"{_plain(key)}: "), one] for key, one in named], "}"))
        elif isinstance(item, str):
            from unicodedata import normalize

            pieces.append(_plain(" ".join(normalize("NFC", item).split())))
        else:
            pieces.append(_plain(int(item) if isinstance(item, float) and item.is_integer() else item))
    return "".join(pieces)


class _Piece(Value):
    """Text that is finished."""

    text: str


def _joined(start: str, entries: list[list[Any]], end: str) -> list[Any]:
    """What stands between the brackets of a list or an object, with them."""
    parts: list[Any] = [_Piece(text=start)]
    for number, entry in enumerate(entries):
        parts += [_Piece(text=", "), *entry] if number else entry
    return [*parts, _Piece(text=end)]


def _plain(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
