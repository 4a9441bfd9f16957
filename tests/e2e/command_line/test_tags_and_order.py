"""`--tag`, `--shuffle`, `--last-failed` and `--failed-first`."""

from __future__ import annotations

import json
import re

import pytest
from command import Application, MakeApplication, Run
from table_tests import each

PACKAGE = {
    "/assistants/demo/package.yao": '{"connector": "scripted"}',
    "/assistants/demo/prompts.yml": "- {role: system, content: Hi}\n",
    "/assistants/demo/replies.yml": "- reply: 'You said {{ input }}'\n",
}
TAGGED = """\
// @tag file
import { x } from "./x";
//@tag smoke, slow
export function TestA(t) {}

// @tag smoke
// says why
/* and more */
export async function TestB(t) {}
/**
 * Something.
 * @tag slow
 */
export const TestC = (t) => {};
export function TestD(t) {}
// @tag smoke
const helper = () => 1;
export function TestE(t) {}
// not a tag: @tag smoke
function TestF(t) {}
// @tag Smoke with.dots
export default function TestG(t) {}
"""
CASES = "".join(
    json.dumps({"id": id, "input": "Hi", "tags": tags, **more}) + "\n"
    for id, tags, more in [
        ("one", ["smoke"], {}),
        ("two", ["slow", "a tag"], {}),
        ("three", [], {}),
        ("four", ["smoke"], {"depends_on": ["three"]}),
    ]
)


@pytest.fixture(scope="module")
def here(shared_app: MakeApplication) -> Application:
    return shared_app(
        {
            **PACKAGE,
            "x.ts": "export const x = 1;\n",
            "tagged_test.ts": TAGGED,
            "plain_test.ts": "export function TestPlain(t) {}\n",
            "/assistants/demo/tests/tagged.jsonl": CASES,
            "/assistants/demo/tests/plain.jsonl": '{"id": "untagged", "input": "Hi"}\n',
        }
    )


def listed(run: Run) -> set[str]:
    assert run.code == 0, run
    return {line.strip() for line in run.stdout.splitlines() if line.startswith("  ")}


TAGS = {
    ("smoke",): {"TestA", "TestB", "one", "three", "four"},
    ("slow",): {"TestA", "TestC", "two"},
    ("slow", "smoke"): {"TestA", "TestB", "TestC", "one", "two", "three", "four"},
    ("a tag",): {"two"},
    ("with.dots",): {"TestG"},
    ("Smoke",): {"TestG"},
}


@each("tags", TAGS, ids="-".join)
def test_a_tag_picks_tests_and_cases_and_several_pick_those_of_any(here: Application, tags: tuple[str, ...]) -> None:
    run = here.run("--dry-run", *(word for tag in tags for word in ("--tag", tag)))

    assert listed(run) == TAGS[tags]
    assert "TestPlain" not in run.stdout + run.stderr


def test_a_tag_without_a_test_is_pointed_out(here: Application) -> None:
    run = here.run("-i", "scripts.demo", "--tag", "smoke", "--dry-run")

    assert "tagged_test.ts:16: @tag smoke is not above a test and has no effect" in run.stdout
    assert "tagged_test.ts:1: @tag file is not above a test" in run.stdout


def test_only_those_run_and_a_pattern_narrows_them_further(here: Application) -> None:
    results = here.results("-i", "scripts.demo", "--tag", "smoke", "--tag", "slow", "--run", "TestB|TestD", code=0)
    assert {*results} == {"TestB"}
    none = here.run("-i", "scripts.demo", "--tag", "slow", "--run", "TestB$")
    assert (none.code, none.stdout) == (2, "")
    assert none.stderr.startswith("Error: No test or case matches --run TestB$ --tag slow\n")


@pytest.mark.parametrize("more", [[], ["--dry-run"], ["-i", "scripts.demo.tagged"]])
def test_a_tag_that_nothing_has_names_those_that_there_are(here: Application, more: list[str]) -> None:
    run = here.run("--tag", "smok", *more)

    assert (run.code, run.stdout) == (2, "")
    error, hint = run.stderr.splitlines()
    assert error == "Error: No test or case has the tag smok"
    assert hint.startswith("Hint: Did you mean smoke? There are: ")
    assert "with.dots" in hint


