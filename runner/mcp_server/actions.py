"""What each tool does."""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path

from bindings.processes import knows
from bindings.processes import names as processes
from runner import exit_codes
from runner.application.application import Application
from runner.environment import Environment
from runner.errors import ConfigurationError, MissingError
from runner.execution.outcome import bounded
from runner.filters import pattern_of
from runner.mcp_server import results
from runner.mcp_server.running import Call, Calls, Ended, objects_in
from runner.mcp_server.script_api import declarations, named
from runner.mcp_server.tools import Answer, nearest, pieces
from runner.mutation.documents import LAST, LAST_OF_CASES, LAST_OF_PROMPTS, last_document
from runner.planning.inputs import is_generator
from runner.record.outcomes import Verdict
from runner.reporters.console.style import count
from scripttest import Status
from scripttest.typing_names import Record
from scripttest.values import Value

NO_MODELS = "--no-models"
USED_UP = "The budget of this server for real models is used up"
NOT_ALLOWED = "To call real models, a person has to start yao-test mcp with --allow-models and a budget"


class Limits(Value):
    """What a server may do."""

    allow_models: bool = False
    max_cost: float | None = None
    """US dollars, of all runs of the server together."""
    max_tokens: int | None = None
    flags: tuple[str, ...] = ()
    """Further words of the command line of each run."""


