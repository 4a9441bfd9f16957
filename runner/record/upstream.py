"""Reports that Yao's own command has written: one object of `summary`, `environment`, `results` and `metadata`, without
a type. They are read as reports of the cases of one input.

| status there | status here |
| --- | --- |
| `passed`, `failed`, `skipped` | the same |
| `timeout` | failed, with the cause `timeout` |
| `error` | failed, with the cause `infrastructure`: it is broken |
"""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any

from runner.record.model import AGENT_TEST
from scripttest import Cause, Status
from scripttest.typing_names import Record

_STATUSES = {"timeout": Cause.TIMEOUT, "error": Cause.INFRASTRUCTURE}


def is_upstream(value: Any) -> bool:
    """Whether a JSON value is such a report."""
    kinds = {"results": list, "summary": dict, "metadata": dict}
    return (
        isinstance(value, dict)
        and "type" not in value
        and all(isinstance(value.get(key), kind) for key, kind in kinds.items())
    )


def from_upstream(value: Record) -> Record:
    """The report as this command would have written it."""
    input = value["metadata"].get("input_file") or value["summary"].get("agent_id") or "cases"
    results = [_result(one) for one in value["results"]]
    metadata = {"run_id": _id(value), **value["metadata"]}
    return {**value, "type": AGENT_TEST, "input": str(input), "results": results, "metadata": metadata}


def _id(value: Record) -> str:
    """What stands for the id of the run, which Yao does not write: a digest, so that a copy has it too."""
    return blake2b(json.dumps(value, sort_keys=True).encode("utf-8", "replace"), digest_size=6).hexdigest()


def _result(record: Any) -> Any:
    if not isinstance(record, dict):
        return record
    found = {key: value for key, value in record.items() if key != "trace"}
    if record.get("status") in _STATUSES:
        found |= {"status": Status.FAILED.value, "cause": _STATUSES[record["status"]].value}
    trace = record.get("trace")
    calls = trace.get("tool_calls") if isinstance(trace, dict) else None
    if isinstance(calls, list):
        found["tools"] = [_tool(call) for call in calls if isinstance(call, dict)]
    return found


def _tool(call: Record) -> Record:
    known = {key: call.get(key) for key in ("server", "arguments", "result", "error")}
    return {**known, "name": str(call.get("tool") or ""), "server": str(call.get("server") or "")}
