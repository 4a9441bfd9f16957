"""`yao-test repl`: a prompt in a realm with the functions of a script, `t`, `ctx`, mocks and the database."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bindings import SCRIPT_PARTS
from runner import exit_codes
from runner.commands import tables
from runner.commands.inputs import request_of
from runner.environment import Environment
from runner.errors import ConfigurationError, meant_or_listed, shown_path
from runner.execution.run import Run
from runner.execution.services import RunServices
from runner.execution.start import check_trust
from runner.execution.stopping import Budgets, Stop
from runner.planning.last_failed import memory_of
from runner.planning.plan import RunPlan, RunRequest, suite_of
from runner.planning.planner import with_contexts
from scripttest import (
    PROMPT_TEST,
    Broken,
    Ended,
    LogLine,
    Module,
    PromptCode,
    PromptInputs,
    ReplHost,
    Said,
    Source,
    UnreadableError,
    parser,
    start_processes,
)
from scripttest.values import fields_of

if TYPE_CHECKING:
    from runner.application.application import Application, TestModule

LONGEST = 24 * 3600.0
"""Seconds that an input may take without `--timeout`."""
HISTORY = 2_000
"""At most this many lines are kept for later sessions."""
CLEARED = "\0"
"""In place of a line: Ctrl-C has taken back what was typed."""


def repl(environment: Environment, given: tables.Repl, values: dict[str, Any]) -> int:
    """Reads, evaluates and prints until the end of the input. Returns the exit code."""
    request = request_of(environment, tables.Repl, values)
    module = _module(request.application, given.script)
    check_trust(request)
    return _Prompt(with_contexts(request), module).run()


def _module(application: Application, script: str) -> TestModule:
    from runner.application.application import TestModule

    id = script if script.startswith("scripts.") else f"scripts.{script}"
    path = application.script(id)
    if path is None or path.is_dir():
        known = sorted(module.id for module in application.modules())
        raise ConfigurationError(
            f"Cannot open {script}: there is no such script",
            meant_or_listed(id, known) or "Pass scripts.<agent>.<module>",
        )
    agent = application.agent_of(path)
    label = shown_path(path, application.assistants)
    return TestModule(id=id, agent=agent.id if agent else "", test=path, script=None, label=label)


class _Prompt:
    def __init__(self, request: RunRequest, module: TestModule) -> None:
        self._request, self._module = request, module
        self._environment = request.environment
        self._budgets = Budgets(request.options, Stop())
        self._asks = sys.stdin is not None and sys.stdin.isatty() and request.environment.stdout.isatty()
        """Whether a person types."""
        self._code = exit_codes.PASSED
        self._length = module.test.read_bytes().count(b"\n") + 1
        self._inputs = PromptInputs()
        self._names: set[str] = set()
        self._members: Mapping[str, list[str]] = {}
        self._lines = self._typed() if self._asks else iter(sys.stdin or ())
        self._is_first = True
        self._has_ended = False

    def run(self) -> int:
        """Begins realms until the input has ended."""
        history = self._open_history() if self._asks else None
        if self._asks:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            while not self._has_ended:
                try:
                    self._session()
                except KeyboardInterrupt:
                    parser.cache_clear()  # it may have been at work, and have an answer that nobody takes
                    self._say_error("Interrupted: started a new realm, without your variables and mocks")
        finally:
            if history is not None:
                self._save_history(history)
        return self._code

    def _session(self) -> None:
        request, module = self._request, self._module
        root = request.application.root
        plan = RunPlan(**fields_of(request), suites=(suite_of(module),), modules=(module,))
        with RunServices(request) as services:
            services.count_usage(self._budgets)
            run = Run(plan, services, Stop())
            code = PromptCode(str(module.test))
            context = plan.context_of(module.agent)
            own = {**context, "assistant_id": context["assistant_id"] or module.agent}
            source = Source(key=module.id, test=module.test, script=None)
            timeout = request.options.timeout or LONGEST
            opened = Module(source=source, context=json.dumps(own), timeout=timeout, whole=True)
            processes = start_processes(SCRIPT_PARTS, root)
            with run.open_host_of(ReplHost, processes, code.instrument, 1, False) as host, run:
                host.serve(self._next, self._print)
                for record in host.run([opened]):
                    if isinstance(record, Broken):
                        at = record.failure.location
                        where = f" at {at}" if at else ""
                        raise ConfigurationError(f"Cannot load {module.id}: {record.failure.message}{where}")
                    if isinstance(record, Ended) and not self._has_ended:
                        for failure in record.outcome.failures:
                            self._say_error(failure.message)
                        self._say_error("The realm ended: started a new one, without your variables and mocks")

    def _next(self, said: Said) -> dict[str, Any] | None:
        """Prints what the last input came to, and reads the next one."""
        self._names |= {
            name for name in said.names if not name.startswith("__") and name not in (PROMPT_TEST, "t", "ctx")
        }
        self._members = said.members
        for failure in said.failures:
            self._say_error(f"✗ {failure}")
        if said.value is not None:
            self._environment.stdout.write(f"{said.value}\n")
        if said.error is not None:
            root = self._request.application.root
            places = "".join(
                f"\n    at {frame.function or '<anonymous>'} ({shown_path(Path(frame.location.file), root)}:"
                f"{frame.location.line}:{frame.location.column})"
                for frame in said.frames
                if frame.location.line <= self._length
            )
            self._say_error(f"Uncaught {said.error}{places}")
        self._environment.stdout.flush()
        if self._asks and self._is_first:
            names = ", ".join(sorted(self._names))
            self._environment.stdout.write(f"{self._module.id}: {names}\nCtrl-D quits.\n")
        self._is_first = False
        return self._read()

    def _read(self) -> dict[str, Any] | None:
        """The next input as code; None at the end."""
        text = ""
        for line in self._lines:
            text = "" if line == CLEARED else f"{text}\n{line}".strip("\n")
            self._continues = False
            if not text.strip():
                text = ""
                continue
            try:
                found = self._inputs.read(text)
            except UnreadableError as error:
                self._say_error(f"Uncaught SyntaxError: {error}")
                text = ""
                continue
            if "more" in found:
                self._continues = True
                continue
            self._names |= {*found["names"]}
            return {"code": found["code"], "waits": found["waits"]}
        if text:
            self._say_error("Uncaught SyntaxError: unexpected end of input")
        self._has_ended = True
        return None

    _continues = False

    def _typed(self) -> Iterator[str]:
        while True:
            try:
                yield input("... " if self._continues else "> ")
            except EOFError:
                self._environment.stdout.write("\n")
                return
            except KeyboardInterrupt:
                self._environment.stdout.write("\n")
                self._continues = False
                yield CLEARED

    def _print(self, line: LogLine) -> None:
        said = line.text if line.level in ("info", "watch") else f"[{line.level}] {line.text}"
        stream = self._environment.stderr if line.level in ("warn", "error") else self._environment.stdout
        stream.write(f"{said}\n")

    def _say_error(self, text: str) -> None:
        self._code = self._code if self._asks else exit_codes.FAILED
        self._environment.stderr.write(f"{text}\n")
        self._environment.stderr.flush()

    # of a terminal

    def _open_history(self) -> Path | None:
        import readline

        readline.set_completer(_completer(self._complete))
        readline.set_completer_delims(" \t\n`~!@#%^&*()-=+[{]}\\|;:'\",<>/?")
        readline.parse_and_bind("tab: complete")
        memory = memory_of(self._request.application.root, self._environment)
        if memory is None:
            return None
        path = memory.with_name("repl-history")
        if path.is_file():
            readline.read_history_file(path)
        return path

    def _save_history(self, path: Path) -> None:
        import readline
        from contextlib import suppress

        readline.set_history_length(HISTORY)
        with suppress(OSError):  # a session is no worse without it
            path.parent.mkdir(parents=True, exist_ok=True)
            readline.write_history_file(path)
            os.chmod(path, 0o600)

    def _complete(self, text: str) -> list[str]:
        owner, dot, start = text.rpartition(".")
        if dot:
            return [f"{owner}.{name}" for name in self._members.get(owner, ()) if name.startswith(start)]
        known = {*self._names, "t", "ctx", "await ", "Process", "console"}
        return sorted(name for name in known if name.startswith(text))


def _completer(complete: Callable[[str], list[str]]) -> Callable[[str, int], str | None]:
    found: list[str] = []

    def completer(text: str, number: int) -> str | None:
        if number == 0:
            found[:] = [one for one in complete(text) if re.match(r"[\w$. ]+$", one)]
        return found[number] if number < len(found) else None

    return completer