class Actions:
    """The tools of a server on one application."""

    def __init__(
        self, application: Application, environment: Environment, store: Path, calls: Calls, limits: Limits
    ) -> None:
        """`environment` is that of commands, in the folder of the application."""
        self.application, self.calls = application, calls
        self.kept = results.KeptRuns(store, environment)
        self.store = store
        self._root, self._limits = application.root, limits

    def of(self, tool: str) -> Callable[..., Awaitable[Answer]]:
        """What makes the answer of a tool, of a call and its arguments. Raises RunnerError."""
        made: Callable[..., Awaitable[Answer]] = getattr(self, tool)
        return made

    async def list_tests(
        self, call: Call, input: str | None = None, run: str | None = None, tag: str | None = None
    ) -> Answer:
        """The tests that would run."""
        document = await self._listed(call, _chosen(self._input(input), run, tag))
        said = [error["message"] for error in document["errors"]] + document["warnings"]
        items: list[Record] = [
            {"input": name, "tests": part}
            for name, tests in groupby(document["tests"], itemgetter("suite"))
            for part in iter(partial(_next_names, tests), [])
        ]
        total, inputs = len(document["tests"]), len({item["input"] for item in items})
        modules = all(item["input"].startswith("scripts.") for item in items)
        return Answer(
            title="\n".join([f"{count(total, 'test')} in {count(inputs, 'module' if modules else 'input')}", *said]),
            head={"total": total, **({"said": bounded(said)} if said else {})},
            name="inputs",
            items=items,
            told=lambda item: f"{item['input']}: {', '.join(item['tests'])}",
        )

    async def run_tests(
        self,
        call: Call,
        input: str | None = None,
        run: str | None = None,
        tag: str | None = None,
        last_failed: bool = False,
        coverage: bool = False,
        update_snapshots: bool = False,
    ) -> Answer:
        """Runs tests."""
        flags = {"--last-failed": last_failed, "--coverage": coverage, "--update-snapshots": update_snapshots}
        given = [flag for flag, is_given in flags.items() if is_given]
        return results.run_answer(await self._run(call, [*_chosen(self._input(input), run, tag), *given]))

    async def explain_failure(self, call: Call, test: str, input: str | None = None, run: str | None = None) -> Answer:
        """Why a test fails."""
        kept = self.kept.result(test, self._named(input), run) if run else self._known(test, input)
        if kept is not None and (run or kept.suite.has_cases):
            found, note = self.kept.run(kept), f"as it was in run {kept.result.run}"
        else:
            chosen = ["-i", kept.suite.input] if kept is not None else self._input(input)
            name = test.partition("/")[0]  # that of a subtest begins with that of its test
            try:
                words = [*chosen, "--run", pattern_of([name]), "--story=all"]
                found, note = await self._run(call, words, is_kept=False), ""
            except ConfigurationError as error:
                if not error.message.startswith("No test"):
                    raise
                found, note = results.RunLines(), ""
            if kept is not None and kept.result.verdict == Verdict.FAILED and not found.failures_of(name):
                found, note = self.kept.run(kept), f"it passes now; this is how it failed in run {kept.result.run}"
            if not any(line["test"] == name for line in found.results):
                names = [str(one["test"]) for one in (await self._listed(call, self._input(input)))["tests"]]
                where = f" in {input}" if input else ""
                raise ConfigurationError(f"There is no failure of {test}{where}", nearest(test, names, "tests"))
        failures = found.failures_of(test) or found.failures_of(test.partition("/")[0])
        if not failures:
            raise ConfigurationError(f"{test} has not failed{f': {note}' if note else ''}")
        if len(failures) > 1:
            those = ", ".join(found.input_of(line) for line in failures[:10])
            raise ConfigurationError(f"Several tests are named {test}", f"Name one of these inputs: {those}")
        return results.explained(found, failures[0], note)

    async def read_result(self, call: Call, test: str, input: str | None = None, run: str | None = None) -> Answer:
        """The whole of a kept result."""
        kept = self.kept.result(test, self._named(input), run)
        head = {"run": kept.result.run, "input": kept.suite.input, "test": test, "status": kept.result.verdict}
        text = json.dumps(self.kept.line(kept), indent=1, ensure_ascii=False)
        title = f"{test} of {kept.suite.input}: {kept.result.verdict} in run {kept.result.run}"
        return Answer(title=title, head=head, name="json", items=pieces(text))

    async def history(
        self, call: Call, test: str | None = None, branch: str | None = None, last: int | None = None
    ) -> Answer:
        """Tests over time."""
        words = [f"--branch={branch}"] * (branch is not None) + [f"--last={last}"] * (last is not None)
        words += ["--", test] if test is not None else []
        document = await self._document(call, ["history", "--json", f"--store={self.store}", *words])
        items = [bounded(one, results.DETAIL) for one in document["tests"]]
        if len(items) == 1:  # each of its runs
            items = [{**document["tests"][0], "results": []}, *document["tests"][0].get("results", ())]
        runs = len(document["runs"])
        return Answer(
            title=f"{count(runs, 'stored run')}", head={"runs": runs}, name="tests", items=items, told=results.past
        )

    async def compare(self, call: Call, before: str | None = None, after: str | None = None) -> Answer:
        """What differs between two runs."""
        head, changes = self.kept.difference(before, after)
        return Answer(
            title=f"{head['before']} → {head['after']}: {head['verdict']}",
            head=head,
            name="changes",
            items=changes,
            told=lambda one: f"{one['kind']}  {one['input']} › {one['test']}  {one['fact']}".rstrip(),
        )

    async def uncovered_lines(self, call: Call, input: str | None = None, file: str | None = None) -> Answer:
        """Lines that no test runs."""
        run = await self._run(call, [*self._input(input), "--coverage"], is_kept=False)
        files = results.uncovered_in(run.coverage)
        if file is not None:
            known = [one["file"] for one in files]
            files = [one for one in files if one["file"] == self.inside(file)]
            if not files:
                raise ConfigurationError(f"{file} is not a covered handler", nearest(file, known, "handlers"))
        failed, whole = len(run.failures), results.totals_of(run.coverage)
        lines = whole["lines"]
        title = f"{lines['covered']} of {count(lines['total'], 'line')} covered, {lines['percent']} %"
        return Answer(
            title=title + (f"; {count(failed, 'test')} failed" if failed else ""),
            head={"totals": whole, "failed": failed},
            name="files",
            items=files,
            told=lambda one: f"{one['file']}  {one['percent']} %  {one['lines'] or 'all covered'}",
        )

    async def survivors(self, call: Call, file: str | None = None) -> Answer:
        """What no test noticed in the last run of `mutate` of each kind."""
        last = [last_document(self.store, name) for name in (LAST, LAST_OF_CASES, LAST_OF_PROMPTS)]
        if not any(last):
            raise ConfigurationError("No run of mutate is stored", "Run yao-test mutate -i INPUT first")
        files, found = results.survivors_in(*last)
        if file is not None and file not in files and self.inside(file) not in files:
            raise ConfigurationError(f"{file} had no mutants", nearest(file, files, "files"))
        items = [
            bounded(one, results.DETAIL) for one in found if file is None or one["file"] in (file, self.inside(file))
        ]
        newest = max(filter(None, last), key=lambda one: str(one["when"]))
        score = "unknown" if newest["score"] is None else f"{newest['score']:.0%}"
        return Answer(
            title=f"{count(len(items), 'mutant')} not noticed; the last run ended at {newest['when']}, score {score}",
            head={"score": newest["score"], "when": newest["when"]},
            name="mutants",
            items=items,
            told=lambda one: (
                f"{results.place_in(one)}  {one['mutator']}  {one['original']} → {one['replacement'] or 'left out'}"
            ),
        )

    async def try_script(self, call: Call, code: str, module: str) -> Answer:
        """What code comes to in the realm of a script."""
        words = ["repl", "--timeout=30s", "--no-color", "--no-writes", *self._models(), "--", _id_in(module)]
        ended = await self.calls.command(words, call, given=f"{code}\n")
        if ended.code not in (exit_codes.PASSED, exit_codes.FAILED):
            raise _error_in([], ended)
        is_ok = ended.code == exit_codes.PASSED
        head = {"ok": is_ok} | ({"error": ended.said} if ended.said else {})
        return Answer(title=ended.said, head=head, name="output", items=pieces(ended.output))

    async def describe_api(self, call: Call, name: str | None = None) -> Answer:
        """Declarations of the script API."""
        known = declarations()
        found = known if name is None else named(name, known)
        if not found:
            last = name.rpartition(".")[2] if name else ""
            names = [one.name.rpartition(".")[2] for one in known]
            is_process = name is not None and knows(name)
            hint = nearest(name, processes(), "processes") if name and is_process else nearest(last, names, "names")
            raise ConfigurationError(f"Nothing is named {name}", hint)
        items = [
            {"name": one.name, "kind": one.kind, "text": bounded(one.text, 3 * results.DETAIL) if name else one.summary}
            for one in found
        ]
        title = count(len(items), "declaration")
        return Answer(title=title, name="found", items=items, told=lambda one: f"{one['name']}: {one['text']}")

    async def doctor(self, call: Call) -> Answer:
        """What is missing."""
        document = await self._document(call, ["doctor", "--json"])
        agents = document["agents"]
        needs = [{"agent": agent["id"], **need} for agent in agents for need in agent["needs"] if need["missing"]]
        parts = [part for part in document["parts"] if part["missing"]]
        walls = [wall for wall in document["walls"] if wall["missing"]]
        names = ", ".join(part["name"] for part in parts) or "none"
        title = [f"{count(len(agents), 'agent')}; missing parts: {names}"]
        title += [f"no wall {wall['name']}: {wall['missing']}" for wall in walls]
        return Answer(
            title="\n".join(title),
            head={"missing_parts": parts, "missing_walls": walls},
            name="agents",
            items=[bounded(need, results.DETAIL) for need in needs],
            told=lambda one: f"{one['agent']} lacks {one['kind']} {one['name']}: {one['message']}",
        )

    def _known(self, test: str, input: str | None) -> results.KeptResult | None:
        with suppress(MissingError):
            return self.kept.result(test, self._named(input), None)
        return None

    async def _listed(self, call: Call, words: Sequence[str]) -> Record:
        ended = await self.calls.command(
            [*words, *self._limits.flags, "--dry-run", "--json", "--no-models"], call, is_alone=False
        )
        try:
            document: Record = json.loads(ended.output)
        except ValueError as error:
            raise _error_in([], ended) from error
        if document["status"] == "configuration_error":
            raise _error_in(document["errors"], ended)
        return document

    async def _run(self, call: Call, words: Sequence[str], *, is_kept: bool = True) -> results.RunLines:
        """Runs tests. Raises ConfigurationError when nothing could run."""
        seen = {"": 0, "failed": 0}

        def on_line(line: str) -> None:
            if line.startswith('{"type": "result"'):
                record = json.loads(line)
                seen[""] += 1
                seen["failed"] += record["status"] == Status.FAILED
                call.said = f"{count(seen[''], 'test')} ended, {seen['failed']} failed"

        flags = ["--json=lines", "--no-writes", *self._models(), *self._limits.flags]
        flags += [f"--store={self.store}"] if is_kept else []
        ended = await self.calls.command([*words, *flags], call, on_line)
        run = results.RunLines(objects_in(ended))
        if not run.has_begun:
            raise _error_in([one for one in objects_in(ended) if one["type"] == "error"], ended)
        if any(NO_MODELS in line["message"] for line in run.failures):
            run.said.append(USED_UP if self._limits.allow_models else NOT_ALLOWED)
        return run

    def _models(self) -> list[str]:
        """What a run may spend on models: what is left."""
        limits = self._limits
        left: dict[str, float] = {}
        if limits.max_cost is not None:
            left["--max-cost"] = round(limits.max_cost - self.calls.cost, 6)
        if limits.max_tokens is not None:
            left["--max-tokens"] = limits.max_tokens - self.calls.tokens
        if not limits.allow_models or min(left.values()) <= 0:
            return [NO_MODELS]
        return [f"{flag}={number}" for flag, number in left.items()]

    async def printed(self, call: Call, words: Sequence[str]) -> str:
        """What a command that runs no test prints. Raises ConfigurationError when it cannot."""
        ended = await self.calls.command(words, call, is_alone=False)
        if ended.code:
            raise _error_in([], ended)
        return ended.output

    async def _document(self, call: Call, words: Sequence[str]) -> Record:
        document: Record = json.loads(await self.printed(call, words))
        return document

    def inside(self, path: str) -> str:
        """The path of a file or folder from the application. Raises ConfigurationError for one outside of it."""
        root = os.path.realpath(self._root)
        place = os.path.realpath(os.path.join(root, path))
        if place != root and not place.startswith(f"{root}/"):
            raise ConfigurationError(f"{path} is outside of the application", f"Name something below {self._root}")
        return os.path.relpath(place, root)

    def _input(self, given: str | None) -> list[str]:
        """The words for an input. Raises ConfigurationError for one that names nothing, or something outside."""
        named = self._named(given)
        return [] if named is None else ["-i", named]

    def _named(self, given: str | None) -> str | None:
        if given is None or given.startswith("scripts.") or is_generator(given):
            return given and _id_in(given)
        path = self.inside(given) if "\0" not in given else given
        if "\0" not in given and given and os.path.exists(os.path.join(self._root, path)):
            return path
        agent = self.application.agent_of_id(given.removeprefix("assistants.")) if "/" not in given else None
        if agent is not None:
            return os.path.relpath(agent.folder, self._root)
        known = [agent.id for agent in self.application.agents()] + [one.id for one in self.application.modules()]
        raise ConfigurationError(f'"{given[:200]}" names no test of the application', nearest(given, known, "tests"))


def _chosen(input: Sequence[str], run: str | None, tag: str | None) -> list[str]:
    return [*input, *([f"--run={run}"] if run is not None else []), *([f"--tag={tag}"] if tag is not None else [])]


def _id_in(given: str) -> str:
    if "/" in given.partition("?")[0]:
        raise ConfigurationError(f'"{given[:200]}" is not a script name', "Names have dots: scripts.<agent>.<module>")
    return given


def _next_names(tests: Iterator[Record]) -> list[str]:
    return [test["test"] for test in islice(tests, 50)]


def _error_in(errors: Sequence[Record], ended: Ended) -> ConfigurationError:
    if not errors and ended.output.startswith("{"):
        with suppress(ValueError, AttributeError):
            errors = json.loads(ended.output).get("errors", ())
    if errors:
        return ConfigurationError("; ".join(str(error["message"]) for error in errors), errors[0].get("hint"))
    message, _, hint = ended.said.removeprefix("Error: ").partition("\nHint: ")
    return ConfigurationError(message or f"yao-test ended with exit code {ended.code}", hint or None)
