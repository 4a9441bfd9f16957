"""The verdict on a change in words: tables and sentences, the same on the console and in Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

from runner.amounts import dollars
from runner.compare.change_report import (
    A_AND_B,
    BeforeAfter,
    Breakdown,
    ChangeReport,
    ChangeVerdict,
    ComparedCase,
    Noise,
    ResourceChange,
)
from runner.record.model import ResultKey
from runner.record.summary import percent, share_text
from runner.record.votes import PASSED, SCORE, JudgesNoise
from runner.reporters.console.style import CASE_RATE, count, in_milliseconds
from runner.security.terminal import in_line
from runner.statistics.change import MeanDifference
from runner.statistics.intervals import Estimate, Interval

Row = tuple[str, ...]

NAMED = 10
"""Cases that a sentence names."""
KNOWN_RUNS = 10
"""Runs of A with which only B runs again to see whether a suspect broke."""
CONFIRMING_RUNS = 5
"""Runs a side that show whether a suspect broke."""
MOST_RUNS = 100
"""Runs of each case for which a command is named."""
CONFIRMED = 20
"""Cases that the command to run them again names."""
PARTS = 20
"""Criteria and tags of a table."""
LISTED = 50
"""Cases of a table."""
HEAD: Row = ("Measure", "A", "B", "Difference", "Verdict")
CASE_HEAD: Row = ("Case", "A", "B", "p", "Verdict")
MEASURES: dict[str, tuple[str, Callable[[float], str]]] = {
    "pass_rate": (CASE_RATE, percent),
    "score": ("Score", "{:.3f}".format),
    "duration_ms": ("Duration", in_milliseconds),
    "tokens": ("Tokens", "{:.0f}".format),
    "cost": ("Cost", partial(dollars, digits=6)),
}
"""Key of a measure → its name, and how a value of it is written: some results cost less than a hundredth of a cent."""
RESOURCES = {"duration_ms": ("slower", "faster"), "tokens": ("more", "fewer"), "cost": ("more expensive", "cheaper")}
"""Measure of what runs take → the words for more and for less of it."""


def measure_rows(found: ChangeReport, detailed: bool = True) -> list[Row]:
    """A row for the measure, then one for each other figure; with intervals if `detailed`."""
    first = (
        measure_name(found.measure),
        *(rate_of(rate, detailed) for rate in found.rates.both),
        difference_of(found.change, detailed),
        str(found.verdict),
    )
    return [first, *_part_rows(found, detailed), *(_beside_row(beside, detailed) for beside in found.beside)]


def measure_name(measure: str) -> str:
    """The name for people of what reports are compared by."""
    return {PASSED: CASE_RATE, SCORE: "Mean score"}.get(measure) or f"criterion {measure}"


def case_rows(found: ChangeReport, detailed: bool = True) -> list[Row]:
    """The cases that got worse: first the certain ones, then those that probably did; with p-values if `detailed`."""
    shown = sorted(found.fell, key=lambda case: (not case.broke, not case.is_suspect, -case.fall))
    return [
        (
            case.key.name,
            *map(_runs_of, case.figures.both),
            "" if case.p is None or not detailed else "< 0.001" if case.p < 0.001 else f"{case.p:.3f}",
            "worse" if case.broke else "probably worse" if case.is_suspect else "lower",
        )
        for case in shown[:LISTED]
    ]


def sentences(found: ChangeReport, names: BeforeAfter[str] = A_AND_B, detailed: bool = True) -> list[str]:
    """The comparison in words: the plain verdict first, then what would help where it is open. `names` are those of the
    two sides; `detailed` adds what the runs could have shown, and how many it would take."""
    said = [f"{_verdict(found, names)}"]
    if found.lacks_verdicts:
        number = found.cases_of_a - len(found.cases)
        said.append(
            f"{number} of {count(found.cases_of_a, 'case')} of {names.a} lack a result in {names.b}: --fail-on fails."
        )
    if found.is_same_report:
        said.append(f"Warning: {names.a} and {names.b} are the same report.")
    if found.is_judges_noise:
        said.append("Both reports grade the same answers, so every difference comes from the judges.")
    if found.judges_noise is not None and detailed:
        said.append(_judges(found.judges_noise, found.measure))
    if found.noise is Noise.NONE and found.fell:
        said.append("These answers are deterministic, so every difference is real.")
    if found.verdict is ChangeVerdict.CANNOT_TELL and found.cases and found.noise is Noise.RUNS:
        said += _advice(found, names, detailed)
    return said + _left_out(found, names)


def _judges(noise: JudgesNoise, measure: str) -> str:
    if not noise.of(measure):
        return f"The judges add no noise: their votes on {noise.answers} answers always agreed."
    of_votes = f"±{100 * noise.of(measure):.1f} points (95% interval, votes on {noise.answers} answers)"
    return f"Judge noise alone is {of_votes}: smaller differences say nothing about the agents."


def rate_of(rate: Estimate, detailed: bool = True) -> str:
    """`92.0% (86.5-95.4%)`; without an interval where it is not known or not wanted."""
    ends = (rate.interval.low, rate.interval.high) if rate.interval is not None and detailed else None
    return share_text(rate.value, ends) or "none"


def points(difference: float) -> str:
    """A difference of shares: `-9.3`, `+2.0`."""
    shown = f"{100 * difference:+.1f}"
    return "0.0" if shown in ("+0.0", "-0.0") else shown


def difference_of(change: MeanDifference, detailed: bool = True) -> str:
    """`-9.3 points (-16.5 to -2.2)`."""
    if change.difference is None:
        return "none"
    return f"{points(change.difference)} points{_ends(change.interval) if detailed else ''}"


def parts_shown(found: ChangeReport) -> list[Breakdown]:
    """The criteria and tags of the table, the most conspicuous first."""
    return sorted(found.parts, key=lambda part: not part.stands_out)[:PARTS]


def _part_rows(found: ChangeReport, detailed: bool) -> list[Row]:
    return [
        (
            measure_name(part.name) if part.kind == SCORE else f"{part.kind} {part.name}",
            *(rate_of(rate, detailed) for rate in part.rates.both),
            difference_of(part.change, detailed),
            "worth a look" if part.stands_out else "",
        )
        for part in parts_shown(found)
    ]


def _ends(interval: Interval | None) -> str:
    return f" ({points(interval.low)} to {points(interval.high)})" if interval else ""


def _beside_row(beside: ResourceChange, detailed: bool) -> Row:
    (name, text), (more, fewer) = MEASURES[beside.name], RESOURCES[beside.name]
    a, b = map(text, beside.means.both)
    ratio = beside.ratio
    if ratio is None:
        return name, a, b, "", ""
    interval = f" ({ratio.interval.low:.2f} to {ratio.interval.high:.2f})" if ratio.interval and detailed else ""
    word = "no clear change"
    if ratio.interval is not None and ratio.interval.low > 1:
        word = more
    elif ratio.interval is not None and ratio.interval.high < 1:
        word = fewer
    elif ratio.ratio == 1:
        word = "unchanged"
    return name, a, b, f"x{ratio.ratio:.2f}{interval}", word


def _runs_of(values: Sequence[float]) -> str:
    if all(value in (0.0, 1.0) for value in values):
        return f"{sum(values):.0f}/{len(values)}"
    return f"{sum(values) / len(values):.3f}"


def _verdict(found: ChangeReport, names: BeforeAfter[str]) -> str:
    if found.too_many_broke:
        broken, runs = found.left_out.broken, found.runs.b + found.left_out.broken.b
        return f"No verdict: {broken.b} of {runs} runs of {names.b} ended with an error ({names.a}: {broken.a})."
    if not found.cases:
        return "No verdict: no case has a result in both reports."
    looks = found.looks  # figures of runs that ended when they had decided are a little too sure of themselves
    stop = f" (stopped after {looks.made} of {looks.planned} rounds)" if looks.ended_early else ""
    said = f"{_moved(found)}{stop}."
    if found.verdict is ChangeVerdict.UNCHANGED and found.noise is Noise.RUNS:
        return f"Unchanged: any difference is within {100 * found.margin:g} points."
    if found.verdict is not ChangeVerdict.CANNOT_TELL:
        return f"{found.verdict.capitalize()}: {said}"
    return f"{said[0].upper()}{said[1:]}" + (" Too few runs to be sure." if found.noise is Noise.RUNS else "")


def _moved(found: ChangeReport) -> str:
    of, worse = len(found.cases), len(found.fell)
    better = sum(case.fall < -1e-12 for case in found.cases)
    if of == 1 and worse + better:
        return f"the only case got {'worse' if worse else 'better'}"
    if worse:
        return f"{worse} of {of} cases got worse" + (f", {better} got better" if better else "")
    if better:
        return f"{better} of {of} cases got better, none got worse"
    if of == 1:
        return "the only case passed equally often"
    return f"{'both' if of == 2 else f'all {of}'} cases passed equally often"


def _advice(found: ChangeReport, names: BeforeAfter[str], detailed: bool) -> list[str]:
    said = []
    suspects = found.suspects
    if suspects:
        is_known = all(len(case.figures.a) >= KNOWN_RUNS for case in suspects)
        runs = len(suspects) * CONFIRMING_RUNS * (1 if is_known else 2)
        cost = f" ({runs} runs{_about(found, runs)})" if detailed else ""
        which = "this case" if len(suspects) == 1 else f"these {len(suspects)} cases"
        got = f"To find out whether {which} really got worse, run {'it' if len(suspects) == 1 else 'each'}"
        told = f"{got} {CONFIRMING_RUNS} times {f'in {names.b}' if is_known else 'on both sides'}{cost}"
        said.append(
            f"{told}: {confirming_command(suspects, found.variants)}" if len(suspects) <= CONFIRMED else f"{told}."
        )
    else:
        runs = max(CONFIRMING_RUNS, found.reach.runs_each if found.reach is not None else 0)
        of_both = "the variants" if found.variants else "both sides"
        told = f"To find out, run {of_both} again: {_command(found.cases, found.variants, runs)}"
        said.append(
            told
            if runs <= MOST_RUNS
            else f"It would take {runs:,} runs of each case to be sure, or fewer with more cases."
        )
    if not detailed:
        return said
    if found.reach is not None:
        seen = "These runs could not have detected any drop."
        if found.reach.detectable < 1:
            seen = (
                f"These runs would detect a drop of {100 * found.reach.detectable:.1f} points four times out of five."
            )
        said += [seen, *_more_runs(found, names)]
    if found.cases_limit:
        said.append("Cases vary more than runs: more cases would help more than more runs.")
    if found.has_scores:
        said.append("The cases have scores: --measure score detects smaller differences.")
    like = found.like_these.interval
    if like is not None:
        low, high = points(max(-1.0, like.low)), points(min(1.0, like.high))
        said.append(f"For similar cases, expect a difference of {low} to {high} points.")
    return said


def _more_runs(found: ChangeReport, names: BeforeAfter[str]) -> list[str]:
    assert found.reach is not None
    there = min(case.fewest_runs for case in found.cases)
    more = found.reach.runs_each - there
    if more <= 0:
        return []
    runs = more * len(found.cases) * 2
    further = f"{more:,} more {'run' if more == 1 else 'runs'}"
    said = f"Detecting a {100 * found.margin:g}-point difference would take {further} on each side"
    said += f" ({runs:,} in total{_about(found, runs)})"
    of_b = (found.reach.runs_of_b or 0) - there
    if of_b > 0:
        runs = of_b * len(found.cases)
        said += f", or {of_b:,} more in {names.b} alone ({runs:,} in total{_about(found, runs)})"
    return [f"{said}."]


def _about(found: ChangeReport, runs: int) -> str:
    return f", about {dollars(runs * found.mean_cost, 2)}" if found.mean_cost else ""


def confirming_command(cases: Sequence[ComparedCase], variants: Sequence[str] = ()) -> str:
    """The command that runs cases again, in the variants of their run."""
    ids = dict.fromkeys(case.key.id for case in cases)
    names = "|".join(re.escape(id).replace(r"\-", "-").replace(r"\ ", " ") for id in ids)
    return _command(cases, variants, CONFIRMING_RUNS, f"^({names})$" if len(ids) > 1 else f"^{names}$")


def _command(cases: Sequence[ComparedCase], variants: Sequence[str], runs: int, pattern: str = "") -> str:
    """The command that runs cases again; without a pattern, all cases of their suites."""
    from shlex import quote

    suites = dict.fromkeys(case.key.without_variant for case in cases)
    words = [f"-i {quote(suite)}" for suite in suites] if pattern or len(suites) <= NAMED else []
    words += [f"--run {quote(pattern)}"] if pattern else []
    words += [f"--variant {quote(variant)}" for variant in variants]
    return " ".join(["yao-test", *words, f"--runs {runs} -o again.jsonl"])


def _left_out(found: ChangeReport, names: BeforeAfter[str]) -> list[str]:
    left = found.left_out
    said = []
    for keys, what in (
        (left.removed, f"only in {names.a}"),
        (left.added, f"only in {names.b}"),
        (left.changed, "changed and not compared"),
        (left.unjudged, "without a result on one side"),
    ):
        if keys:
            said.append(f"{count(len(keys), 'case')} {what}: {_named(keys)}.")
    for runs, what in (
        (left.broken, "with an error"),
        (left.inconclusive, "inconclusive"),
        (left.skipped, "skipped"),
        (left.no_score, f"without {found.measure}"),
        (left.doubled, "with a duplicate name"),
    ):
        if any(runs.both) and not (runs is left.broken and found.too_many_broke):
            said.append(f"Not counted ({what}): {count(runs.a, 'run')} in {names.a}, {runs.b} in {names.b}.")
    return said


def _named(keys: Sequence[ResultKey]) -> str:
    more = f" and {len(keys) - NAMED} more" if len(keys) > NAMED else ""
    return in_line(", ".join(key.name for key in keys[:NAMED])) + more
