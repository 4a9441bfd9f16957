"""Runs failed script tests, and the hooks and tools of failed cases, once more with a recorder, for the stories in
their results.

The second run sees what the first one saw: whatever a script asked for outside of its realm has the answer of the first
run, so nothing is asked, written or counted again. Tests run on a thread of their own, beside the other tests."""

from __future__ import annotations

import json
import re
from asyncio import Lock, timeout
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Event

from bindings import SCRIPT_GLOBALS, SCRIPT_PARTS, KeptCall
from runner.record.story import story_lines
from scripttest import (
    AskBack,
    Cause,
    Failure,
    FunctionError,
    HostError,
    MissingFunctionError,
    MockedCalls,
    Module,
    Outcome,
    Recording,
    Selected,
    Services,
    StackFrame,
    StoryFunctions,
    StoryHost,
    TestKey,
    ToldLine,
    start_processes,
    worker_command,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.agents.chat import FunctionRun
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
SHOWN = 200
"""Characters of what a function returned in the second run alone."""
UNKNOWN = '{"error": {"message": "%s was not asked for in the first run", "code": 500}}'


def note_of(error: Exception) -> Record:
    """The line of a story that cannot be told."""
    why = error.message if isinstance(error, HostError) else f"{type(error).__name__}: {error}"
    return {"file": "", "line": 0, "depth": 0, "kind": "note", "text": f"no story: {why}"}


class Stories:
    """The stories of one run. To be closed."""

    def __init__(self, run: Run, modules: Mapping[str, Module], seed: int) -> None:
        """`seed` is that of random numbers where the run has none."""
        self._run, self._modules, self._seed = run, modules, seed
        self._left = 10**9 if run.options.story == "all" else FEW
        self._thread = ThreadPoolExecutor(1)
        self._open: deque[Future[TestResult]] = deque()
        self._recording = Recording(str(run.application.root))
        self._answers = _Answers(run)
        self._host: StoryHost | None = None

    def begin(self, result: TestResult, calls: Sequence[KeptCall], began: float) -> bool:
        """Begins to tell the story of a failed test; False when it gets none. `calls`: what the first run asked for,
        with the answers. `began`: when that was, in milliseconds since 1970."""
        if self._left <= 0 or result.suite not in self._modules:
            return False
        self._left -= 1
        self._open.append(self._thread.submit(self._with_story, result, calls, began))
        return True

    def told(self, all: bool = False) -> Iterator[TestResult]:
        """The results whose stories are told by now; `all` waits for them."""
        while self._open and (all or self._open[0].done()):
            yield self._open.popleft().result()

    def close(self) -> None:
        """Ends the processes, once all is told."""
        self._thread.shutdown()
        self._close_host()

    def _close_host(self) -> None:
        if self._host is not None:
            self._host.close()
            self._host = None

    def _with_story(self, result: TestResult, calls: Sequence[KeptCall], began: float) -> TestResult:
        if self._run.stop.left() is not None:
            return result
        try:
            return result.replace(story=self._story_of(result, calls, began))
        except Exception as error:  # the result has to be told, and says why it has no story
            self._close_host()
            return result.replace(story=(note_of(error),))

    def _story_of(self, result: TestResult, calls: Sequence[KeptCall], began: float) -> tuple[Record, ...]:
        run, host, hide = self._run, self._opened(), self._run.options.story_hide
        of_loading = run.calls_of_loading(result.suite)
        self._answers.begin(result.name, calls, of_loading)
        settings = {"hide": list(hide), "began": began, "skip": 0, "most": MOST}
        module = self._modules[result.suite].replace(run=result.run)
        if result.outcome.cause is Cause.TIMEOUT:
            module = module.replace(timeout=min(module.timeout or run.options.script_timeout, LONGEST))
        told = host.story_of(module, settings, run.stop.left)
        notes = [note] if (note := _difference(result.outcome, told.outcome)) else []
        if told.count > MOST:  # the end is missing, which the next run tells alone
            self._answers.begin(result.name, calls, of_loading)
            told = host.story_of(module, settings | {"skip": told.count - LAST}, run.stop.left)
            notes.append(("cut", "the story is too long: only its end is shown"))
        return story_lines(told.lines, self._recording.sites, run.environment.secrets.value, hide, told.cut, notes)

    def _opened(self) -> StoryHost:
        if self._host is None:
            root, options = self._run.application.root, self._run.options
            self._host = StoryHost(
                root,
                start_processes(SCRIPT_PARTS, root, tells=True),
                self._answers,
                SCRIPT_GLOBALS,
                workers=1,
                timeout=options.script_timeout,
                filter=bool(options.pattern),
                seed=options.seed,
                instrument=self._recording.instrument,
                kinds=options.kinds,
            )
            self._host.boots.own_seed = self._seed
            self._run.stop.listen(self._host.wake)
        return self._host


class _Answers(Services):
    """Answers what a test, or a function, asks for as in the first run; the owner of a function is the list of what it
    has not asked again."""

    def __init__(self, first: Services) -> None:
        self._first = first
        self._test = ""
        self._left: list[KeptCall] = []
        self._of_loading: Sequence[KeptCall] = ()

    def begin(self, test: str, calls: Sequence[KeptCall], of_loading: Sequence[KeptCall]) -> None:
        """The test that runs next, and the answers for it, and for the loading of its module."""
        self._test, self._left, self._of_loading = test, list(calls), of_loading

    def call(self, test: TestKey, name: str, arguments: str, world: str, link: AskBack) -> str:
        """See `take_call`."""
        found = take_call(self._left if test.test else list(self._of_loading), name, arguments)
        for question, given in found.asked:
            answered = Event()
            link(question, given, lambda *_, answered=answered: answered.set())
            answered.wait()
        return found.envelope

    def library(self, module: str, script: str) -> Path:
        """As in the first run."""
        return self._first.library(module, script)

    def selected(self, module: str, tests: Mapping[str, str]) -> Selected:
        """The test alone."""
        return Selected(tests=frozenset([self._test]))

    async def answer(self, owner: list[KeptCall], name: str, arguments: str, world: str) -> str:
        """See `take_call`."""
        return take_call(owner, name, arguments).envelope

    def returned(self, owner: list[KeptCall], world: str, mocked: Sequence[MockedCalls]) -> None:
        """The first run has counted that."""

    def stopped(self, owner: list[KeptCall], frames: tuple[StackFrame, ...]) -> None:
        """The first run has said where it was."""


def take_call(calls: list[KeptCall], name: str, arguments: str) -> KeptCall:
    """Takes the same call out of those of the first run, else the next of this name, else one that fails."""
    found = min((one for one in calls if one.name == name), key=lambda one: one.arguments != arguments, default=None)
    if found is None:
        return KeptCall(name=name, arguments=arguments, envelope=UNKNOWN % name)
    calls.remove(found)
    return found


def _difference(first: Outcome, second: Outcome | Failure | None) -> tuple[str, str] | None:
    """What is different in the second run: the kind of a line, and its text; None where nothing is."""
    if second is None:
        return "note", "the second run, which recorded this story, did not end"
    if isinstance(second, Outcome) and first.cause is second.cause is Cause.TIMEOUT:
        return None
    before, now = _reasons(first), _reasons(second)
    if before == now or (isinstance(second, Failure) and second.message in before[0]):
        return None
    if isinstance(second, Outcome) and second.cause is Cause.TIMEOUT:
        return "note", "the second run, which recorded this story, is slower and was stopped before its end"
    if not now:
        return "flaky", "flaky: the test passed in the second run, which recorded this story"
    return "flaky", f"flaky: in the second run, which recorded this story, the test failed with: {now[0]}"


def _reasons(outcome: Outcome | Failure) -> list[str]:
    if isinstance(outcome, Failure):
        return [outcome.message]
    own = [re.sub(OWN, "…", f"{one.message} {one.actual_text or ''}".strip()) for one in outcome.failures]
    return [*own, *(reason for step in outcome.steps for reason in _reasons(step))]


class CaseStories:
    """The stories of the hooks and tools of failed cases: each is called once more, with what it was called with, and
    gets the answers that it got. Belongs to one event loop, and has to be closed in it."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._left = 10**9 if run.options.story == "all" else FEW
        self._recording = Recording(str(run.application.root))
        self._one = Lock()
        self._functions: StoryFunctions | None = None

    async def story_of(self, functions: Sequence[FunctionRun]) -> tuple[Record, ...]:
        """The story of these calls, in the order in which they began; empty when enough is told."""
        if self._left <= 0:
            return ()
        self._left -= 1
        async with self._one:
            try:
                return await self._told(functions)
            except HostError as error:
                return (note_of(error),)

    async def _told(self, functions: Sequence[FunctionRun]) -> tuple[Record, ...]:
        hide, clean = self._run.options.story_hide, self._run.environment.secrets.value
        lines: list[ToldLine] = []
        notes: list[tuple[str, str]] = []
        cut, loaded = 0, set[Path]()
        for one in functions:
            ended = await self._again(one, {"hide": list(hide), "began": one.began, "skip": 0, "most": 10**9})
            told = self._pool.told()
            cut += told.cut
            again = one.call.script in loaded  # what its top level does is told
            loaded.add(one.call.script)
            for line in told.lines:
                if line.within or line.depth < 0:
                    lines.append(line.replace(depth=line.depth + 1))
                elif not again:
                    lines.append(line)
            if one.ended and re.sub(OWN, "…", ended) != re.sub(OWN, "…", one.ended):
                what = one.call.function or one.call.script.name
                said = f"ended with: {ended[:SHOWN]}" if ended else "was stopped before its end"
                notes.append(("flaky", clean(f"flaky: in the second run, which recorded this story, {what} {said}")))
        return story_lines(lines, self._recording.sites, clean, hide, cut, notes)

    async def _again(self, one: FunctionRun, settings: Record) -> str:
        """Calls a function again; how it ended, as `FunctionRun.ended` says it."""
        try:
            async with timeout(LONGEST):
                return json.dumps((await self._pool.call_told(one.call, list(one.asked), settings)).value)
        except FunctionError as error:
            return error.message
        except (MissingFunctionError, TimeoutError):
            return ""

    @property
    def _pool(self) -> StoryFunctions:
        if self._functions is None:
            self._functions = StoryFunctions(
                self._run.application.root,
                worker_command(SCRIPT_PARTS, tells=True),
                _Answers(self._run),
                SCRIPT_GLOBALS,
                workers=1,
                is_late=lambda: True,
                instrument=self._recording.instrument,
            )
        return self._functions

    async def close(self) -> None:
        """Ends the processes."""
        if self._functions is not None:
            await self._functions.close()
