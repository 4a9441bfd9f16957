"""Tests of a run, run again by somebody at a page: the command line is that of the run, made of what the store has of
it and of names that the run has. Nothing of a request becomes a word of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from shlex import join
from threading import Lock, Thread

from runner import exit_codes
from runner.errors import ConfigurationError
from runner.filters import pattern_of
from runner.options.options import FLAGS, RunOptions, options_from, taken_over, texts_in, walls_in
from runner.record.model import Suite, TestResult
from runner.record.report import Report
from runner.store.places import place_of
from runner.store.stored import StoredRun
from scripttest import kind_of
from scripttest.typing_names import Record

Words = list[str]

PROGRAM = (sys.executable, "-P", "-m", "runner")
KEPT = 200_000
"""Characters of output that are kept, the last ones."""
GRACE = 5
"""Seconds after which what was asked to stop is killed."""


def elsewhere(run: StoredRun, application: Path | None) -> str:
    """Why a run cannot be run again in this application; empty if it can. None: there is no application."""
    if application is None:
        return "yao-test view was not started in an application"
    if run.place != place_of(application):
        return "it comes from another machine or another application"
    try:
        _options(run, application)
    except ConfigurationError as error:
        return error.message
    return ""


def commands_of(
    run: StoredRun, report: Report, chosen: Sequence[TestResult], application: Path, root: Path, store: Path
) -> list[Words]:
    """The command lines, without the program: one for all tests that the run had selected, or one for each suite of
    the chosen results.

    Args:
        run: a run of this application.
        report: its report.
        chosen: results of it; empty: all tests that it had selected.
        application: where they run.
        root: the folder from which the run names files.
        store: folder for the results."""
    flags = [*_options(run, application).words(lambda _: True, joined=True), f"--store={store}"]
    inputs = {suite.id: f"--input={_input(suite, application, root)}" for suite in report.suites}
    origin = run.start.resume or {}
    if not chosen and not origin.get("failed"):
        options = origin.get("options") or {}
        selected = [f"--{name}={options[name]}" for name in ("run", "shard") if options.get(name)]
        selected += [f"--tag={tag}" for tag in options.get("tags") or ()]
        return [[*dict.fromkeys(inputs.values()), *selected, *flags]]
    named: dict[str, dict[str, None]] = {}
    for result in chosen or report.results:
        names = named.setdefault(inputs[result.suite], {})
        if result.case is not None or kind_of(result.name):  # else a module that could not be loaded
            names[result.name] = None
    return [[given, *([f"--run={pattern_of(list(names))}"] if names else []), *flags] for given, names in named.items()]


def as_typed(words: Words) -> str:
    """A command line as a person would type it."""
    return join(["yao-test", *words])


class Reruns:
    """Runs tests again, one run at a time, and remembers the last one."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        """`variables` are all that the command line may use, keys among them."""
        self._variables = variables
        self._lock = Lock()
        self._process: subprocess.Popen[str] | None = None
        self._stopped = False
        self._record: Record = {"state": "none", "commands": [], "output": ""}

    def record(self) -> Record:
        """`{state, of?, commands, output, code?}`; `state` is `none`, `running` or `ended`."""
        with self._lock:
            return dict(self._record)

    def start(self, run: str, commands: Sequence[Words], application: Path) -> Record:
        """Starts the command lines of a run in an application, one after the other. Raises ConfigurationError while
        others run."""
        with self._lock:
            if self._record["state"] == "running":
                raise ConfigurationError("Cannot start it: another run is in progress", "Stop that run, or wait for it")
            self._stopped = False
            self._record = {"state": "running", "of": run, "commands": [*map(as_typed, commands)], "output": ""}
        Thread(target=self._run, args=(commands, application), daemon=True).start()
        return self.record()

    def stop(self) -> Record:
        """Stops what runs; waits until it has ended."""
        with self._lock:
            self._stopped = True
            process = self._process
        if process is not None:
            _signal(process, signal.SIGINT)
            try:
                process.wait(GRACE)
            except subprocess.TimeoutExpired:
                _signal(process, signal.SIGKILL)
        return self.record()

    def _run(self, commands: Sequence[Words], application: Path) -> None:
        code = 0
        for words in commands:
            with self._lock:
                if self._stopped:
                    break
                try:
                    process = self._process = subprocess.Popen(
                        [*PROGRAM, *words],
                        cwd=application,
                        env=dict(self._variables),
                        stdin=subprocess.DEVNULL,
                        stdout=subprocess.PIPE,
                        stderr=subprocess.STDOUT,
                        encoding="utf-8",
                        errors="replace",
                        start_new_session=True,
                    )
                except (OSError, ValueError) as error:
                    self._record["output"] += f"Error: Cannot start {PROGRAM[0]}: {error}\n"
                    code = exit_codes.RUNTIME
                    break
            with process:
                for line in process.stdout or ():
                    with self._lock:
                        self._record["output"] = (self._record["output"] + line)[-KEPT:]
            code = max(code, process.returncode)
        with self._lock:
            self._process = None
            self._record |= {"state": "ended", "code": code}


def _options(run: StoredRun, application: Path) -> RunOptions:
    """The flags of a run. Raises ConfigurationError when it cannot be run again with them."""
    values = texts_in(run.start.flags)
    if values is None or any(flag.is_given(values) and not flag.of_test for flag in FLAGS):
        raise ConfigurationError("its flags do not match this version")
    options = options_from(values).replace(app=None)
    if walls := walls_in({flag.field: getattr(options, flag.field) for flag in FLAGS}, application, application):
        raise ConfigurationError(f"it was made with {taken_over(walls)}, which can only be set on the command line")
    return options


def _input(suite: Suite, application: Path, root: Path) -> str:
    if not suite.has_cases or not suite.file or suite.is_message or suite.is_generated:
        return suite.input
    return os.path.relpath(root / suite.file, application)


def _signal(process: subprocess.Popen[str], number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
