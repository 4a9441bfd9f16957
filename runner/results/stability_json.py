"""Tests that were run several times, as JSON records: `runs` of a result, the `stability` line of JSONL, and the
"Stability Report Structure" of seed 004.

| where | shape |
| --- | --- |
| `runs` of a result | `{count, passed, failed, errors?, pass_rate, consistency, stable, classification, *_duration_ms, std_deviation_ms, confidence_interval, pass_at_k, pass_hat_k, avg_tokens?, avg_cost?, repeat?, attempts}` |
| `attempts` | `[{run, status, duration_ms, output?, error?, cause?, score?, tokens?, cost?, not_judged?, judged?, criteria?, judging?}]` |
| a result of seed 004 | the keys of `runs` beside those of the result, with `count` as `runs` and `attempts` as `run_details` |
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Sequence

from runner.amounts import cost_in, cost_record
from runner.results.criteria import criteria_of
from runner.results.judging import judging_in, judging_record
from runner.results.model import Attempt, Stability, TestResult
from runner.results.script_json import result_record
from runner.results.stability import normalised, pass_rate, stability_of
from runner.results.verdict import Verdict, verdict_in
from scripttest import Cause, Status
from scripttest.typing_names import Record
from scripttest.values import fields_of, names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.results.repeating import Repeat

_BY_K = ("pass_at_k", "pass_hat_k")
FIGURES = ("count", *names_of(Stability)[1:])
IN_SEED = {"count": "runs", "attempts": "run_details"}
"""Keys of `runs` that have another name in a result of seed 004."""
CAUSES = {Verdict.BROKEN: Cause.INFRASTRUCTURE.value, Verdict.INCONCLUSIVE: Cause.INCONCLUSIVE.value}
BROKEN_RUNS = "broken_runs"
"""The name of `errors` there, in a result that has `errors` of its own."""


def record_of(result: TestResult) -> Record:
    """The record of a result, without what says where it belongs."""
    if result.record is not None:
        return result.record
    if result.case is None:
        return result_record(result)
    from runner.results.case_json import case_record

    return case_record(result)


def attempt_of(record: Record, run: int = 0) -> Attempt:
    """The attempt that the record of a result is. What a script test answers is how it ended."""
    usage = record.get("usage") or {}
    output = record.get("output")
    if record.get("turns"):
        answer: Any = [turn.get("output") for turn in record["turns"]]
    elif "input" in record:
        answer = output
    else:
        answer = [record["status"], record.get("errors") or record.get("error")]
    return Attempt(
        run=run or record["run"],
        verdict=verdict_in(record),
        duration_ms=record["duration_ms"],
        answer=normalised(answer),
        output=output,
        error=record.get("error"),
        score=record.get("score"),
        tokens=usage.get("input_tokens", 0) + usage.get("output_tokens", 0),
        cost=cost_in(usage),
        not_judged=record.get("not_judged", 0),
        judged=_is_judged(record),
        criteria=criteria_of(record) or None,
        judging=judging_in(record),
    )


def _is_judged(record: Record) -> bool:
    """Whether anything that could fail was judged, in a case that passed although something was not."""
    if not record.get("not_judged") or record["status"] != Status.PASSED or "input" not in record:
        return True
    parts = [record, *(record.get("turns") or []), *(record.get("scores") or [])]
    lists = [part.get(key) for part in parts for key in ("assertions", "final_assertions", "checkpoints")]
    return any(check.get("judged", True) for checks in lists for check in checks or [])


def runs_of(stability: Stability | None, attempts: Sequence[Attempt], repeat: Repeat | None = None) -> Record:
    """What a result says of its runs: `{runs}`, and `{attempts}` alone where none of them could be judged."""
    if stability is not None:
        return {"runs": runs_record(stability, attempts, repeat)}
    return {"attempts": [_attempt_record(attempt) for attempt in attempts]} if attempts else {}


def runs_record(stability: Stability, attempts: Sequence[Attempt], repeat: Repeat | None = None) -> Record:
    """`runs` of a result."""
    said = figures(stability, repeat)
    return {**said, "attempts": [_attempt_record(attempt) for attempt in attempts]}


def figures(stability: Stability, repeat: Repeat | None = None) -> Record:
    """Only the figures, with JSON keys; `repeat` is the state of the policy."""
    record: Record = {
        key: value for key, value in zip(FIGURES, fields_of(stability).values(), strict=True) if value is not None
    }
    record["confidence_interval"] = list(stability.confidence_interval)
    if repeat is not None:
        from runner.results.repeating import repeat_record

        record["repeat"] = repeat_record(repeat)
    for key in _BY_K:
        if found := record.pop(key):
            record[key] = {str(k): value for k, value in found.items()}
    return record


def _attempt_record(attempt: Attempt) -> Record:
    record: Record = {"run": attempt.run, "status": attempt.status, "duration_ms": attempt.duration_ms}
    more = {
        "output": attempt.output,
        "error": attempt.error,
        "cause": CAUSES.get(attempt.verdict),
        "score": attempt.score,
        "tokens": attempt.tokens or None,
        **cost_record(attempt.cost),
        "not_judged": attempt.not_judged or None,
        "judged": None if attempt.judged else False,
        "criteria": attempt.criteria,
        "judging": judging_record(attempt.judging) if attempt.judging is not None else None,
    }
    return record | {key: value for key, value in more.items() if value is not None}


def as_in_seed(record: Record) -> Record:
    """A result as seed 004 prints it: the keys of `runs` together with its own."""
    runs = record.get("runs")
    if not isinstance(runs, dict):
        return record
    rest: Record = {key: value for key, value in record.items() if key != "runs"}
    names = {**IN_SEED, "errors": BROKEN_RUNS} if "errors" in rest else IN_SEED
    rest |= {names.get(str(key), str(key)): value for key, value in runs.items()}
    return rest


def from_seed(record: Record) -> Record:
    """What `as_in_seed` was made from."""
    if "run_details" not in record:
        return record
    names: dict[str, str] = {IN_SEED.get(key, key): key for key in (*FIGURES, "repeat", "attempts")}
    if isinstance(record.get("errors"), list):  # the texts of its own failures
        names = {BROKEN_RUNS if key == "errors" else name: key for name, key in names.items()}
    rest = {key: value for key, value in record.items() if key not in names}
    runs: Record = {key: record[name] for name, key in names.items() if name in record}
    return {**rest, "runs": runs}


def stability_summary(results: Sequence[Record]) -> Record:
    """`{total_cases, total_runs, overall_pass_rate, stable_cases, unstable_cases}` of the results of a run; a test that
    could only run once counts as one run, one that was skipped or broke as none."""
    judged = [
        record for record in results if "runs" in record or verdict_in(record) in (Verdict.PASSED, Verdict.FAILED)
    ]
    passed = [record["runs"]["passed"] if "runs" in record else record["status"] == Status.PASSED for record in judged]
    counts = [record["runs"]["count"] if "runs" in record else 1 for record in judged]
    stable = sum(map(int.__eq__, map(int, passed), counts))
    return {
        "total_cases": len(results),
        "total_runs": sum(counts),
        "overall_pass_rate": pass_rate(sum(passed), sum(counts)),
        "stable_cases": stable,
        "unstable_cases": len(judged) - stable,
    }


def repeat_in(record: Record) -> Repeat | None:
    """The state of a policy after the runs of a case."""
    runs = record.get("runs") or {}
    if not isinstance(said := runs.get("repeat"), dict) or "policy" not in said:
        return None
    from runner.results.repeating import repeat_of

    return repeat_of(said["policy"], [verdict_in(attempt) for attempt in runs["attempts"]])


def attempts_in(record: Record) -> tuple[tuple[Attempt, ...], Stability | None]:
    """The runs of a test, and what they have in common."""
    runs = record.get("runs") or record
    if "attempts" not in runs:
        return (), None
    attempts = tuple(
        Attempt(
            run=run["run"],
            verdict=verdict_in(run),
            duration_ms=run["duration_ms"],
            answer="",
            output=run.get("output"),
            error=run.get("error"),
            score=run.get("score"),
            tokens=run.get("tokens") or 0,
            cost=cost_in(run),
            not_judged=run.get("not_judged") or 0,
            judged=run.get("judged", True),
            criteria=run.get("criteria"),
            judging=judging_in(run),
        )
        for run in runs["attempts"]
    )
    return attempts, _figures(runs) or stability_of(attempts, stops="repeat" in runs)


def _figures(runs: Record) -> Stability | None:
    """The figures of a test, if all are there."""
    known = {**({name: {} for name in _BY_K} if "repeat" in runs else {}), **runs, "judged": runs.get("count")}
    fields: Record = {name: known.get(name) for name in names_of(Stability)}
    if any(fields[name] is None for name in fields if name not in ("errors", "avg_tokens", "avg_cost")):
        return None
    fields["confidence_interval"] = tuple(known["confidence_interval"])
    for name in _BY_K:
        fields[name] = {int(k): value for k, value in known[name].items()}
    return Stability(**fields)
