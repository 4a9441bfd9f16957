"""Checkpoints of a case: which are reached, in which turn, and why others are not (seed 001).

After each answer, every open checkpoint is checked once if all checkpoints in its `after` are reached, also by this
answer. The checks see all texts of the answer: Next's data, the text of the model, and each `message` in the result of
a tool. If there are several, they are joined with line breaks."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from runner.assertions.base import AssertionResult, Evidence, Judges
from runner.assertions.checking import check_all, type_named
from runner.assertions.values import value_text
from runner.record.case_result import CheckpointResult
from scripttest import Cause, Failure

if TYPE_CHECKING:
    from runner.agents.answer import Answer
    from runner.assertions.base import ToolUse
    from runner.cases.turns import Checkpoint


class Checkpoints:
    """The checkpoints of one case."""

    def __init__(self, checkpoints: Sequence[Checkpoint]) -> None:
        self._checkpoints = {one.id: one for one in checkpoints}
        self._last = {
            one.id: CheckpointResult(
                id=one.id, description=one.description, required=one.required, reached_at_turn=None
            )
            for one in checkpoints
        }
        """Id → its state when it was last tried."""
        self._undecided: dict[str, str] = {}
        """Id → what votes said of it that did not decide; of those that nothing else kept from being reached then."""
        self.broken: list[tuple[Cause, str]] = []
        """What is wrong with required ones that no judge could try on the last answer, by cause."""
        self.any_required = any(one.required for one in checkpoints)

    @property
    def reached(self) -> list[str]:
        """Ids of those that are reached."""
        return [id for id, last in self._last.items() if last.passed]

    @property
    def pending(self) -> list[str]:
        """Ids of the others."""
        return self._waits(self._last)

    @property
    def missing(self) -> list[str]:
        """Ids of those that are required and not reached."""
        return [id for id in self.pending if self._checkpoints[id].required]

    @property
    def failure(self) -> Failure:
        """What a case fails for in which required ones are missing; inconclusive if votes on all did not decide."""
        if self.undecided:
            said = "; ".join(f"checkpoint {id}: {said}" for id, said in self._undecided.items())
            return Failure(cause=Cause.INCONCLUSIVE, message=said)
        return Failure(cause=Cause.ASSERTION, message=f"missing checkpoints: {', '.join(self.missing)}")

    @property
    def undecided(self) -> bool:
        """Whether required ones are missing, and each of them may have been reached."""
        return bool(self.missing) and all(map(self._may_be, self.missing))

    async def look(self, turn: int, evidence: Evidence, judges: Judges) -> list[AssertionResult]:
        """Tries the open checkpoints on the answer of a turn; the assertions of those that it reached."""
        left = self.pending
        held: list[AssertionResult] = []
        self.broken = []
        while ready := [id for id in left if not self._waits(self._checkpoints[id].after)]:
            left = [id for id in left if id not in ready]
            checks = [check_all(self._checkpoints[id].assertions, evidence, judges) for id in ready]
            for id, results in zip(ready, await asyncio.gather(*checks), strict=True):
                held += self._tried(id, turn, results)
        return held

    def _tried(self, id: str, turn: int, results: tuple[AssertionResult, ...]) -> Sequence[AssertionResult]:
        """Takes the results of a checkpoint; these, if it is reached."""
        failed = [result for result in results if not result.passed]
        last = self._last[id].replace(
            message="; ".join(result.message for result in failed),
            judged=any(result.judged for result in results),
            not_judged=sum(result.not_judged for result in results) if failed else 0,
        )
        if (last.assertions and not failed) or (any(map(_has_judge, results)) and id not in self._undecided):
            last = last.replace(assertions=results)
        self._last[id] = last if failed else last.replace(reached_at_turn=turn)
        if not failed:
            return results
        if all(result.inconclusive for result in failed):
            self._undecided.setdefault(id, last.message)
        elif last.required and not all(result.judged for result in failed):
            self.broken.append((Cause.ASSERTION, f"{id} failed: {last.message}"))
        elif last.required and any(map(_is_unjudged, failed)):
            is_broken = all(result.infrastructure for result in failed if result.error)
            cause = Cause.INFRASTRUCTURE if is_broken else Cause.ERROR
            self.broken.append((cause, f"{id} failed: {last.message}"))
        return ()

    def results(self) -> list[CheckpointResult]:
        """The state of each, in the order of the case."""
        return [
            last.replace(message=self._why_not(id), inconclusive=self._may_be(id)) for id, last in self._last.items()
        ]

    def _waits(self, ids: Iterable[str]) -> list[str]:
        """Those that are not reached."""
        return [id for id in ids if not self._last[id].passed]

    def _may_be(self, id: str) -> bool:
        """Whether votes on one that is not reached did not decide, or on one that it comes after."""
        if self._last[id].passed:
            return False
        waits = self._waits(self._checkpoints[id].after)
        return all(map(self._may_be, waits)) if waits else id in self._undecided

    def _why_not(self, id: str) -> str:
        last, waits = self._last[id], self._waits(self._checkpoints[id].after)
        if waits:
            return f"not checked: it comes after {', '.join(waits)}"
        return last.message if last.passed else self._undecided.get(id) or last.message


def _has_judge(result: AssertionResult) -> bool:
    return result.judge is not None or any(map(_has_judge, result.details))


def _is_unjudged(result: AssertionResult) -> bool:
    """Whether a judge or a script failed; other checks may have had nothing to look at yet."""
    return (result.error and type_named(result.type).asks is not None) or any(map(_is_unjudged, result.details))


def all_texts(answer: Answer, tools: Sequence[ToolUse]) -> Any:
    """All texts of an answer, as a text of several lines; or the value, if there is only one."""
    said: list[Any] = [] if answer.next in (None, "") else [answer.next]
    if answer.content:
        said.append(answer.content)
    said += [
        use.result["message"]
        for use in tools
        if isinstance(use.result, dict) and isinstance(use.result.get("message"), str) and use.result["message"]
    ]
    if not said:
        return answer.output
    return said[0] if len(said) == 1 else "\n".join(map(value_text, said))
