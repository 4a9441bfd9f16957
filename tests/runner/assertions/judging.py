"""What the tests of assertions share: one assertion as a case file has it, checked on one answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from runner.assertions.base import AssertionResult, Embeddings, Evidence, JudgeFlags, NotEvaluated, ToolUse
from runner.assertions.checking import check
from runner.assertions.model import Assertion


class Judges:
    """Answers what a test says, and keeps what it was asked."""

    flags = JudgeFlags()

    def __init__(self, answer: Any = None, snapshots: dict[str, Any] | None = None) -> None:
        self.answer = answer
        self.snapshots = {} if snapshots is None else snapshots
        self.asked: list[tuple[Any, ...]] = []

    async def validate(self, agent: str, payload: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
        self.asked.append((agent, payload, options))
        return self._given()

    async def call_script(self, reference: str, roles: tuple[str, ...], arguments: list[Any]) -> Any:
        self.asked.append((reference, roles, arguments))
        return self._given()

    async def embed(self, connector: str, texts: Sequence[str]) -> Embeddings | None:
        return None

    def match_snapshot(self, name: str, value: Any) -> str | None:
        stored = self.snapshots.setdefault(name, value)
        return None if stored == value else f"{value} instead of {stored}"

    def _given(self) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def judge(fields: dict[str, Any], evidence: Evidence, judges: Judges | None = None) -> AssertionResult:
    return asyncio.run(check(Assertion(**fields), evidence, judges or Judges()))


def outcome(fields: dict[str, Any], output: Any) -> tuple[bool, str]:
    """Whether an assertion passes on an output, and what it says; errors are failures that begin with `Cannot`."""
    result = judge(fields, Evidence(output=output))
    assert result.error is result.message.startswith("Cannot evaluate")
    return result.passed, result.message


SEARCH = ToolUse(
    name="search",
    server="web.tools",
    arguments={"query": "rates", "limit": 5},
    result={"hits": [{"title": "A", "n": 1}], "code": 200},
)
CREATE = ToolUse(
    name="create_expense", server="expense", arguments={"amount": 3500}, result='{"id": "EXP-1", "status": "draft"}'
)
BROKEN = ToolUse(
    name="create_expense", server="expense", arguments={"amount": -1}, result=None, error="amount must be positive"
)

__all__ = ["BROKEN", "CREATE", "SEARCH", "Judges", "NotEvaluated", "judge", "outcome"]
