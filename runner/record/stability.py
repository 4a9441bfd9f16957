"""The stability of a test that ran several times (seed 004, "Stability Analysis"); and the runs of a case with a
policy: their verdict, and how many more are needed.

Attempts that were skipped, or that could not be judged because something else broke, count only in `errors`. The same
holds for attempts that passed because their judges could not judge, unless there are no others."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import count, islice

from runner.amounts import Cost, mean
from runner.record.outcomes import DECIDED, Verdict, error_text, verdict_in, verdict_of
from runner.record.votes import Judging, criteria_of
from runner.shapes.codec import members_of, value_of
from scripttest import Cause, Status
from scripttest.values import Value, fields_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.record.case_result import CaseResult
    from scripttest import Outcome
    from scripttest.typing_names import Record

CLASSES = ((100.0, "stable"), (80.0, "mostly stable"), (50.0, "unstable"), (0.0, "highly unstable"))
"""Pass rate in percent from which on a test is in a class."""
SHOWN_K = (1, 2, 3, 5, 10, 20, 50, 100)
"""Values of k, besides the number of runs, for which pass@k and pass^k are given."""


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
    def cause(self) -> Cause | None:
        """Why it has no verdict, if it has none."""
        return self.verdict.cause


_BY_K = ("pass_at_k", "pass_hat_k")


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
    avg_tokens: int | None = None
    avg_cost: float | None = None
    """US dollars."""
    pass_at_k: dict[int, float]
    """k → probability that at least one of k runs passes."""
    pass_hat_k: dict[int, float]
    """k → probability that all of k runs pass."""
    __keys__ = {"judged": "count"}  # noqa: RUF012
    __writers__ = {  # noqa: RUF012
        name: lambda figures, name=name: {str(k): value for k, value in getattr(figures, name).items()} or ...
        for name in _BY_K
    }
    __readers__ = {  # noqa: RUF012
        name: lambda line, name=name: {int(k): value for k, value in (line.get(name) or {}).items()} for name in _BY_K
    }


def stability_of(attempts: Sequence[Attempt], stops: bool = False) -> RunStatistics | None:
    """The stability of a test; None when no run could be judged. `stops`: runs ended with the verdict, so that pass@k
    and pass^k say nothing."""
    from statistics import fmean, pstdev

    judged = judged_of(attempts)
    if not judged:
        return None
    count, passed = len(judged), sum(attempt.passed for attempt in judged)
    durations = [attempt.duration_ms for attempt in judged]
    costs = [attempt.cost for attempt in judged if attempt.cost is not None]
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
        avg_tokens=round(fmean(attempt.tokens for attempt in judged)) or None,
        avg_cost=round(mean(costs), 6) if costs else None,
    )


def attempt_of(outcome: Outcome, case: CaseResult | None, run: int, judging: Judging | None) -> Attempt:
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
    return tuple(value_of(Attempt, run) for run in (line.get("runs") or line).get("attempts") or ())


def stability_in(line: Record) -> RunStatistics | None:
    """What the runs of a test have in common: as the line has it, else as it is computed from them."""
    runs = line.get("runs") or line
    if "attempts" not in runs:
        return None
    stops = "repeat" in runs
    needed = {member.key for member in members_of(RunStatistics) if member.is_required}
    if all(runs.get(key) is not None for key in needed - (set(_BY_K) if stops else set())):
        return value_of(RunStatistics, runs)
    return stability_of(attempts_in(line), stops)


def pass_rate(passed: int, count: int) -> float:
    """Percent with one digit behind the point; 0 and 100 mean none and all, 0 also that there were no runs."""
    if not count:
        return 0.0
    rate = round(100 * passed / count, 1)
    return rate if passed == count or not passed else min(99.9, max(0.1, rate))


def classification(passed: int, count: int) -> str:
    """The class of a test with this pass rate, by the table of seed 004."""
    return next(name for least, name in CLASSES if 100 * passed / count >= least)


def shown_of(attempts: Sequence[Attempt], min_pass_rate: float) -> int:
    """Index of the attempt that a test ends like: the first that failed when the pass rate is below `min_pass_rate`
    percent, else that broke, else that passed, else that was skipped."""
    judged, verdicts = judged_of(attempts), [attempt.verdict for attempt in attempts]
    fails = judged and pass_rate(sum(attempt.passed for attempt in judged), len(judged)) < min_pass_rate
    wanted = [Verdict.BROKEN, Verdict.INCONCLUSIVE, Verdict.PASSED, Verdict.SKIPPED]
    return next(verdicts.index(one) for one in ([Verdict.FAILED] if fails else []) + wanted if one in verdicts)


def judged_of(attempts: Sequence[Attempt]) -> list[Attempt]:
    """The attempts that passed or failed; those where nothing was judged only if there are no others."""
    ended = [attempt for attempt in attempts if attempt.verdict in DECIDED]
    return [attempt for attempt in ended if attempt.judged] or ended


def consistency(answers: Sequence[str]) -> float:
    """Share of the runs with the most frequent answer, with two decimals; 1.0 when all answers are equal."""
    share = max(Counter(answers).values()) / len(answers)
    return 1.0 if share == 1 else min(0.99, round(share, 2))


def confidence_interval(passed: int, count: int) -> tuple[float, float]:
    """Wilson score interval at 95 %, in percent with one digit."""
    from runner.statistics.intervals import wilson

    found = wilson(passed, count)
    return round(100 * found.low, 1), round(100 * found.high, 1)


def pass_at(passed: int, count: int, k: int) -> float:
    """pass@k: the probability that at least one of k runs passes, estimated without bias from `count` runs."""
    return 1 - math.comb(count - passed, k) / math.comb(count, k)


def pass_hat(passed: int, count: int, k: int) -> float:
    """pass^k: the probability that all of k runs pass, estimated without bias from `count` runs."""
    return math.comb(passed, k) / math.comb(count, k)


class _Piece(str):
    """Text that is finished."""


_COMMA = _Piece(", ")


def normalised(value: Any) -> str:
    """A JSON value as a text that is equal for outputs that mean the same: the order of keys, blanks and line breaks
    within texts, forms of Unicode, and `1.0` for `1` make no difference. It may be nested to any depth."""
    pieces: list[str] = []
    left: list[Any] = [value]
    while left:
        item = left.pop()
        if isinstance(item, _Piece):
            pieces.append(item)
        elif isinstance(item, list | tuple):
            inner = [part for one in item for part in (_COMMA, one)][1:]
            left += (_Piece("]"), *reversed(inner), _Piece("["))
        elif isinstance(item, dict):
            named = sorted(((str(key), one) for key, one in item.items()), key=lambda pair: pair[0])
            inner = [part for key, one in named for part in (_COMMA, _Piece(f"{_plain(key)}: "), one)][1:]
            left += (_Piece("}"), *reversed(inner), _Piece("{"))
        elif isinstance(item, str):
            from unicodedata import normalize

            pieces.append(_plain(" ".join(normalize("NFC", item).split())))
        else:
            pieces.append(_plain(int(item) if isinstance(item, float) and item.is_integer() else item))
    return "".join(pieces)


def _plain(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


_LETTERS = {Verdict.PASSED: "p", Verdict.FAILED: "f"}
_VERDICTS = {"passed": Verdict.PASSED, "failed": Verdict.FAILED, "undecided": Verdict.INCONCLUSIVE}
_WORDS = {None: "cut short", Verdict.INCONCLUSIVE: "undecided", Verdict.BROKEN: "too many errors"}
_DIGITS = 4


class Repeat(Value):
    """The result of applying a policy to the runs of a case; in reports `{policy, verdict, decided_after, wave, judged,
    most, exact_errors?}`. `verdict` is `passed`, `failed`, `inconclusive`, `broken` (more runs broke than may be
    judged), or null if the run was cut short."""

    policy: Any
    """As its file has it."""
    verdict: Verdict | None
    """None: more runs are needed."""
    decided_after: int | None
    """How many runs were needed for the verdict, including broken ones."""
    wave: int
    """The number of runs that were made in any case; comparisons use only these."""
    judged: int
    most: int
    exact_errors: tuple[Record, ...] = ()
    """How a sequential test ends at three rates, `{rate, passed, failed, undecided, mean_runs}`."""
    passed: int
    due: int
    """The fewest further runs that could decide."""
    text: str
    __beside__ = "passed due text"

    @property
    def saved(self) -> int:
        """How many runs were not needed."""
        return self.most - self.judged if self.verdict in (Verdict.PASSED, Verdict.FAILED) else 0

    @property
    def sentence(self) -> str:
        """`3 of 5 runs, decided: 3 passed, 3 of 5 have to`."""
        word = _WORDS.get(self.verdict, "decided")
        return f"{self.judged} of {self.most} runs, {word}: {self.passed} passed, policy {self.text}"


def repeat_of(written: Any, verdicts: Sequence[Verdict]) -> Repeat:
    """Applies a policy to the verdicts of a case's runs, in their order."""
    from runner.statistics.policies import read_policy

    policy = read_policy(written)
    found = policy.after("".join(_LETTERS.get(verdict, "b") for verdict in verdicts))
    verdict = _VERDICTS[found.verdict] if found.verdict else None
    due = found.next_wave
    if verdict is None and len(verdicts) - found.judged > policy.most:
        verdict, due = next((each for each in verdicts if each.is_none), Verdict.SKIPPED), 0
    return Repeat(
        policy=written,
        verdict=verdict,
        decided_after=found.decided_after,
        wave=policy.wave,
        judged=found.judged,
        passed=found.passed,
        most=policy.most,
        due=due,
        text=policy.text,
        exact_errors=tuple(
            {name: round(value, _DIGITS) for name, value in fields_of(ends).items()} for ends in policy.exact_errors()
        ),
    )


def needs_more(written: Any, verdicts: Mapping[int, Verdict]) -> list[int]:
    """The numbers of the next runs, given the verdicts of those that have ended."""
    due = repeat_of(written, [verdicts[number] for number in sorted(verdicts)]).due
    return list(islice((number for number in count(1) if number not in verdicts), due))


def shown_of_repeat(repeat: Repeat, verdicts: Sequence[Verdict]) -> int:
    """Index of the run that represents the case."""
    wanted = [repeat.verdict, Verdict.FAILED, Verdict.BROKEN, Verdict.PASSED, Verdict.SKIPPED, Verdict.INCONCLUSIVE]
    return next(verdicts.index(verdict) for verdict in wanted if verdict in verdicts)


def repeat_in(line: Record) -> Repeat | None:
    """The state of a policy after the runs of a case."""
    runs = line.get("runs") or {}
    if not isinstance(said := runs.get("repeat"), dict) or "policy" not in said:
        return None
    return repeat_of(said["policy"], [verdict_in(run) for run in runs["attempts"]])
