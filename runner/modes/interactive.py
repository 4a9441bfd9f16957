"""A person at the terminal who answers in place of the user.

The question is written to the terminal of standard input, or to the controlling terminal, wherever standard output
goes. A separate process reads the answer; it has line editing and history if Python has readline. It can be ended at
any time: if the person takes too long, or the run is interrupted. Only the main process receives Ctrl-C. Nobody is
asked if there is no terminal, or the run is in the background, or it is a CI job."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from runner.amounts import in_words
from scripttest.values import Value

TERMINAL = "/dev/tty"
HISTORY = 50
"""Answers that can be called back."""
TEXT_LIMIT = 4000
"""Characters of an agent's text that are shown."""

_READER = """\
import json, os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
request = json.load(sys.stdin)
answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(request["terminal"], 0)
os.dup2(request["terminal"], 1)
try:
    import readline
    for line in request["history"]:
        readline.add_history(line)
except ImportError:
    pass
said = ""
try:
    while not said.strip():
        said = input("> ")
except EOFError:
    said = None
json.dump(said, answer)
answer.flush()
"""
"""Reads a line from the terminal; null when the person ended the input."""


class Question(Value):
    """A question to a person."""

    case: str
    turn: int
    text: str
    hint: str | None


class NoAnswerError(Exception):
    """Nobody answered; the message says why."""

    def __init__(self, message: str, skip: bool = False) -> None:
        super().__init__(message)
        self.skip = skip
        """Whether a person wants the case to be skipped."""


class Person:
    """Answers questions, one at a time. Belongs to one event loop."""

    def __init__(
        self, ci: bool, clean: Callable[[str], str], pause: Callable[[], AbstractContextManager[Any]] = nullcontext
    ) -> None:
        """`clean` takes secrets out of what is shown; `pause` keeps everything else off the terminal while a question
        is open."""
        self._ci = ci
        self._clean = clean
        self._pause = pause
        self._history: list[str] = []
        self._turn = asyncio.Lock()

    async def ask(self, question: Question, seconds: float) -> str:
        """Asks, and waits for the answer; a person has this many seconds from when the question is shown. Cancelling it
        takes the prompt away. Raises NoAnswerError."""
        if self._ci:
            raise NoAnswerError("no terminal: this is a CI job")
        async with self._turn:
            terminal = _open_terminal()
            try:
                with self._pause():
                    answer = await self._answer(terminal, question, seconds)
            finally:
                os.close(terminal)
        self._history.append(answer)
        return answer

    async def _answer(self, terminal: int, question: Question, seconds: float) -> str:
        import termios

        before = termios.tcgetattr(terminal)
        _write(terminal, self._clean(_shown(question.replace(text=self._clean(question.text)), seconds)))
        request = {"terminal": terminal, "history": self._history[-HISTORY:]}
        reader = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", "-c", _READER),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            pass_fds=(terminal,),
        )
        said = b""
        try:
            async with asyncio.timeout(seconds):
                said, _ = await reader.communicate(json.dumps(request).encode())
        except TimeoutError:
            raise NoAnswerError(f"no answer within {in_words(seconds)}") from None
        finally:
            if reader.returncode is None:
                reader.kill()
                await reader.wait()
            termios.tcsetattr(terminal, termios.TCSANOW, before)
            if said in (b"", b"null"):
                _write(terminal, "\n")
        if not said:
            raise NoAnswerError("the prompt could not be shown")
        answer = json.loads(said)
        if answer is None:
            raise NoAnswerError("skipped at the prompt", skip=True)
        return str(answer).encode(errors="replace").decode().strip()


def _open_terminal() -> int:
    """The terminal at which a person sits. Raises NoAnswerError."""
    try:
        terminal = _terminal_of_input() if os.isatty(0) else os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY)
    except OSError:
        raise NoAnswerError("no terminal") from None
    try:
        in_background = os.tcgetpgrp(terminal) != os.getpgrp()
    except OSError:  # it controls no processes, ours among them: a container's, or one that a program made
        return terminal
    if in_background:
        os.close(terminal)
        raise NoAnswerError("no terminal: the run is in the background")
    return terminal


def _terminal_of_input() -> int:
    try:
        return os.open(os.ttyname(0), os.O_RDWR | os.O_NOCTTY)
    except OSError:  # in a container its name may be one outside
        return os.dup(0)


def _shown(question: Question, seconds: float) -> str:
    said = _plain(question.text) or "(the agent said nothing)"
    lines = [f"► [{question.case}] turn {question.turn}: the agent is waiting for you", f"  Agent: {said}"]
    if question.hint:
        lines.append(f"  Hint: {_plain(question.hint)}")
    lines.append(f"  {in_words(seconds)} to answer; Ctrl-D skips the case, Ctrl-C ends the run")
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """A text without control characters for the terminal; further lines are indented below the first."""
    text = "".join(letter for letter in text.strip() if letter in "\n\t" or letter.isprintable())
    return (text if len(text) <= TEXT_LIMIT else f"{text[:TEXT_LIMIT]}...").replace("\n", "\n    ")


def _write(terminal: int, text: str) -> None:
    data = text.encode()
    while data:
        data = data[os.write(terminal, data) :]
