"""StoryFunctions: a pool of functions whose scripts have a recorder. It calls a hook or a tool once more, which tells
what happens in it."""

from __future__ import annotations

import json
from collections.abc import Mapping

from scripttest.protocol import encode
from scripttest.workers import answers
from scripttest.workers.functions import FunctionPool, Owner
from scripttest.workers.services import FunctionCall, Returned
from scripttest.workers.story_host import ToldStory, read_story

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from scripttest.workers.pool import WorkerSlot


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
