"""What a run needs in addition to its tests: agents, recordings, budgets. Each is created on first use, because a
passing script test needs few of them. And what a world has noted, in the result of its test."""

from __future__ import annotations

import os

from bindings import SCRIPT_GLOBALS, SCRIPT_PARTS, HostProcesses, Worlds
from runner.errors import ConfigurationError, beside_missing, shown_path
from scripttest import Cause, ResultWarning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from bindings import Policy, World
    from runner.agents.runtime import Runtime, UsageCounter
    from runner.agents.service import AgentService
    from runner.answers.journal import Journal
    from runner.answers.recording import Recording
    from runner.application.context import Variables
    from runner.connectors.base import ClosedModels
    from runner.execution.databases import RunDatabases
    from runner.fingerprints.fingerprints import Fingerprints
    from runner.options.options import RunOptions
    from runner.options.values import WatchExpr
    from runner.parts import Dependency
    from runner.planning.plan import RunRequest
    from runner.record.model import TestResult
    from scripttest import Coverage, FunctionPool, FunctionServices, Instrument, Switches, TestKey, Watching


class RunServices:
    """The services of one run. As a context manager, it ends all processes, connections and threads at its end."""

    def __init__(
        self,
        request: RunRequest,
        *,
        coverage: Coverage | None = None,
        key: str | None = None,
        closed: ClosedModels | None = None,
        permitting: RunOptions | None = None,
    ) -> None:
        """Raises ConfigurationError if the folder of `--record`, `--replay` or `--db` cannot be used.

        Args:
            coverage: counts what hooks and tools run; None without `--coverage`.
            key: the key for digests of variables; None: the key of the report.
            closed: why real models are not asked; None: they are.
            permitting: the options that permit hosts and programs to scripts; None: those of the run."""
        self._request, self._coverage, self._key, self._closed = request, coverage, key, closed
        self._permitting = permitting or request.options
        self.on_agents: Callable[[AgentService], None] = lambda _: None
        self.usage: UsageCounter | None = None
        self._service: AgentService | None = None
        self._fingerprints: Fingerprints | None = None
        self.journal: Journal | None = None
        """Keeps the answers of models; None before agents are needed, and when answers are not kept."""
        self.journal_warnings: list[str] = []
        """Why answers are not kept."""
        self._open_journal: Callable[[Runtime], Journal] | None = None
        self._permitted: Policy | None = None
        application, options = request.application, request.options
        self.watches: Watching | None = None
        self.instrument = self._instrument()
        """What changes the compiled code of files, to count what runs or to watch values; None: nothing does."""
        self.switches: Switches | None = None
        """Of mutants in hooks and tools; None: there are none."""
        self.worlds = Worlds(options.seed)
        self.databases: RunDatabases | None = None
        """The databases of the tests; None while no test has used models."""
        self.processes = HostProcesses(
            application.root, self._policy, application.script, lambda world: self.open_databases().of_script(world)
        )
        """Answers the processes that do not belong to agents."""
        self.recording = self._open_recording()
        if options.db is not None:
            self.open_databases()

    def __enter__(self) -> RunServices:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self._service is not None:
                self._service.close()
        finally:
            self.worlds.close()
            self.processes.close()

    def begin_again(self, tests: Mapping[str, Collection[str] | None]) -> None:
        """Makes agents forget the conversations of tests that run again, by module; None: all of it."""
        if self._service is not None:
            self._service.runtime.begin_pass()
            for module, names in tests.items():
                self._service.forget(module, names)

    def forget(self, module: str, test: str) -> None:
        """Makes agents forget the conversation of a test."""
        if self._service is not None:
            self._service.forget(module, [test])

    def count_usage(self, usage: UsageCounter) -> None:
        """Sets what is called for every model call from now on."""
        self.usage = usage
        if self._service is not None:
            self._service.runtime.usage = usage

    def keep_answers(self, report: Path, resumes: bool, at_once: int) -> None:
        """Keeps what models answer from here on beside a `.jsonl` report, and has no more than `at_once` of them asked
        at a time, since a kill loses what was asked and not answered. A run that `resumes` that report gets the
        answers that are there."""
        request, warn = self._request, self.journal_warnings.append
        if request.options.replay is not None:
            return

        def opened(runtime: Runtime) -> Journal:
            from runner.answers.journal import Journal, journal_beside
            from runner.record.writing import LineFile

            runtime.connectors.bound(at_once)
            root, clean = request.application.root, request.environment.secrets.text
            return Journal(journal_beside(report), lambda path: LineFile(path, keep=True), root, clean, warn, resumes)

        self._open_journal = opened
        if self._service is not None:
            self._service.runtime.journal = self.journal = opened(self._service.runtime)
        elif report.with_suffix(".calls.jsonl").exists():
            self.agents()

    @property
    def keeps_answers(self) -> bool:
        """Whether the answers of models are stored beside the report."""
        return self._open_journal is not None

    def agents(self) -> AgentService:
        """The agents of the run, on a thread of their own; they are started on the first call."""
        if self._service is None:
            from runner.agents.runtime import PromptVariables
            from runner.agents.service import AgentService
            from runner.connectors.base import ClosedModels

            request, variables = self._request, self._variables()
            options, clean = request.options, request.environment.secrets.text
            self._service = AgentService(
                application=request.application,
                host=self.processes,
                context=request.context,
                variables=variables.every,
                prompt_variables=PromptVariables(named=variables.named, environment=variables.every, clean=clean),
                functions=self._functions,
                connector=options.connector or "",
                timeout=options.case_timeout,
                recording=self.recording,
                parts=self.fingerprints().parts,
                prices=request.settings.prices,
            )
            runtime = self._service.runtime
            runtime.closed, runtime.usage = self._closed, self.usage
            if options.no_models and self._closed is None:
                runtime.closed = ClosedModels("--no-models disables real models")
            if self._open_journal is not None:
                runtime.journal = self.journal = self._open_journal(runtime)
            self.on_agents(self._service)
        return self._service

    def _functions(self, services: FunctionServices) -> FunctionPool:
        from runner.connectors.usage import is_case_late, uncounted
        from scripttest import FunctionPool, worker_command

        counts = "" if self.switches else self._coverage.folder if self._coverage else None
        return FunctionPool(
            self._request.application.root,
            worker_command(SCRIPT_PARTS, counts),
            services,
            SCRIPT_GLOBALS,
            self._request.environment.cpus,
            uncounted,
            is_case_late,
            self.instrument,
            self.switches,
        )

    def _instrument(self) -> Instrument | None:
        options, environment = self._request.options, self._request.environment
        if not options.watch_expr:
            return self._coverage.instrument if self._coverage is not None else None

        self.watches = watches = watching(options.watch_expr, self._request.application.root, environment.directory)
        if self._coverage is None:
            return watches.instrument
        self._coverage.watches, counted = watches.of, self._coverage.instrument
        return lambda path, source: counted(path, source) or watches.instrument(path, source)

    def fingerprints(self) -> Fingerprints:
        """Makes the fingerprints of the results of this run, and compares those of an earlier one."""
        if self._fingerprints is None:
            from runner.application.context import variables_of
            from runner.fingerprints.fingerprints import AgentSettings, Fingerprints
            from runner.fingerprints.parts import PartDigests

            request, options, directory = self._request, self._request.options, self._request.environment.directory
            root, recording = request.application.root, self.recording
            variables = variables_of(root, request.environment.variables).every
            folder = recording.folder if recording is not None and recording.mode == "replay" else None
            parts = PartDigests(request.application, variables, self._key or self._key_of_report(), folder)
            agents = {
                agent: AgentSettings(options=own.placed(root, directory), context=request.contexts[agent])
                for agent, own in request.settings.agents.items()
            }
            self._fingerprints = Fingerprints(parts, options.placed(root, directory), request.context, agents)
        return self._fingerprints

    def _key_of_report(self) -> str:
        """The key for digests of variables: that of the report that is resumed, else a new one."""
        found = self._request.resumed.get("resume", {}).get("key")
        return found if isinstance(found, str) and found else os.urandom(8).hex()

    def parts_of(self, test: TestKey) -> Mapping[Dependency, str]:
        """The parts of the agents that a run of a script test has used so far."""
        return self._service.parts(test) if self._service is not None else {}

    def open_databases(self) -> RunDatabases:
        """The databases of the run, which are created on the first call."""
        if self.databases is None:
            from runner.execution.databases import RunDatabases

            request = self._request
            self.databases = RunDatabases(request.application, request.options, request.environment.directory)
        return self.databases

    def _open_recording(self) -> Recording | None:
        options, environment = self._request.options, self._request.environment
        if options.replay is None and (options.dry_run or options.record is options.record_missing is None):
            return None
        from runner.answers.recording import open_recording

        return open_recording(options, environment.directory, self._request.application.root, environment.secrets.text)

    def _policy(self) -> Policy:
        if self._permitted is None:
            from bindings import Policy, ProcessError

            options = self._permitting
            try:
                named = self._variables().named
            except ConfigurationError as error:
                raise ProcessError(f"{error.message}. {error.hint}", 403) from error
            self._permitted = Policy(
                allow_net=options.allow_net or None,
                allow_exec=options.allow_exec,
                written=set(),
                environment=named,
                keep_secret=self._request.environment.secrets.add,
            )
        return self._permitted

    def _variables(self) -> Variables:
        from runner.application.context import all_variables

        return all_variables(self._request.application.root, self._request.environment)


