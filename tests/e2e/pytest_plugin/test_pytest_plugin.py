"""Script tests and cases as items of pytest, in a pytest process of their own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command import Application, MakeApplication, eventually
from faults import asleep
from pytest_command import PLUGINS, VARIABLES, ended, run, start
from table_tests import each

REAL = '{"type": "openai", "options": {"host": "http://127.0.0.1:9", "model": "m", "key": "sk-local", "retries": 0}}'


@pytest.fixture(scope="module")
def here(shared_app: MakeApplication) -> Application:
    return shared_app(
        {
            "/assistants/demo/package.yao": '{"connector": "scripted"}',
            "/assistants/demo/prompts.yml": "- {role: system, content: Hi}\n",
            "/assistants/demo/replies.yml": "- reply: Hello\n",
            "good_test.ts": "// @tag smoke\nexport function TestGood(t) { console.log('said'); }\nexport function TestToo(t) {}\n",
            "bad_test.ts": "export function TestBad(t) {\n  t.assert.Equal(1, 2);\n}\nexport function TestSkips(t) { t.skip('why not'); }\n",
            "broken_test.ts": "export function TestX(t) {\n",
            "/assistants/demo/tests/cases.jsonl": '{"id": "fine", "input": "Hi", "tags": ["smoke"]}\n'
            '{"id": "a wrong/one", "input": "Hi", "assert": {"type": "equals", "value": "No"}}\n',
            "/assistants/demo/tests/output-20260101000000.jsonl": "{}\n",
            "/assistants/real/package.yao": '{"connector": "local"}',
            "/assistants/real/prompts.yml": "- {role: system, content: Hi}\n",
            "/assistants/real/tests/real.jsonl": '{"id": "asks", "input": "Hi"}\n',
            "/connectors/local.conn.yao": REAL,
            "/other/tests/config.yaml": "not: ours\n",
            "/other/helper_test.ts": "export function TestNone(t) {}\n",
        }
    )


ITEMS = [
    "assistants/demo/src/bad_test.ts::TestBad",
    "assistants/demo/src/bad_test.ts::TestSkips",
    "assistants/demo/src/broken_test.ts::TestX",
    "assistants/demo/src/good_test.ts::TestGood",
    "assistants/demo/src/good_test.ts::TestToo",
    "assistants/demo/tests/cases.jsonl::fine",
    "assistants/demo/tests/cases.jsonl::a wrong/one",
    "assistants/real/tests/real.jsonl::asks",
]


def test_tests_and_cases_are_items(here: Application) -> None:
    code, output = run(here, "--collect-only", "-q")

    assert code == 0, output
    assert output.splitlines()[: len(ITEMS)] == ITEMS
    assert "8 tests collected" in output


def test_all_of_them_run_and_failures_are_as_this_tool_prints_them(here: Application) -> None:
    code, output = run(here, "-rA")

    assert code == 1, output
    assert "3 failed, 3 passed, 2 skipped" in output
    assert "└─ assertion failed: " in output
    assert "at assistants/demo/src/bad_test.ts:2:" in output
    assert "Rerun: yao-test -i scripts.demo.bad --run '^TestBad$'" in output
    assert "cannot load the module" in output
    assert "why not" in output
    assert "it needs a real model: --yao-models calls it" in output
    assert "said" in output
    assert ".py:" not in re.sub(r"SKIPPED.*\n", "", output)
    assert re.search(r"^FAILED assistants/demo/src/bad_test.ts::TestBad - assertion failed: ", output, re.M)


CHOICES = {
    "-k": (["-k", "TestGood or fine"], "2 passed, 6 deselected"),
    "a marker": (["-m", "smoke"], "2 passed, 6 deselected"),
    "one item": (["assistants/demo/src/good_test.ts::TestToo"], "1 passed"),
    "a case with signs": (["assistants/demo/tests/cases.jsonl::a wrong/one"], "1 failed"),
    "the first failure": (["-x"], "1 failed"),
    "real models": (["--yao-models", "assistants/real"], "1 failed"),
}


@each("name", CHOICES)
def test_what_pytest_chooses_runs(here: Application, name: str) -> None:
    words, said = CHOICES[name]
    _, output = run(here, *words)

    assert f"{said} in" in output, output


def test_each_of_two_processes_runs_its_own_tests_only(app: MakeApplication) -> None:
    tests = "".join(
        f'export function Test{letter}(t) {{ new FS("data").AppendFile("ran", "{letter}"); }}\n' for letter in "ABCDEF"
    )
    here = app({"/data/.keep": "", "a_test.ts": tests})
    code, output = run(here, "-n", "2", "assistants/demo/src/a_test.ts")
    assert (code, sorted((here.root / "data/ran").read_text())) == (0, list("ABCDEF")), output


FUNCTIONS = """\
/*
function TestInComment(t) {}
*/
const TestData = [1];
const TestName: string = "x";
export const TestArrow: (t: testing.T) => void = (t) => {};
  export async function TestIndented(t: testing.T) {}