def test_a_resumed_run_has_the_tags_of_the_first(here: Application) -> None:
    report = here.home / "tagged.jsonl"
    assert here.run("--tag", "slow", "-o", str(report)).code == 0
    kept = report.read_text().splitlines()
    report.write_text("".join(f"{line}\n" for line in kept[:2]))

    assert here.run("--resume", str(report), "-q").code == 0
    ids = [json.loads(line).get("id") for line in report.read_text().splitlines()]
    assert {id for id in ids if id} == {"TestA", "TestC", "two"}


MANY = "".join(f"export function Test{number:02}(t) {{}}\n" for number in range(60))
SHUFFLED = {
    **PACKAGE,
    **{f"{name}_test.ts": MANY for name in "abc"},
    "/assistants/demo/tests/many.jsonl": "".join(
        json.dumps({"id": f"case-{number:02}", "input": "Hi"} | ({"depends_on": ["case-39"]} if number == 3 else {}))
        + "\n"
        for number in range(40)
    ),
}


@pytest.fixture(scope="module")
def shuffled(shared_app: MakeApplication) -> Application:
    return shared_app(SHUFFLED)


def order(app: Application, *words: str) -> tuple[str, list[str]]:
    """What is said of the order, and the tests in the order in which they ended."""
    report = app.home / "order.jsonl"
    run = app.run("--parallel", "1", "-o", str(report), *words)
    assert run.code == 0, run
    said = re.search(r"^Order: .*--shuffle=(\d+).*$", run.stdout, re.M)
    records = [json.loads(line) for line in report.read_text().splitlines()]
    names = [f"{record['suite']} {record['id']}" for record in records if record["type"] == "result"]
    shown = re.findall(r"^(?:✓|○|✗) (\S+)  ", run.stdout, re.M)
    assert shown == list(dict.fromkeys(name.split()[0] for name in names))
    return (said[1] if said else ""), names


def test_the_order_comes_from_a_seed_that_is_printed(shuffled: Application) -> None:
    _, plain = order(shuffled)
    seed, first = order(shuffled, "--shuffle")
    again, second = order(shuffled, f"--shuffle={seed}")
    _, other = order(shuffled, "--shuffle=7", "-i", "assistants")
    _, part = order(shuffled, "--shuffle=7", "--run", "1$")

    assert seed == again
    assert first == second != plain
    assert sorted(first) == sorted(plain) == sorted(other)
    assert other not in (plain, first)
    assert part == [name for name in other if name.endswith("1")]
    cases = [name.split()[1] for name in other if "case-" in name]
    assert cases.index("case-39") < cases.index("case-03")


@each("seed", ["0", "-1", "x", "1.5", ""])
def test_a_seed_is_a_number(shuffled: Application, seed: str) -> None:
    run = shuffled.run(f"--shuffle={seed}")
    assert (run.code, run.stdout) == (2, "")
    assert "--shuffle" in run.stderr


def test_a_shuffled_run_can_be_resumed(shuffled: Application) -> None:
    report = shuffled.home / "shuffled.jsonl"
    assert shuffled.run("-i", "assistants", "--shuffle=3", "-o", str(report), "-q").code == 0
    lines = report.read_text().splitlines()
    report.write_text("".join(f"{line}\n" for line in lines[:50]))

    assert shuffled.run("--resume", str(report), "-q").code == 0
    records = [json.loads(line) for line in report.read_text().splitlines()]
    names = [(record["suite"], record["id"]) for record in records if record["type"] == "result"]
    assert len(names) == len({*names}) == 220


FLAKY = {
    **PACKAGE,
    "a_test.ts": "export function TestA1(t) {}\nexport function TestA2(t) { t.fail('no'); }\n",
    "b_test.ts": "export function TestB1(t) {}\nexport function TestB2(t) { t.fail('no'); }\n",
    "ok_test.ts": "export function TestFine(t) {}\n",
    "/assistants/demo/tests/c.jsonl": '{"id": "good", "input": "Hi"}\n'
    '{"id": "bad", "input": "Hi", "assert": {"type": "equals", "value": "x"}}\n',
}
FAILED = {"TestA2", "TestB2", "bad"}
ALL = {"TestA1", "TestA2", "TestB1", "TestB2", "TestFine", "good", "bad"}


