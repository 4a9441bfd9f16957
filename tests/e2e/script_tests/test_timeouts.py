"""Tests that run out of time: what was recorded before stays, cleanups run, and the statement that hung is named."""

from __future__ import annotations

import json
from typing import Any

import pytest
from command import MakeApplication

Record = dict[str, Any]
HELPER = """
export function spin() {
  const started = 1;
  while (true) {}
}
export async function never() {
  await new Promise((resolve) => setTimeout(resolve, 60000));
}
"""


LOOPS = {
    "while": "while (true) {}",
    "for": "for (;;) {}",
    "counting": "let n = 0;\n  while (n >= 0) { n++; }",
    "do": "let n = 0;\n  do { n++; } while (n > 0);",
    "with calls": "let n = 1;\n  while (n) { n = Math.abs(n); }",
    "after a loop that ends": "for (let i = 0; i < 3; i++) { t.log(i); }\n  while (true) {}",
    "inside a loop": "for (const x of [1, 2]) {\n    t.log(x);\n    while (true) {}\n  }",
    "in a callback": "[1, 2].forEach(() => {\n    while (true) {}\n  });",
    "calling functions": "let n = 1;\n  while (n) {\n    n = step(n);\n  }",
    "of a generator": "function* all() { for (;;) yield 1; }\n  for (const x of all()) {}",
    "after a template": "t.log(`a ${t.name} b`);\n  while (true) {}",
    "after an if": 'if (t.name === "x") { t.log("no"); }\n  while (true) {}',
}


def timed_out(app: MakeApplication, code: str, timeout: str = "300ms") -> dict[str, Record]:
    """The records of a module whose tests run out of time."""
    files = {"helper.ts": HELPER, "a_test.ts": code}
    return app(files).results("-i", "scripts.demo.a", "--timeout", timeout, code=1)


def line_of(record: Record, code: str, file: str = "a_test.ts") -> str:
    """The line of the source at which a record is placed."""
    path, line, _ = record["location"].rsplit(":", 2)
    assert path.endswith(f"/{file}"), record["location"]
    return code.split("\n")[int(line) - 1].strip()


# what failed before


def test_what_failed_before_stays_in_order(app: MakeApplication) -> None:
    code = """
        export function TestSoft(t) {
          t.assert.Equal(1, 2, "first");
          t.error("second");
          t.assert.True(false, "third");
          while (true) {}
        }
        export async function TestAwaits(t) {
          await null;
          t.assert.Equal(1, 2, "first");
          await new Promise((resolve) => setTimeout(resolve, 60000));
        }
        export function TestBlocked(t) {
          t.assert.Equal(1, 2, "first");
          Process("utils.time.Sleep", 60000);
        }
        export function TestRegExp(t) {
          t.assert.Equal(1, 2, "first");
          /^(a+)+$/.test("a".repeat(40) + "b");
        }"""
    results = timed_out(app, code)
    assert {name: (record["cause"], record["errors"]) for name, record in results.items()} == {
        "TestSoft": ("timeout", ["assertion failed: first", "second", "assertion failed: third", "timeout after 0.3s"]),
        "TestAwaits": ("timeout", ["assertion failed: first", "timeout after 0.3s"]),
        "TestBlocked": ("timeout", ["assertion failed: first", "timeout after 0.3s"]),
        "TestRegExp": ("timeout", ["assertion failed: first", "timeout after 0.3s"]),
    }
    assert results["TestSoft"]["assertion"]["message"] == "first"


def test_subtests_keep_what_failed_before(app: MakeApplication) -> None:
    code = """
        export function TestSubtests(t) {
          t.assert.True(false, "outer");
          t.run("passes", () => {});
          t.run("fails", (t) => t.assert.True(false, "inner"));
          t.run("hangs", (t) => {
            t.assert.True(false, "before");
            t.run("deep", (t) => { t.assert.True(false, "deep"); while (true) {} });
          });
        }"""
    [record] = timed_out(app, code).values()
    late = "timeout after 0.3s"
    assert record["errors"] == ["assertion failed: outer", "subtest fails failed", late, "subtest hangs failed"]
    passes, fails, hangs = record["steps"]
    assert (passes["status"], fails["error"]) == ("passed", "assertion failed: inner")
    assert (hangs["cause"], hangs["errors"]) == ("timeout", ["assertion failed: before", late, "subtest deep failed"])
    [deep] = hangs["steps"]
    assert (deep["cause"], deep["errors"]) == ("timeout", ["assertion failed: deep", late])


