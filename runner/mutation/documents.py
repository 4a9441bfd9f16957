"""What `yao-test mutate` makes of verdicts: on the console survivors as diffs, with the tests that reached them, and
the score; as files JSON of StrykerJS' schema, `mutation-testing-report-schema` 2, a page that shows it, Markdown for a
pull request; JSON for the output; and annotations for GitHub."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from runner.amounts import in_words
from runner.errors import ConfigurationError, RunnerError, listed
from runner.mutation.session import FailedTest, Outcome, Progress
from runner.mutation.verdicts import MISSED, Status, Verdict, by_file, by_function, is_below, score_of
from runner.reporters.console.style import Style, count
from runner.reporters.console.table import table
from runner.reporters.github import annotation
from runner.reporters.markdown_pieces import block, details, inline
from runner.reporters.markdown_pieces import table as markdown_table
from runner.security.terminal import own
from runner.version import VERSION
from scripttest import TestKey

MOST_FAILED = 20
"""At most this many failed tests are named."""
MOST_REASONS = 10
"""At most this many reasons are given why mutants are ignored."""
MOST_TESTS = 3
"""At most this many tests are named that reach a survivor."""
MOST_LINES = 12
"""At most this many lines of a diff are shown on each side."""
REFRESH = 0.2
"""Seconds between two drawings of the progress, at least."""
SAID = {status: status.value for status in Status} | {
    Status.TIMEOUT: "ended by their rounds",
    Status.NO_COVERAGE: "not reached",
}
STATUSES = {status: status.value.title().replace(" ", "") for status in Status} | {
    Status.BROKEN: "RuntimeError",
    Status.UNDECIDED: "Pending",
}
"""Status → that of StrykerJS."""
LAST = "mutation.json"
"""In the store: the output of `--json` of the last run, and `when` it ended."""
LAST_OF_CASES = "mutation-cases.json"
LAST_OF_PROMPTS = "mutation-prompts.json"
"""The same of the last run on cases, and of the last one with `--prompts`."""
HIGH, LOW = 80, 60
"""Percentages from which StrykerJS takes a score for good, and below which for bad."""
MOST_ANNOTATED = 50
"""GitHub shows no more annotations of a job."""
MOST_LISTED = 100
"""At most this many survivors are in a Markdown document."""
_ELEMENTS = Path(__file__).parent / "built" / "elements.js"
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Mutants</title>
<script>{elements}</script>
</head>
<body>
<mutation-test-report-app title-postfix="yao-test mutate"></mutation-test-report-app>
<script>document.querySelector("mutation-test-report-app").report = {report};</script>
</body>
</html>
"""


def survivors_text(outcome: Outcome, style: Style) -> str:
    """The mutants that nothing notices, handler by handler; those that no test reaches are counted by function."""
    text = ""
    for file, found in by_file(outcome.verdicts).items():
        missed = [verdict for verdict in found if verdict.status in (*MISSED, Status.BROKEN, Status.UNDECIDED)]
        if not missed:
            continue
        text += style.paint(f"{file}", "bold") + "\n\n"
        for function, of_function in by_function(missed).items():
            unreached = [one for one in of_function if one.status is Status.NO_COVERAGE]
            text += "".join(
                _survivor(one, outcome, style) for one in of_function if one.status is not Status.NO_COVERAGE
            )
            if unreached:
                lines = sorted({one.mutant.line for one in unreached})
                where = f"{lines[0]}" if len(lines) == 1 else f"{lines[0]}-{lines[-1]}"
                named = f" in {function}" if function else ""
                text += f"  {file}:{where}: no test reaches {count(len(unreached), 'mutant')}{named}\n\n"
    return text


