"""The runs of a case with a policy: their verdict, and how many more are needed.

Reports have `{policy, verdict, decided_after, wave, judged, most, exact_errors?}`. `verdict` is `passed`, `failed`,
`inconclusive`, `broken` (more runs broke than may be judged), or null if the run was cut short. `wave` is the number of
runs that were made in any case; comparisons use only these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count, islice
from typing import Any

from runner.record.verdict import Verdict, verdict_in
from runner.statistics.policies import read_policy
from scripttest.typing_names import Record
from scripttest.values import Value, fields_of

_LETTERS = {Verdict.PASSED: "p", Verdict.FAILED: "f"}
_VERDICTS = {"passed": Verdict.PASSED, "failed": Verdict.FAILED, "undecided": Verdict.INCONCLUSIVE}
_WORDS = {None: "cut short", Verdict.INCONCLUSIVE: "undecided", Verdict.BROKEN: "too many errors"}
_DIGITS = 4


class Repeat(Value):
    """The result of applying a policy to the runs of a case."""

    policy: Any
    """As its file has it."""
    verdict: Verdict | None
    """None: more runs are needed."""
    decided_after: int | None
    """How many runs were needed for the verdict, including broken ones."""
    wave: int
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
            {name: round(value, _DIGITS) for name, value in fields_of(ends).items()} for ends in policy.exact_errors
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
