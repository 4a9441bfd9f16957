"""Checkpoints of a case: which are reached, in which turn, and why others are not (seed 001).

After each answer, every open checkpoint is checked once if all checkpoints in its `after` are reached, also by this
answer. The checks see all texts of the answer: Next's data, the text of the model, and each `message` in the result of
a tool. If there are several, they are joined with line breaks."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
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
        self._checkpoints = checkpoints
        self._reached: dict[str, int] = {}
        """Id → turn."""
        self._messages: dict[str, str] = {}
        """Id → why it was not reached when it was last tried."""
        self._judged: dict[str, bool] = {}
        """Id → whether anything was judged when it was last tried."""
        self._not_judged: dict[str, int] = {}
        """Id → how many judges could not judge when it was last tried; of those that are not reached."""
        self._undecided: dict[str, str] = {}
        """Id → what votes said of it that did not decide; of those that nothing else kept from being reached then."""
        self._said: dict[str, tuple[AssertionResult, ...]] = {}
        """Id → what judges said of it; see `CheckpointResult.assertions`."""
        self.broken: list[tuple[Cause, str]] = []
        """What is wrong with required ones that no judge could try on the last answer, by cause."""

    @property
    def reached(self) -> list[str]:
        """Ids of those that are reached."""
        return [checkpoint.id for checkpoint in self._checkpoints if checkpoint.id in self._reached]

    @property
    def pending(self) -> list[str]:
        """Ids of the others."""
        return [checkpoint.id for checkpoint in self._checkpoints if checkpoint.id not in self._reached]

    @property
    def missing(self) -> list[str]:
        """Ids of those that are required and not reached."""
        return [
            checkpoint.id for checkpoint in self._checkpoints if checkpoint.required and checkpoint.id in self.pending
        ]

    @property
    def failure(self) -> Failure:
        """What a case fails for in which required ones are not reached: a failure, unless it may be that votes which do
        not decide are all that is missing."""
        if self.undecided:
            said = "; ".join(f"checkpoint {id}: {said}" for id, said in self._undecided.items())
            return Failure(cause=Cause.INCONCLUSIVE, message=said)
        return Failure(cause=Cause.ASSERTION, message=f"missing checkpoints: {', '.join(self.missing)}")

    @property
    def undecided(self) -> bool:
        """Whether required ones are missing, and each of them may have been reached."""
        return bool(self.missing) and all(self._may_be(id) for id in self.missing)

    @property
    def any_required(self) -> bool:
        """Whether the case needs one at all."""
        return any(checkpoint.required for checkpoint in self._checkpoints)

    async def look(self, turn: int, evidence: Evidence, judges: Judges) -> tuple[AssertionResult, ...]:
        """Tries the open checkpoints on the answer of a turn; the assertions of those that it reached."""
        tried: set[str] = set()
        held: list[AssertionResult] = []
        self.broken = []
        while ready := [checkpoint for checkpoint in self._checkpoints if self._can_be(checkpoint, tried)]:
            tried |= {checkpoint.id for checkpoint in ready}
            found = await asyncio.gather(*[check_all(one.assertions, evidence, judges) for one in ready])
            for checkpoint, results in zip(ready, found, strict=True):
                failed = [result for result in results if not result.passed]
                if any(map(_has_judge, results)) and checkpoint.id not in self._undecided:
                    self._said[checkpoint.id] = results
                self._messages[checkpoint.id] = "; ".join(result.message for result in failed)
                self._judged[checkpoint.id] = any(result.judged for result in results)
                self._not_judged[checkpoint.id] = sum(result.not_judged for result in results) if failed else 0
                if not failed:
                    self._reached[checkpoint.id] = turn
                    if checkpoint.id in self._said:
                        self._said[checkpoint.id] = results
                    held += results
                elif all(result.inconclusive for result in failed):
                    self._undecided.setdefault(checkpoint.id, self._messages[checkpoint.id])
                elif checkpoint.required and not all(result.judged for result in failed):
                    self.broken.append((Cause.ASSERTION, f"{checkpoint.id} failed: {self._messages[checkpoint.id]}"))
                elif checkpoint.required and any(map(_is_unjudged, failed)):
                    is_broken = all(result.infrastructure for result in failed if result.error)
                    cause = Cause.INFRASTRUCTURE if is_broken else Cause.ERROR
                    self.broken.append((cause, f"{checkpoint.id} failed: {self._messages[checkpoint.id]}"))
        return tuple(held)

    def results(self) -> list[CheckpointResult]:
        """The state of each, in the order of the case."""
        return [
            CheckpointResult(
                id=checkpoint.id,
                description=checkpoint.description,
                required=checkpoint.required,
                reached_at_turn=self._reached.get(checkpoint.id),
                message=self._why_not(checkpoint),
                judged=self._judged.get(checkpoint.id, True),
                not_judged=self._not_judged.get(checkpoint.id, 0),
                inconclusive=self._may_be(checkpoint.id),
                assertions=self._said.get(checkpoint.id, ()),
            )
            for checkpoint in self._checkpoints
        ]

    def _can_be(self, checkpoint: Checkpoint, tried: set[str]) -> bool:
        id = checkpoint.id
        return id not in self._reached and id not in tried and all(other in self._reached for other in checkpoint.after)

    def _may_be(self, id: str) -> bool:
        """Whether votes on one that is not reached did not decide, or on one that it comes after."""
        if id in self._reached:
            return False
        after = next(checkpoint.after for checkpoint in self._checkpoints if checkpoint.id == id)
        waits = [other for other in after if other not in self._reached]
        return all(map(self._may_be, waits)) if waits else id in self._undecided

    def _why_not(self, checkpoint: Checkpoint) -> str:
        waits = [other for other in checkpoint.after if other not in self._reached]
        if waits:
            return f"not checked: it comes after {', '.join(waits)}"
        undecided = None if checkpoint.id in self._reached else self._undecided.get(checkpoint.id)
        return undecided or self._messages.get(checkpoint.id, "")


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
