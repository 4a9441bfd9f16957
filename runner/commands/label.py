"""`yao-test label REPORT`: people say of answers whether they are good, to see how far the judges can be trusted."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from runner import exit_codes
from runner.commands.flags import Command
from runner.commands.reports import check_outputs, lines_of, write_text
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.reporters.console.style import count as counted
from runner.results.judgements import Judgement, JudgementKey, judgements_in
from runner.results.labels import Label, drawn, read_labels, text_of_labels

KEYS = "y yes   n no   s skip   u undo   q stop"
SHOWN = 4000
"""Characters of an answer that are shown."""


@click.command(
    "label",
    cls=Command,
    help="Shows you answers that judges have judged, and asks whether they are good: y, n, s to skip, u to undo, q"
    " to stop. Each label is written at once, to .jsonl or .csv. Without a terminal, writes a file that you "
    "fill in. Labels that the file already has are kept.",
)
@click.argument("report", metavar="REPORT")
@click.option("-o", "--output", metavar="FILE", required=True, help="File for the labels: .jsonl or .csv.")
@click.option(
    "--count",
    metavar="N",
    type=click.IntRange(min=1),
    default=60,
    show_default=True,
    help="How many answers to ask about.",
)
@click.option("--criterion", metavar="TEXT", help="Only answers judged by this criterion.")
@click.pass_obj
def label(environment: Environment, report: str, output: str, count: int, criterion: str | None) -> int:
    """Asks for labels at the terminal, and returns the exit code."""
    (path,) = check_outputs(environment, (output,), (".jsonl", ".csv"))
    judgements = judgements_in(lines_of(environment, report))
    if not judgements:
        raise ConfigurationError(
            f"Cannot label {report}: it has no verdicts of judges",
            "Labels are for assertions of the types agent and preference, and for criteria of rubrics",
        )
    if criterion is not None:
        known = sorted({one.key.criterion for one in judgements})
        judgements = [one for one in judgements if one.key.criterion == criterion]
        if not judgements:
            raise ConfigurationError(f'Cannot label "{criterion}" in {report}', f"It has {'; '.join(known[:10])}")
    chosen = drawn(judgements, count)
    labels: dict[JudgementKey, Label] = {}
    if path.exists() and path.stat().st_size:
        labels = {one.key: one for one in read_labels(path, output) if one.passed is not None}
        more = [one for one in judgements if one.key in labels]
        if len(more) < len(labels):
            raise ConfigurationError(
                f"Cannot write to {output}: it has labels of answers that are not in {report}",
                "Name another file with -o",
            )
        chosen = [*more, *(one for one in chosen if one.key not in labels)]

    def save() -> None:
        path.write_text(text_of_labels(chosen, labels, as_table=path.suffix.lower() == ".csv"), "utf-8")

    if not (environment.terminal and sys.stdin.isatty()):
        write_text(environment, path, text_of_labels(chosen, labels, as_table=path.suffix.lower() == ".csv"))
        return exit_codes.PASSED
    save()
    asked = [one for one in chosen if one.key not in labels]
    with _Keys() as read:
        _ask(environment, asked, labels, read, save)
    environment.stdout.write(f"{counted(len(labels), 'label')} in {output}\n")
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


class _Keys:
    """Reads single keys from the terminal, and restores its state at the end."""

    def __enter__(self) -> Callable[[], str]:
        import termios
        import tty

        self._fd = sys.stdin.fileno()
        self._before = termios.tcgetattr(self._fd)
        tty.setcbreak(self._fd)
        return lambda: os.read(self._fd, 1).decode(errors="replace").lower()

    def __exit__(self, *_: object) -> None:
        import termios

        termios.tcsetattr(self._fd, termios.TCSADRAIN, self._before)


def labels_path(name: str, directory: Path) -> Path:
    """The path of the file of labels for a report."""
    return directory / Path(name).expanduser()