@pytest.fixture(params=["a file", "a store"])
def flaky(app: MakeApplication, request: pytest.FixtureRequest) -> Application:
    """What failed is remembered in either."""
    here = app(FLAKY)
    if request.param == "a store":
        (here.root / ".yao-test").mkdir()
    return here


def test_only_what_failed_last_time(flaky: Application) -> None:
    here = flaky
    first = here.run("--last-failed", "--dry-run")
    assert listed(first) == ALL
    assert "No known failures: running all tests\n" in first.stdout

    assert here.run("-q").code == 1
    assert listed(here.run("--last-failed", "--dry-run")) == FAILED
    for part in ("1/2", "2/2"):
        run = here.run("--last-failed", "--dry-run", "--shard", part)
        assert re.search(rf"failed last time: {len(listed(run))} tests?\n", run.stdout), run
    assert here.run("-i", "scripts.demo.b", "-q").code == 1
    assert listed(here.run("--last-failed", "--dry-run")) == FAILED, "a run of others changes nothing of these"
    assert listed(here.run("--last-failed", "--dry-run", "-i", "scripts.demo.ok")) == {"TestFine"}

    here.write({"b_test.ts": FLAKY["b_test.ts"].replace("t.fail('no');", "")})
    run = here.run("--last-failed")
    assert run.code == 1
    assert "Running only tests that failed last time: 3 tests\n" in run.stdout
    assert "Summary: 1 passed, 2 failed" in run.stdout
    assert listed(here.run("--last-failed", "--dry-run")) == FAILED - {"TestB2"}

    here.write(
        {
            "a_test.ts": "export function TestA1(t) {}\n",
            "/assistants/demo/tests/c.jsonl": '{"id": "good", "input": "Hi"}\n',
        }
    )
    gone = here.run("--last-failed", "--dry-run")
    assert listed(gone) == {"TestA1", "TestB1", "TestB2", "TestFine", "good"}
    assert "No known failures" in gone.stdout
    assert not [path for path in here.root.rglob("*") if "failed" in path.name]


@pytest.mark.parametrize(
    "more", [(), ("--dry-run",), ("--json",), ("-i", "scripts.demo.a"), ("-i", "assistants/demo/tests/c.jsonl")]
)
def test_a_tag_that_no_test_has_is_an_error_also_of_what_failed(flaky: Application, more: tuple[str, ...]) -> None:
    here = flaky
    assert here.run("-q").code == 1
    run = here.run("--last-failed", "--tag", "nowhere", *more)
    assert run.code == 2
    assert "No test or case has the tag nowhere" in run.stdout + run.stderr


def test_the_seed_of_an_order_is_said_also_if_no_failure_is_known(flaky: Application) -> None:
    here = flaky
    assert here.run("-q").code == 1
    run = here.run("--last-failed", "--shuffle=4", "--dry-run", "-i", "scripts.demo.ok")
    assert "No known failures: running all tests\nOrder: shuffled; to repeat it: --shuffle=4\n" in run.stdout


def test_a_module_that_could_not_be_loaded_failed(flaky: Application) -> None:
    here = flaky
    here.write({"ok_test.ts": "export function TestFine(t) {"})
    assert here.run("-i", "scripts.demo", "-q").code == 1
    here.write({"ok_test.ts": FLAKY["ok_test.ts"]})

    assert listed(here.run("-i", "scripts.demo", "--last-failed", "--dry-run")) == {"TestA2", "TestB2", "TestFine"}


