"""Keeps texts of scripts, models and files from steering a terminal or a CI server: only codes and commands of our own
reach it.

| a text that is a command for | is written |
|---|---|
| GitHub: `::x` at the beginning of a line | `\\::x` |
| GitHub, Azure: `##[x]` | `##\\u005bx]` |
| Azure: `##vso[x]` | `##vso\\u005bx]` |
| TeamCity: `##teamcity[x]` | `##teamcity\\u005bx]` |
| Jenkins, GitLab: `[[ATTACHMENT|x]]` | `[[ATTACHMENT\\u007cx]]` |

The formats are in "Workflow commands for GitHub Actions", "Logging commands" of Azure Pipelines, "Service messages" of
TeamCity, and in the pages of the JUnit Attachments plugin and of GitLab's unit test reports. JSON reads these escapes
as what was said.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO

    from runner.security.secrets import Secrets

_OWN_BEGIN, _OWN_END = f"\x1b_{os.urandom(8).hex()}", "\x1b\\"
"""Around codes of the command itself for a terminal. Nobody who writes a text knows the beginning."""
OWN = rf"{_OWN_BEGIN}.*?\x1b\\"
"""The pattern of what `own` returns."""
_STEERS = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
"""Control characters but for tab and line feed, other ends of lines, and what turns the direction of writing."""
_STEERING = (
    rf"(?P<own>{OWN})|\r(?=\n)"
    r"|\u2068[^\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]*\u2069"  # an isolate that ends
    rf"|(?P<other>{_STEERS})"
)
_COMMANDS = (
    r"^(?P<line>[^\S\n]*)(?=::(?:[a-z]|\Z))"
    r"|(?:(?<=##)|(?<=##vso)|(?<=##teamcity))(?P<bracket>\[)|(?<=\[\[attachment)(?P<bar>\|)"
)
_LONGEST = len("[[ATTACHMENT")
"""Characters before the one that completes a command."""


class UnwrittenError(OSError):
    """What the command prints cannot be written, such as on a full disk."""

    def __init__(self, error: OSError, is_first: bool) -> None:
        """`is_first`: whether everything before it could be written."""
        super().__init__(error.errno, error.strerror)
        self.is_first = is_first


class RedactedStream:
    """A text stream on which no secret is written, and nothing with which a script or a model could steer a terminal
    or a CI server: such letters are written as `\\u001b`. Only what `own` marks as the command's is let through."""

    def __init__(self, stream: TextIO, secrets: Secrets) -> None:
        self._stream = stream
        self._secrets = secrets
        self._has_failed = False
        self._line = ""
        """The end of the line that has begun."""

    def write(self, text: str) -> int:
        """Writes a text without secrets; how many characters it was given. Raises UnwrittenError."""
        said = self._secrets.text(text)
        shown = unsteered(inert(said, self._line))
        self._line = end_of_line(said if "\n" in said else self._line + said)
        with self._unwritten():
            if shown:  # click writes nothing to learn what a stream takes, and hides the error
                self._stream.write(shown)
        return len(text)

    def flush(self) -> None:
        """Hands on what was written. Raises UnwrittenError."""
        with self._unwritten():
            self._stream.flush()

    def writelines(self, texts: Iterable[str]) -> None:
        """Writes texts, each as `write` does."""
        for text in texts:
            self.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    @contextmanager
    def _unwritten(self) -> Iterator[None]:
        """In which errors of the stream, but that nobody reads it, are raised as UnwrittenError."""
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            is_first, self._has_failed = not self._has_failed, True
            raise UnwrittenError(error, is_first) from error


def own(code: str) -> str:
    """A code for a terminal, such as a colour, which a `RedactedStream` lets through."""
    return f"{_OWN_BEGIN}{code}{_OWN_END}"


def own_commands(lines: str) -> str:
    """Lines for GitHub, each of them a command of ours, which a `RedactedStream` lets through."""
    return re.sub("^::", lambda match: own(match[0]), lines, flags=re.MULTILINE)


def in_line(text: str) -> str:
    """A text, such as a name, that stays in its line: line breaks are spelled."""
    return text.replace("\r", "\\r").replace("\n", "\\n")


def inert(text: str, before: str = "") -> str:
    """A text that is no command for a CI server, also with what its line has `before` it: see `end_of_line`."""
    if before == ":" and text.startswith(":"):
        text = f"\\{text}"
    whole = before + text
    if "::" not in whole and "##" not in whole and "[[" not in whole:
        return text
    return re.sub(_COMMANDS, _broken, whole, flags=re.IGNORECASE | re.MULTILINE)[len(before) :]


def end_of_line(text: str) -> str:
    """As much of the last line as a command could have begun with."""
    line = text[text.rfind("\n") + 1 :]
    bare = line.strip()
    return bare if len(bare) < 2 and bare in ":" else f"\0{line[-_LONGEST:]}"


def unsteered(text: str) -> str:
    """A text with the letters spelled that could steer a terminal."""
    return text if text.replace("\n", "").isprintable() else re.sub(_STEERING, _unsteered, text)


def spelled(text: str) -> str:
    """A text with all letters spelled that steer whatever shows it."""
    return re.sub(_STEERS, lambda match: f"\\u{ord(match[0]):04x}", text)


def _broken(match: re.Match[str]) -> str:
    if match["line"] is not None:
        return f"{match['line']}\\"
    return "\\u005b" if match["bracket"] else "\\u007c"


def _unsteered(match: re.Match[str]) -> str:
    if code := match["own"]:
        return code[len(_OWN_BEGIN) : -len(_OWN_END)]
    return match[0] if match["other"] is None else spelled(match["other"])
