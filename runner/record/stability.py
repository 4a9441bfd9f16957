"""The stability of a test that ran several times (seed 004, "Stability Analysis").

Pure functions over values, without events or reports. Attempts that were skipped, or that could not be judged because
something else broke, count only in `errors`. The same holds for attempts that passed because their judges could not
judge, unless there are no others."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence

from runner.amounts import Cost, mean
from runner.record.outcomes import error_text
from runner.record.verdict import Verdict, verdict_in, verdict_of
from runner.record.votes import Judging, criteria_of
from runner.shapes.codec import value_of
from scripttest import Cause, Status
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.record.case_result import CaseResult
    from scripttest import Outcome
    from scripttest.typing_names import Record

CLASSES = ((100.0, "stable"), (80.0, "mostly stable"), (50.0, "unstable"), (0.0, "highly unstable"))
"""Pass rate in percent from which on a test is in a class."""
_FIGURES = {
    *("count", "passed", "failed", "pass_rate", "consistency", "stable", "classification", "avg_duration_ms"),
    *("min_duration_ms", "max_duration_ms", "std_deviation_ms", "confidence_interval"),
}
SHOWN_K = (1, 2, 3, 5, 10, 20, 50, 100)
"""Values of k, besides the number of runs, for which pass@k and pass^k are given."""
Z = 1.959963984540054
"""Two-sided 95 % point of the normal distribution."""


CAUSES = {Verdict.BROKEN: Cause.INFRASTRUCTURE.value, Verdict.INCONCLUSIVE: Cause.INCONCLUSIVE.value}
"""The causes that runs without a verdict name."""


class Attempt(Value):
    """One run of a test."""

    run: int
    """From 1."""
    verdict: Verdict
    duration_ms: int
    answer: str = ""
    """Its output as a text that is equal for equal outputs; see `normalised`."""
    output: Any = None
    error: str | None = None
    """Its first failure."""
    score: float | None = None
    """Of a conversation, 0 to 1."""
    tokens: int = 0
    cost: Cost | None = None
    not_judged: int = 0
    """How many of its criteria no judge could judge."""
    judged: bool = True
    """False: it passed, and nothing of it was judged."""
    criteria: Mapping[str, float] | None = None
    """Id of a criterion → 1 or 0, or its score; None: it has none."""
    judging: Judging | None = None
    """The result of several votes of judges; None if there were none."""
    __members__ = "run status duration_ms output error cause score tokens cost not_judged judged criteria judging"
    __beside__ = "verdict answer"
    __readers__ = {"verdict": verdict_in}  # noqa: RUF012

    @property
    def passed(self) -> bool:
        """Whether it passed."""
        return self.verdict is Verdict.PASSED

    @property
    def status(self) -> Status:
        """`passed`, `failed` or `skipped`."""
        return self.verdict.status

    @property
    def cause(self) -> str | None:
        """Why it has no verdict, if it has none."""
        return CAUSES.get(self.verdict)


def _by_k(name: str) -> Any:
    return lambda line: {int(k): value for k, value in (line.get(name) or {}).items()}


class RunStatistics(Value):
    """What the runs of a test have in common."""

    judged: int
    """Runs that passed or failed."""
    passed: int
    failed: int
    errors: int | None = None
    """Runs that broke; None: none did."""
    pass_rate: float
    """Percent; see `pass_rate`."""
    consistency: float
    """Share of the runs whose output is the most frequent one, 0 to 1."""
    stable: bool
    """Whether all passed."""
    classification: str
    """`stable`, `mostly stable`, `unstable` or `highly unstable`."""
    avg_duration_ms: int
    min_duration_ms: int
    max_duration_ms: int
    std_deviation_ms: float
    """Standard deviation of the population: these runs are not a sample."""
    confidence_interval: tuple[float, float]
    """Wilson score interval of the pass rate at 95 %, in percent."""
    pass_at_k: dict[int, float]
    """k → probability that at least one of k runs passes."""
    pass_hat_k: dict[int, float]
    """k → probability that all of k runs pass."""
    avg_tokens: int | None = None
    avg_cost: float | None = None
    """US dollars."""
    __keys__ = {"judged": "count"}  # noqa: RUF012
    __writers__ = {  # noqa: RUF012
        name: lambda figures, name=name: {str(k): value for k, value in getattr(figures, name).items()} or ...
        for name in ("pass_at_k", "pass_hat_k")
    }
    __readers__ = {"pass_at_k": _by_k("pass_at_k"), "pass_hat_k": _by_k("pass_hat_k")}  # noqa: RUF012


def stability_of(attempts: Sequence[Attempt], stops: bool = False) -> RunStatistics | None:
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
    return RunStatistics(
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


def attempt_of(outcome: Outcome, case: CaseResult | None, run: int = 1, judging: Judging | None = None) -> Attempt:
    """The attempt that one run of a test is."""
    of_case: dict[str, Any] = {}
    if case is not None:
        of_case = {
            "output": list(case.transcript) if case.scores_turns else case.output,
            "score": case.score,
            "tokens": case.tokens,
            "cost": case.cost,
            "judged": _is_judged(outcome, case),
            "criteria": criteria_of(case) or None,
        }
    return Attempt(
        run=run,
        verdict=verdict_of(outcome.status, outcome.cause),
        duration_ms=round(outcome.milliseconds),
        error=error_text(outcome.decisive) if outcome.decisive else None,
        not_judged=outcome.not_judged,
        judging=judging,
        **of_case,
    )


def answer_of_run(outcome: Outcome, case: CaseResult | None) -> str:
    """What a run answered, as a text that is equal for equal answers. What a script test answers is how it ended."""
    if case is None:
        errors = list(map(error_text, outcome.failures))
        return normalised([outcome.status, errors if len(errors) > 1 else errors[0] if errors else None])
    if case.turns:
        return normalised([turn.response if turn.output is None else turn.output for turn in case.turns])
    return normalised(list(case.transcript) if case.scores_turns else case.output)


def _is_judged(outcome: Outcome, case: CaseResult) -> bool:
    """Whether anything that could fail was judged, in a case that passed although something was not."""
    if not outcome.not_judged or outcome.status != Status.PASSED:
        return True
    checks: list[Any] = [*case.assertions, *(case.final_assertions or ()), *(case.checkpoints or ())]
    checks += [check for turn in case.turns for check in turn.assertions]
    checks += [check for entry in case.scores for check in entry.assertions]
    return any(check.judged for check in checks)


def attempts_in(line: Record) -> tuple[Attempt, ...]:
    """The runs of a test."""
    runs = line.get("runs") or line
    return tuple(value_of(Attempt, run) for run in runs.get("attempts") or ())


def stability_in(line: Record) -> RunStatistics | None:
    """What the runs of a test have in common: as the line has it, else as it is computed from them."""
    runs = line.get("runs") or line
    if "attempts" not in runs:
        return None
    needed = {"pass_at_k", "pass_hat_k"} if "repeat" not in runs else set()
    if needed | _FIGURES <= {key for key, value in runs.items() if value is not None}:
        return value_of(RunStatistics, runs)
    return stability_of(attempts_in(line), stops="repeat" in runs)


def pass_rate(passed: int, count: int) -> float:
    """Percent with one digit behind the point; 0 and 100 mean none and all, 0 also that there were no runs."""
    if not count:
        return 0.0
    rate = round(100 * passed / count, 1)
    return rate if passed == count or not passed else min(99.9, max(0.1, rate))


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
