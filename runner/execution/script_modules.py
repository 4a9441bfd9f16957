"""Runs the test modules of a run: it starts them before anything is reported, and runs again tests that broke."""

from __future__ import annotations

from bindings import DATABASE
from runner.execution.host_modules import host_modules
from runner.paths import shown_path
from scripttest import FUZZ, Listed, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from typing import Any

    from runner.execution.repetition import Repetition
    from runner.execution.services import RunServices
    from runner.execution.services_of_tests import TestServices
    from runner.execution.stopping import Stop
    from runner.planning.plan import RunPlan
    from runner.planning.selection import Selection
    from runner.results.events import Event
    from scripttest import Compiled, HostRecord, ScriptHost, Source, TestKey

LISTING = 2.0
"""Time limit in seconds for modules to list their tests when the run has ended."""


class ScriptModules:
    """The test modules of a plan, on a script host."""

    def __init__(
        self,
        *,
        host: ScriptHost,
        plan: RunPlan,
        services: RunServices,
        tests: TestServices,
        selection: Selection | None,
        stop: Stop,
        traces: bool,
    ) -> None:
        """`traces`: results get fingerprints, which say what they depend on."""
        self._host = host
        self._plan = plan
        self._services = services
        self._tests = tests
        self._selection = selection
        self._stop = stop
        self._traces = traces
        self._sources: Mapping[str, Source] = {}
        """Finds what test modules depend on, if their results have fingerprints."""
        self._agents = {module.id: module.agent for module in plan.modules}
        self._modules = host_modules(plan)
        self._records: Iterator[HostRecord] = iter(())

    def compile(self) -> None:
        """Begins to compile them; does not block."""
        plan, host = self._plan, self._host
        takers = [self._services.fingerprints().parts.take] if self._traces else []
        takers += [self._tests.other_kinds().fuzz().take] if plan.options.fuzz else []
        if takers:

            def told(compiled: Compiled) -> None:
                for take in takers:
                    take(compiled)

            host.tell_compiled(told)
        if self._traces:
            self._sources = {module.source.key: module.source for module in self._modules}
        host.begin(self._modules)

    def begin(self) -> None:
        """Begins to run them; blocks until the compiler has answered for the first. Raises ConfigurationError when
        `--run` turns out to match nothing."""
        plan, stop = self._plan, self._stop
        stop.listen(self._host.wake)
        self._records = self._host.run(self._modules, stop.left)
        if self._selection is None or plan.matched:
            return
        ids = (id for source in plan.sources for id in source.ids())
        self._records = self._selection.begun(self._records, plan.retained_tests, ids, lambda: bool(stop.reason))

    def run(self, send: Callable[[Event], None], repetition: Repetition) -> int:
        """Runs the modules until they have ended, or the run shall stop, or too many tests have failed; tests that are
        running then have no result. Returns how many tests have sent nothing when too many have failed. Blocks. Raises
        HostError."""
        from runner.execution.passes import Passes
        from runner.execution.script_events import ScriptEvents

        options, modules = self._plan.options, [module.id for module in self._plan.modules]
        most = options.failure_limit
        events = ScriptEvents(
            send=send,
            repetition=repetition,
            retained=self._plan.retained_places,
            selection=self._selection,
            fingerprint=self._fingerprint if self._traces else None,
            passes=Passes(options.retry_errors, send, self._stop),
            worlds=self._services.worlds,
            snapshots=self._tests.snapshots,
            calls=self._tests.calls_of_scripts(),
        )
        try:
            while True:
                for record in self._records:
                    events.take(record)
                    if most is not None and repetition.failures >= most:
                        self._host.only_list(LISTING)
                        return _listed(self._records, set(modules) - events.known)
                again = events.next_pass()
                if again is None:
                    return 0
                self._records = self._again(again)
        finally:
            events.give_up_held()
            for module in modules:
                repetition.cut(module)

    def kill(self) -> None:
        """Kills the processes of the host, which has nothing more to run. They end while the run is reported."""
        self._host.kill()

    def _again(self, tests: Mapping[str, Collection[str] | None]) -> Iterator[HostRecord]:
        """Runs tests of modules again; None: all tests of a module."""
        self._tests.begin_again(tests)
        modules = [module for module in host_modules(self._plan) if module.source.key in tests]
        return self._host.run(modules, self._stop.left)

    def _fingerprint(self, test: TestKey) -> Mapping[str, Any]:
        """The fingerprint of a script test."""
        from runner.fingerprints.parts import part_of, parts_of_database, parts_of_world
        from runner.parts import Part

        fingerprints, root = self._services.fingerprints(), self._plan.application.root
        module = test.suite
        own = self._sources[module]
        parts = [part_of(source, root) for source in (own, *self._host.called_by(module))]
        world = self._services.worlds.known(test)
        parts += parts_of_database(world.held(DATABASE) if world is not None else None)
        parts += parts_of_world(world)
        if own.script is None:
            parts.append(Part(kind="handler", name=module))
        if kind_of(test.test) == FUZZ:
            corpus = self._tests.other_kinds().fuzz().corpus_of(module, test.test)
            parts.append(Part(kind="corpus", name=shown_path(corpus, root)))
        digests = {part: fingerprints.parts.of(part) for part in parts}
        used = {**digests, **self._services.parts_of(test)}
        return fingerprints.of_test(self._agents[module], used, judged=world is not None and world.is_judged)


def _listed(records: Iterator[HostRecord], modules: set[str]) -> int:
    """How many tests some modules have, as the host lists them. A module that cannot be listed in time counts as one
    test."""
    counts = dict.fromkeys(modules, 1)
    waiting = set(modules)
    while waiting and (record := next(records, None)) is not None:
        if isinstance(record, Listed):
            counts[record.module] = len(record.tests)
        waiting.discard(record.module)
    return sum(counts.values())
