"""The script host with real workers: its records of modules, and their order."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from bindings import SCRIPT_GLOBALS
from scripttest import (
    AskBack,
    Broken,
    Ended,
    HostRecord,
    Line,
    Listed,
    Module,
    ScriptHost,
    Selected,
    Services,
    Source,
    Started,
    TestKey,
    start_processes,
)
from scripttest.workers.work import CHUNK

PARTS = Path(__file__).parents[3] / "bindings/js"
TWO = "export function TestA(t) {}\nexport function TestB(t) { t.fail('no'); }\n"


class Answering(Services):
    """Answers host calls, and selects tests by their names."""

    def __init__(self, chosen: str = "Test") -> None:
        self.chosen = chosen
        self.calls: list[tuple[str, str, str, Any]] = []

    def call(self, test: TestKey, name: str, arguments: str, world: str, link: AskBack) -> str:
        self.calls.append((test.suite, test.label, name, json.loads(arguments)))
        return json.dumps({"ok": len(self.calls)})

    def library(self, module: str, script: str) -> Path:
        raise NotImplementedError

    def selected(self, module: str, tests: Mapping[str, str]) -> Selected:
        return Selected(tests=[test for test in tests if self.chosen in test])


def run(
    folder: Path,
    modules: dict[str, str],
    services: Services | None = None,
    left: Callable[[list[HostRecord]], float | None] = lambda _: None,
    workers: int = 1,
    **more: Any,
) -> list[HostRecord]:
    """The records of a host; `left` is called with the records so far."""
    made = []
    for name, code in modules.items():
        (folder / f"{name}_test.ts").write_text(code)
        source = Source(key=name, test=folder / f"{name}_test.ts", script=None)
        made.append(Module(source=source, context="{}"))
    processes = start_processes(PARTS, folder)
    records: list[HostRecord] = []
    with ScriptHost(folder, processes, services or Answering(), SCRIPT_GLOBALS, workers, 20, **more) as host:
        for record in host.run(made, lambda: left(records)):
            records.append(record)
    return records


def ended(records: list[HostRecord]) -> list[tuple[str, int, str]]:
    return [(one.outcome.name, one.run, one.outcome.status) for one in records if isinstance(one, Ended)]


def test_a_test_begins_writes_and_ends(tmp_path: Path) -> None:
    code = "console.log('early');\nexport function TestA(t) { console.warn('a'); }\nexport function TestB(t) {}\n"
    records = run(tmp_path, {"a": code})
    assert [type(record) for record in records if not isinstance(record, Line)] == [Listed, *[Started, Ended] * 2]
    lines = [(one.position, one.line.level, one.line.text) for one in records if isinstance(one, Line)]
    assert lines == [(0, "info", "early"), (0, "warn", "a"), (1, "info", "early")]


def test_only_selected_tests_run_and_all_are_known(tmp_path: Path) -> None:
    records = run(tmp_path, {"a": TWO}, Answering("TestB"))
    (listed,) = [record for record in records if isinstance(record, Listed)]
    assert (listed.tests, listed.known) == (("TestB",), ("TestA", "TestB"))
    assert ended(records) == [("TestB", 1, "failed")]


def test_modules_can_be_listed_only(tmp_path: Path) -> None:
    records = run(tmp_path, {"a": TWO, "b": TWO}, list_only=True)
    assert {type(record) for record in records} == {Listed}
    assert {record.module for record in records} == {"a", "b"}


def test_a_module_that_is_broken_costs_no_other(tmp_path: Path) -> None:
    records = run(tmp_path, {"syntax": "export function TestA(t { }\n", "throws": "null.x;\n", "a": TWO})
    broken = {record.module: record.failure for record in records if isinstance(record, Broken)}
    assert broken.keys() == {"syntax", "throws"}
    assert {key: failure.location and failure.location.line for key, failure in broken.items()} == {
        "syntax": 1,
        "throws": 1,
    }
    assert [name for name, *_ in ended(records)] == ["TestA", "TestB"]


def test_tests_begin_when_they_are_wanted(tmp_path: Path) -> None:
    code = "".join(f"export function Test{name}(t) {{}}\n" for name in "ABC")
    services = Answering()
    order = ["TestC", "TestA", "TestB"]
    services.wanted = lambda: order[0]  # type: ignore[method-assign]

    def left(records: list[HostRecord]) -> None:
        if len(order) > 1 and len(ended(records)) == 2 * (4 - len(order)):
            order.pop(0)

    records = run(tmp_path, {"a": code}, services, left, workers=2, runs=2)
    assert ended(records) == [(f"Test{name}", run, "passed") for name in "CAB" for run in (1, 2)]


def test_each_run_of_a_test_has_its_records(tmp_path: Path) -> None:
    code = "let n = 0;\nexport function TestA(t) { t.log(String(++n)); }\n"
    records = run(tmp_path, {"a": code}, runs=3)
    assert ended(records) == [("TestA", run, "passed") for run in (1, 2, 3)]
    assert [record.run for record in records if isinstance(record, Started)] == [1, 2, 3]
    assert {record.line.text for record in records if isinstance(record, Line)} == {"1"}, "each in a realm of its own"


def test_the_same_seed_gives_the_same_numbers(tmp_path: Path) -> None:
    code = "export function TestA(t) { t.log(String(Math.random())); }\nexport function TestB(t) { t.log(String(Math.random())); }\n"
    found = []
    for seed in (1, 1, 2):
        found.append([one.line.text for one in run(tmp_path, {"a": code}, seed=seed) if isinstance(one, Line)])
    assert found[0] == found[1] != found[2]
    assert len({*found[0], *found[2]}) == 4


def test_workers_share_the_tests_of_a_large_module(tmp_path: Path) -> None:
    count = 2 * CHUNK + 1
    code = "".join(f"export function Test{number}(t) {{}}\n" for number in range(count))
    records = run(tmp_path, {"a": code}, workers=2)
    assert sorted(ended(records)) == sorted((f"Test{number}", 1, "passed") for number in range(count))


def test_a_call_says_which_test_of_which_module_asks(tmp_path: Path) -> None:
    services = Answering()
    code = "export function TestA(t) { t.assert.Equal(Process('models.x.Find', 1, { a: null }), 1); }\n"
    assert ended(run(tmp_path, {"a": code}, services, runs=2)) == [("TestA", 1, "passed"), ("TestA", 2, "failed")]
    called = ("models.x.Find", [1, {"a": None}])
    assert services.calls == [("a", "TestA", *called), ("a", "TestA#2", *called)]


def test_no_test_begins_once_time_is_up(tmp_path: Path) -> None:
    def left(records: list[HostRecord]) -> float | None:
        return 20 if any(isinstance(record, Started) for record in records) else None

    records = run(
        tmp_path, {"a": "".join(f"export function Test{n}(t) {{ Process('a.b'); }}\n" for n in range(9))}, left=left
    )
    assert 1 <= len(ended(records)) < 9
    assert len(ended(records)) == len([record for record in records if isinstance(record, Started)])


def test_nothing_runs_when_no_time_is_left(tmp_path: Path) -> None:
    assert run(tmp_path, {"a": TWO}, left=lambda _: 0) == []


def test_a_host_that_is_closed_may_be_woken(tmp_path: Path) -> None:
    host = ScriptHost(tmp_path, start_processes(PARTS, tmp_path), Answering(), SCRIPT_GLOBALS, 1, 20)
    host.close()
    host.wake()


class Breaking(Answering):
    """Cannot answer, by a fault of its own."""

    def call(self, test: TestKey, name: str, arguments: str, world: str, link: AskBack) -> str:
        raise KeyError(name)


def test_an_owner_that_breaks_ends_the_run_with_what_it_broke_with(tmp_path: Path) -> None:
    with pytest.raises(KeyError, match=r"utils\.str\.UUID"):
        run(tmp_path, {"a": "export function TestA(t) { Process('utils.str.UUID'); }\n"}, Breaking())
