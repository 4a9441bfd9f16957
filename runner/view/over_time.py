"""One test over time: how it went in each run of the store, newest first; and all tests, the worst first."""

from __future__ import annotations

from runner.results.fingerprint_changes import ARROW, change_text
from runner.results.value_texts import answer_of, as_text
from runner.store.history import Since, TestHistory, histories, history_of
from runner.store.rows import key_of
from runner.store.store import Store
from runner.store.stored import StoredResult, StoredRun
from runner.version import VERSION
from scripttest.typing_names import Record

MOST = 200
"""Runs of a test that are shown."""
EXCERPT = 300
"""Most characters of an answer."""
NEWEST = 50
"""Runs that the list of tests looks at."""
SHOWN = 12
"""Verdicts of a test in that list."""
_JUDGED = ("verdict", "cause", "passed", "judged", "duration_ms", "score")
FIGURES = (*_JUDGED, "tokens", "cost", "cost_estimated", "run")


def over_time(store: Store, suite: str, test: str) -> Record:
    """`{suite, test, said: [sentence, ...], rate?: [low, value, high], occurrences: [{run, name, started_at, branch,
    revision, asked, verdict, cause, passed, judged, duration_ms, score, tokens, cost, cost_estimated, answer?,
    error?}, ...], version}`; `name` is what the run calls the suite, `asked` the connector, with its model where that
    changed."""
    runs = store.runs(limit=MOST)
    history = history_of(store, suite, test, runs)
    record: Record = {"suite": suite, "test": test, "said": [], "version": VERSION, "occurrences": []}
    if history is None:
        return record
    if history.judged:
        record["rate"] = [history.interval.low, history.passed / history.judged, history.interval.high]
    known = {run.id: run for run in runs}
    asked = zip(history.results, history.asked, strict=True)
    occurrences = [_occurrence(store, known[one.run], one, name) for one, name in reversed([*asked])]
    return {**record, "said": _sentences(history), "occurrences": occurrences}


def _sentences(history: TestHistory) -> list[str]:
    said = [", ".join(history.trends).capitalize()]
    if history.since is not None and history.rate_before is not None:
        runs = "run" if history.judged == 1 else "runs"
        rate = f"{history.passed} of {history.judged} {runs} passed, {history.rate_before:.0%} before"
        said.append(f"{_since(history.since)}: {rate}")
    elif history.failing_since is not None:
        said.append(f"{_since(history.failing_since)}: it fails")
    for what, level in (("takes", history.duration), ("costs", history.price)):
        if level is not None:
            said.append(f"{_since(level.since)}: it {what} {level.ratio:.2g} times as much")
    return said


def _since(since: Since) -> str:
    """Since when, and what is not the same any more."""
    commit = f" (commit {since.run.commit[:8]})" if since.run.commit else ""
    text = change_text(since.parts)
    parts = "" if not text else f" ({text})" if ARROW in text else f", when {text}"
    return f"Since the run of {since.run.started_at[:16].replace('T', ' ')} UTC{commit}{parts}"


def all_tests(store: Store) -> Record:
    """`{tests: [{suite, test, trends, verdicts, asked, passed, judged, duration_ms, last}, ...], version}` of the
    newest runs, the worst first; `verdicts` and `asked` have the newest one last."""
    runs = store.runs(limit=NEWEST)
    began = {run.id: run.started_at for run in runs}
    return {"tests": [_test(one, began[one.results[-1].run]) for one in histories(store, runs)], "version": VERSION}


def _test(history: TestHistory, last: str) -> Record:
    return {
        "suite": history.suite,
        "test": history.test,
        "trends": list(history.trends),
        "verdicts": [one.verdict for one in history.results[-SHOWN:]],
        "asked": [*reversed(dict.fromkeys(filter(None, reversed(history.asked))))],
        "passed": history.all_passed,
        "judged": history.all_judged,
        "duration_ms": sum(one.duration_ms for one in history.results) / len(history.results),
        "last": last,
    }


def _occurrence(store: Store, run: StoredRun, one: StoredResult, asked: str) -> Record:
    names = {key_of(suite): suite["id"] for suite in run.start["suites"]}
    about = {
        "name": names.get(one.suite, one.suite),
        "started_at": run.started_at,
        "branch": run.branch,
        "revision": run.commit,
        "asked": asked,
    }
    last = max(store.of_test(one.run, one.suite, one.test), key=lambda other: other.attempt)  # of several runs
    line = store.line(last.seq)
    said = {"answer": answer_of(line), "error": line.get("error")}
    texts = {name: _excerpt(as_text(value)) for name, value in said.items() if value is not None}
    return {**{name: getattr(one, name) for name in FIGURES}, **about, **texts}


def _excerpt(text: str) -> str:
    return text if len(text) <= EXCERPT else f"{text[:EXCERPT]}…"