def with_external_calls(result: TestResult, world: World | None) -> TestResult:
    """A result with the external calls and the judgements of its test, and the warnings of its world: also one for each
    call that nothing answered, but none that says what a failure already does."""
    from bindings import AnsweredBy, OutsideCall

    own = [OutsideCall(name=one.name, answered=AnsweredBy.MOCKED, count=one.count) for one in result.outcome.mocked]
    if world is None:
        return result.replace(outside=tuple(own)) if own else result
    calls, outcome = (*own, *world.ledger.calls), result.outcome
    noted = [*world.warnings, *_of_clock(result, world)]
    said = [failure.message for failure in outcome.failures]
    for call in calls:
        if call.answered is AnsweredBy.MISSING and not any(call.message in message for message in said):
            noted.append(ResultWarning(kind="missing", message=call.warning))
    if not (noted or calls or world.judgements):
        return result
    outcome = outcome.replace(warnings=(*outcome.warnings, *noted)) if noted else outcome
    return result.replace(outcome=outcome, outside=calls, judgements=tuple(world.judgements))


def _of_clock(result: TestResult, world: World) -> list[ResultWarning]:
    said = any(warning.kind == "clock" for warning in result.outcome.warnings)
    is_late = any(failure.cause is Cause.TIMEOUT for failure in result.outcome.failures)
    if said or not is_late or world.clock.stopped_at is None:
        return []
    from bindings import CLOCK_STANDS

    message = f"The test timed out while its clock was stopped: {CLOCK_STANDS}"
    return [ResultWarning(kind="clock", message=message)]


