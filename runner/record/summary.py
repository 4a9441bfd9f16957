"""The summaries of runs and suites, as JSON and in words: counts, error bars, and what a run did with snapshots."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from runner.amounts import cost_record
from runner.record.events import SnapshotCounts
from runner.record.outcomes import DECIDED, Verdict
from runner.record.stability import pass_rate
from runner.record.votes import GROUPS, SUITE, TAG, JudgesNoise, noise_of
from runner.security.terminal import in_line
from scripttest.typing_names import Record, TypeVar
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.record.fold import Counts, GroupCounts
    from runner.record.model import TestResult

COST_DIGITS = 12
"""Digits of a sum of costs, in US dollars: what the order of adding changes comes behind them."""


def counts_record(counts: Counts) -> Record:
    """`{total, passed, failed, skipped, errors?, warnings?, missing_calls?, not_judged?, todo?, only?,
    stopped_early?: {not_needed, of, cost?}, checks_nothing?, checks_nothing_first?}`, as `Counts` declares them. Of
    `only` and `checks_nothing_first` there are names. `stopped_early` is about runs of cases with a policy: how many
    were not needed, of how many, and about what they would have cost, in US dollars."""
    record: Record = {name: getattr(counts, name) for name in ("total", "passed", "failed", "skipped")}
    optional = ("errors", "warnings", "missing_calls", "not_judged", "todo", "only")
    record |= {name: number for name in optional if (number := getattr(counts, name))}
    if counts.repeated:
        record["stopped_early"] = {"not_needed": counts.not_needed, "of": counts.repeated + counts.not_needed}
        if counts.saved_cost is not None:
            record["stopped_early"]["cost"] = round(counts.saved_cost, 6)
    if counts.checks_nothing:
        record |= {"checks_nothing": counts.checks_nothing, "checks_nothing_first": counts.checks_nothing_first}
    return record


def usage_record(counts: Counts) -> Record:
    """`{usage: {input_tokens, output_tokens, cost?, cost_estimated?}}` when models were asked, in US dollars."""
    if not (counts.tokens or counts.cost):
        return {}
    usage = {"input_tokens": counts.input_tokens, "output_tokens": counts.output_tokens}
    return {"usage": {**usage, **cost_record(cost_of(counts))}}


def cost_of(counts: Counts) -> float | None:
    """What all results cost, in US dollars, without what the order of adding changes."""
    return None if counts.cost is None else round(counts.cost, COST_DIGITS)


def stability_summary(results: Sequence[TestResult]) -> Record:
    """`{total_cases, total_runs, overall_pass_rate, stable_cases, unstable_cases}` of results; a test that ran
    once counts as one run if it was judged."""
    made = [
        (found.passed, found.judged) if (found := result.stability) else (int(result.verdict is Verdict.PASSED), 1)
        for result in results
        if result.stability or result.verdict in DECIDED
    ]
    passed, runs = sum(one for one, _ in made), sum(of for _, of in made)
    stable = sum(one == of for one, of in made)
    return {
        "total_cases": len(results),
        "total_runs": runs,
        "overall_pass_rate": pass_rate(passed, runs),
        "stable_cases": stable,
        "unstable_cases": len(made) - stable,
    }


def remarks(counts: Counts, with_calls: bool = True) -> list[str]:
    """Remarks on a run: unanswered calls, unjudged criteria, unfinished or lonely tests, cases that check nothing."""
    said = []
    if (number := counts.missing_calls) and with_calls:
        said.append(f"{number} missing {'call' if number == 1 else 'calls'}")
    if counts.not_judged:
        said.append(unjudged(counts.not_judged))
    if counts.todo:
        said.append(f"{counts.todo} todo")
    if counts.only:
        said.append(f"t.only in {in_line(', '.join(counts.only))}: other tests of the same module did not run")
    if number := counts.checks_nothing:
        first = counts.checks_nothing_first
        more = f" and {number - len(first)} more" if number > len(first) else ""
        said.append(
            f"{number} {'case checks' if number == 1 else 'cases check'} nothing: {in_line(', '.join(first))}{more}"
        )
    return said


def savings(counts: Counts) -> str:
    """`Stopped early: 61 of 150 runs not needed (about $0.24)`; empty where no case has a policy."""
    if not counts.repeated:
        return ""
    saved = round(counts.saved_cost or 0, 6)
    cost = f" (about ${saved:.2g})" if saved else ""
    return f"Stopped early: {counts.not_needed} of {counts.repeated + counts.not_needed} runs not needed{cost}"


def unjudged(number: int) -> str:
    """`2 criteria were not judged`."""
    return f"{number} {'criterion was' if number == 1 else 'criteria were'} not judged"


Item = TypeVar("Item")

DIGITS = 4
BARS = ("pass_rate", "pass_rate_interval", "mean_score", "mean_score_interval", "judges_noise", "parts")
PARTS = 200
"""At most this many parts of a kind are in a summary."""


class Figures(Value):
    """A pass rate and a mean score, from 0 to 1, with their intervals at 95 %, `(low, high)`."""

    pass_rate: float | None = None
    pass_rate_interval: tuple[float, ...] | None = None
    mean_score: float | None = None
    mean_score_interval: tuple[float, ...] | None = None


class GroupFigures(Figures):
    """Those of a suite, a tag, a criterion or a checkpoint."""

    kind: str
    name: str
    cases: int
    runs: int = 0
    __members__ = "kind name cases runs"


class Certainty(Figures):
    """The figures of a run."""

    judges_noise: JudgesNoise | None = None
    parts: tuple[GroupFigures, ...] = ()
    """Of suites, if there are several, tags, criteria and checkpoints: the `PARTS` of each kind with the most cases."""


def certainty_of(counts: Counts) -> Certainty:
    """How sure the figures of a run are, in which each case weighs the same; none if no case was judged."""
    if not counts.rates:
        return Certainty()
    noise = noise_of(counts.noise) if counts.noise is not None else None
    if noise is not None:
        score = round(noise.mean_score or 0.0, DIGITS) if counts.scores else None
        noise = noise.replace(pass_rate=round(noise.pass_rate, DIGITS), mean_score=score)
    return Certainty(**_figures(counts), judges_noise=noise, parts=tuple(_parts(counts)))


class GroupRow(Value):
    """A row of a table of parts, as texts: how many cases it has, its pass rate and its mean score."""

    kind: str
    name: str
    cases: str = ""
    rate: str = ""
    score: str = ""


def part_rows(known: Certainty, limit: int = PARTS, detailed: bool = True) -> list[GroupRow]:
    """A row for each part of more than one run; of each kind `limit`, and then a row with the number of the others."""
    rows: list[GroupRow] = []
    for kind in GROUPS:
        found = [part for part in known.parts if part.kind == kind and max(part.cases, part.runs) > 1]
        for part in _most(found, limit, lambda part: part.cases):
            texts = {"rate": rate_text(part, detailed), "score": score_text(part, detailed)}
            rows.append(GroupRow(kind=kind, name=part.name, cases=str(part.cases), **texts))
        if len(found) > limit:
            rows.append(GroupRow(kind=kind, name=f"... and {len(found) - limit} more"))
    return rows


def rate_text(known: Figures, detailed: bool = True) -> str:
    """`90.7% (82.1-95.4%)`, the interval if it is known and wanted; empty when nothing was judged."""
    return share_text(known.pass_rate, known.pass_rate_interval if detailed else None)


def score_text(known: Figures, detailed: bool = True) -> str:
    """The same of a mean score."""
    return share_text(known.mean_score, known.mean_score_interval if detailed else None)


def share_text(share: float | None, interval: Sequence[float] | None) -> str:
    """`90.7% (82.1-95.4%)`; without an interval, the share alone; empty without a share."""
    if share is None:
        return ""
    if interval is None:
        return percent(share)
    low, high = map(percent, interval)
    return f"{percent(share)} ({low.removesuffix('%')}-{high})"


def judges_text(known: Certainty) -> str:
    """`±3.1 points of the pass rate, ±1.2 of the mean score (95% interval, votes on 60 answers)`; empty if there were
    too few votes to say."""
    noise = known.judges_noise
    if noise is None:
        return ""
    if not (noise.pass_rate or noise.mean_score):
        return f"none: the votes on {noise.answers} answers always agree"
    of_score = "" if noise.mean_score is None else f", ±{100 * noise.mean_score:.1f} of the mean score"
    of_rate = f"±{100 * noise.pass_rate:.1f} points of the pass rate"
    return f"{of_rate}{of_score} (95% interval, votes on {noise.answers} answers)"


def _figures(counts: GroupCounts) -> Record:
    from runner.statistics.intervals import mean_of, suite_rate

    rate, score = suite_rate(list(counts.rates.elements())), mean_of(list(counts.scores.elements()))
    found: Record = {}
    for name, estimate in (("pass_rate", rate), ("mean_score", score)):
        if estimate.value is not None:
            found[name] = round(estimate.value, DIGITS)
            if (ends := estimate.interval) is not None:
                found[f"{name}_interval"] = (round(ends.low, DIGITS), round(ends.high, DIGITS))
    return found


def _parts(counts: Counts) -> Iterator[GroupFigures]:
    for kind in GROUPS:
        known = {
            part.name: figures if kind in (SUITE, TAG) else _one(figures)
            for part, figures in counts.groups.items()
            if part.kind == kind and _cases(figures)
        }
        if kind == SUITE and len(known) < 2:
            continue
        for name, part in _most(list(known.items()), PARTS, lambda item: _cases(item[1])):
            runs = sum(of_case.judged * cases for of_case, cases in part.rates.items())
            yield GroupFigures(kind=kind, name=name, cases=_cases(part), runs=runs, **_figures(part))


def _most(items: Sequence[Item], limit: int, cases: Callable[[Item], int]) -> Sequence[Item]:
    """The parts with the most cases, in their order."""
    if len(items) <= limit:
        return items
    places = sorted(range(len(items)), key=lambda at: (-cases(items[at]), at))[:limit]
    return [items[at] for at in sorted(places)]


def _one(part: GroupCounts) -> GroupCounts:
    """The one figure of a criterion: how often it passes, or its mean score if some are neither 0 nor 1."""
    if not part.scores:
        return part
    whole = type(part)()
    whole.scores.update(part.scores)
    for runs, cases in part.rates.items():
        whole.scores[runs.rate] += cases
    return whole


def _cases(part: GroupCounts) -> int:
    return max(part.rates.total(), part.scores.total())


def percent(share: float) -> str:
    """A percentage that is 0 or 100 only if the rate is exactly that."""
    if share in (0, 1):
        return f"{100 * share:.0f}%"
    rounded = math.floor(1000 * share + 0.5) / 10  # a half goes up, as on the page
    return f"{min(99.9, max(0.1, rounded)):.1f}%"


NAMED = 50
_DONE = {"written": "snapshot", "updated": "snapshot", "removed": "obsolete snapshot", "obsolete": "obsolete snapshot"}
"""Field of `SnapshotCounts` → what it counts."""


def snapshots_together(found: Sequence[SnapshotCounts]) -> SnapshotCounts | None:
    """What several runs did with snapshots, added up; None where none did anything."""
    numbers = {key: sum(getattr(counts, key) for counts in found) for key in ("written", "updated", "removed")}
    whole = SnapshotCounts(**numbers, obsolete=tuple(dict.fromkeys(name for one in found for name in one.obsolete)))
    return whole if whole != SnapshotCounts() else None


def in_words(counts: SnapshotCounts) -> str:
    """The counts in words, such as `2 snapshots written, 1 obsolete snapshot`."""
    parts = []
    for name, word in _DONE.items():
        found = getattr(counts, name)
        number, done = (len(found), "") if name == "obsolete" else (found, f" {name}")
        if number:
            parts.append(f"{number} {word}{'' if number == 1 else 's'}{done}")
    return ", ".join(parts)


def in_lines(counts: SnapshotCounts) -> list[str]:
    """The counts in lines, with the names of obsolete snapshots and how to remove them."""
    lines = [in_words(counts)]
    lines += [f"  obsolete: {name}" for name in (name.replace("\n", "\\n") for name in counts.obsolete[:NAMED])]
    if len(counts.obsolete) > NAMED:
        lines.append(f"  ... and {len(counts.obsolete) - NAMED} more")
    if counts.obsolete:
        lines.append("  --update-snapshots removes them")
    return lines
