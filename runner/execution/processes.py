"""Builds the router of `Process(...)` calls for the script tests of a run: the table of what answers which process."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from bindings import HostProcesses, ProcessRouter, RunSnapshots

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from bindings import Provider, TestKind, World, Worlds
    from runner.planning.selection import Selection

AGENT_GROUPS = ("agent", "agents", "assistants", "ai", "llm", "mcp")
"""First words of the names of processes that agents answer."""


def open_router(
    host: HostProcesses,
    snapshots: RunSnapshots,
    agents: Provider,
    selection: Selection | None,
    context: Mapping[str, Any],
    done: Callable[[str, str], bool],
    require_judge: bool,
    judge_samples: int,
    judge_connector: str,
    worlds: Worlds,
    picked: Mapping[str, Collection[str] | None],
    arrange: Callable[[str, Sequence[str]], Sequence[int]] | None,
    kinds: Mapping[str, Callable[[], TestKind]],
    goes_on: Callable[[str, str], None],
) -> ProcessRouter:
    """The complete router of a run.

    Args:
        host: answers what nothing else answers.
        agents: answers the processes of `AGENT_GROUPS`.
        selection: what `--run` selects.
        context: the fields of the run's context.
        done: whether a test, by its module and name, has a result from the resumed run.
        require_judge: `--require-judge`.
        judge_samples: `--judge-samples`.
        judge_connector: `--judge-connector`; empty if it is not given.
        worlds: the worlds of the tests.
        picked: module → the tests that flags select. All tests run of modules that are missing in it, or if it is None.
        arrange: returns the order in which the tests of a module run, as positions; None: the order of the file.
        kinds: kinds of tests other than plain ones → a function that returns the object that runs them.
        goes_on: called with the module and name of a test that continues in another realm.
    """
    providers: dict[str, Provider] = {
        **dict.fromkeys(AGENT_GROUPS, agents),
        "agent.JudgeRequired": lambda world, name, args: _is_required(world, require_judge),
        "agent.Verdict": _read_verdict,
        "snapshot.Inline": lambda world, name, args: snapshots.match_inline(args),
        "agent.Vote": lambda world, name, args: _count(world, judge_samples, judge_connector, require_judge, args),
        "snapshot.Match": lambda world, name, args: snapshots.match(world.suite, world.key.label, args),
    }
    if selection is not None:
        providers["subtest.Selects"] = lambda world, name, args: selection.subtest(world.suite, args)

    def selects(module: str, test: str) -> bool:
        names = picked.get(module)
        if names is not None and test not in names:
            return False
        return (selection is None or selection.test(test)) and not done(module, test)

    return ProcessRouter(host, providers, context, selects, worlds, arrange, kinds, goes_on)


def _is_required(world: World, required: bool) -> bool:
    world.is_judged = True
    return required


def _count(world: World, samples: int, connector: str, required: bool, args: list[Any]) -> dict[str, Any]:
    from runner.agents.helpers import count_votes

    world.is_judged = True
    return count_votes(world, samples, connector, required, args)


def _read_verdict(world: World, name: str, args: list[Any]) -> dict[str, Any]:
    """Reads the mocked answer of a validator: `[validator, reply]`."""
    from bindings import ProcessError
    from runner.agents.answer import AgentError
    from runner.agents.helpers import mocked_verdict
    from runner.errors import sentences

    agent, reply = args
    try:
        return mocked_verdict(agent, reply, world)
    except AgentError as error:
        said = sentences(error.message, error.hint)
        raise ProcessError(said, infrastructure=error.infrastructure) from error
