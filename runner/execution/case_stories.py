"""Calls the hooks and tools of failed cases once more, with a recorder, for the stories in their results.

Nothing else of the case happens again: whatever a function asked for outside of its realm has the answer of the first
run, so no model is asked, and nothing is written or counted."""

from __future__ import annotations

import json
import re
from asyncio import Lock, timeout
from collections.abc import Sequence
from pathlib import Path

from bindings import SCRIPT_GLOBALS, SCRIPT_PARTS, KeptCall
from runner.execution.stories import FEW, LONGEST, OWN, note_of, take_call
from runner.record.story import story_lines
from scripttest import (
    FunctionError,
    FunctionServices,
    HostError,
    MissingFunctionError,
    MockedCalls,
    Recording,
    Services,
    StackFrame,
    StoryFunctions,
    ToldLine,
    worker_command,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.agents.chat import FunctionRun
    from runner.execution.run import Run
    from scripttest.typing_names import Record

SHOWN = 200
"""Characters of what a function returned in the second run alone."""


class CaseStories:
    """The stories of the hooks and tools of failed cases: each is called once more, with what it was called with, and
    gets the answers that it got. Belongs to one event loop, and has to be closed in it."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._left = 10**9 if run.options.story == "all" else FEW
        self._recording = Recording(str(run.application.root))
        self._one = Lock()
        self._functions: StoryFunctions | None = None

    async def story_of(self, functions: Sequence[FunctionRun]) -> tuple[Record, ...]:
        """The story of these calls, in the order in which they began; empty when enough is told."""
        if self._left <= 0:
            return ()
        self._left -= 1
        async with self._one:
            try:
                return await self._told(functions)
            except HostError as error:
                return (note_of(error),)

    async def _told(self, functions: Sequence[FunctionRun]) -> tuple[Record, ...]:
        hide, clean = self._run.options.story_hide, self._run.environment.secrets.text
        lines: list[ToldLine] = []
        notes: list[tuple[str, str]] = []
        cut, loaded = 0, set[Path]()
        for one in functions:
            ended = await self._again(one, {"hide": list(hide), "began": one.began, "skip": 0, "most": 10**9})
            told = self._pool.told()
            cut += told.cut
            again = one.call.script in loaded  # what its top level does is told
            loaded.add(one.call.script)
            for line in told.lines:
                if line.within or line.depth < 0:
                    lines.append(line.replace(depth=line.depth + 1))
                elif not again:
                    lines.append(line)
            if one.ended and re.sub(OWN, "…", ended) != re.sub(OWN, "…", one.ended):
                what = one.call.function or one.call.script.name
                said = f"ended with: {ended[:SHOWN]}" if ended else "had no time to come to the end"
                notes.append(("flaky", clean(f"flaky: in the second run, which tells this story, {what} {said}")))
        return story_lines(lines, self._recording.sites, clean, hide, cut, notes)

    async def _again(self, one: FunctionRun, settings: Record) -> str:
        """Calls a function again; how it ended, as `FunctionRun.ended` says it."""
        try:
            async with timeout(LONGEST):
                return json.dumps((await self._pool.call_told(one.call, list(one.asked), settings)).value)
        except FunctionError as error:
            return error.message
        except (MissingFunctionError, TimeoutError):
            return ""

    @property
    def _pool(self) -> StoryFunctions:
        if self._functions is None:
            self._functions = StoryFunctions(
                self._run.application.root,
                worker_command(SCRIPT_PARTS, tells=True),
                _FunctionAnswers(self._run.router),
                SCRIPT_GLOBALS,
                workers=1,
                is_late=lambda: True,
                instrument=self._recording.instrument,
            )
        return self._functions

    async def close(self) -> None:
        """Ends the processes."""
        if self._functions is not None:
            await self._functions.close()


class _FunctionAnswers(FunctionServices):
    """Answers what a function asks for as in the first run. The owner is the list of what it has not asked again."""

    def __init__(self, first: Services) -> None:
        self._first = first

    async def answer(self, owner: list[KeptCall], name: str, arguments: str, world: str) -> str:
        """As `at_once`."""
        return self.at_once(owner, name, arguments, world)

    def at_once(self, owner: list[KeptCall], name: str, arguments: str, world: str) -> str:
        """See `take_call`."""
        return take_call(owner, name, arguments).envelope

    def returned(self, owner: list[KeptCall], world: str, mocked: Sequence[MockedCalls]) -> None:
        """The first run has counted that."""

    def stopped(self, owner: list[KeptCall], frames: tuple[StackFrame, ...]) -> None:
        """The first run has said where it was."""

    def library(self, module: str, script: str) -> Path:
        """As in the first run."""
        return self._first.library(module, script)
