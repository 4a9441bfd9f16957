"""Recorded runs in every format, whole. `record.py` makes the files; what it makes is read before it is committed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sample_reports import GOLDEN, STREAMS, written

from runner.record.saved import load


@pytest.mark.parametrize("extension", ["md", "xml", "ctrf.json", "json", "txt", "jsonl"])
@pytest.mark.parametrize("stream", STREAMS)
def test_a_recorded_run_reads_as_it_always_did(stream: str, extension: str, tmp_path: Path) -> None:
    made = written(load(GOLDEN / f"{stream}.jsonl"), tmp_path, extension)

    assert made.decode() == (GOLDEN / f"{stream}.{extension}").read_text("utf-8")


@pytest.mark.parametrize("extension", ["md", "ctrf.json", "json", "txt"])
@pytest.mark.parametrize("stream", STREAMS)
def test_a_json_report_says_as_much_as_the_lines_it_stands_for(stream: str, extension: str, tmp_path: Path) -> None:
    from_json = load(GOLDEN / f"{stream}.json")
    files = {suite.id: suite.file for suite in load(GOLDEN / f"{stream}.jsonl").suites}
    suites = tuple(  # the file of a module is the one thing that the shape of the seed has no place for
        suite if suite.has_cases else suite.replace(file=files[suite.id]) for suite in from_json.suites
    )
    from_json = from_json.replace(start=from_json.start.replace(suites=suites))

    assert written(from_json, tmp_path, extension).decode() == (GOLDEN / f"{stream}.{extension}").read_text("utf-8")


@pytest.mark.parametrize("extension", ["json", "ctrf.json"])
@pytest.mark.parametrize("stream", STREAMS)
def test_a_document_of_many_results_holds_the_same(
    stream: str, extension: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runner.reporters.json_report.INDENTED", 0)

    made = written(load(GOLDEN / f"{stream}.jsonl"), tmp_path, extension).decode()

    shown = (GOLDEN / f"{stream}.{extension}").read_text("utf-8")
    assert json.loads(made) == json.loads(shown)
    assert len(made.splitlines()) < len(shown.splitlines()) / 2
