"""Runs failed script tests once more, each by itself and with a recorder, for the stories in their results.

The second run sees what the first one saw: whatever the scripts asked for outside of their realm has the answers of the
first run, so nothing is asked, written or counted again. It runs on a thread of its own, beside the other tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Thread

from bindings import SCRIPT_GLOBALS, SCRIPT_PARTS, KeptCall
from runner.record.story import story_lines
from scripttest import (
    Cause,
    Failure,
    HostError,
    Module,
    Outcome,
    Recording,
    ReplyChannel,
    Selected,
    Services,
    StoryHost,
    TestKey,
    start_processes,
)
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.execution.run import Run
    from runner.record.model import TestResult
    from scripttest.typing_names import Record

MOST = 200_000
"""How much a run tells at the most: statements, values, calls."""
LAST = 10_000
"""How much is told of the end of a test in which more happens."""
LONGEST = 5.0
"""Seconds in which a test that had timed out tells its story."""
FEW = 3
"""How many failures have a story where nothing else is said."""
OWN = r"\b\d{13}\b|(?<=T\d\d:\d\d:)\d\d\.\d{3}(?=Z)"
"""Parts of times, which differ in two runs in a row."""
UNKNOWN = '{"error": {"message": "%s was not asked for in the first run", "code": 500}}'


class _Wanted(Value):
    """A failed test whose story is wanted."""

    result: TestResult
    module: Module
    calls: Sequence[KeptCall]
    """What the first run asked for, with the answers."""
    began: float
    """When that was, in milliseconds since 1970."""


class Stories:
    """The stories of one run. To be closed."""

    def __init__(self, run: Run, modules: Mapping[str, Module], seed: int) -> None:
        """`seed` is that of random numbers where the run has none."""
        self._seed = seed
        self._run = run
        self._modules = modules
        self._left = len(modules) * 10**9 if run.options.story == "all" else FEW
        self._asked: SimpleQueue[_Wanted | None] = SimpleQueue()
        self._told: SimpleQueue[TestResult] = SimpleQueue()
        self._open = 0
        self._thread: Thread | None = None

    def begin(self, result: TestResult, calls: Sequence[KeptCall], began: float) -> bool:
        """Begins to tell the story of a failed test; False when it gets none."""
        module = self._modules.get(result.suite)
        if self._left <= 0 or module is None:
            return False
        self._left -= 1
        self._open += 1
        self._asked.put(_Wanted(result=result, module=module, calls=calls, began=began))
        if self._thread is None:
            self._thread = Thread(target=self._work, daemon=True)
            self._thread.start()
        return True

    def told(self, all: bool = False) -> Iterator[TestResult]:
        """The results whose stories are told by now; `all` waits for them."""
        while self._open and (all or not self._told.empty()):
            self._open -= 1
            yield self._told.get()

    def close(self) -> None:
        """Ends the processes, once all is told."""
        if self._thread is not None:
            self._asked.put(None)
            self._thread.join()
            self._thread = None

    def _work(self) -> None:
        teller: _Teller | None = None
        try:
            while (wanted := self._asked.get()) is not None:
                result = wanted.result
                try:
                    if self._run.stop.left() is None:
                        teller = teller or _Teller(self._run, self._seed)
                        result = result.replace(story=teller.story_of(wanted))
                except Exception as error:  # the result has to be told, and says why it has no story
                    why = error.message if isinstance(error, HostError) else f"{type(error).__name__}: {error}"
                    said = {"file": "", "line": 0, "depth": 0, "kind": "note", "text": f"no story: {why}"}
                    if teller is not None:
                        teller.host.close()
                        teller = None
                    result = result.replace(story=(said,))
                finally:
                    self._told.put(result)
        finally:
            if teller is not None:
                teller.host.close()


class _Teller:
    """Tells stories, with a host of its own."""

    def __init__(self, run: Run, seed: int) -> None:
        """Raises HostError."""
        root, options = run.application.root, run.options
        self._run = run
        self._recording = Recording(str(root))
        self._services = _Answers(run.router)
        self.host = StoryHost(
            root,
            start_processes(SCRIPT_PARTS, root, tells=True),
            self._services,
            SCRIPT_GLOBALS,
            workers=1,
            timeout=options.script_timeout,
            filter=bool(options.pattern),
            seed=options.seed,
            instrument=self._recording.instrument,
            kinds=options.kinds,
        )
        self.host.boots.own_seed = seed
        run.stop.listen(self.host.wake)

    def story_of(self, wanted: _Wanted) -> tuple[Record, ...]:
        """The story of a failed test. Raises HostError."""
        result, environment = wanted.result, self._run.environment
        kept = self._run.router.kept
        of_loading = kept.of_loading(result.suite) if kept is not None else ()
        self._services.begin(result.name, wanted.calls, of_loading)
        settings = {"hide": list(self._run.options.story_hide), "began": wanted.began, "skip": 0, "most": MOST}
        module = wanted.module.replace(run=result.run)
        if result.outcome.cause is Cause.TIMEOUT:
            module = module.replace(timeout=min(module.timeout or self._run.options.script_timeout, LONGEST))
        told = self.host.story_of(module, settings, self._run.stop.left)
        notes = [note] if (note := _difference(result.outcome, told.outcome)) else []
        if told.count > MOST:  # the end is missing, which the next run tells alone
            self._services.begin(result.name, wanted.calls, of_loading)
            settings |= {"skip": told.count - LAST}
            told = self.host.story_of(module, settings, self._run.stop.left)
            notes.append(("cut", "so much happened that only the end is told"))
        return story_lines(
            told.lines, self._recording.sites, environment.secrets.text, self._run.options.story_hide, told.cut, notes
        )


class _Answers(Services):
    """Answers what a test asks for as in the first run."""

    def __init__(self, first: Services) -> None:
        self._first = first
        self._test = ""
        self._left: list[KeptCall] = []
        self._of_loading: Sequence[KeptCall] = ()

    def begin(self, test: str, calls: Sequence[KeptCall], of_loading: Sequence[KeptCall]) -> None:
        """The test that runs next, and the answers for it, and for the loading of its module."""
        self._test, self._left, self._of_loading = test, list(calls), of_loading

    def call(self, test: TestKey, name: str, arguments: str, world: str, link: ReplyChannel) -> str:
        """The answer to the same call, else to the next of this name; an error when there was none."""
        found = same_call(self._left if test.test else self._of_loading, name, arguments)
        if found is None:
            return UNKNOWN % name
        if test.test:
            self._left.remove(found)
        for question, given in found.asked:
            answered = Event()
            link.ask(question, given, lambda *_, answered=answered: answered.set())
            answered.wait()
        return found.envelope

    def library(self, module: str, script: str) -> Path:
        """As in the first run."""
        return self._first.library(module, script)

    def selected(self, module: str, tests: Mapping[str, str]) -> Selected:
        """The test alone."""
        return Selected(tests=frozenset([self._test]))


def same_call(calls: Sequence[KeptCall], name: str, arguments: str) -> KeptCall | None:
    """The same call among those of the first run, else the next of this name; None: there was none."""
    named = (call for call in calls if call.name == name)
    return min(named, key=lambda call: call.arguments != arguments, default=None)


def _difference(first: Outcome, second: Outcome | Failure | None) -> tuple[str, str] | None:
    """What is different in the second run: the kind of a line, and its text; None where nothing is."""
    if second is None:
        return "note", "the second run, which tells this story, did not end"
    if isinstance(second, Outcome) and first.cause is second.cause is Cause.TIMEOUT:
        return None
    before, now = _reasons(first), _reasons(second)
    if before == now or (isinstance(second, Failure) and second.message in before[0]):
        return None
    if isinstance(second, Outcome) and second.cause is Cause.TIMEOUT:
        return "note", "the second run, which tells this story, takes longer and had no time to come to the end"
    if not now:
        return "flaky", "flaky: in the second run, which tells this story, the test passed"
    return "flaky", f"flaky: in the second run, which tells this story, it failed with: {now[0]}"


def _reasons(outcome: Outcome | Failure) -> list[str]:
    if isinstance(outcome, Failure):
        return [outcome.message]
    own = [re.sub(OWN, "…", f"{one.message} {one.actual_text or ''}".strip()) for one in outcome.failures]
    return [*own, *(reason for step in outcome.steps for reason in _reasons(step))]