def test_what_failed_first(flaky: Application) -> None:
    here = flaky
    assert here.run("-q").code == 1
    here.write({"ok_test.ts": "export function TestFine(t) {}\nexport function TestLast(t) { t.fail('no'); }\n"})
    assert here.run("-i", "scripts.demo.ok", "-q").code == 1
    report = here.home / "order.jsonl"

    def ran() -> list[str]:
        assert here.run("--failed-first", "--parallel", "1", "-o", str(report)).code == 1
        records = [json.loads(line) for line in report.read_text().splitlines()]
        return [record["id"] for record in records if record["type"] == "result"]

    assert ran() == ["TestA2", "TestA1", "TestB2", "TestB1", "TestLast", "TestFine", "bad", "good"]
    here.write({"a_test.ts": "export function TestA1(t) {}\nexport function TestA2(t) {}\n"})
    assert {*ran()} == ALL | {"TestLast"}
    assert ran() == ["TestB2", "TestB1", "TestLast", "TestFine", "TestA1", "TestA2", "bad", "good"]


def test_in_ci_nothing_is_remembered_but_in_a_store(app: MakeApplication) -> None:
    here = app(FLAKY)
    ci = {**here.environment, "CI": "true"}
    assert here.run("-q").code == 1
    run = here.run("--last-failed", "--dry-run", env=ci)
    assert listed(run) == ALL
    assert "CI has no earlier runs without a store: running all tests\n" in run.stdout

    (here.root / ".yao-test").mkdir()
    assert listed(here.run("--last-failed", "--dry-run", env=ci)) == ALL
    assert here.run("-q", env=ci).code == 1
    assert listed(here.run("--last-failed", "--dry-run", env=ci)) == FAILED
    assert listed(here.run("--last-failed", "--dry-run")) == FAILED


@pytest.mark.parametrize("content", ["", "[]", "{", '{"failed": 3}', '{"format": 99, "failed": {}}', "\0"])
def test_a_memory_that_cannot_be_read_is_none(app: MakeApplication, content: str) -> None:
    here = app(FLAKY)
    assert here.run("-q").code == 1
    (memory,) = (here.home / ".cache/yao-test").glob("*/last-failed.json")
    memory.write_text(content)
    assert listed(here.run("--last-failed", "--dry-run")) == ALL
    assert here.run("-q").code == 1
    assert listed(here.run("--last-failed", "--dry-run")) == FAILED


def test_a_home_that_takes_nothing_costs_only_the_memory(app: MakeApplication) -> None:
    here = app(FLAKY)
    (here.home / ".cache").write_text("a file")
    assert here.run("-q").code == 1
    run = here.run("--last-failed", "-q")
    assert run.code == 1
    assert "Warning: Cannot save which tests failed: " in run.stdout


@pytest.mark.parametrize(
    ("flags", "found"),
    [
        (("--run", "TestA1"), {"TestA1"}),
        (("--run", "good"), {"good"}),
        (("--run", "TestA1|good"), {"TestA1", "good"}),
        (("--run", "TestA1", "-i", "scripts.demo.a"), {"TestA1"}),
        (("--tag", "fine"), {"good"}),
    ],
)
def test_of_names_and_tags_that_did_not_fail_all_run(
    flaky: Application, flags: tuple[str, ...], found: set[str]
) -> None:
    here = flaky
    here.write(
        {
            "/assistants/demo/tests/c.jsonl": FLAKY["/assistants/demo/tests/c.jsonl"].replace(
                '"Hi"}', '"Hi", "tags": ["fine"]}'
            )
        }
    )
    assert here.run("-q").code == 1
    run = here.run("--last-failed", "--dry-run", *flags)
    assert run.code == 0, run
    assert listed(run) - {"no tests to run"} == found
    assert f"No known failures with {' '.join(flags[:2])}: running all of its tests\n" in run.stdout


def test_of_names_that_failed_only_these_run(flaky: Application) -> None:
    here = flaky
    assert here.run("-q").code == 1
    assert listed(here.run("--last-failed", "--dry-run", "--run", "TestA")) == {"TestA2"}
    assert listed(here.run("--last-failed", "--dry-run", "--run", "bad|good")) == {"bad"}


def test_a_name_that_no_test_with_a_tag_has_is_told_all_names(here: Application) -> None:
    run = here.run("--run", "nowhere", "--tag", "smoke", "-i", "assistants/demo/tests/tagged.jsonl")
    assert run.code == 2
    assert "There are: one, two, three, four\n" in run.stderr
