"""What the summaries of saved reports and of their suites say, as JSON, from the one fold that counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from runner.results.fold import counted
from runner.results.script_records import counts_record, usage_record

Record = dict[str, Any]


def counts_of(results: Iterable[Mapping[str, Any]]) -> Record:
    """`{total, passed, failed, skipped, errors?, warnings?, not_judged?, checks_nothing?, checks_nothing_first?}`; see
    `runner.results.script_records.summary_record`."""
    return counts_record(counted(results))


def usage_of(results: Iterable[Mapping[str, Any]]) -> Record:
    """`{usage: {input_tokens, output_tokens, cost?}}`: what all results took together; empty where no model was
    asked."""
    return usage_record(counted(results))