def watching(wanted: Sequence[WatchExpr], root: Path, directory: Path) -> Watching:
    """Puts the expressions into their files, which are named from the working directory or the root of the application.
    Raises ConfigurationError for a file that is not there, a line without code, and a text that is no expression."""
    from scripttest import UnreadableError, Watch, Watching

    found = Watching()
    by_path: dict[Path, list[WatchExpr]] = {}
    for one in wanted:
        by_path.setdefault(_path(one, root, directory), []).append(one)
    for path, own in by_path.items():
        name = shown_path(path, root)
        watches = [
            Watch(line=one.line, expression=one.expression, name=f"{name}:{one.line} {one.expression}") for one in own
        ]
        try:
            problem = found.add(str(path), path.read_bytes(), watches)
        except (UnreadableError, OSError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise ConfigurationError(f"Cannot watch {own[0]}: {why}") from error
        if problem is not None:
            one = own[problem.number]
            if problem.text:
                raise ConfigurationError(f"Cannot watch {one.expression}: {problem.text}")
            near = f"The nearest line with code is {one.file}:{problem.nearest}" if problem.nearest else None
            raise ConfigurationError(f"Cannot watch {one}: there is no code on line {one.line}", near)
    return found


def _path(one: WatchExpr, root: Path, directory: Path) -> Path:
    path = next((path for folder in (directory, root) if (path := folder / one.file).is_file()), directory / one.file)
    if not path.is_file():
        hint = beside_missing(path, lambda name: name.endswith((".ts", ".js")))
        raise ConfigurationError(f"Cannot watch {one}: there is no file {path}", hint)
    return path.resolve()
