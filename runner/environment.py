"""The world outside: the only reader of `os.environ` and the standard streams."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, MutableMapping
from io import TextIOWrapper
from pathlib import Path

from runner.security.keys import Keys, take_keys
from runner.security.secrets import Secrets
from runner.security.terminal import RedactedStream
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO

CONTENT_IN_SPANS = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
AGENTS = (
    "AI_AGENT CLAUDECODE CLAUDE_CODE CURSOR_AGENT GEMINI_CLI COPILOT_CLI OPENCODE OPENCODE_CLIENT CODEX_SANDBOX"
    " CODEX_CI CODEX_THREAD_ID AUGMENT_AGENT ANTIGRAVITY_AGENT CLINE_ACTIVE"
).split()
"""Variables that coding agents set for the commands that they run."""


class Environment(Value):
    """Everything a run takes from the process it lives in; tests hand in their own."""

    directory: Path
    """Absolute path of the working directory."""
    variables: Mapping[str, str]
    """Environment variables, without the secret ones."""
    stdout: TextIO
    stderr: TextIO
    cpus: int
    secrets: Secrets
    """What the streams and the reports of a run never show."""
    keys: Keys = Keys()
    """The secret variables."""
    named: frozenset[str] = frozenset()
    """The variables that scripts and prompts may read beside those that the application's `.env` names."""

    def with_variables(self, given: Mapping[str, str]) -> Environment:
        """The environment with further variables, which win. Secret ones become keys, the others are named."""
        variables = {**self.variables, **self.keys, **given}
        self.secrets.add_variables(variables)
        keys = take_keys(variables)
        return self.replace(variables=variables, keys=keys, named=self.named | (given.keys() - keys.keys()))

    @property
    def terminal(self) -> bool:
        """Whether a person watches the output."""
        return self.stdout.isatty() and not self.ci and self.variables.get("TERM") != "dumb"

    @property
    def ci(self) -> bool:
        """Whether this is a continuous-integration job."""
        return self.variables.get("CI", "") not in ("", "0", "false")

    @property
    def agent(self) -> bool:
        """Whether a coding agent runs the command, by the variables that they set."""
        return any(self.variables.get(name) for name in AGENTS)

    @property
    def colors(self) -> bool:
        """Whether colours are wanted, before `--no-color`."""
        return self.terminal and not self.variables.get("NO_COLOR")

    @property
    def content_in_spans(self) -> bool:
        """Whether the spans of `--otlp` contain messages to and from models; from OpenTelemetry's variables."""
        said = self.variables.get(CONTENT_IN_SPANS, "").lower()
        return said in ("true", "1", "span_only", "span_and_event")

    def now(self) -> str:
        """The time, UTC, RFC 3339."""
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())

    def monotonic(self) -> float:
        """Seconds on a clock that only goes forward."""
        return time.monotonic()


def from_process() -> Environment:
    """The environment of this process, which has no secret variables any more."""
    environment = environment_of(_working_directory(), os.environ, sys.stdout, sys.stderr)
    sys.stderr = environment.stderr  # where threads and libraries complain
    return environment


def environment_of(
    directory: Path, variables: MutableMapping[str, str], stdout: TextIO | None, stderr: TextIO | None
) -> Environment:
    """Makes an environment. Secret variables are taken out of `variables`, and the streams hide their values.

    Args:
        directory: absolute path of the working directory.
        variables: environment variables.
        stdout: None if it is closed.
        stderr: None if it is closed."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    secrets = Secrets(variables)
    keys = take_keys(variables)
    return Environment(
        directory=directory,
        variables=dict(variables),
        stdout=_redacted(stdout, secrets),
        stderr=_redacted(stderr, secrets),
        cpus=cpus,
        secrets=secrets,
        keys=keys,
    )


def _redacted(stream: TextIO | None, secrets: Secrets) -> Any:
    """The stream, which hides secrets; typed loosely because it is no `TextIO` by its class."""
    return RedactedStream(_tolerant(stream), secrets)


def _working_directory() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path(os.environ.get("PWD", "/"))


def _tolerant(stream: TextIO | None) -> TextIO:
    """A standard stream that accepts every text: unsupported characters are escaped; a closed stream drops it."""
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return stream
