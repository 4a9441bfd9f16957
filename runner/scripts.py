"""Script tests as events: what the script host reports, put into the stream."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from runner.application import TestModule
from runner.events import Event, Suite, SuiteEnd, SuiteStart, TestEnd, TestResult, TestStart
from runner.reporters.multiplexer import Multiplexer
from scripttest import Broken, Ended, Line, Listed, Module, Outcome, ScriptHost, Source, Started

LOG_LINES = 10_000
"""Captured lines of one test that are kept."""


def suite_of(module: TestModule) -> Suite:
    """The suite that a test module is."""
    return Suite(module.id, "script_test", module.label, str(module.test), module.agent)


def host_module(module: TestModule, context: dict[str, Any]) -> Module:
    """The module as the host takes it."""
    own = {**context, "assistant_id": context["assistant_id"] or module.agent}
    return Module(Source(module.id, module.test, module.script), json.dumps(own))


def run_scripts(host: ScriptHost, modules: list[Module], stream: Multiplexer, fail_fast: bool) -> None:
    """Runs modules and sends their events; blocks. With `fail_fast` it returns after the first failure, and what was
    running is not reported. Raises HostError."""
    send = stream.send
    logs: dict[tuple[str, int], list[tuple[str, str]]] = {}
    left: dict[str, int] = {}
    names: dict[str, tuple[str, ...]] = {}
    for record in host.run(modules):
        module = record.module
        if isinstance(record, Started):
            send(TestStart(module, names[module][record.position], record.position))
        elif isinstance(record, Line):
            lines = logs.setdefault((module, record.position), [])
            if len(lines) < LOG_LINES:
                lines.append((record.level, record.text))
        elif isinstance(record, Ended):
            captured = tuple(logs.pop((module, record.position), ()))
            send(TestEnd(TestResult(module, record.outcome.name, record.position, record.outcome, captured)))
            left[module] -= 1
            if not left[module]:
                send(SuiteEnd(module))
        elif isinstance(record, Listed):
            names[module] = record.tests
            left[module] = len(record.tests)
            send(SuiteStart(module, record.tests, record.total))
            if not record.tests or host.list_only:
                send(SuiteEnd(module))
        else:
            _broken(record, send)
        if fail_fast and stream.execution.counts.failed:
            return


def _broken(record: Broken, send: Callable[[Event], None]) -> None:
    """A module without results counts as one failed test that bears the name of the module."""
    name = record.module.rpartition(".")[2]
    failure = record.failure
    more = [
        text if place is None else f"{place.file}:{place.line}:{place.column}: {text}" for text, place in record.others
    ]
    message = "\n".join(["the module cannot be loaded: " + failure.message, *more[:20]])
    if record.hint:
        message += f"\n{record.hint}"
    outcome = Outcome(name, "failed", 0, (failure._replace(message=message),))
    send(SuiteStart(record.module, (name,), 1))
    send(TestStart(record.module, name, 0))
    send(TestEnd(TestResult(record.module, name, 0, outcome)))
    send(SuiteEnd(record.module))
