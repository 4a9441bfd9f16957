"""What is missing in all parts of a run together: shards, and test modules, cases and runs of them that were planned
and have no result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runner.errors import ConfigurationError
from runner.options.values import Shard, read_shard
from runner.reporters.console.style import count
from runner.results.report import Report
from runner.results.stability_json import attempts_in, repeat_in
from scripttest.typing_names import Record

NAMED = 10
"""At most this many names of one kind are printed."""
MOST_RUNS = 1_000_000
"""A larger number of runs is not believed."""


def lacking(parts: Sequence[Report], names: Sequence[str], whole: Report) -> list[str]:
    """What is missing, one sentence for each; empty if nothing is.

    Args:
        names: the names of the parts.
        whole: the parts together.
    """
    return [*_shards(parts), *_tests(parts, names, whole)]


def _shards(parts: Sequence[Report]) -> Iterator[str]:
    """Names the shards without a report. A report that is not of a shard has all tests."""
    found = [_shard(part) for part in parts]
    shards = [shard for shard in found if shard is not None]
    if not shards or len(shards) < len(found):
        return
    for of in sorted({shard.of for shard in shards}):
        there = {shard.number for shard in shards if shard.of == of}
        absent = [f"{number}/{of}" for number in range(1, of + 1) if number not in there]
        if absent:
            yield f"{'shard' if len(absent) == 1 else 'shards'} without a report: {_listed(absent)}"


def _shard(part: Report) -> Shard | None:
    text = part.start.get("shard") or (part.origin.get("options") or {}).get("shard")
    try:
        return read_shard(text, "--shard") if isinstance(text, str) else None
    except ConfigurationError:
        return None


def _tests(parts: Sequence[Report], names: Sequence[str], whole: Report) -> Iterator[str]:
    there: dict[str, set[str]] = {suite["id"]: set() for suite in whole.suites}
    runs = max((_runs(part) for part in parts), default=1)
    absent: dict[str, dict[str, list[int]]] = {}
    for record in whole.results:
        there[record["suite"]].add(record["id"])
        if left := _runs_left(record, runs):
            absent.setdefault(record["suite"], {})[record["id"]] = left
    for suite in whole.suites:
        having = [(part, name) for part, name in zip(parts, names, strict=True) if _has(part, suite["id"])]
        planned = {str(_shard(part)): _planned(part, suite["id"]) for part, _ in having}
        plans = [plan for plan in planned.values() if plan is not None]
        if plans and len(plans) == len(planned):
            yield from _of_cases(suite, plans, there[suite["id"]])
        elif not any(_is_complete(part, suite["id"]) for part, _ in having):
            yield _of_unknown(suite, having, there[suite["id"]])
        if suite["id"] in absent:
            yield _of_runs(suite, absent[suite["id"]])


def _runs_left(record: Record, runs: int) -> list[int]:
    """The numbers of the runs that a test with several runs lacks: of those that `--runs` asks for, or of those that
    its policy needs before it can decide."""
    made = {attempt.run: attempt.verdict for attempt in attempts_in(record)[0]}
    repeat = repeat_in(record)
    if repeat is None:
        return [run for run in range(1, runs + 1) if run not in made] if made else []
    if repeat.verdict is not None:
        return []
    from runner.results.repeating import needs_more

    return needs_more(repeat.written, made)


def _runs(part: Report) -> int:
    """How often each test of a part should run."""
    runs = int(part.start.get("runs_per_case", 1))
    return runs if runs < MOST_RUNS else 1


def _of_runs(suite: Record, absent: dict[str, list[int]]) -> str:
    """Names the tests that have results of some runs only."""
    number = sum(map(len, absent.values()))
    named = [
        f"{id} ({'run' if len(runs) == 1 else 'runs'} {_listed([*map(str, runs)])})" for id, runs in absent.items()
    ]
    return f"{suite['label']}: no result for {count(number, 'run')} of {count(len(absent), 'test')}: {_listed(named)}"


def _has(part: Report, suite: str) -> bool:
    return any(known["id"] == suite for known in part.suites)


def _planned(part: Report, suite: str) -> Record | None:
    """What the start record of a report has for a suite of cases: `{cases, ids?}`."""
    plan = (part.origin.get("planned") or {}).get(suite)
    return plan if isinstance(plan, dict) and isinstance(plan.get("cases"), int) else None


def _of_cases(suite: Record, plans: list[Record], there: set[str]) -> Iterator[str]:
    """Names the cases without a result by their ids, or, if there are very many, gives their number."""
    wanted = sum(plan["cases"] for plan in plans)
    ids = [str(id) for plan in plans for id in plan.get("ids") or ()]
    absent = [id for id in ids if id not in there]
    number = len(absent) if len(ids) == wanted else wanted - len(there)
    if number > 0:
        named = f": {_listed(absent)}" if absent else ""
        yield f"{suite['label']}: no result for {number} of {count(wanted, 'case')}{named}"


def _is_complete(part: Report, suite: str) -> bool:
    """Whether a part ended and has the results of all tests of a suite."""
    if part.damage:
        return False
    said = next((entry for entry in part.summary.get("suites") or () if entry["id"] == suite), None)
    if said is None:
        return True
    own = sum(record["suite"] == suite for record in part.results)
    return said.get("started") is not False and said.get("ended") is not False and own >= said["selected"]


def _of_unknown(suite: Record, having: list[tuple[Report, str]], there: set[str]) -> str:
    """Says that a suite has no result, or that not all of its tests are known."""
    if not there:
        return f"{suite['label']}: no results"
    known = [
        entry["selected"]
        for part, _ in having
        for entry in part.summary.get("suites") or ()
        if entry["id"] == suite["id"] and "selected" in entry
    ]
    if known and max(known) > len(there):
        return f"{suite['label']}: no result for {max(known) - len(there)} of {count(max(known), 'test')}"
    return f"{suite['label']}: it may have more tests, since {', '.join(name for _, name in having)} did not end"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
