"""`depends_on`: the order of cases, what happens to dependents, and what a filter leaves out."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from agent_files import agent, case_file, lines, run_cases
from command import PATIENCE, Application, MakeApplication, Record
from model_server import Exchange, ModelServer, says


def case(id: str, *needs: str, **more: Any) -> Record:
    """A case that passes and says its id."""
    return {"id": id, "input": id, **({"depends_on": list(needs)} if needs else {}), **more}


def bad(id: str, *needs: str) -> Record:
    """A case that fails."""
    return case(id, *needs, assert_={"type": "contains", "value": "what it does not say"})


def demo(app: MakeApplication, *cases: Record) -> Application:
    """An application whose agent repeats its input."""
    written = [{key.rstrip("_"): value for key, value in case.items()} for case in cases]
    return app(agent(replies='- reply: "{{ input }}"', cases=written))


def ended(application: Application, tmp_path: Path, *arguments: str) -> list[str]:
    """Ids in the order in which the cases ended."""
    path = tmp_path / "r.jsonl"
    application.run("-i", case_file(), "-o", str(path), *arguments)
    return [record["id"] for record in map(json.loads, path.read_text().splitlines()) if record["type"] == "result"]


ORDERS: dict[str, tuple[list[Record], list[str]]] = {
    "nothing to wait for": ([case("a"), case("b")], ["a", "b"]),
    "the other way round": ([case("b", "a"), case("a")], ["a", "b"]),
    "a chain backwards": ([case("c", "b"), case("b", "a"), case("a")], ["a", "b", "c"]),
    "two needs": ([case("c", "a", "b"), case("a"), case("d"), case("b")], ["a", "d", "b", "c"]),
    "one need of two": ([case("b", "a"), case("c", "a"), case("a"), case("d")], ["a", "b", "c", "d"]),
}


@pytest.mark.parametrize("parallel", ["1", "3"])
@pytest.mark.parametrize(("cases", "order"), ORDERS.values(), ids=ORDERS)
def test_a_case_begins_when_what_it_depends_on_has_ended(
    app: MakeApplication, tmp_path: Path, cases: list[Record], order: list[str], parallel: str
) -> None:
    found = ended(demo(app, *cases), tmp_path, "--parallel", parallel)

    if parallel == "1":
        assert found == order
    needs = {case["id"]: case.get("depends_on", []) for case in cases}
    assert sorted(found) == sorted(order)
    assert all(found.index(need) < found.index(id) for id, all_needs in needs.items() for need in all_needs)


def outcomes(application: Application, *arguments: str, code: int | None = None) -> dict[str, tuple[str, str | None]]:
    """Status and skip reason of each case."""
    records = run_cases(application, *arguments, code=code)
    return {id: (record["status"], record.get("skip_reason")) for id, record in records.items()}


def test_dependents_of_a_case_that_failed_are_skipped_and_so_are_theirs(app: MakeApplication) -> None:
    application = demo(app, case("d", "c"), case("c", "a", "b"), case("a"), bad("b"), case("e", "a"))

    assert outcomes(application, code=1) == {
        "a": ("passed", None),
        "b": ("failed", None),
        "c": ("skipped", 'depends on "b", which failed'),
        "d": ("skipped", 'depends on "c", which was skipped'),
        "e": ("passed", None),
    }


def test_dependents_of_a_case_that_is_left_out_are_skipped(app: MakeApplication) -> None:
    application = demo(app, case("a", skip="later"), case("b", "a"), case("c", "a", skip="never"))

    assert outcomes(application, code=0) == {
        "a": ("skipped", "later"),
        "b": ("skipped", 'depends on "a", which was skipped'),
        "c": ("skipped", "never"),
    }


def test_a_conversation_may_depend_on_a_single_call_and_the_other_way_round(app: MakeApplication) -> None:
    talk = {"mode": "conversation", "turns": [{"input": "Hi", "assertions": [{"type": "contains", "value": "Hi"}]}]}
    application = demo(app, case("b", "talk"), {"id": "talk", "depends_on": ["a"], **talk}, case("a"))

    assert outcomes(application, code=0) == dict.fromkeys(["a", "talk", "b"], ("passed", None))


def test_a_dependency_that_a_filter_left_out_runs_too_and_the_run_says_so(app: MakeApplication) -> None:
    application = demo(app, case("setup"), case("login", "setup"), case("order", "login"), case("other"))

    run = application.run("-i", case_file(), "--run", "^order$", "-o", "r.json", "-v")

    assert run.code == 0, run
    results = json.loads((application.root / "r.json").read_text())["results"]
    assert [record["id"] for record in results] == ["setup", "login", "order"]
    warnings = [line for line in run.stdout.splitlines() if line.startswith("Warning: ")]
    assert warnings == [
        'Warning: assistants/demo/tests/cases.jsonl: "login" runs too, because "order" depends on it',
        'Warning: assistants/demo/tests/cases.jsonl: "setup" runs too, because "login" depends on it',
    ]


def test_a_filter_that_leaves_out_dependents_alone_adds_nothing(app: MakeApplication) -> None:
    application = demo(app, case("setup"), case("order", "setup"), case("other"))

    run = application.run("-i", case_file(), "--run", "setup")

    assert run.code == 0 and "Warning" not in run.stdout
    assert list(outcomes(application, "--run", "setup")) == ["setup"]


def test_a_case_of_another_file_is_no_dependency(app: MakeApplication) -> None:
    application = demo(app, case("a"))
    application.write({"/assistants/demo/tests/more.jsonl": lines(case("b", "a"))})

    run = application.run("-i", "assistants/demo/tests")

    assert (run.code, run.stdout) == (2, "")
    assert "more.jsonl:1:" in run.stderr and 'there is no case "a"' in run.stderr


def test_cases_of_two_files_wait_for_their_own_only(app: MakeApplication) -> None:
    application = demo(app, case("b", "a"), bad("a"))
    application.write({"/assistants/demo/tests/more.jsonl": lines(case("b", "a"), case("a"))})

    report = application.report("-i", "assistants/demo/tests", code=1)

    found = [[(record["id"], record["status"]) for record in part["results"]] for part in report["reports"]]
    assert sorted(map(sorted, found)) == [  # type: ignore[type-var]
        [("a", "failed"), ("b", "skipped")],
        [("a", "passed"), ("b", "passed")],
    ]


def test_cases_that_need_not_wait_run_beside_those_that_do(app: MakeApplication) -> None:
    arrived: set[str] = set()
    changed = asyncio.Event()

    async def answer(exchange: Exchange) -> None:
        said = exchange.request.last_text
        arrived.add(said)
        changed.set()
        while said == "first" and not {"x", "y", "z"} <= arrived:
            changed.clear()
            await asyncio.wait_for(changed.wait(), PATIENCE)
        await says(said)(exchange)

    cases = [case("first"), case("second", "first"), case("third", "second"), case("x"), case("y", "x"), case("z")]
    with ModelServer(answer) as server:
        files = agent(package={"connector": "local"}, cases=cases)
        options = {"host": server.url, "model": "m", "key": "k"}
        files["/connectors/local.conn.yao"] = json.dumps({"type": "openai", "options": options})
        found = outcomes(app(files), "--parallel", "2", code=0)
        order = [request.last_text for request in server.requests]

    assert set(found.values()) == {("passed", None)}
    assert order.index("second") > order.index("z")
    assert order[-2:] == ["second", "third"]


def test_a_failed_dependency_stops_a_run_that_fails_fast(app: MakeApplication) -> None:
    application = demo(app, case("b", "a"), bad("a"), case("c"))

    assert list(outcomes(application, "--fail-fast", code=1)) == ["a"]


def test_every_case_of_a_wide_graph_runs_once(app: MakeApplication, tmp_path: Path) -> None:
    cases = [
        case(f"c{number}", *(f"c{need}" for need in (number * 2, number * 2 + 1) if need < 200))
        for number in range(1, 200)
    ]

    found = ended(demo(app, *cases), tmp_path, "--parallel", "8")

    assert sorted(found) == sorted(case["id"] for case in cases)
    assert found[-1] == "c1"
