"""`yao-test label`: people label answers of a saved run; `yao-test calibrate`: how far its judges agree with them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from runner import exit_codes
from runner.commands import tables
from runner.commands.inputs import check_outputs, results_in, write_text
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.judging.calibration import Trust, Trusted, trust_in, trust_record
from runner.judging.judgements import (
    Judgement,
    JudgementKey,
    Label,
    drawn,
    judgements_in,
    prices_in,
    read_labels,
    text_of_labels,
)
from runner.record.summary import percent, share_text
from runner.reporters.console.style import count
from runner.reporters.console.table import columns_of, table
from runner.reporters.console.verdict_lines import Row
from runner.statistics.agreement import FEWEST_LABELS, Calibration

KEYS = "y yes   n no   s skip   u undo   q stop"
SHOWN = 4000
"""Characters of an answer that are shown."""


def label(environment: Environment, given: tables.Label) -> int:
    """Asks for labels at the terminal, and returns the exit code."""
    (path,) = check_outputs(environment, (given.output,), (".jsonl", ".csv"))
    judgements = judgements_in(results_in(environment, given.report))
    if not judgements:
        raise ConfigurationError(
            f"Cannot label {given.report}: it has no judge verdicts",
            "Only assertions of the types agent and preference and criteria of rubrics can be labelled",
        )
    chosen = drawn(judgements, given.count)
    labels: dict[JudgementKey, Label] = {}
    if path.exists() and path.stat().st_size:
        labels = {one.key: one for one in read_labels(path, given.output) if one.passed is not None}
        more = [one for one in judgements if one.key in labels]
        if len(more) < len(labels):
            raise ConfigurationError(
                f"Cannot write to {given.output}: it has labels for answers that are not in {given.report}",
                "Choose another file with -o",
            )
        chosen = [*more, *(one for one in chosen if one.key not in labels)]

    def save(told: bool = False) -> None:
        text = text_of_labels(chosen, labels, as_table=path.suffix.lower() == ".csv")
        write_text(environment, path, text, told=told)

    if not (environment.terminal and sys.stdin.isatty()):
        save(told=True)
        return exit_codes.PASSED
    save()
    asked = [one for one in chosen if one.key not in labels]
    with _keys() as read:
        _ask(environment, asked, labels, read, save)
    environment.stdout.write(f"{count(len(labels), 'label')} in {given.output}\n")
    return exit_codes.PASSED


def _ask(
    environment: Environment,
    asked: Sequence[Judgement],
    labels: dict[JudgementKey, Label],
    read: Callable[[], str],
    save: Callable[[], None],
) -> None:
    at = 0
    while at < len(asked):
        one = asked[at]
        environment.stdout.write(environment.secrets.text(_shown(one, at + 1, len(asked))))
        environment.stdout.flush()
        key = read()
        if key in ("y", "n"):
            labels[one.key] = Label(key=one.key, passed=key == "y")
        elif key == "u" and at:
            at -= 1
            labels.pop(asked[at].key, None)
        elif key in ("q", "", "\x03", "\x04"):
            break
        elif key != "s":
            continue
        if key != "u":
            environment.stdout.write(f"{ {'y': 'yes', 'n': 'no', 's': 'skipped'}[key] }\n")
            at += 1
        save()


def _shown(one: Judgement, number: int, of: int) -> str:
    key = one.key
    where = f"{key.suite} › {key.id}" + (f", run {key.run}" if key.run > 1 else "")
    where += f", turn {key.turn}" if key.turn else ""
    lines = [f"{number} of {of}  {where}", f"  Criterion: {key.criterion}", f"  Input:     {one.input}", "", one.output]
    text = "\n".join(line[:SHOWN] for line in lines)
    plain = "".join(letter if letter.isprintable() or letter == "\n" else "�" for letter in text)
    return f"\n{plain}\n\n  {KEYS} ? "


@contextmanager
def _keys() -> Iterator[Callable[[], str]]:
    import termios
    import tty

    keyboard = sys.stdin.fileno()
    before = termios.tcgetattr(keyboard)
    tty.setcbreak(keyboard)
    try:
        yield lambda: os.read(keyboard, 1).decode(errors="replace").lower()
    finally:
        termios.tcsetattr(keyboard, termios.TCSADRAIN, before)


def calibrate(environment: Environment, given: tables.Calibrate) -> int:
    """Prints how well judges agree with the labels and with themselves. Returns the exit code."""
    paths = check_outputs(environment, given.outputs, (".json",))
    if given.min_kappa is not None and not given.labels:
        raise ConfigurationError("--min-kappa needs labels", "Create them with yao-test label")
    results = results_in(environment, given.report)
    judgements = judgements_in(results)
    if not judgements:
        raise ConfigurationError(
            f"Cannot calibrate {given.report}: it has no judge verdicts",
            "Only assertions of the types agent and preference and criteria of rubrics use judges",
        )
    read = [
        label for name in given.labels for label in read_labels(environment.directory / Path(name).expanduser(), name)
    ]
    said = [label for label in read if label.key.criterion]
    on_answers = len(read) - len(said)
    found = trust_in(judgements, said, prices_in(results))
    if given.labels and not found.labels:
        names = ", ".join(given.labels)
        why, hint = f"{names} has no labels yet", "Fill in true or false under passed"
        if found.unknown:
            why = f"none of its answers has a label in {names}"
            hint = "Labels are matched to answers by suite, id, run, turn and criterion"
        elif on_answers:
            why = f"{names} has labels for whole answers only"
            hint = "Judges are compared with labels for the criteria that they judged"
        raise ConfigurationError(f"Cannot calibrate {given.report}: {why}", hint)
    environment.stdout.write(trust_text(found, columns_of(environment)))
    if on_answers:
        environment.stdout.write(f"Left out: {count(on_answers, 'label')} for whole answers, which no judge graded.\n")
    if found.unknown:
        environment.stderr.write(
            f"Warning: {count(found.unknown, 'label')} of answers that {given.report} does not have\n"
        )
    for path in paths:
        write_text(environment, path, json.dumps(trust_record(found), indent=2, ensure_ascii=False) + "\n")
    if given.min_kappa is None:
        return exit_codes.PASSED
    whole = found.each[-1].found if found.each else None
    interval = whole.kappa_interval if whole is not None else None
    few = whole is None or whole.words == "too few labels to say"
    return exit_codes.FAILED if few or interval is None or interval.low < given.min_kappa else exit_codes.PASSED


HEAD: Row = ("Criterion", "Labels", "Agree", "Kappa (95% interval)", "Passes found", "Failures found", "Verdict")
LEAST = ("Passes found", "Failures found", "Agree")
"""Columns that matter least."""
ROWS = 50
"""Criteria of the table."""
LEANS = 0.3
"""Correlation with the length of answers from which on it is said."""
LONG = 60
"""Characters of a criterion."""


def trust_text(found: Trusted, room: int | None = None) -> str:
    """A table of the criteria, and its conclusion; `room` is the width of the terminal."""
    text = table([HEAD, *map(_row, found.each[-ROWS:])], room, least=LEAST) if found.each else ""
    return text + "".join(f"{line}\n" for line in [*_of_labels(found), *_of_votes(found), *_of_orders(found)])


def _row(one: Trust) -> Row:
    found = one.found
    name = one.name if len(one.name) <= LONG else f"{one.name[:LONG]}..."
    ends = found.agreement_interval
    return (
        name.replace("\n", " ") or "all",
        str(_labels(found)),
        share_text(found.agreement, (ends.low, ends.high)),
        _kappa(found),
        share_text(found.passes_found, None) or "none",
        share_text(found.failures_found, None) or "none",
        found.words,
    )


def _labels(found: Calibration) -> int:
    return found.both_pass + found.both_fail + found.judge_too_strict + found.judge_too_lenient


def _kappa(found: Calibration) -> str:
    if found.kappa is None:
        return "none"
    if found.kappa_interval is None:
        return f"{found.kappa:.2f}"
    return f"{found.kappa:.2f} ({found.kappa_interval.low:.2f} to {found.kappa_interval.high:.2f})"


def _of_labels(found: Trusted) -> Sequence[str]:
    if not found.each:
        return ()
    whole = found.each[-1]
    of = whole.found
    said = [
        f"The judge is too strict in {of.judge_too_strict} of {count(_labels(of), 'label')}, and too lenient in "
        f"{of.judge_too_lenient}."
    ]
    if whole.corrected.rate is not None and whole.corrected.interval is not None:
        low, high = percent(whole.corrected.interval.low), percent(whole.corrected.interval.high)
        said.append(f"Corrected for its errors, {percent(whole.corrected.rate)} pass ({low} to {high}).")
    if whole.scores is not None and whole.scores.spearman is not None:
        said.append(
            f"Scores: rank correlation {whole.scores.spearman:.2f}, mean difference {whole.scores.bias:+.2f}, "
            f"mean absolute error {whole.scores.mean_absolute_error:.2f}."
        )
    if whole.weighted_kappa is not None:
        said.append(f"Weighted kappa of the scores, taken as grades: {whole.weighted_kappa:.2f}.")
    leans = whole.longer_is_better is not None and abs(whole.longer_is_better) >= LEANS
    if leans and _labels(of) >= FEWEST_LABELS and whole.longer_is_better is not None:
        which = "longer" if whole.longer_is_better > 0 else "shorter"
        said.append(f"It prefers {which} answers (rank correlation {whole.longer_is_better:.2f}).")
    if found.ceiling is not None:
        said.append(f"People agree with each other on {percent(found.ceiling)} of pairs, which is the upper bound.")
    if found.tied:
        said.append(f"{count(found.tied, 'answer')} with tied labels excluded.")
    return said


def _of_votes(found: Trusted) -> Sequence[str]:
    if found.agreement is None:
        judged = count(found.judged, "judge verdict")
        return [f"{judged}, one vote each: --judge-samples 3 would measure how consistent they are."]
    kappa = "" if found.kappa is None else f", kappa {found.kappa:.2f}"
    said = [
        f"Votes on one answer agree in {percent(found.agreement)} of pairs{kappa} ({count(found.voted, 'answer')})."
    ]
    parts = found.components
    if parts is not None and parts.judge + parts.agent > 0:
        share = parts.judge / (parts.judge + parts.agent)
        said.append(f"The judge causes {percent(share)} of the noise of one run, the agent {percent(1 - share)}.")
    if found.best_votes is not None:
        verb = "is" if found.best_votes == 1 else "are"
        said.append(f"{count(found.best_votes, 'vote')} per answer {verb} most cost-effective.")
    return said


def _of_orders(found: Trusted) -> Sequence[str]:
    if found.turned is None:
        return ()
    compared = count(found.preferences, "comparison")
    return [f"{percent(found.turned)} of {compared} depended on the order of the two answers, and count as ties."]