def test_subtests_side_by_side_each_say_where_they_wait(app: MakeApplication) -> None:
    code = """
        export async function TestSideBySide(t) {
          const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
          t.run("ends", async (t) => { await wait(1); t.assert.True(false, "ended"); });
          t.run("first", async (t) => {
            await wait(60000);
          });
          t.run("second", async (t) => {
            t.assert.True(false, "before");
            await wait(60001);
          });
        }"""
    [record] = timed_out(app, code).values()
    assert [(step["name"], step["error"], line_of(step, code)) for step in record["steps"]] == [
        ("TestSideBySide/ends", "assertion failed: ended", code.split("\n")[3].strip()),
        ("TestSideBySide/first", "timeout after 0.3s", "await wait(60000);"),
        ("TestSideBySide/second", "timeout after 0.3s", "await wait(60001);"),
    ]
    assert record["steps"][2]["errors"][0] == "assertion failed: before"


def test_every_report_has_what_failed_before(app: MakeApplication) -> None:
    here = app({"a_test.ts": 'export function TestA(t) { t.assert.Equal(1, 2, "first"); for (;;) {} }'})
    names = [f"report.{suffix}" for suffix in ("jsonl", "md", "xml")]
    outputs = [word for name in names for word in ("-o", name)]
    run = here.run("-i", "scripts.demo.a", "--timeout", "300ms", *outputs)
    texts = [run.stdout, *((here.root / name).read_text() for name in names)]
    for text in texts:
        assert text.index("first") and text.index("timeout after 0.3s")
    assert (
        '<failure message="timeout after 0.3s" type="timeout">assertion failed: first\nexpected: 2\nactual: 1\ntimeout after'
        in texts[-1]
    )


# cleaning up

CLEANS_UP = """
    export function AfterEach(t) { t.log("AfterEach"); }
    export function AfterAll() { console.log("AfterAll"); }
    export function TestLoop(t) {
      t.cleanup(() => t.log("last"));
      t.cleanup(async () => { await new Promise((resolve) => setTimeout(resolve, 10)); t.log("first"); });
      t.run("sub", (t) => { t.cleanup(() => t.log("of sub")); while (true) {} });
    }
    export async function TestAwaits(t) {
      t.cleanup(() => t.log("last"));
      await new Promise((resolve) => setTimeout(resolve, 60000));
    }
    export function TestBlocked(t) {
      t.cleanup(() => t.log(Process("utils.now.Timestamp") > 0));
      Process("utils.time.Sleep", 60000);
    }
    export function TestSleeps(t) {
      t.cleanup(() => t.log("last"));
      time.Sleep(60000);
    }
"""


def test_cleanups_and_hooks_run_in_their_order(app: MakeApplication) -> None:
    results = timed_out(app, CLEANS_UP)
    assert {name: (record["error"], record["logs"]) for name, record in results.items()} == {
        "TestLoop": ("timeout after 0.3s", ["of sub", "AfterEach", "first", "last", "AfterAll"]),
        "TestAwaits": ("timeout after 0.3s", ["AfterEach", "last", "AfterAll"]),
        "TestBlocked": ("timeout after 0.3s", ["AfterEach", "true", "AfterAll"]),
        "TestSleeps": ("timeout after 0.3s", ["AfterEach", "last", "AfterAll"]),
    }


@pytest.mark.parametrize("hook", ["BeforeAll", "BeforeEach", "AfterEach", "AfterAll"])
def test_a_hook_that_hangs_is_named_and_what_follows_it_runs(app: MakeApplication, hook: str) -> None:
    code = f"""
        export function {hook}() {{
          while (true) {{}}
        }}
        export function TestA(t) {{ t.log("body"); t.cleanup(() => t.log("cleaned")); }}
        """
    code += "".join(
        f'export function {name}() {{ console.log("{name}"); }}\n' for name in ("AfterEach", "AfterAll") if name != hook
    )
    [record] = timed_out(app, code).values()
    assert (record["error"], line_of(record, code)) == (f"timeout after 0.3s (in {hook})", "while (true) {}")
    expected = {
        "BeforeAll": ["AfterEach", "AfterAll"],
        "BeforeEach": ["AfterEach", "AfterAll"],
        "AfterEach": ["body", "cleaned", "AfterAll"],
        "AfterAll": ["body", "AfterEach", "cleaned"],
    }
    assert record["logs"] == expected[hook]


def test_a_cleanup_that_hangs_after_the_body_is_named_and_the_others_run(app: MakeApplication) -> None:
    code = """
        export function TestA(t) {
          t.cleanup(() => t.log("other"));
          t.cleanup(() => {
            while (true) {}
          });
        }"""
    [record] = timed_out(app, code).values()
    assert (record["error"], record["logs"]) == ("timeout after 0.3s (in cleanup)", ["other"])
    assert line_of(record, code) == "while (true) {}"


