"""A search for an input that fails. What inputs are tried is decided by `searching`, in a process of its own: the
library for it would look at all that this process has loaded, and leave files where the command is run.

Many inputs go to one realm of the test, since that is quick; one that has failed, and what it is made smaller to, each
to a realm of its own, so that what is found fails by itself."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from runner.fuzzing.inputs import Literals
from scripttest import Cause, Outcome
from scripttest.values import Value

InputsResult = Mapping[str, Any] | None
"""The result of inputs: `at`, the position of the first that failed, and `kind` and `message` of its first failure;
without `at` if the realm ended in one of them. None: none failed."""
_BOOTSTRAP = "import sys; sys.path[:] = sys.argv[1:]; from runner.fuzzing.searching import main; main()"
MOST_BROKEN = 20
"""Inputs for which something else broke, after which a search is given up."""
SHOWN = 500
"""Characters that are shown of what a process said that broke."""
IN_ONE_REALM = 200
"""Inputs that share a realm at the most."""


class Request(Value):
    """Inputs to be run, one after the other, until one fails."""

    inputs: Sequence[Mapping[str, str]]
    """Each with its `name`, and its `args`: JSON of the list."""
    fresh: bool
    """Whether they are to be the first and only ones of their realm."""


class SearchPlan(Value):
    """The settings of a search."""

    examples: Sequence[Sequence[Any]]
    """Lists of arguments whose shapes inputs have."""
    schemas: Sequence[Any]
    """The schemas of the arguments; empty: the shapes of the examples are used."""
    literals: Literals
    seed: int
    """Seed of its random numbers."""
    seconds: float


class Progress:
    """How far a search has come. Its process writes it as JSON with each request."""

    def __init__(self) -> None:
        self.found: list[Any] | None = None
        """The smallest input so far that failed."""
        self.tried = 0
        """Inputs, before it began to make one smaller."""
        self.seconds = 0.0
        """What that took."""
        self.unsteady = 0
        """Inputs that failed after others, and not by themselves."""
        self.broken = 0
        """Inputs that say nothing, since what they need broke."""
        self.broke = ""
        """What broke last."""
        self.problem = ""
        """Why it could not continue, unless nearly all inputs broke."""


class Search:
    """One search. To be closed."""

    def __init__(self, plan: SearchPlan) -> None:
        """Begins. Raises OSError."""
        self.progress = Progress()
        pipe = subprocess.PIPE
        command = [sys.executable, "-I", "-S", "-c", _BOOTSTRAP, *sys.path]
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)
        self._home = tempfile.mkdtemp(prefix="yao-test-fuzz-")
        """The folder for what the library writes."""
        self._send({**vars(plan), "literals": vars(plan.literals), "home": self._home})
        self._is_first = True

    def next(self, result: InputsResult) -> Request | None:
        """Takes the results of the last inputs, and returns the next ones; None if the search is over. Blocks."""
        if not self._is_first:
            self._send(result)
        self._is_first = False
        assert self._process.stdout is not None and self._process.stderr is not None
        line = self._process.stdout.readline()
        if not line:
            errors = self._process.stderr.read().decode(errors="replace")
            self.progress.problem = f"its process has ended: {errors[-SHOWN:].strip()}"
            return None
        state = json.loads(line)
        vars(self.progress).update(state["progress"])
        return None if state["over"] else Request(inputs=state["inputs"], fresh=state["fresh"])

    def close(self) -> None:
        """Ends its process, unless it has ended, and removes what it has written."""
        if self._process.returncode is None:
            self._process.kill()
            self._process.communicate()
        shutil.rmtree(self._home, ignore_errors=True)

    def _send(self, value: Any) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(value).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:  # `next` tells why
            return


class SearchRealms:
    """The realms of one search."""

    def __init__(self, plan: SearchPlan) -> None:
        """Begins when the first input is asked for."""
        self._plan = plan
        self.search: Search | None = None
        """None: it has not begun."""
        self.is_over = False
        """Whether the search has ended."""
        self._running: Request | None = None
        self._held: Request | None = None
        """What waits for the next realm."""
        self._result: InputsResult = None
        """The result of the last inputs."""
        self._ran = 0
        """Inputs that this realm has run."""
        self._lone = False
        """Whether this realm is for one input only."""

    def next(self, result: InputsResult) -> Request | None:
        """Takes the results of the last inputs, and returns the next ones of this realm, or None. Blocks."""
        if self._running is not None:
            self._ran += len(self._running.inputs)
            self._running, self._result = None, result
        self.search = self.search or Search(self._plan)
        request, self._held = self._held or self.search.next(self._result), None
        if request is None:
            self.is_over = True
        elif self._ran and (request.fresh or self._lone or self._ran >= IN_ONE_REALM):
            request, self._held = None, request
        else:
            self._running, self._lone = request, request.fresh
        return request

    def close(self) -> None:
        """Ends the search, unless it was ended before."""
        self.is_over = True
        if self.search is not None:
            self.search.close()

    def ended(self, outcome: Outcome, silent: str) -> None:
        """The realm has ended: in an input, if one is under way, which has failed then; `silent` is what did not answer
        it, if it waited for that."""
        if self._running is not None:
            self._running = None
            steps = [step for step in outcome.steps if step.failures]
            failures = (steps[-1] if steps else outcome).failures
            cause = failures[0].cause if failures else Cause.ERROR
            message = failures[0].message if failures else "its realm has ended"
            if cause is Cause.TIMEOUT and silent:
                cause, message = Cause.INFRASTRUCTURE, silent
            self._result = {"kind": cause, "message": message}
        self._ran, self._lone = 0, False
