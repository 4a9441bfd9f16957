"""The verdict on a change in words: tables and sentences, the same on the console and in Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from runner.amounts import dollars
from runner.compare.change_report import A_AND_B, Beside, ChangeReport, ChangeVerdict, ComparedCase, Noise, Part, Sides
from runner.record.keys import ResultKey
from runner.record.votes import JudgesNoise
from runner.reporters.console.style import count, in_milliseconds
from runner.security.terminal import in_line
from runner.statistics.exact_tests import fewest_runs
from runner.statistics.intervals import Estimate, Interval

Row = tuple[str, ...]

NAMED = 10
"""Cases that a sentence names."""
KNOWN_RUNS = 10
"""Runs of A with which only B runs again to see whether a suspect broke."""
CONFIRMING_RUNS = 5
"""Runs a side that show whether a suspect broke."""
CONFIRMED = 20
"""Cases that the command to run them again names."""
PARTS = 20
"""Criteria and tags of a table."""
LISTED = 50
"""Cases of a table."""
HEAD: Row = ("Measure", "A", "B", "Difference (95 %)", "Verdict")
CASE_HEAD: Row = ("Case", "A", "B", "p", "Verdict")
_SIDE = re.compile(r"(?<=of )[AB]\b|(?<=in )[AB]\b|(?<=\()A(?=:)|\bA(?= and B\b)|(?<=and )B\b")
"""Where a sentence names a side; "A drop" does not."""
_WORDS = {"duration_ms": ("duration", "slower", "faster"), "tokens": ("tokens", "more", "fewer"),
          "cost": ("cost", "dearer", "cheaper")}  # fmt: skip


def measure_rows(found: ChangeReport) -> list[Row]:
    """A row for the measure, then one for each other figure."""
    first = (found.measure, *(rate_of(rate) for rate in found.rates.both), difference_of(found), str(found.verdict))
    return [first, *_part_rows(found), *(_beside_row(beside) for beside in found.beside)]


def case_rows(found: ChangeReport) -> list[Row]:
    """The cases that broke, then those that are suspect, and those that fell."""
    shown = sorted(found.fell, key=lambda case: (not case.broke, not case.is_suspect, -case.fall))
    return [
        (
            case.key.name,
            *map(_runs_of, case.figures.both),
            "" if case.p is None else "< 0.001" if case.p < 0.001 else f"{case.p:.3f}",
            "broke" if case.broke else "suspect" if case.is_suspect else "lower",
        )
        for case in shown[:LISTED]
    ]


def sentences(found: ChangeReport, names: Sides[str] = A_AND_B) -> list[str]:
    """What the comparison comes to: the verdict, then what would help where it cannot tell; `names` are those of the
    two sides."""
    said = _sentences(found)
    if names == A_AND_B:
        return said
    return [_SIDE.sub(lambda match: names.a if match[0] == "A" else names.b, sentence) for sentence in said]


def _sentences(found: ChangeReport) -> list[str]:
    said = [f"{_verdict(found)}{_missing(found)}"]
    if found.lacks_verdicts:
        number = found.cases_of_a - len(found.cases)
        said.append(
            f"{number} of {count(found.cases_of_a, 'case')} of A have no verdict in B: too many for --fail-on, which "
            "fails."
        )
    if found.is_same_report:
        said.append("Warning: A and B are the same report.")
    if found.is_judges_noise:
        said.append("Both are grades of the same answers: what differs is the judge's own noise.")
    if found.judges_noise is not None:
        said.append(_judges(found.judges_noise, found.measure))
    if found.noise is Noise.NONE:
        said.append("These runs are the same each time: every difference is real.")
    if found.verdict is ChangeVerdict.CANNOT_TELL and found.cases and found.noise is Noise.RUNS:
        said += _advice(found)
    return said + _left_out(found)


def _judges(noise: JudgesNoise, measure: str) -> str:
    """By how much results may differ without a difference between the agents."""
    if not noise.of(measure):
        return f"The judges add no noise that shows: their votes on {noise.answers} answers never differ."
    of_votes = f"±{100 * noise.of(measure):.1f} points (95 %), by the votes on {noise.answers} answers"
    return f"The judges' own noise is {of_votes}: a difference within it says nothing of the agents."


def rate_of(rate: Estimate) -> str:
    """`92.0% (86.5-95.4%)`; without an interval where nothing is known of it."""
    if rate.value is None:
        return "none"
    if rate.interval is None:
        return percent(rate.value)
    low, high = (percent(end).removesuffix("%") for end in (rate.interval.low, rate.interval.high))
    return f"{percent(rate.value)} ({low}-{high}%)"


def percent(share: float) -> str:
    """0 and 100 % only where it is exactly that."""
    if share in (0, 1):
        return f"{100 * share:.0f}%"
    return f"{min(99.9, max(0.1, 100 * share)):.1f}%"


def points(difference: float) -> str:
    """A difference of shares: `-9.3`, `+2.0`."""
    shown = f"{100 * difference:+.1f}"
    return "0.0" if shown in ("+0.0", "-0.0") else shown


def difference_of(found: ChangeReport) -> str:
    """`-9.3 points (-16.5 to -2.2)`."""
    if found.change.difference is None:
        return "none"
    return f"{points(found.change.difference)} points{_ends(found.change.interval)}"


def parts_shown(found: ChangeReport) -> list[Part]:
    """The criteria and tags of the table, the most conspicuous first."""
    return sorted(found.parts, key=lambda part: not part.stands_out)[:PARTS]


def _part_rows(found: ChangeReport) -> list[Row]:
    return [
        (
            part.name if part.kind == "score" else f"{part.kind} {part.name}",
            *(rate_of(rate) for rate in part.rates.both),
            f"{points(part.change.difference or 0)} points{_ends(part.change.interval)}",
            "look at" if part.stands_out else "",
        )
        for part in parts_shown(found)
    ]


def _ends(interval: Interval | None) -> str:
    return f" ({points(interval.low)} to {points(interval.high)})" if interval else ""


def _beside_row(beside: Beside) -> Row:
    name, more, fewer = _WORDS[beside.name]
    a, b = (figure_of(beside.name, value) for value in beside.means.both)
    ratio = beside.ratio
    if ratio is None:
        return name, a, b, "", ""
    interval = f" ({ratio.interval.low:.2f} to {ratio.interval.high:.2f})" if ratio.interval else ""
    word = "cannot tell"
    if ratio.interval is not None and ratio.interval.low > 1:
        word = more
    elif ratio.interval is not None and ratio.interval.high < 1:
        word = fewer
    elif ratio.ratio == 1:
        word = "unchanged"
    return name, a, b, f"x{ratio.ratio:.2f}{interval}", word


def figure_of(name: str, value: float) -> str:
    """A mean of what a run took, by the name of the measure."""
    if name == "duration_ms":
        return in_milliseconds(value)
    return dollars(value, 6) if name == "cost" else f"{value:.0f}"


def _runs_of(values: Sequence[float]) -> str:
    if all(value in (0.0, 1.0) for value in values):
        return f"{sum(values):.0f}/{len(values)}"
    return f"{sum(values) / len(values):.3f}"


def _verdict(found: ChangeReport) -> str:
    word = found.verdict.capitalize()
    made = f"{count(len(found.cases), 'case')}, {_runs_each(found)}"
    if found.verdict is ChangeVerdict.REGRESSED and found.broke:
        better = " Over all it is better." if (found.change.difference or 0) > 0 else ""
        named = _named([case.key for case in found.broke])
        return f"{word}: {made}. {count(len(found.broke), 'case')} broke: {named}.{better}"
    if found.verdict is ChangeVerdict.UNCHANGED:
        if found.noise is Noise.NONE:
            return f"{word}: {made}."
        return f"{word}: within {100 * found.margin:g} points{_ends(found.change.interval)}."
    if found.too_many_broke:
        broken, runs = found.left_out.broken, found.runs.b + found.left_out.broken.b
        return f"{word}: {broken.b} of {runs} runs of B broke (A: {broken.a})."
    if not found.cases:
        return f"{word}: no case was judged in both reports."
    if found.verdict is ChangeVerdict.CANNOT_TELL and len(found.cases) == 1 and min(found.runs.both) < fewest_runs(1):
        return f"{word}: the reports have 1 case in common; single cases need {fewest_runs(1)} runs of each."
    rates = " → ".join(percent(rate.value or 0) for rate in found.rates.both)
    looks = found.looks  # figures of runs that ended when they had decided are a little too sure of themselves
    stop = f" at the stop, after {looks.made} of {looks.planned} rounds" if looks.ended_early else ""
    return f"{word}: {rates} of {made}: {difference_of(found)}{stop}."


def _runs_each(found: ChangeReport) -> str:
    numbers = {len(values) for case in found.cases for values in case.figures.both} or {0}
    if len(numbers) == 1:
        number = numbers.pop()
        return f"{count(number, 'run')} each"
    return f"{min(numbers)} to {max(numbers)} runs each"


def _missing(found: ChangeReport) -> str:
    removed = found.left_out.removed
    if not removed:
        return ""
    are = "is" if len(removed) == 1 else "are"
    return f" {count(len(removed), 'case')} of A {are} not in B: {_named(removed)}."


def _advice(found: ChangeReport) -> list[str]:
    said = []
    fell, suspects = found.fell, found.suspects
    if found.reach is not None:
        seen = "No drop would have shown."
        if found.reach.detectable < 1:
            seen = f"A drop of {100 * found.reach.detectable:.1f} points would have shown, four times in five."
        if fell:
            seen += f" {count(len(fell), 'case')} fell: {_named([case.key for case in fell])}."
        said += [seen, *_more_runs(found)]
    if suspects:
        is_known = all(len(case.figures.a) >= KNOWN_RUNS for case in suspects)
        runs = len(suspects) * CONFIRMING_RUNS * (1 if is_known else 2)
        which = "this one" if len(suspects) == 1 else f"one of these {len(suspects)}"
        where = "B" if is_known else "both"
        told = f"To see whether {which} broke: {CONFIRMING_RUNS} runs of each in {where}"
        told += f" ({runs} runs{_about(found, runs)})"
        said.append(
            f"{told}: {confirming_command(suspects, found.variants)}" if len(suspects) <= CONFIRMED else f"{told}."
        )
    if found.cases_limit:
        said.append("The cases differ more than their runs: more cases would say more than more runs.")
    if found.has_scores:
        said.append("The cases have scores: --measure score sees smaller differences.")
    like = found.like_these.interval
    if like is not None:
        low, high = points(max(-1.0, like.low)), points(min(1.0, like.high))
        said.append(f"For other cases like these: {low} to {high} points.")
    return said


def _more_runs(found: ChangeReport) -> list[str]:
    assert found.reach is not None
    there = min(case.fewest_runs for case in found.cases)
    more = found.reach.runs_each - there
    if more <= 0:
        return []
    runs = more * len(found.cases) * 2
    said = f"To see {100 * found.margin:g} points: {count(more, 'more run')} of both ({runs} runs{_about(found, runs)})"
    of_b = (found.reach.runs_of_b or 0) - there
    if of_b > 0:
        runs = of_b * len(found.cases)
        said += f", or {of_b} of B alone ({runs} runs{_about(found, runs)})"
    return [f"{said}."]


def _about(found: ChangeReport, runs: int) -> str:
    return f", about {dollars(runs * found.mean_cost, 2)}" if found.mean_cost else ""


def confirming_command(cases: Sequence[ComparedCase], variants: Sequence[str] = ()) -> str:
    """The command that runs cases again, in the variants of their run."""
    from shlex import quote

    suites = dict.fromkeys(case.key.without_variant for case in cases)
    inputs = " ".join(f"-i {quote(suite)}" for suite in suites)
    ids = dict.fromkeys(case.key.id for case in cases)
    names = "|".join(re.escape(id).replace(r"\-", "-").replace(r"\ ", " ") for id in ids)
    pattern = f"^({names})$" if len(ids) > 1 else f"^{names}$"
    more = "".join(f" --variant {quote(variant)}" for variant in variants)
    return f"yao-test {inputs} --run {quote(pattern)}{more} --runs {CONFIRMING_RUNS} -o again.jsonl"


def _left_out(found: ChangeReport) -> list[str]:
    left = found.left_out
    said = []
    for keys, what in ((left.added, "only in B"), (left.changed, "changed, not compared")):
        if keys:
            said.append(f"{count(len(keys), 'case')} {what}: {_named(keys)}.")
    if left.unjudged:
        said.append(f"{count(len(left.unjudged), 'case')} without a judged run on one side: {_named(left.unjudged)}.")
    for runs, what in (
        (left.broken, "broke"),
        (left.inconclusive, "were inconclusive"),
        (left.skipped, "were skipped"),
        (left.no_score, f"have no {found.measure}"),
    ):
        if any(runs.both) and not (what == "broke" and found.too_many_broke):
            said.append(f"Runs that {what} do not count: {runs.a} of A, {runs.b} of B.")
    if any(left.doubled.both):
        said.append(
            f"Of results of one name the last one counts: {left.doubled.a} of A and {left.doubled.b} of B do not."
        )
    return said


def _named(keys: Sequence[ResultKey]) -> str:
    more = f" and {len(keys) - NAMED} more" if len(keys) > NAMED else ""
    return in_line(", ".join(key.name for key in keys[:NAMED])) + more