@pytest.mark.parametrize(
    "hangs",
    ["while (true) {}", 'Process("utils.time.Sleep", 60000)', "return new Promise((done) => setTimeout(done, 60000))"],
)
def test_cleaning_up_that_takes_too_long_is_said(app: MakeApplication, hangs: str) -> None:
    code = f"""
        export function AfterEach(t) {{ t.log("AfterEach"); }}
        export function TestA(t) {{
          t.assert.True(false, "before");
          t.cleanup(() => t.log("never"));
          t.cleanup(() => {{ {hangs}; }});
          while (true) {{}}
        }}
        export function TestNext(t) {{}}"""
    results = timed_out(app, code)
    late = "timeout after 0.3s"
    assert results["TestA"]["errors"] == [
        "assertion failed: before",
        late,
        f"{late}: cleanup took longer than a second, and cleanups or After hooks did not run: 1 (in cleanup)",
    ]
    assert results["TestA"]["logs"] == ["AfterEach"]
    assert results["TestNext"]["status"] == "passed"


def test_code_that_cannot_be_stopped_is_said(app: MakeApplication) -> None:
    code = """
        export function TestNative(t) {
          t.cleanup(() => t.log("never"));
          t.assert.True(false, "before");
          t.run("sub", (t) => {
            t.assert.True(false, "in it");
            const n = 7n ** 350000n;
            for (const _ of [1, 2, 3, 4, 5, 6, 7, 8, 9]) String(n);
          });
        }
        export function TestNext(t) {}"""
    results = timed_out(app, code)
    record = results["TestNative"]
    late = "timeout after 0.3s; the script could not be stopped, so cleanups and After hooks did not run"
    assert (record["cause"], record["errors"]) == ("timeout", ["assertion failed: before", late])
    assert [(step["name"], step["error"]) for step in record["steps"]] == [
        ("TestNative/sub", "assertion failed: in it")
    ]
    assert (record["logs"], results["TestNext"]["status"]) == ([], "passed")


# what cannot escape


def test_nothing_catches_the_end_of_its_time(app: MakeApplication) -> None:
    code = """
        export function TestCatches(t) {
          try {
            for (;;) { try { for (;;) {} } catch { continue; } finally { continue; } }
          } catch { t.log("caught"); } finally { t.log("finally"); }
        }
        export async function TestCatchesLater(t) {
          try { await new Promise((resolve) => setTimeout(resolve, 60000)); } catch { t.log("caught"); }
          t.log("went on");
        }
        export function TestCatchesProcess(t) {
          try { Process("utils.time.Sleep", 60000); } catch { t.log("caught"); }
          t.log("went on");
        }
        export function TestPanics(t) {
          t.assert.Panic(() => { for (;;) {} });
          t.log("went on");
        }
        export function TestOwnErrors(t) {
          Error.prepareStackTrace = () => { for (;;) {} };
          for (;;) {}
        }"""
    results = timed_out(app, code)
    assert {(record["error"], *record["logs"]) for record in results.values()} == {("timeout after 0.3s",)}


def test_a_skipped_test_that_hangs_in_its_cleanup_fails(app: MakeApplication) -> None:
    [record] = timed_out(app, 'export function TestA(t) { t.cleanup(() => { for (;;) {} }); t.skip("no"); }').values()
    assert (record["status"], record["cause"]) == ("failed", "timeout")


# where it hung


def test_a_loop_is_named(app: MakeApplication) -> None:
    code = "function step(n) { return twice(n) + 1; }\nfunction twice(n) { return n; }\n"
    names = {loop: f"Test{number}" for number, loop in enumerate(LOOPS)}
    code += "\n".join(f"export function {names[loop]}(t) {{\n  const x = 1;\n  {LOOPS[loop]}\n}}" for loop in LOOPS)
    here = app({"a_test.ts": code})
    expected, found = {}, {}
    for loop, text in LOOPS.items():
        statements = [line for line in text.split("\n") if any(word in line for word in ("while", "for (", "do {"))]
        expected[loop] = (statements[-1] if loop != "do" else statements[0]).strip()
    left = [*LOOPS]
    for timeout in ("100ms", "600ms", "4s"):  # the later ones where the machine is too busy to get to each loop
        chosen = f"^({'|'.join(names[loop] for loop in left)})$"
        records = here.results("-i", "scripts.demo.a", "--timeout", timeout, "--run", chosen, code=1)
        found |= {loop: line_of(records[names[loop]], code) for loop in left}
        left = [loop for loop in left if found[loop] != expected[loop]]
        if not left:
            break
    assert found == expected


