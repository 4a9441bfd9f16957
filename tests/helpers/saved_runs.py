"""Small saved runs of one case file."""

from __future__ import annotations

from agent_files import lines
from command import Record

SUITE = {
    "id": "c.jsonl",
    "kind": "agent_test",
    "label": "c.jsonl",
    "file": "/c.jsonl",
    "agent": "demo",
    "connector": "",
}


def case(id: str, status: str = "passed", **more: object) -> Record:
    return {"type": "result", "suite": "c.jsonl", "id": id, "status": status, "duration_ms": 100, "input": "x", **more}


def run_of(*results: Record, **more: object) -> str:
    """The text of a JSONL report."""
    start = {"type": "start", "timestamp": "2024-12-17T10:00:00Z", "version": "0.10.5", "suites": [SUITE], **more}
    failed = any(result["status"] == "failed" for result in results)
    end = {"type": "summary", "duration_ms": 1000, "status": "failed" if failed else "passed"}
    placed = [{**result, "position": position} for position, result in enumerate(results)]
    return lines(start, *placed, end)
