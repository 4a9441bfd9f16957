"""`yao-test regrade REPORT`: which saved results have a transcript, and which cases that leaves to grade."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.errors import ConfigurationError
from runner.modes.transcripts import Transcripts, problem_of
from runner.results.model import TestResult
from runner.results.result_json import result_of
from runner.results.saved import result_problem
from runner.results.suite_json import suite_of
from runner.security.files import read_bytes

if TYPE_CHECKING:
    from runner.cases.model import Case
    from runner.planning.case_source import CaseSource

Record = dict[str, Any]
NAMED = 10
"""Results that are named when they are refused."""
TAKEN = (
    "name app ctx user team timeout repeat threshold require_judge judge_samples judge_connector on_inconclusive "
    "simulator on_missing_input strict lenient allow_net allow_exec require_trust trust_from "
    "sandbox"
).split()
"""Options of the saved run that hold where the command says nothing else."""


def saved_options(shown: str, path: Path) -> tuple[tuple[str, ...], Record]:
    """The case files of a report, and the options of its run that count for grading. Raises ConfigurationError."""
    start, _ = _read(shown, path)
    suites = start.get("suites")
    of_cases = [suite for suite in suites or () if isinstance(suite, dict) and suite.get("kind") == "agent_test"]
    files = tuple(str(suite["label"]) for suite in of_cases if suite.get("file"))
    if not files:
        raise ConfigurationError(
            f"Cannot regrade {shown}: it has no results of case files",
            "Script tests, messages and generated cases have no assertions that could be held against a transcript",
        )
    said = start.get("resume")
    options = said.get("options") if isinstance(said, dict) else None
    told = options if isinstance(options, dict) else {}
    taken = {key: tuple(told[key]) if isinstance(told[key], list) else told[key] for key in TAKEN if key in told}
    return files, {**taken, "runs": _runs(start), "min_pass_rate": start.get("min_pass_rate", 100)}


def _runs(start: Record) -> int:
    """How often each case ran."""
    return int(start.get("runs_per_case", 1))


def transcripts_in(shown: str, path: Path) -> Transcripts:
    """The transcripts of a report. Raises ConfigurationError when it has none."""
    start, records = _read(shown, path)
    suites = {suite["id"]: suite_of(suite) for suite in start.get("suites") or ()}
    found: dict[tuple[str, str, int], TestResult] = {}
    refused: dict[str, str] = {}
    for record in records:
        suite = suites.get(record.get("suite", ""))
        if suite is None:
            continue
        try:
            result = result_of(suite, 0, record)
            problem = problem_of(result)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            problem = "it is not as this version writes it"
        if problem is None:
            found[record["suite"], record["id"], record.get("run", 0) or 1] = result
        else:
            refused.setdefault(record["id"], problem)
    counts = Counter((suite, case) for suite, case, _ in found)
    repeated = {(record["suite"], record["id"]) for record in records if record.get("repeat") is not None}
    for key in [key for key in found if counts[key[:2]] != _runs(start) and key[:2] not in repeated]:
        del found[key]
        refused.setdefault(key[1], "not all of its runs have a transcript")
    if not found:
        why = f", such as {next(iter(refused))}: {next(iter(refused.values()))}" if refused else ""
        raise ConfigurationError(f"Cannot regrade {shown}: none of its results has a transcript{why}", "Run it anew")
    return Transcripts(report=shown, results=found, refused=[f"{id} ({why})" for id, why in refused.items()])


def sources_of(sources: Iterable[CaseSource], transcripts: Transcripts) -> tuple[list[CaseSource], list[str]]:
    """The cases that have a transcript, and what is to be said of the others. Reads the cases. Raises
    ConfigurationError when there are none."""
    parts = [_part(source, transcripts) for source in sources]
    kept = [part for part in parts if part is not None]
    if not kept:
        raise ConfigurationError(f"Cannot regrade {transcripts.report}: it has no transcript of these cases")
    count = sum(part.selected for part in kept)
    cases = "1 case" if count == 1 else f"{count} cases"
    warnings = [f"Regraded from {transcripts.report}: {cases}; no agent was asked"]
    if transcripts.refused:
        named = ", ".join(transcripts.refused[:NAMED])
        more = f" and {len(transcripts.refused) - NAMED} more" if len(transcripts.refused) > NAMED else ""
        warnings.append(f"{len(transcripts.refused)} results have no transcript and are left out: {named}{more}")
    return kept, warnings


def _part(source: CaseSource, transcripts: Transcripts) -> CaseSource | None:
    name = source.suite.name
    runs: dict[str, set[int]] = {}
    for suite, case, run in transcripts.results:
        if suite == name:
            runs.setdefault(case, set()).add(run)

    def cases() -> Iterator[tuple[int, Case]]:
        return ((line, _alone(case)) for line, case in source.cases() if case.id in runs)

    selected = sum(1 for _ in cases())
    numbers = {case: tuple(sorted(made)) for case, made in runs.items()}
    return source.replace(selected=selected, cases=cases, waited=frozenset(), runs=numbers) if selected else None


def _alone(case: Case) -> Case:
    """A case that needs nothing but its transcript."""
    return case.model_copy(update={"before": None, "after": None, "depends_on": [], "skip": False})


def _read(shown: str, path: Path) -> tuple[Record, list[Record]]:
    """The start and the results of a `.jsonl` report. Raises ConfigurationError."""
    try:
        if path.exists() and not path.is_file():
            raise ConfigurationError(f"Cannot regrade {shown}: it is no file")
        lines = read_bytes(path, None).split(b"\n")
    except OSError as error:
        raise ConfigurationError(f"Cannot regrade {shown}: {error.strerror}") from error
    records = [record for line in lines if (record := _record(line)) is not None]
    if not records or records[0].get("type") != "start":
        hint = "Only .jsonl reports have what it takes; -o FILE.jsonl writes one"
        raise ConfigurationError(f"Cannot regrade {shown}: it is no .jsonl report of yao-test", hint)
    results = [record for record in records if record.get("type") == "result" and not result_problem(record)]
    return records[0], results


def _record(line: bytes) -> Record | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
