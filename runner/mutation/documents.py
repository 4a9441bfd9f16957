"""The verdicts as files: JSON of StrykerJS' schema, `mutation-testing-report-schema` 2, a page that shows it, Markdown
for a pull request; JSON for the output; and annotations for GitHub."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from runner.errors import ConfigurationError, RunnerError
from runner.mutation.console import SAID, diff_lines, percent, reached_text, total_line
from runner.mutation.session import Outcome
from runner.mutation.verdicts import MISSED, Status, Verdict, by_file, by_function, score_of
from runner.reporters.console.style import count
from runner.reporters.github import annotation
from runner.reporters.markdown_pieces import block, details, inline, table
from runner.version import VERSION
from scripttest import TestKey

STATUSES = {
    Status.KILLED: "Killed",
    Status.TIMEOUT: "Timeout",
    Status.SURVIVED: "Survived",
    Status.NO_COVERAGE: "NoCoverage",
    Status.BROKEN: "RuntimeError",
    Status.UNDECIDED: "Pending",
    Status.IGNORED: "Ignored",
}
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
    score = score_of(outcome.verdicts)
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
        "mutants": [*map(mutant_record, _of(outcome.verdicts, *MISSED, Status.BROKEN, Status.UNDECIDED))],
    }


def _scores(verdicts: Iterable[Verdict]) -> dict[str, Any]:
    score = score_of(verdicts)
    return {
        "score": score.share,
        "counts": {status.value: number for status in Status if (number := score.counts.get(status))},
    }


def mutant_record(verdict: Verdict) -> dict[str, Any]:
    """A mutant in `--json` and `--json=lines`; its `id` stays while the handler does."""
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
    share = score_of(outcome.verdicts).share
    text = f"# Mutants\n\n**{total_line(outcome.verdicts)}**\n\n"
    if threshold is not None and share is not None and share < threshold:
        text += f"That is below the threshold of {percent(threshold)}.\n\n"
    rows = []
    for file, found in by_file(outcome.verdicts).items():
        score = score_of(found)
        missed = ", ".join(f"{score.counts[one]} {SAID[one]}" for one in MISSED if score.counts.get(one))
        rows.append((inline(file), percent(score.share), f"{score.noticed} of {score.counted}", missed))
    text += table(("Handler", "Score", "Noticed", "Not noticed"), rows) if rows else ""
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
