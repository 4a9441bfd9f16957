"""One run: its plan and the services that its tests need; and who takes part in it from outside: what observes it, and
what runs its tests on other machines."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial

from bindings import SCRIPT_GLOBALS
from runner.execution.router import Router
from scripttest.typing_names import Protocol, TypeVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import TextIO

    from runner.connectors.base import ClosedModels
    from runner.execution.repetition import Repetition
    from runner.execution.services import RunServices
    from runner.execution.stopping import Stop
    from runner.fingerprints.parts import PartDigests
    from runner.modes.base import CaseEnvironment
    from runner.modes.interactive import Person
    from runner.planning.plan import RunPlan
    from runner.record.events import Event
    from runner.record.fold import Execution
    from scripttest import Coverage, Instrument, Processes, ScriptHost


H = TypeVar("H")


class Observer:
    """Observes one run, as a reporter does, and can stop it. This one does nothing."""

    with_fingerprints = False
    """Whether results get fingerprints, which say what they depend on."""
    keeps = False
    """Whether the store keeps the run, where there is a store."""
    held_back: Callable[[str], str | None] | None = None
    """See `Recording`."""
    closed: ClosedModels | None = None
    """Why real models are not asked; None: they are."""
    hears_signals = False
    """Whether its owner hears the signals, since the run is not on the main thread."""
    wanted: str | None = None
    """The only test that may begin, besides those that it depends on. Another thread sets it to the next one, and wakes
    the listeners of `stop`. None: all begin as planned."""

    def __init__(self, stop: Stop, processes: Processes | None = None) -> None:
        """`stop` stops the run; `processes` are the compiler and the idle workers, kept for the next run."""
        self.stop = stop
        self.processes = processes

    def begin(self, parts: PartDigests) -> None:
        """Called before anything runs. `parts` learns what results depend on while tests run."""

    def writes(self, path: Path, content: bytes) -> None:
        """Called before the run changes a source file; `content` is its new content."""

    def on_event(self, event: Event, so_far: Execution) -> None:
        """Receives an event, as a reporter."""

    def close(self) -> None:
        """Closes, as a reporter."""


class Remote(Protocol):
    """Runs the tests of one run on other machines."""

    @property
    def missing_walls(self) -> Mapping[str, str]:
        """Name of a wall around scripts → why one of these machines does not have it. For after `open`."""

    def open(self, run: Run) -> None:
        """Connects and prepares, before anything is reported; blocks. Raises RunnerError when the other machines cannot
        run the plan."""

    def run(self, run: Run, repetition: Repetition) -> int:
        """Runs the tests of a run and sends their events; blocks. When the run has to stop, tests under way get the
        time that is left. Returns how many tests were not even listed. Raises RunnerError if it cannot continue."""


class Run(Router):
    """One run of a plan, which answers what its scripts call. As a context manager, it ends fuzz tests at its end."""

    def __init__(
        self,
        plan: RunPlan,
        services: RunServices,
        stop: Stop,
        started: float = 0.0,
        results: TextIO | None = None,
        observer: Observer | None = None,
        coverage: Coverage | None = None,
        remote: Remote | None = None,
    ) -> None:
        """Runs nothing yet.

        Args:
            services: may serve several runs, one after the other.
            started: when it began, by the monotonic clock of the environment.
            results: takes the lines of benchmarks.
            coverage: counts what scripts run; None without `--coverage`.
            remote: runs the tests instead of this machine."""
        super().__init__(plan, services, stop, results)
        self.started, self.observer, self.coverage, self.remote = started, observer, coverage, remote
        self.options, self.application, self.environment = plan.options, plan.application, plan.environment
        self.with_fingerprints = plan.resumable or (observer is not None and observer.with_fingerprints)
        self._environments: dict[str, CaseEnvironment] = {}

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        if self.kinds is not None:
            self.kinds.close()

    def open_host(self, processes: Processes, workers: int = 0, *, lists: bool | None = None) -> ScriptHost:
        """Opens the script host with at most `workers` workers, 0: as many as the options say, else one more than there
        are processors, since some wait for the command. `lists`: whether it lists tests instead of running them; None:
        as the options say."""
        from runner.planning.last_failed import kept_folder
        from scripttest import ScriptHost

        options = self.options
        if not (workers or options.parallel or self._has_one_worker):
            workers = self.environment.cpus + 1
        kept = kept_folder(options, self.environment, self.application.root, "compiled")
        kind = partial(ScriptHost, kept=None if kept is None else str(kept))
        return self.open_host_of(kind, processes, self.services.instrument, workers, lists)

    def open_host_of(
        self,
        kind: Callable[..., H],
        processes: Processes,
        instrument: Instrument | None,
        workers: int = 0,
        lists: bool | None = None,
    ) -> H:
        """Opens a script host of some kind, see `open_host`; `instrument` changes the compiled code of files."""
        options = self.options
        return kind(
            self.application.root,
            processes,
            self,
            SCRIPT_GLOBALS,
            workers=workers or (1 if self._has_one_worker else options.parallel or self.environment.cpus),
            timeout=options.script_timeout,
            filter=bool(options.pattern),
            list_only=options.dry_run if lists is None else lists,
            runs=options.runs,
            seed=options.seed,
            instrument=instrument,
            kinds=options.kinds,
        )

    @property
    def _has_one_worker(self) -> bool:
        return bool(self.options.fuzz or self.options.bench or self.wanted() is not None)

    def wanted(self) -> str | None:
        """See `Observer.wanted`."""
        return self.observer.wanted if self.observer is not None else None

    def begin_again(self, tests: Mapping[str, Collection[str] | None]) -> None:
        """Begins a further pass: only these tests of each module run, None: all, as if for the first time."""
        self.again = tests
        for module, names in tests.items():
            self.services.worlds.forget(module, names)
        self.services.begin_again(tests)

    def case_environment(self, agent: str) -> CaseEnvironment:
        """What the cases of an agent share."""
        own = agent if agent in self.plan.settings.agents else ""
        if own not in self._environments:
            from runner.application.context import decided_ids
            from runner.modes.base import CaseEnvironment

            plan, environment, service = self.plan, self.environment, self.services.agents()
            options = plan.options_of(own)
            self._environments[own] = CaseEnvironment(
                runtime=service.runtime,
                options=options,
                context=plan.context_of(own),
                decided_ids=decided_ids(options, environment.directory),
                snapshot=self.snapshots.matcher,
                database=self.services.open_databases().of_case,
                person=self._person(),
                fingerprints=self.services.fingerprints() if self.with_fingerprints else None,
                transcripts=plan.transcripts,
                trace=options.trace or ("full" if self.spans_hold_content else "summary"),
                clean=environment.secrets.text,
            )
        return self._environments[own]

    @property
    def spans_hold_content(self) -> bool:
        """Whether spans are sent, with arguments and answers of calls."""
        return self.options.otlp is not None and self.environment.content_in_spans

    def _person(self) -> Person | None:
        """The person at the terminal; None with `--skip-interactive`."""
        if self.options.skip_interactive:
            return None
        from runner.modes.interactive import Person

        clean, ci = self.environment.secrets.text, self.environment.ci
        return Person(ci, clean, self.progress.paused) if self.progress else Person(ci, clean)
