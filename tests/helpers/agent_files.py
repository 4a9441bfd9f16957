"""Writes agents for tests, and reads the results of their cases."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from command import Application, Record

ECHO = """\
- reply:
    json:
      system: "{{ system }}"
      said: "{{ messages.-1.content }}"
      tools: "{{ tools }}"
"""
"""Replies that tell what reached the model."""


def agent(
    id: str = "demo",
    *,
    package: Mapping[str, Any] | None = None,
    prompts: str | None = "- { role: system, content: Be brief. }",
    replies: str | None = ECHO,
    hooks: str | None = None,
    cases: list[Record] | None = None,
) -> dict[str, str]:
    """The files of an agent that the scripted connector answers; `cases` go to `tests/cases.jsonl`."""
    folder = f"/assistants/{id.replace('.', '/')}"
    files = {f"{folder}/package.yao": json.dumps({"connector": "scripted", **(package or {})})}
    texts = {"prompts.yml": prompts, "replies.yml": replies, "src/index.ts": hooks}
    files |= {f"{folder}/{name}": text for name, text in texts.items() if text is not None}
    if cases is not None:
        files[f"{folder}/tests/cases.jsonl"] = lines(*cases)
    return files


def server(id: str, tools: Mapping[str, str]) -> dict[str, str]:
    """An MCP server of the application, whose tools are processes."""
    definition = {"label": id, "transport": "process", "tools": tools}
    return {f"/mcps/{id.replace('.', '/')}.mcp.yao": json.dumps(definition)}


def lines(*records: Record) -> str:
    """Records as the lines of a file."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def case_file(id: str = "demo") -> str:
    """Where `agent` puts the cases, from the application root."""
    return f"assistants/{id.replace('.', '/')}/tests/cases.jsonl"


def run_cases(app: Application, *arguments: str, code: int | None = None) -> dict[str, Record]:
    """The records of the cases of `demo`, by id; `arguments` may name other inputs."""
    inputs = () if "-i" in arguments else ("-i", case_file())
    report = app.report(*inputs, *arguments, code=code)
    return {record["id"]: record for part in report.get("reports", [report]) for record in part["results"]}


def outputs(app: Application, *arguments: str, code: int = 0) -> Record:
    """What the agent answered in each case."""
    return {id: record["output"] for id, record in run_cases(app, *arguments, code=code).items()}


def errors(app: Application, *arguments: str) -> dict[str, str | None]:
    """Why each case failed."""
    return {id: record["error"] for id, record in run_cases(app, *arguments).items()}