function helper() {
  function TestInside(t) { throw new Error("no test"); }
}
export function TestMain(m) { m.Run(); }
export function FuzzNumbers(f: testing.F) { f.add(1); f.add(2); f.fuzz((t, n) => { if (n === 2) throw new Error("two"); }); }
export function Fuzzy() {}
export function BenchmarkNumbers(b: testing.B) { while (b.loop()); }
"""


def test_any_case_runs_and_nothing_in_it_steers_the_terminal(shared_app: MakeApplication) -> None:
    here = shared_app(
        {
            "/assistants/demo/package.yao": '{"connector": "scripted"}',
            "/assistants/demo/prompts.yml": "- {role: system, content: Hi}\n",
            "/assistants/demo/replies.yml": '- reply: "Hello \\e[32mgreen\\e[0m"\n',
            "/assistants/demo/tests/cases.jsonl": '{"id": "✓ 👍 (a)", "input": "Hi", "assert": {"type": "equals", "value": "No"}}\n',
            "odd_test.ts": "export function TestX(t) { console.log('\\x1b[2J'); t.fail('\\x1b]0;x\\x07'); }\n",
        }
    )
    code, said = run(here, "assistants")
    assert code == 1
    assert "2 failed" in said
    assert "\x1b" not in said
    for shown in ("\\u001b[32mgreen", "\\u001b[2J", "\\u001b]0;x"):
        assert shown in said


def test_functions_that_are_tests_are_items(shared_app: MakeApplication) -> None:
    here = shared_app({"kinds_test.ts": FUNCTIONS})
    code, output = run(here, "-v")

    assert code == 1, output
    items = re.findall(r"::(\w+) (PASSED|FAILED)", output)
    assert items == [("TestArrow", "PASSED"), ("TestIndented", "PASSED"), ("FuzzNumbers", "FAILED")], output
    assert re.search(r"FuzzNumbers/seed#1\n +└─ two\n(.*\n)+? +input: \[2\]\n", output), output
    assert list(here.source.iterdir()) == [here.source / "kinds_test.ts"]


def test_a_budget_that_is_used_up_is_not_begun_anew_for_the_rest_of_a_file(shared_app: MakeApplication) -> None:
    cases = "".join(f'{{"id": "case-{number}", "input": "Hi"}}\n' for number in range(4))
    here = shared_app(
        {
            "/assistants/demo/package.yao": '{"connector": "scripted"}',
            "/assistants/demo/prompts.yml": "- {role: system, content: Hi}\n",
            "/assistants/demo/replies.yml": "- reply: Hello\n",
            "/assistants/demo/tests/cases.jsonl": cases,
            "/yao-test.toml": "max-tokens = 1\n",
        }
    )
    code, output = run(here, "assistants")

    assert (code, "3 failed, 1 passed in" in output) == (1, True), output
    assert "case-3 did not run: --max-tokens 1 is used up" in output


SCRIPTED = {
    "/assistants/demo/package.yao": '{"connector": "scripted"}',
    "/assistants/demo/prompts.yml": "- {role: system, content: Hi}\n",
    "/assistants/demo/replies.yml": "- reply: Hello\n",
    "/assistants/judge/package.yao": '{"connector": "$ENV.JUDGE"}',
    "/assistants/judge/prompts.yml": "- {role: system, content: Hi}\n",
    "/connectors/local.conn.yao": REAL,
    "/.env": "JUDGE=local\n",
}
JUDGED = '{"id": "a", "input": "Hi", "assert": {"type": "agent", "use": "agents:judge", "value": "nice"}}\n'
SCRIPTED_JUDGE = {
    "/assistants/demo/tests/cases.jsonl": JUDGED,
    "/assistants/judge/replies.yml": '- reply: { json: { passed: true, reason: "so it is" } }\n',
}
MODELS: dict[str, tuple[dict[str, str], str]] = {
    "none": ({}, "1 passed"),
    "one of the configuration file": ({"/yao-test.toml": 'connector = "local"\n'}, "1 skipped"),
    "one for the agent there": ({"/yao-test.toml": '[agent.demo]\nconnector = "local"\n'}, "1 skipped"),
    "one of judges where there is none": ({"/yao-test.toml": 'judge-connector = "local"\n'}, "1 passed"),
    "one of the case": (
        {"/assistants/demo/tests/cases.jsonl": '{"id": "a", "input": "Hi", "options": {"connector": "local"}}\n'},
        "1 skipped",
    ),
    "one of a judge": ({"/assistants/demo/tests/cases.jsonl": JUDGED}, "1 skipped"),
    "one of judges instead of a scripted one": (
        {**SCRIPTED_JUDGE, "/.env": "JUDGE=scripted\n", "/yao-test.toml": 'judge-connector = "local"\n'},
        "1 skipped",
    ),
    "a scripted judge that votes several times": (
        {**SCRIPTED_JUDGE, "/.env": "JUDGE=scripted\n", "/yao-test.toml": "judge-samples = 3\n"},
        "1 passed",
    ),
    "an agent with hooks only": (
        {
            "/assistants/hooks/package.yao": "{}",
            "/assistants/hooks/src/index.ts": "function Next() { return { data: 1 }; }\n",
            "/assistants/hooks/tests/cases.jsonl": '{"id": "b", "input": "Hi", "expected": 1}\n',
        },
        "2 passed",
    ),
    "recordings": (
        {"/yao-test.toml": 'connector = "local"\nreplay = "recordings"\n', "/recordings/.keep": ""},
        "1 failed",
    ),
    "one that is misspelt": ({"/yao-test.toml": 'connector = "lcal"\n'}, 'Cannot find connector "lcal"'),
}


@pytest.mark.parametrize("name", MODELS)
def test_no_real_model_is_asked_unless_that_is_wanted(app: MakeApplication, name: str) -> None:
    files, said = MODELS[name]
    here = app({**SCRIPTED, "/assistants/demo/tests/cases.jsonl": '{"id": "a", "input": "Hi"}\n', **files})
    _, output = run(here, "assistants")

    assert said in output, output


ASKING = """\
export function TestJudges(t) { t.assert.Agent("x", "judge", { criteria: "nice" }); }
export function TestCalls(t, ctx) { ctx.agent.Call("real", [{ role: "user", content: "Hi" }]); }
export function TestHides(t) { try { Process("agents.real.Call", [{ role: "user", content: "Hi" }]); } catch {} }
export function TestScripted(t, ctx) { t.assert.Equal(ctx.agent.Call("demo", [{ role: "user", content: "Hi" }]).content, "Hello"); }
"""
CHOSEN = "function Create() { return { connector: 'local' }; }\n"
WITH_BEFORE = "export function BeforeAll(ctx) { ctx.agent.Call('real', []); }\nexport function TestAfterIt(t) {}\n"


def test_no_real_model_is_asked_while_tests_run(app: MakeApplication) -> None:
    """Not even where only the run comes to one: it would cost money."""
    here = app(
        {
            **SCRIPTED,
            "/assistants/real/package.yao": '{"connector": "local"}',
            "/assistants/real/prompts.yml": "- {role: system, content: Hi}\n",
            "/assistants/chosen/package.yao": '{"connector": "scripted"}',
            "/assistants/chosen/prompts.yml": "- {role: system, content: Hi}\n",
            "/assistants/chosen/src/index.ts": CHOSEN,
            "/assistants/chosen/tests/cases.jsonl": '{"id": "a", "input": "Hi"}\n',
            "asking_test.ts": ASKING,
            "before_test.ts": WITH_BEFORE,
        }
    )
    code, output = run(here, "assistants", "-rs")

    assert (code, "1 passed, 5 skipped in" in output) == (0, True), output
    assert output.count("it needs a real model: --yao-models calls it") == 5
    code, output = run(here, "assistants", "--yao-models")
    assert (code, "cannot connect to 127.0.0.1:9" in output) == (1, True), output


def test_tags_are_markers_that_only_choose(app: MakeApplication) -> None:
    tags = ["skip", "skipif", "xfail", "parametrize", "usefixtures", "filterwarnings", "_own", "@at", "1", "a b"]
    wrong = {"input": "Hi", "assert": {"type": "equals", "value": "No"}}
    cases = "".join(
        json.dumps({"id": f"case-{number}", "tags": [tag], **wrong}) + "\n" for number, tag in enumerate(tags)
    )
    here = app(
        {
            **SCRIPTED,
            "/assistants/demo/tests/cases.jsonl": cases,
            "a_test.ts": "// @tag skip\nexport function TestA(t) { t.fail('no'); }\n",
        }
    )
    code, output = run(here, "assistants", "--strict-markers", "-W", "error")
    assert (code, f"{len(tags) + 1} failed in" in output) == (1, True), output
    for marker, count in (("tag_skip", 2), ("tag_xfail or tag_own or tag_at or a_b", 4)):
        assert f"{count} failed, {len(tags) + 1 - count} deselected in" in run(here, "assistants", "-m", marker)[1]


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_a_signal_ends_pytest_with_what_has_passed(app: MakeApplication, sent: signal.Signals) -> None:
    sleeps = "export function TestSleeps() { new FS('data').WriteFile('sleeps', ''); time.Sleep(1e6); }\n"
    here = app(
        {
            "/data/.keep": "",
            "a_test.ts": f"export function TestFirst() {{}}\n{sleeps}",
            "b_test.ts": "export function TestNext() { new FS('data').WriteFile('next', ''); }\n",
        }
    )
    with start(here, "assistants") as process:
        while not (here.root / "data/sleeps").exists():
            assert process.poll() is None
            time.sleep(0.02)
        eventually(lambda: asleep(process.pid), "pytest waits for the sleeping test")
        process.send_signal(sent)
        code, output = ended(process)

    assert code == 2, output
    assert "Interrupted" in output and "1 passed in" in output
    assert not (here.root / "data/next").exists()


def is_pending(sent: signal.Signals, pid: int) -> bool:
    """Whether a process has still to take a signal."""
    status = Path(f"/proc/{pid}/status").read_text()
    waiting = [int(line.split()[1], 16) for line in status.splitlines() if line.startswith(("SigPnd:", "ShdPnd:"))]
    return any(mask >> (sent - 1) & 1 for mask in waiting)


def test_an_interrupt_in_the_last_test_of_a_file_ends_pytest_too(app: MakeApplication) -> None:
    last = """\
