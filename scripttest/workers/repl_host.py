"""ReplHost: a script host with one test, a prompt in the realm of a script, which evaluates what it is given."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from scripttest.results import LogLine, StackFrame
from scripttest.values import Value
from scripttest.workers import answers
from scripttest.workers.host import ScriptHost
from scripttest.workers.work import Slot, start_clock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Said(Value):
    """What an input came to."""

    value: str | None = None
    """As a debugger prints it; None: nothing, or undefined."""
    error: str | None = None
    """What was thrown."""
    frames: tuple[StackFrame, ...] = ()
    """Where that was."""
    failures: tuple[str, ...] = ()
    """Assertions that failed."""
    names: tuple[str, ...] = ()
    """What the script declares."""
    members: Mapping[str, list[str]] = {}
    """Name → its members, of `t` and `ctx`."""


class ReplHost(ScriptHost):
    """A script host for the prompt."""

    def serve(self, answer: Callable[[Said], dict[str, Any] | None], printed: Callable[[LogLine], None]) -> None:
        """Sets what is called on the thread of `run`: `answer` with what the last input came to, and returns the next
        one, `{code, waits}`, None to end; `printed` with each captured line, before."""
        self._answer, self._printed = answer, printed

    def heard(self, slot: Slot, message: answers.Message) -> None:
        """Handles a message from a worker, as that of the base class; captured lines are passed on at once."""
        if isinstance(message, answers.Logged):
            line = message.line
            if line.level == "watch" and "\0" in line.text:
                _, name, value = line.text.split("\0", 2)
                line = line.replace(text=f"{name} = {value}" if name else value)
            self._printed(line)
        else:
            super().heard(slot, message)

    def asked(self, slot: Slot, call: answers.HostCall) -> None:
        """Answers a host call; for the next input, the clock stands."""
        if call.name != "repl.Next" or slot.work is None:
            super().asked(slot, call)
            return
        run = self._module_runs[slot.work.job.key]
        slot.worker.deadline = None
        said = json.loads(call.arguments)[0]
        frames = run.outcomes.mapper.frames(str(said.get("stack") or ""))
        found = Said(
            value=said.get("value"),
            error=said.get("error"),
            frames=tuple(frames),
            failures=tuple(map(str, said.get("failures") or ())),
            names=tuple(sorted(run.compiled.declared)),
            members=said.get("members") or {},
        )
        answer = self._answer(found)
        start_clock(slot, run.timeout)
        slot.reply(call.number, json.dumps({"ok": answer}))