def diff_lines(verdict: Verdict, texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The lines of a mutant's diff: the sign, `-` or `+`, and the line."""
    mutant = verdict.mutant
    lines = texts[mutant.file].split("\n")
    for sign, found in (("-", lines[mutant.line - 1 : mutant.end_line]), ("+", mutant.mutated.split("\n"))):
        for line in found[:MOST_LINES]:
            yield sign, line.rstrip("\r")
        if len(found) > MOST_LINES:
            yield sign, f"... {len(found) - MOST_LINES} more lines"


def reached_text(verdict: Verdict) -> str:
    """The tests that reached a mutant, in words."""
    return listed([key.test for key in verdict.reached_by], MOST_TESTS)


def failed_text(failed: Sequence[FailedTest]) -> str:
    """The tests that fail before anything is planted."""
    verb = "fails" if len(failed) == 1 else "fail"
    text = f"Error: {count(len(failed), 'test')} {verb} without any mutant\n"
    text += "".join(f"  {test.name}: {test.why}\n" for test in failed[:MOST_FAILED])
    text += f"  ... and {len(failed) - MOST_FAILED} more\n" if len(failed) > MOST_FAILED else ""
    return text + "Hint: Fix them first; yao-test --last-failed reruns failed tests\n"


def below_text(share: float | None, least: float | None, of: str = "") -> str:
    """What is said of a score, of one file if it is named, that is below the threshold; empty when it is not."""
    named = f" of {of}" if of else ""
    below = f"The score {percent(share)}{named} is below the threshold {percent(least)}\n"
    return below if is_below(share, least) else ""


def summary_text(outcome: Outcome, room: int | None) -> str:
    """The scores of handlers and functions, and of all; `room` is the width of the terminal."""
    verdicts = outcome.verdicts
    rows: list[tuple[str, ...]] = [("Handler", "Score", "Noticed", "Survived", "Not reached")]
    for file, found in by_file(verdicts).items():
        functions = by_function(found)
        named = (
            {f"  {name or '(top of the module)'}": one for name, one in functions.items()} if len(functions) > 1 else {}
        )
        for name, of_one in {file: found, **named}.items():
            score = score_of(one.status for one in of_one)
            missed = (str(score.counts.get(status) or "") for status in (Status.SURVIVED, Status.NO_COVERAGE))
            rows.append((name, percent(score.share), f"{score.noticed} of {score.counted}", *missed))
    text = table(rows, room, least=("Noticed",)) if len(rows) > 1 else ""
    kept = sum(verdict.is_kept for verdict in verdicts)
    text += f"\n{total_line(verdicts)}\n"
    text += f"{kept} of these verdicts come from an earlier run; --fresh tests all again\n" if kept else ""
    reasons = Counter(verdict.reason for verdict in verdicts if verdict.status is Status.IGNORED)
    text += "".join(f"  {number} ignored: {reason}\n" for reason, number in reasons.most_common(MOST_REASONS))
    return text + (f"{outcome.stopped}: undecided mutants were not fully tested\n" if outcome.stopped else "")


def total_line(verdicts: Iterable[Verdict]) -> str:
    """All counts, and the score."""
    score = score_of(one.status for one in verdicts)
    said = [f"{score.counts[status]} {word}" for status, word in SAID.items() if score.counts.get(status)]
    return f"{count(sum(score.counts.values()), 'mutant')}: {', '.join(said) or 'none'}. Score {percent(score.share)}"


def percent(share: float | None) -> str:
    """A share in words; one that is not 1 is never shown as 100 %."""
    if share is None:
        return "-"
    return f"{min(share, 0.999) * 100:.1f} %" if share < 1 else "100 %"


def _survivor(verdict: Verdict, outcome: Outcome, style: Style) -> str:
    mutant = verdict.mutant
    within = f" in {mutant.within}" if mutant.within else ""
    text = f"  {mutant.file}:{mutant.line}:{mutant.column}{within}: {mutant.mutator} {SAID[verdict.status]}\n"
    for sign, line in diff_lines(verdict, outcome.texts):
        text += "    " + style.paint(f"{sign} {line}", "red" if sign == "-" else "green") + "\n"
    if verdict.reason:
        text += f"    {verdict.reason.splitlines()[0]}\n"
    if verdict.status is Status.SURVIVED:
        text += f"    reached by {reached_text(verdict)}\n"
    if verdict.point is not None:
        text += f"    {verdict.point.text}\n"
    return text + "\n"


class Bar:
    """Shows on a terminal how far the run is, and how long it will still take."""

    def __init__(self, stream: TextIO) -> None:
        """Shows nothing yet."""
        self._stream = stream
        self._is_shown = stream.isatty()
        self._next = 0.0

    def show(self, progress: Progress) -> None:
        """Shows it, unless it has just been shown."""
        now = time.monotonic()
        if not self._is_shown or not progress.done or now < self._next:
            return
        self._next = now + REFRESH
        rest = progress.seconds / progress.done * progress.left
        said = f"{progress.done} of {progress.done + progress.left} mutants, {in_words(round(rest))} left"
        self._stream.write(f"{_CLEAR}{said}")
        self._stream.flush()

    def close(self) -> None:
        """Takes it away."""
        if self._is_shown and self._next:
            self._stream.write(_CLEAR)
            self._stream.flush()


_CLEAR = own("\r") + own("\x1b[K")


def last_document(store: Path, name: str) -> dict[str, Any] | None:
    """What the last run of a kind of `mutate` has left in a store under this name; None if there was none. Raises
    ConfigurationError for something else."""
    try:
        document = json.loads((store / name).read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError:
        document = None
    if not isinstance(document, dict) or "when" not in document:
        raise ConfigurationError(
            f"Cannot read {store / name}: yao-test mutate did not write it so",
            "Remove it, or run yao-test mutate again",
        )
    return document


def as_schema(outcome: Outcome, threshold: float | None) -> dict[str, Any]:
    """The report of StrykerJS: `{schemaVersion, thresholds, files, testFiles, framework}`."""
    files = {
        file: {
            "language": "javascript" if file.endswith(("js", "jsx")) else "typescript",
            "source": outcome.texts[file],
            "mutants": [_mutant(number, verdict) for number, verdict in enumerate(found)],
        }
        for file, found in by_file(outcome.verdicts).items()
    }
    tests: dict[str, list[Any]] = {}
    for walk in outcome.tests:
        path = outcome.test_files[walk.key.suite]
        tests.setdefault(path, []).append({"id": _id(walk.key), "name": walk.key.test})
    high = HIGH if threshold is None else round(threshold * 100)
    return {
        "schemaVersion": "2",
        "thresholds": {"high": high, "low": min(LOW, high)},
        "files": files,
        "testFiles": {path: {"tests": found} for path, found in sorted(tests.items())},
        "framework": {"name": "yao-test", "version": VERSION},
    }


def _mutant(number: int, verdict: Verdict) -> dict[str, Any]:
    mutant = verdict.mutant
    record: dict[str, Any] = {
        "id": f"{mutant.file}#{number}",
        "mutatorName": mutant.mutator,
        "replacement": mutant.replacement,
        "location": {
            "start": {"line": mutant.line, "column": mutant.column},
            "end": {"line": mutant.end_line, "column": mutant.end_column},
        },
        "status": STATUSES[verdict.status],
        "coveredBy": [_id(key) for key in verdict.reached_by],
        "killedBy": [_id(verdict.killed_by)] if verdict.killed_by is not None else [],
        "testsCompleted": verdict.ran,
    }
    return record | ({"statusReason": verdict.reason} if verdict.reason else {})


def _id(test: TestKey) -> str:
    return f"{test.suite} {test.test}"


def as_page(outcome: Outcome, threshold: float | None) -> str:
    """The report as a page that needs no network. Raises RunnerError."""
    try:
        elements = _ELEMENTS.read_text("utf-8")
    except OSError as error:
        raise RunnerError(
            f"Cannot read {_ELEMENTS}, which shows the mutants: {error.strerror}",
            "Install yao-test again; in a checkout, run python bindings/build.py",
        ) from error
    report = json.dumps(as_schema(outcome, threshold)).replace("<", "\\u003c")
    return _PAGE.replace("{elements}", elements.replace("</script", "<\\/script")).replace("{report}", report)


def as_record(outcome: Outcome, threshold: float | None) -> dict[str, Any]:
    """The output of `--json`: `{score, threshold, counts, files: {path: {score, counts, functions}}, mutants}`; scores
    are from 0 to 1, and null where there is nothing to count. `mutants` are those that nothing noticed; `values` are
    those at a survivor's point, `{test, without, mutated}`, where `test` is null if none has other ones with it."""
    score = score_of(one.status for one in outcome.verdicts)
    files = {}
    for file, found in by_file(outcome.verdicts).items():
        functions = {name: _scores(of_one) for name, of_one in by_function(found).items()}
        files[file] = {**_scores(found), "functions": functions}
    return {
        "score": score.share,
        "threshold": threshold,
        "counts": _scores(outcome.verdicts)["counts"],
        "stopped": outcome.stopped,
        "files": files,
        "mutants": [*map(_mutant_record, _of(outcome.verdicts, *MISSED, Status.BROKEN, Status.UNDECIDED))],
    }


def _scores(verdicts: Iterable[Verdict]) -> dict[str, Any]:
    score = score_of(one.status for one in verdicts)
    return {
        "score": score.share,
        "counts": {status.value: number for status in Status if (number := score.counts.get(status))},
    }


def _mutant_record(verdict: Verdict) -> dict[str, Any]:
    """A mutant in `--json`; its `id` stays while the handler does."""
    mutant, point = verdict.mutant, verdict.point
    place = f"{mutant.file}:{mutant.line}:{mutant.column}:{mutant.end_line}:{mutant.end_column}"
    return {
        "id": f"{place} {mutant.mutator} {' '.join(mutant.replacement.split())}".rstrip(),
        "file": mutant.file,
        "line": mutant.line,
        "column": mutant.column,
        "function": mutant.within,
        "mutator": mutant.mutator,
        "original": mutant.original,
        "replacement": mutant.replacement,
        "status": verdict.status.value,
        "reached_by": [_id(key) for key in verdict.reached_by],
        "killed_by": verdict.killed_by and _id(verdict.killed_by),
        "reason": verdict.reason,
        "values": point
        and {
            "test": None if point.test is None else _id(point.test),
            "without": point.without,
            "mutated": point.mutated,
        },
    }


def as_markdown(outcome: Outcome, threshold: float | None) -> str:
    """The scores and the survivors, such as for a comment on a pull request."""
    share = score_of(one.status for one in outcome.verdicts).share
    text = f"# Mutants\n\n**{total_line(outcome.verdicts)}**\n\n"
    if is_below(share, threshold):
        text += f"That is below the threshold of {percent(threshold)}.\n\n"
    rows = []
    for file, found in by_file(outcome.verdicts).items():
        score = score_of(one.status for one in found)
        missed = ", ".join(f"{score.counts[one]} {SAID[one]}" for one in MISSED if score.counts.get(one))
        rows.append((inline(file), percent(score.share), f"{score.noticed} of {score.counted}", missed))
    text += markdown_table(("Handler", "Score", "Noticed", "Not noticed"), rows) if rows else ""
    survivors = _of(outcome.verdicts, Status.SURVIVED)
    for verdict in survivors[:MOST_LISTED]:
        mutant = verdict.mutant
        diff = "\n".join(f"{sign} {line}" for sign, line in diff_lines(verdict, outcome.texts))
        title = f"{mutant.file}:{mutant.line} {mutant.mutator}"
        point = f"{inline(verdict.point.text)}\n\n" if verdict.point is not None else ""
        text += details(title, block(diff, "diff") + f"Reached by {inline(reached_text(verdict))}\n\n" + point)
    if len(survivors) > MOST_LISTED:
        text += f"... and {count(len(survivors) - MOST_LISTED, 'more survivor')}\n"
    return text


def annotation_lines(outcome: Outcome, folder: str) -> str:
    """A line for each survivor on a line that was changed, as GitHub Actions reads it; `folder` is that of the
    application in the repository."""
    text = ""
    for verdict in _of(outcome.verdicts, *MISSED)[:MOST_ANNOTATED]:
        mutant = verdict.mutant
        lines = outcome.change.lines.get(mutant.file, frozenset()) if outcome.change is not None else frozenset()
        if mutant.line in lines:
            said = f"{SAID[verdict.status]}: {' '.join(mutant.replacement.split()) or 'left out'}"
            place = {"file": folder + mutant.file, "line": mutant.line, "endLine": mutant.end_line}
            text += annotation("warning", f"Mutant {said}", {**place, "title": mutant.mutator})
    return text


def _of(verdicts: Sequence[Verdict], *statuses: Status) -> list[Verdict]:
    """Some of the verdicts, in the order of their places."""
    return [one for found in by_file(verdicts).values() for one in found if one.status in statuses]


FORMATS: Mapping[str, Any] = {
    ".json": lambda outcome, threshold: json.dumps(as_schema(outcome, threshold), indent=2) + "\n",
    ".html": as_page,
    ".md": as_markdown,
}
"""Extension of a file of `-o` → the function that makes the text of it."""