export function TestFirst(t) {}
export function TestLast(t) {
  const data = new FS("data");
  data.WriteFile("/last", "");
  while (!data.Exists("/go"));
}
"""
    here = app({"/data/.keep": "", "a_test.ts": last})
    (here.root / "test_python.py").write_text("def test_more():\n    open('more', 'w').close()\n")
    with start(here, "assistants", "test_python.py") as process:
        while not (here.root / "data/last").exists():
            assert process.poll() is None
            time.sleep(0.02)
        eventually(lambda: asleep(process.pid), "pytest waits for the last test")
        process.send_signal(signal.SIGINT)
        eventually(lambda: not is_pending(signal.SIGINT, process.pid), "the signal is there when the test ends")
        (here.root / "data/go").touch()
        code, output = ended(process)

    assert code == 2, output
    assert "Interrupted" in output and "2 passed in" in output
    assert not (here.root / "more").exists()


def test_links_are_followed_to_an_application_but_not_in_it(app: MakeApplication, tmp_path: Path) -> None:
    here = app(
        {
            **SCRIPTED,
            "/assistants/demo/tests/c.jsonl": '{"id": "a", "input": "Hi"}\n',
            "a_test.ts": "export function TestA() {}\n",
        }
    )
    (tmp_path / "link").symlink_to(here.root)
    code, output = run(here, str(tmp_path / "link/assistants"))
    assert (code, "2 passed in" in output) == (0, True), output

    (here.root / "assistants/demo").rename(here.root / "moved")
    (here.root / "assistants/demo").symlink_to(here.root / "moved")
    assert run(here, "assistants")[0] == pytest.ExitCode.NO_TESTS_COLLECTED


UNUSUAL = """\
export function TestUsual(t) {}
export const TestFirst = (t) => {}, TestSecond = (t) => { t.fail("no"); };
function check(t) { t.fail("no"); }
export { check as TestRenamed };
"""


def test_the_runtime_says_which_tests_there_are(shared_app: MakeApplication) -> None:
    """As for the command: not the text, in which tests can be hidden, and things be that look like tests."""
    here = shared_app(
        {
            "unusual_test.ts": UNUSUAL,
            "usual_test.ts": "import { TestUsual } from './unusual_test';\nexport { TestUsual };\n"
            "const text = `\nexport function TestInText(t) {}\n`;\nexport function TestThis(t) { TestUsual(t); }\n",
            "only_test.ts": "const check = (t) => { t.fail('no'); };\nexport { check as TestOnly };\n",
            "none_test.ts": "const text = `\nfunction TestNone(t) {}\n`;\n",
            "broken_test.ts": "export function TestBroken(t) {}\nthrow new Error('at once');\n",
        }
    )
    code, output = run(here, "assistants", "-v", "-rs")
    items = re.findall(r"(\w+)_test.ts::(\w+) (PASSED|FAILED|SKIPPED)", output)
    found = {f"{module} {name}": status for module, name, status in items}
    plan = here.run("-i", "assistants", "--dry-run", "--json")
    tests = {f"{test['suite'].rpartition('.')[2]} {test['test']}" for test in json.loads(plan.stdout)["tests"]}
    assert code == 1
    assert found.keys() - {"broken TestBroken"} == tests
    assert found["only TestOnly"] == found["unusual TestRenamed"] == found["broken TestBroken"] == "FAILED"
    assert "No test is found in assistants/demo/src/none_test.ts: " in output
    assert "at once" in output
    assert ".py:" not in output.partition("warnings summary")[0]


def test_a_skip_is_shown_at_its_test(shared_app: MakeApplication) -> None:
    here = shared_app({"skipped_test.ts": "\nexport function TestSkipped(t) { t.skip('not today'); }\n"})
    assert "SKIPPED [1] assistants/demo/src/skipped_test.ts:2: not today" in run(here, "assistants", "-rs")[1]


def test_files_that_cannot_be_read_are_errors_of_collection(shared_app: MakeApplication) -> None:
    """As with Python modules: nothing runs, and no choice of tests hides them."""
    here = shared_app(
        {
            "good_test.ts": "export function TestGood(t) {}\n",
            "/assistants/demo/tests/faulty.yaml": "- {id: 3}\n",
        }
    )
    code, output = run(here, "-k", "Good", "--collect-only")

    assert code == 2, output
    assert "ERROR collecting assistants/demo/tests/faulty.yaml" in output
    assert 'Cannot read cases from assistants/demo/tests/faulty.yaml:1:4: "id" must be a string, not a number' in output
    assert "Traceback" not in output and ".py:" not in output
    code, output = run(here, "--continue-on-collection-errors")
    assert (code, "1 passed, 1 error" in output) == (1, True), output


def test_it_loads_nothing_of_the_runner_before_a_file_matches(tmp_path: Path) -> None:
    (tmp_path / "test_plain.py").write_text(
        "import sys\n\ndef test_it():\n"
        "    found = {name for name in sys.modules if name.partition('.')[0] in ('runner', 'bindings', 'scripttest')}\n"
        "    assert found == {'runner', 'runner.pytest_plugin'}\n"
    )
    command = [sys.executable, "-m", "pytest", *PLUGINS, "--rootdir", str(tmp_path), "test_plain.py"]
    environment = {"PATH": os.defpath, "HOME": str(tmp_path), "TMPDIR": str(tmp_path), **VARIABLES}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done


def test_files_of_variables_are_read(app: MakeApplication) -> None:
    code = 'export function TestReads(t) { t.assert.Equal(Process("utils.env.Get", "PLACE"), "north"); }\n'
    here = app({"place_test.ts": code, "/own.env": "PLACE=north\n"})
    assert run(here, "assistants")[0] == 1
    assert run(here, "assistants", "--yao-env-file", "own.env")[0] == 0
    none, output = run(here, "assistants", "--yao-env-file", "gone.env")
    assert (none, "Cannot read variables from gone.env" in output) == (2, True), output