def test_a_loop_in_a_helper_is_named_with_its_callers(app: MakeApplication) -> None:
    code = """
        import { spin } from "./helper";
        export function TestA(t) {
          inner();
        }
        function inner() {
          spin();
        }"""
    [record] = timed_out(app, code).values()
    assert line_of(record, HELPER, "helper.ts") == "while (true) {}"
    assert [line.split(" ")[1] for line in record["stack_trace"].split("\n")] == ["spin", "inner", "TestA"]


def test_an_await_is_named_with_those_who_wait_for_it(app: MakeApplication) -> None:
    code = """
        import { never } from "./helper";
        export async function TestA(t) {
          await null;
          await inner();
        }
        async function inner() {
          try {
            await never();
          } finally { console.log("finally"); }
        }"""
    [record] = timed_out(app, code).values()
    assert line_of(record, HELPER, "helper.ts").startswith("await new Promise")
    lines = [int(line.rsplit(":", 2)[1]) for line in record["stack_trace"].split("\n")]
    assert [code.split("\n")[line - 1].strip() for line in lines[1:]] == ["await never();", "await inner();"]
    assert record["logs"] == []


def test_a_script_that_was_called_is_named(app: MakeApplication) -> None:
    files = {
        "orders.ts": "export function Spin() {\n  while (true) {}\n}\n",
        "a_test.ts": 'export function TestA(t) {\n  try {\n    Process("scripts.demo.orders.Spin");\n  } catch {}\n}',
    }
    [record] = app(files).results("-i", "scripts.demo.a", "--timeout", "300ms", code=1).values()
    places = [line.rsplit("/", 1)[1].rsplit(":", 1)[0] for line in record["stack_trace"].split("\n")]
    assert places == ["orders.ts:2", "a_test.ts:3"]


def test_code_of_a_module_that_does_not_end_is_named(app: MakeApplication) -> None:
    code = "const a = 1;\nwhile (a) {}\nexport function TestA(t) {}\n"
    [record] = timed_out(app, code).values()
    assert "timeout after 0.3s: the top-level code of the module did not finish" in record["error"]
    assert (record["cause"], line_of(record, code)) == ("timeout", "while (a) {}")


def test_a_crash_keeps_what_failed_before(app: MakeApplication) -> None:
    code = """
        export function TestA(t) {
          t.assert.True(false, "before");
          const held = [];
          for (;;) held.push(new Array(1000).fill({}));
        }"""
    [record] = timed_out(app, code, "20s").values()
    assert record["errors"][0] == "assertion failed: before"


@pytest.mark.parametrize("runs", ["1", "2"])
def test_later_calls_get_their_own_answers(app: MakeApplication, runs: str) -> None:
    code = """
        export function TestCalls(t) {
          t.cleanup(() => t.log(Process("encoding.hex.Encode", "b")));
          for (;;) Process("encoding.hex.Encode", "a");
        }"""
    here = app({"a_test.ts": code})
    report = here.report("-i", "scripts.demo.a", "--timeout", "300ms", "--runs", runs, code=1)
    assert "62" in json.dumps(report) and "61" not in json.dumps([record["logs"] for record in report["results"]])


# what ended a test that had failed many times


ENDINGS = {
    'throw new Error("the end");': "the end",
    't.fatal("the end");': "the end",
    't.require.Equal(1, 2, "the end");': "the end",
    "await new Promise(() => {});": "deadlock: the test waits for a promise that can never settle",
    "for (;;);": "timeout after 0.3s",
}


def test_what_ended_a_test_is_kept_after_any_number_of_failures(app: MakeApplication) -> None:
    lines = ["const fail = (t) => { for (let i = 0; i < 150; i++) t.assert.Equal(i, -1); };"]
    lines += [f"export async function Test{number}(t) {{ fail(t); {end} }}" for number, end in enumerate(ENDINGS)]
    lines += ['export function TestIn(t) { t.run("a", (t) => { fail(t); t.fatal("the end"); }); }']
    results = timed_out(app, "\n".join(lines))
    for number, end in enumerate(ENDINGS.values()):
        assert results[f"Test{number}"]["failures"][-1]["message"] == end
        assert len(results[f"Test{number}"]["failures"]) == 101
    assert results["TestIn"]["steps"][0]["failures"][-1]["message"] == "the end"
    assert [results[name]["cause"] for name in results] == [*["assertion"] * 4, "timeout", "assertion"]
