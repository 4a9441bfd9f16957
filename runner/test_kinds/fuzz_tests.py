"""The fuzz tests of a run: answers what their realms ask, and says when they are over. A test has up to three steps,
each in its own realms:

| step | what runs |
| --- | --- |
| seeds | the inputs of `f.add`, then the corpus; each is a subtest |
| search | with `--fuzz`, if all of these pass: the inputs of a search |
| found | the seeds and the corpus again, which now has the found input |"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bindings import ProcessError
from runner.errors import MissingError, shown_path
from runner.test_kinds.search import (
    FOLDER,
    MOST_BROKEN,
    Input,
    Literals,
    literals_in,
    name_of,
    read_corpus,
    write_input,
)
from scripttest import Cause, Failure, Outcome, Status, install_command

if TYPE_CHECKING:
    from bindings import World
    from runner.options.options import RunOptions
    from runner.test_kinds.search import Search
    from scripttest import Compiled, TestKey

INPUT_SECONDS = 2.0
"""Time limit in seconds for one input, unless `--timeout` sets it."""
SHOWN = 300
"""Characters of an input that are shown."""


class FuzzTests:
    """Controls the fuzz tests of a run. Threads may share it."""

    is_worse = False
    """They have no baseline that they could be worse than."""

    def __init__(self, options: RunOptions, files: Mapping[str, Path], root: Path, stopped: Callable[[], bool]) -> None:
        """Reads nothing yet. Raises MissingError if the library for `--fuzz` is missing. `files`: module → its test
        file. `stopped`: whether the run shall end."""
        if options.fuzz and find_spec("hypothesis") is None:
            hint = f"Install it with: {install_command('fuzz', 'hypothesis')}"
            raise MissingError("--fuzz requires the extra fuzz", hint)
        self.seconds = options.fuzz_time if options.fuzz else None
        """What a search takes; None: there is none."""
        self.limit = options.timeout or INPUT_SECONDS
        """Seconds that one input of the corpus, or of a search, may take."""
        self.seed = options.seed or int.from_bytes(os.urandom(3), "big") + 1
        """Seed of the searches."""
        self._files = files
        self.root = root
        self.stopped = stopped
        self._tests: dict[TestKey, FuzzTest] = {}
        self._code: dict[str, list[str]] = {}
        self.summaries: list[str] = []
        """The results of the searches, one line each."""

    def take(self, compiled: Compiled) -> None:
        """Takes the compiled code of a module, or of a script that it calls."""
        self._code.setdefault(compiled.source.key, []).extend(script.code for script in compiled.scripts)

    def answer(self, world: World, name: str, args: list[Any]) -> Any:
        """Answers `fuzz.Begin` and `fuzz.Next`."""
        test = self._test(world.key)
        test.world = world
        if name == "fuzz.Begin":
            return test.begin(*args)
        if name == "fuzz.Next":
            return test.next(args[0])
        raise ProcessError(f"Process {name} does not exist", 404, missing=True)

    def seconds_after(self, test: TestKey, name: str) -> float | None:
        """What the next input may take."""
        return self._test(test).allowed

    def settled(self, test: TestKey, outcome: Outcome) -> Outcome | None:
        """The outcome of a test, or None where another realm is needed."""
        own = self._test(test)
        found = own.settled(outcome)
        if found is not None:
            own.close()
            del self._tests[test]
            self.summaries += [own.summary] if own.summary else []
        return found

    def corpus_of(self, module: str, test: str) -> Path:
        """The folder of the corpus of a test."""
        return self._files[module].parent / FOLDER / test

    def closing_lines(self, table: object) -> list[str]:
        """Lines to print at the end of the run."""
        return self.summaries

    @property
    def as_json(self) -> dict[str, Any]:
        """What `--json` has of them: `{searches?: [line]}`."""
        return {"searches": self.summaries} if self.summaries else {}

    def close(self) -> None:
        """Ends running searches."""
        for test in self._tests.values():
            test.close()

    def _test(self, test: TestKey) -> FuzzTest:
        if test not in self._tests:
            self._tests[test] = FuzzTest(test, self)
        return self._tests[test]

    def literals(self) -> Literals:
        """The literals in the tested code."""
        return literals_in("\n".join(code for codes in self._code.values() for code in codes))


class FuzzTest:
    """A running test."""

    def __init__(self, test: TestKey, run: FuzzTests) -> None:
        """Reads nothing yet."""
        self._module, self.name = test.suite, test.test
        self._run = run
        self._folder = run.corpus_of(test.suite, test.test)
        self._shown = str(shown_path(self._folder, run.root))
        """The folder of the corpus as messages name it."""
        self._schemas: list[Any] = []
        self._size: int | None = None
        """How many arguments it takes, if that is known."""
        self._inputs: dict[str, Input] = {}
        """Seeds and corpus, by name."""
        self._left: list[Input] = []
        self.world: World | None = None
        """The world of its realm."""
        self.allowed: float | None = None
        """Seconds for the next input; None: as many as for any test."""
        self._search: Search | None = None
        self._passed: Outcome | None = None
        """Of the seeds and the corpus, before the search."""
        self._found: list[Any] | None = None
        self._kept = ""
        """Where that was written, or why it was not."""
        self._asked = False
        """Whether the realm has asked for an input."""
        self.summary = ""
        """The result of the search, in one line."""

    def begin(self, seeds: list[str], schemas: list[str], parameters: int) -> None:
        """Called when the test calls `f.fuzz`. Blocks. `seeds`: JSON of the arguments of each seed. `schemas`: JSON
        of the arguments of `f.schema`. `parameters`: number of parameters of the function."""
        if self._search is not None and self._found is None:
            return
        self._size = len(json.loads(seeds[0])) if seeds else None
        if schemas:
            from runner.test_kinds.search import schemas_of_arguments

            self._schemas = schemas_of_arguments([json.loads(one) for one in schemas], self._size or parameters)
            self._size = self._size or len(self._schemas)
        own = [Input(name=f"seed#{number}", args=args, is_seed=True) for number, args in enumerate(seeds)]
        self._left = [*own, *read_corpus(self._folder, self._size, self._shown)]
        self._inputs = {one.name: one for one in self._left}

    def next(self, result: Any) -> dict[str, Any] | None:
        """What comes next: an input, or inputs of a search, after the result of the last ones of that; None: nothing in
        this realm. Blocks."""
        self._asked = True
        if self._search is not None and self._found is None:
            self.allowed = self._run.limit
            if self._run.stopped():
                self._search.is_over = True
                return None
            if result is not None and (silence := self._silence(1)):
                result = {"at": result["at"], "kind": Cause.INFRASTRUCTURE, "message": silence}
            request = self._search.next(result)
            return None if request is None else {"tried": request.inputs}
        if not self._left:
            self.allowed = None
            return None
        one = self._left.pop(0)
        self.allowed = None if one.is_seed else self._run.limit
        return {"kept": {"name": one.name, "args": one.args, "problem": one.problem}}

    def close(self) -> None:
        """Ends what it has running."""
        if self._search is not None:
            self._search.close()

    def settled(self, outcome: Outcome) -> Outcome | None:
        """The outcome of the test, of whose realms one has ended; None: it goes on in another one."""
        asked, self._asked = self._asked, False
        if self._search is None:
            may_search = self._run.seconds is not None and not self._run.stopped()
            if not may_search or not asked or outcome.status != Status.PASSED:
                return self._explained(outcome)
            self._passed = outcome
            return self._begin_search(self._run.seconds or 0)
        if self._found is not None:
            return self._explained(outcome)
        self._search.ended(outcome, self._silence(0.5))
        if not asked:  # it no longer calls `f.fuzz`
            return outcome
        return self._conclude() if self._search.is_over else None

    def _begin_search(self, seconds: float) -> Outcome | None:
        from runner.test_kinds.search import Search

        examples = [json.loads(one.args) for one in self._inputs.values()]
        if not examples and not self._schemas:
            return self._unable("its inputs are unknown: add one with f.add, or pass f.schema(...)")
        if not self._size:
            return self._unable("its inputs have no arguments: add one with f.add(value)")
        plan = {"examples": examples, "schemas": self._schemas, "literals": vars(self._run.literals())}
        self._search = Search({**plan, "seed": self._run.seed, "seconds": seconds})
        return None

    def _conclude(self) -> Outcome | None:
        """After the search: None where what was found is to be seen."""
        assert self._search is not None and self._passed is not None
        self._search.close()
        if not self._search.has_begun:
            return self._passed
        search = self._search.progress
        count = f"{search.tried} input{'' if search.tried == 1 else 's'} ({search.seconds:.2f}s)"
        seed = f"--seed {self._run.seed}"
        self.summary = f"{self.name}: {count}, nothing found ({seed})"
        if search.found is None:
            if search.unsteady:
                self.summary += f"; {search.unsteady} of them failed only after others, not alone"
            if search.problem:
                return self._unable(search.problem)
            if search.broken == MOST_BROKEN or 0 < search.tried <= 2 * search.broken:
                return self._unable(f"a dependency failed: {search.broke}", Cause.INFRASTRUCTURE)
            if search.broken:
                self.summary += f"; {search.broken} of them were inconclusive: {search.broke}"
            return self._passed
        self._found = search.found
        try:
            file = write_input(self._folder, self._found)
            self._kept = f"{self._shown}/{file.name}"
        except OSError as error:
            self._kept = f"not saved: {error.strerror or error}"
        self.summary = f"{self.name}: found after {count}, {self._kept} ({seed})"
        if self._run.stopped() or self._kept.startswith("not saved"):
            return self._with_found(self._passed)
        return None

    def _silence(self, share: float) -> str:
        """What has not answered an input for this share of the time that one may take; empty: nothing."""
        asked, limit = self.world and self.world.asked, self._run.limit
        return f"{asked.name} did not answer within {limit:g}s" if asked and asked.seconds > share * limit else ""

    def _unable(self, why: str, cause: Cause = Cause.ERROR) -> Outcome:
        assert self._passed is not None
        failure = Failure(cause=cause, message=f"Cannot search {self.name}: {why}")
        return self._passed.replace(status=Status.FAILED, failures=(*self._passed.failures, failure))

    def _explained(self, outcome: Outcome) -> Outcome:
        """An outcome whose failures say with which input, and where it was kept."""
        steps = tuple(self._step(step) for step in outcome.steps)
        outcome = outcome.replace(steps=steps)
        if self._found is None or any(step.failures for step in steps):
            return outcome
        if outcome.status == Status.PASSED:
            return self._with_found(outcome)
        return _told(outcome, self._lines(self._inputs[name_of(self._found)]))  # it failed when its input was over

    def _step(self, step: Outcome) -> Outcome:
        one = self._inputs.get(step.name.partition("/")[2])
        if one is None or one.problem or not step.failures:
            return step
        return _told(step, self._lines(one))

    def _lines(self, one: Input) -> list[str]:
        lines = [f"input: {_cut(one.args)}"] + ([] if one.is_seed else [f"file : {self._shown}/{one.name}.json"])
        if self._found is not None and one.name == name_of(self._found):
            command = f"yao-test -i {self._module} --run '^{self.name}$/{one.name}'"
            lines.append(f"found by --fuzz; to rerun it: {command}")
        return lines

    def _with_found(self, outcome: Outcome) -> Outcome:
        """An outcome that has to say by itself what was found."""
        assert self._found is not None
        text = f"--fuzz found an input that fails on its own: {_cut(json.dumps(self._found))}"
        failure = Failure(cause=Cause.ERROR, message=f"{text} ({self._kept})")
        return outcome.replace(status=Status.FAILED, failures=(*outcome.failures, failure))


def _told(outcome: Outcome, lines: list[str]) -> Outcome:
    """An outcome with lines at the failure that says why: that of its first failed subtest, if there is one."""
    for place, step in enumerate(outcome.steps):
        if step.failures:
            steps = outcome.steps
            return outcome.replace(steps=(*steps[:place], _told(step, lines), *steps[place + 1 :]))
    first, *others = outcome.failures
    details = "\n".join([*filter(None, [first.details]), *lines])
    return outcome.replace(failures=(first.replace(details=details), *others))


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
