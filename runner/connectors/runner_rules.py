"""The file `runner.yml`: rules for what the runner of a sandbox agent does. The first rule that applies answers.

`docs/sandbox.md` describes it.

- when: { message: add a readme } files: { README.md: "# Hello", old.txt: null } events: [{ type: text, text: Done }]
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runner.connectors.reply_conditions import Condition, read_conditions
from runner.connectors.reply_situation import Situation
from runner.connectors.reply_templates import as_text, compile_templates, render
from runner.connectors.rules import fields_in, read_rules
from runner.durations import FORMS, seconds_of
from runner.errors import ConfigurationError, did_you_mean
from scripttest.values import Value

FILE = "runner.yml"
_RULE = ("when", "times", "files", "events", "exit", "error", "delay")
_EVENTS: dict[str, tuple[str, ...]] = {"text": ("type", "text"), "tool": ("type", "name", "input")}
"""Type of an event → its fields."""


class Product(Value):
    """The result of a runner: its output, and the files that it wrote or removed."""

    files: Mapping[str, str | None]
    """Path in the workspace → its text; None: it is removed."""
    events: tuple[Mapping[str, Any], ...]
    """Texts and tools, in their order."""
    exit: int
    error: str
    delay: float
    """Seconds that it takes."""

    @property
    def text(self) -> str:
        """All texts, one behind the other."""
        return "".join(event["text"] for event in self.events if event["type"] == "text")

    def record(self) -> dict[str, Any]:
        """As JSON, which `product_of` reads."""
        return {
            "files": dict(self.files),
            "events": [dict(event) for event in self.events],
            "exit": self.exit,
            "error": self.error,
            "delay": self.delay,
        }


def product_of(record: Mapping[str, Any]) -> Product:
    """A product from its JSON."""
    return Product(
        files=record["files"],
        events=tuple(record["events"]),
        exit=record["exit"],
        error=record["error"],
        delay=record["delay"],
    )


class RunnerRule(Value):
    """One entry of the file."""

    number: int
    """Counted from 1."""
    conditions: tuple[Condition, ...]
    times: int | None
    files: Any
    events: Any
    """Both may have templates."""
    exit: int
    error: str
    delay: float

    def holds(self, situation: Situation) -> bool:
        """Whether all its conditions do."""
        return all(condition.holds(situation.value) for condition in self.conditions)

    def product(self, situation: Situation) -> Product:
        """The result of the rule. Raises TemplateError."""
        files = {as_text(path): content for path, content in render(self.files, situation.value).items()}
        return Product(
            files={path: None if content is None else as_text(content) for path, content in files.items()},
            events=tuple(render(self.events, situation.value)),
            exit=self.exit,
            error=self.error,
            delay=self.delay,
        )

    @property
    def shown(self) -> str:
        """The conditions of the rule, in words."""
        return f"rule {self.number}: {' and '.join(condition.shown for condition in self.conditions) or 'always'}"


def read_runner(path: Path, label: str) -> tuple[RunnerRule, ...]:
    """The rules in a file, which messages call `label`. Raises ConfigurationError."""
    return read_rules(path, label, "- files: { a.txt: text }", _rule)


def _rule(number: int, entry: Any, _: bool) -> RunnerRule:
    fields = fields_in(entry, "a rule", _RULE)
    if fields.keys().isdisjoint(("files", "events", "exit", "error")):
        raise ConfigurationError("it does nothing", "Say files, events, exit or error")
    when = fields.get("when")
    if isinstance(when, dict) and "message" in when:
        when = {"input" if name == "message" else name: wanted for name, wanted in when.items()}
    times, code = fields.get("times"), fields.get("exit", 0)
    if times is not None and (not isinstance(times, int) or isinstance(times, bool) or times < 1):
        raise ConfigurationError('"times" must be a whole number from 1 up')
    if not isinstance(code, int) or isinstance(code, bool):
        raise ConfigurationError('"exit" must be a whole number')
    error = fields.get("error")
    if error is not None and not isinstance(error, str):
        raise ConfigurationError('"error" must be text', "Put it in quotes")
    delay = fields.get("delay")
    if delay is not None and not isinstance(delay, str):
        raise ConfigurationError('"delay" must be a duration', f"Write it as {FORMS}")
    return RunnerRule(
        number=number,
        conditions=read_conditions(when),
        times=times,
        files=compile_templates(_files(fields.get("files") or {})),
        events=compile_templates([_event(event) for event in _list(fields.get("events") or [])]),
        exit=code,
        error=error or "",
        delay=0 if delay is None else seconds_of(delay, "delay"),
    )


def _files(given: Any) -> dict[str, str | None]:
    if not isinstance(given, dict):
        raise ConfigurationError('"files" must be an object', "Write it as files: { path: text, removed.txt: null }")
    for path, content in given.items():
        if content is not None and not isinstance(content, str):
            raise ConfigurationError(f'the content of "{path}" must be text, or null to remove it', "Put it in quotes")
    return {str(path): content for path, content in given.items()}


def _list(given: Any) -> list[Any]:
    if not isinstance(given, list):
        raise ConfigurationError(
            '"events" must be a list', "An item is { type: text, text } or { type: tool, name, input }"
        )
    return given


def _event(given: Any) -> dict[str, Any]:
    kind = given.get("type") if isinstance(given, dict) else None
    if kind not in _EVENTS:
        hint = did_you_mean(str(kind), _EVENTS) or f"Types are {', '.join(_EVENTS)}"
        raise ConfigurationError(f'unknown type "{kind}" of an event', hint)
    fields = fields_in(given, f"an event of type {kind}", _EVENTS[kind])
    needed = "text" if kind == "text" else "name"
    if not isinstance(fields.get(needed), str):
        raise ConfigurationError(f'an event of type {kind} needs "{needed}", a text')
    return fields if kind == "text" else {"input": {}, **fields}
