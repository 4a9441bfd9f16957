"""Suites as JSON records, and back.

A record has the `kind` of the design documents, `script_test` or `agent_test`, and marks for what they do not tell
apart: `message` for a message of the command line, and `generated` for cases that were made for the run.
"""

from __future__ import annotations

from runner.record.model import Suite, SuiteKind
from runner.record.texts import path_below
from scripttest.typing_names import Record

TYPE_CHECKING = False


if TYPE_CHECKING:
    pass

SCRIPT_TEST, AGENT_TEST = KINDS = ("script_test", "agent_test")


def suite_record(suite: Suite) -> Record:
    """`{id, kind, label, file, agent, connector, variant?, message?, generated?, several_turns?}`; `file` is named from
    the repository, as all places are, and `several_turns` tells that some case has several."""
    record: Record = {
        "id": suite.name,
        "kind": AGENT_TEST if suite.has_cases else SCRIPT_TEST,
        "label": suite.label,
        "file": path_below(suite.root, suite.file),
        "agent": suite.agent,
        "connector": suite.connector,
    }
    if suite.variant:
        record["variant"] = suite.variant
    marks = {
        "message": suite.is_message,
        "generated": suite.is_generated,
        "several_turns": suite.multi_turn,
    }
    return record | {key: True for key, holds in marks.items() if holds}


def blank_suite(id: str, kind: str, agent: str) -> Record:
    """The record of a suite of which no more is known."""
    return {"id": id, "kind": kind, "label": id, "file": "", "agent": agent, "connector": ""}


def suite_of(record: Record, several_turns: bool = False) -> Suite:
    """The suite of a record; `several_turns`: whether a case of it has several, if the record does not say."""
    return Suite(
        id=record["id"],
        kind=_kind_of(record),
        label=record["label"],
        file=record["file"],
        agent=record["agent"],
        connector=record["connector"],
        variant=str(record.get("variant") or ""),
        multi_turn=record.get("several_turns", several_turns),
    )


def has_cases(record: Record) -> bool:
    """Whether the suite of a record has cases, rather than script tests."""
    return bool(record["kind"] == AGENT_TEST)


def shown_name(record: Record) -> str:
    """What reports call the suite of a record: its label, and its variant."""
    variant = record.get("variant")
    return f"{record['label']} [{variant}]" if variant else str(record["label"])


def _kind_of(record: Record) -> SuiteKind:
    if not has_cases(record):
        return SuiteKind.MODULE
    if record.get("message"):
        return SuiteKind.MESSAGE
    if record.get("generated"):
        return SuiteKind.GENERATED
    return SuiteKind.CASE_FILE
