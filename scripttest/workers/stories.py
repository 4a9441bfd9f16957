"""Scripts with a recorder, which tell what they do: `StoryHost` runs a test by itself, `StoryFunctions` calls a hook or
a tool once more."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from scripttest.protocol import MessageError, encode
from scripttest.results import Broken, Ended, Failure, Outcome
from scripttest.values import Value
from scripttest.workers import answers
from scripttest.workers.functions import FunctionPool, Owner
from scripttest.workers.host import ScriptHost
from scripttest.workers.services import FunctionCall, Returned
from scripttest.workers.work import Module, Slot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from scripttest.workers.pool import WorkerSlot


class ToldLine(Value):
    """A statement that ran."""

    site: int
    depth: int
    """How many calls are around it."""
    within: int
    """The site of the function that it is in; 0: the top of a module."""
    turn: int
    """Which turn of a loop, or which call by the same statement, begins with it, from 1; 0: none."""
    turns: int
    """How many there were."""
    parts: tuple[tuple[str, int, str], ...]
    """Operation, site and values, each as `=` or `~` and a text; apart by line breaks."""


class ToldStory(Value):
    """What was told of a test."""

    count: int = 0
    """How much has happened until the first failure."""
    cut: int = 0
    """How many lines are cut at the front."""
    lines: tuple[ToldLine, ...] = ()
    outcome: Outcome | Failure | None = None
    """How the test ended this time, or why its module cannot be loaded; None: it did not end."""


class StoryHost(ScriptHost):
    """A script host for modules with a recorder."""

    _told = ""

    def story_of(self, module: Module, settings: Mapping[str, Any], left: Callable[[], float | None]) -> ToldStory:
        """The story of the only test of a module that `Services.selected` selects, or of its loading; blocks.
        `settings` are those of `bindings/src/realm/story.ts`, `left` as for `run`. Raises HostError."""
        self._told = ""
        self._queue.lead = lambda _: [encode("tell", json.dumps(settings))]
        outcome: Outcome | Failure | None = None
        for record in self.run([module], left):
            if isinstance(record, Ended):
                outcome = record.outcome
            elif isinstance(record, Broken):
                outcome = record.failure
        return read_story(self._told).replace(outcome=outcome)

    def heard(self, slot: Slot, message: answers.Message) -> None:
        """Handles a message from a worker, as that of the base class, and keeps what is told."""
        if isinstance(message, answers.Told):
            self._told = message.text
        else:
            super().heard(slot, message)


def read_story(text: str) -> ToldStory:
    """What `Story.lines` in `scripttest.realm.story` has written. Raises MessageError for something else."""
    if not text:
        return ToldStory()
    try:
        record = json.loads(text)
        lines = []
        for site, depth, within, turn, turns, parts in record["lines"]:
            if not all(type(number) is int for number in (site, depth, within, turn, turns)):
                raise ValueError("a line without numbers")
            found = tuple((str(op), int(place), str(values)) for op, place, values in parts)
            lines.append(ToldLine(site=site, depth=depth, within=within, turn=turn, turns=turns, parts=found))
        return ToldStory(count=int(record["count"]), cut=int(record["cut"]), lines=tuple(lines))
    except (ValueError, TypeError, KeyError) as error:
        raise MessageError(f"a story of another kind: {error}") from error


class StoryFunctions(FunctionPool):
    """Calls functions of scripts with a recorder, one after the other."""

    _told = ""

    async def call_told(self, call: FunctionCall, owner: Owner, settings: Mapping[str, Any]) -> Returned:
        """As `call`, with the `settings` of `bindings/src/realm/story.ts`; `told` has the story then, also when it
        raises something."""
        self._told, self._settings = "", settings
        self._switches = self
        return await self.call(call, owner)

    def told(self) -> ToldStory:
        """The story of the last call."""
        return read_story(self._told)

    def lead(self, owner: Owner) -> bytes:
        """The frame before a call, as that of `Switches`."""
        return encode("tell", json.dumps(self._settings))

    def reached(self, owner: Owner, message: answers.Reached) -> None:
        """As that of `Switches`: there are no mutants."""

    def heard(self, slot: WorkerSlot[Any], message: answers.Message) -> None:
        """As that of the base class, and keeps what is told."""
        if isinstance(message, answers.Told):
            self._told = message.text
        else:
            super().heard(slot, message)
