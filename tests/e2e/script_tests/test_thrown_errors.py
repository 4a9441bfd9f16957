"""What a failure shows of an error: its place, where it was awaited, its own fields, its causes and inner errors."""

from __future__ import annotations

import re

import pytest
from command import MakeApplication, Record
from table_tests import each

LIB = """\
export class Base extends Error {
  code: number;
  seen = new Date(0);
  constructor(message: string, code: number, options?: any) {
    super(message, options);
    this.name = "Base";
    this.code = code;
  }
}
export class Special extends Base {
  constructor(message: string) {
    super(message, 7);
    this.name = "Special";
  }
}
export class Checked extends Error {
  constructor(text: any) {
    super(text.trim());
  }
}
export class Captured extends Error {
  constructor(message: string) {
    super(message);
    (Error as any).captureStackTrace(this, Captured);
  }
}
export const make = (text: string) =>
  new Special(text);
export async function third() {
  await null;
  throw new Base("late", 3);
}
export async function second() {
  await null;
  return await third();
}
export const sleep = (ms: number) => new Promise((done) => setTimeout(done, ms));
export async function* numbers() {
  yield 1;
  await null;
  throw new Error("in the middle");
}
export async function rethrows() {
  try { await third(); } catch (error) { throw error; }
}
export async function wraps() {
  try { await third(); } catch (error) { throw new Error("wrapped", { cause: error }); }
}
"""

PLACES = {
    # body → the places: innermost first, `line` is that of the throwing call in the test
    "constructor": ("throw new Special('x');", ["test"]),
    "one constructor": ("throw new Base('x', 1);", ["test"]),
    "made elsewhere": ("throw make('x');", ["lib.ts:28:15", "test"]),
    "thrown by a constructor": ("new Checked(null);", ["lib.ts:18:11", "test"]),
    "captured": ("throw new Captured('x');", ["test"]),
    "built-in": ("throw new RangeError('x');", ["test"]),
    "Exception": ("class Own extends Exception { constructor() { super('x', 400) } } throw new Own();", ["test"]),
    "awaited": ("await third();", ["lib.ts:31:13", "test"]),
    "awaited twice": ("await second();", ["lib.ts:31:13", "lib.ts:35:16", "test"]),
    "returned": ("return second();", ["lib.ts:31:13", "lib.ts:35:16"]),
    "awaited late": (
        "const p = second(); p.catch(() => {}); await sleep(3); new Error('other'); await p;",
        ["lib.ts:31:13", "lib.ts:35:16", "test"],
    ),
    "all": ("await Promise.all([sleep(1), second()]);", ["lib.ts:31:13", "lib.ts:35:16", "test"]),
    "then": ("await second().then(() => 1);", ["lib.ts:31:13", "lib.ts:35:16", "test"]),
    "timer": ("await sleep(1).then(() => { throw new Base('x', 1); });", ["test", "test"]),
    "rejected": ("await (async () => { await Promise.reject(new Base('x', 1)); })();", ["test", "test"]),
    "iterated": ("for await (const n of numbers()) t.log(n);", ["lib.ts:41:13", "test"]),
    "thrown again": ("await rethrows();", ["lib.ts:31:13", "lib.ts:44:15", "lib.ts:44:48", "test"]),
    "before any wait": ("await (async () => { throw new Base('x', 1); })();", ["test", "test"]),
    "engine error": ("await (async () => { await null; (null as any).x; })();", ["test", "test"]),
    "caught before": ("try { await second(); } catch {} await second();", ["lib.ts:31:13", "lib.ts:35:16", "test"]),
    "deep": (
        "const down = (n: number): any => n ? down(n - 1) : (() => { throw new Error('deep'); })(); await null; down(5);",
        ["test"],
    ),
}


@pytest.fixture(scope="module")
def places(shared_app: MakeApplication) -> dict[str, tuple[int, Record, str]]:
    lines = [
        'import * as lib from "./lib";',
        "const { Base, Special, Checked, Captured, make, third, second, sleep, numbers, rethrows } = lib;",
    ]
    at = {}
    for number, (name, (body, _)) in enumerate(PLACES.items()):
        lines += [f"export async function Test{number}(t: any): Promise<any> {{", body, "}"]
        at[name] = len(lines) - 1
    here = shared_app({"lib.ts": LIB, "place_test.ts": "\n".join(lines)})
    results = here.results("-i", "scripts.demo.place", code=1)
    output = here.run("-i", "scripts.demo.place", "--no-color").stdout
    shown = re.split(r"(?m)^► \[", output)[1:]
    return {name: (at[name], results[f"Test{i}"], shown[i]) for i, name in enumerate(PLACES)}


@each("what", PLACES)
def test_the_place_of_an_error_and_where_it_was_awaited(places: dict[str, tuple[int, Record, str]], what: str) -> None:
    line, record, shown = places[what]
    expected = [f"place_test.ts:{line}" if place == "test" else place for place in PLACES[what][1]]
    found = [
        frame.rpartition("/")[2].rstrip(")") for frame in record["stack_trace"].split("\n") if frame.startswith("at ")
    ]
    assert len(found) >= len(expected)
    for place, frame in zip(expected, found, strict=False):
        assert frame.startswith(place), found
    assert record["location"].rpartition("/")[2].startswith(expected[0])
    assert all(place in shown for place in expected), shown


def test_the_line_of_the_test_is_shown_below_many_frames(app: MakeApplication) -> None:
    lines = [f"async function f{n}() {{ await null; return await f{n + 1}(); }}" for n in range(12)]
    script = "\n".join([*lines, "async function f12() { await null; throw new Error('x'); }"])
    run = app({"deep_test.ts": f"{script}\nexport async function TestDeep() {{\n  await f0();\n}}"}).run(
        "-i", "scripts.demo.deep"
    )
    assert "called from assistants/demo/src/deep_test.ts:15:" in run.stdout


def test_a_stack_that_scripts_read_is_one_of_the_error_alone(app: MakeApplication) -> None:
    results = app(
        {
            "lib.ts": LIB,
            "read_test.ts": """
import { second } from "./lib";
export async function TestRead(t: any) {
  let seen: any;
  try { await second(); } catch (error) { seen = error; }
  t.assert.Match(seen.stack, /^[A-Z]\\w+: .+\\n    at .*lib\\.ts:/);
  t.assert.Equal(Object.keys(new Error("after")), []);
  t.assert.Match(new Error("after").stack!, /^Error: after\\n    at /);
  const target: any = {};
  (Error as any).captureStackTrace(target);
  t.assert.Match(target.stack, /^Error\\n    at /);
}
export async function TestOwnHook(t: any) {
  (Error as any).prepareStackTrace = () => "mine";
  try { await second(); } catch {}
  t.assert.Equal(new Error("x").stack, "mine");
}
""",
        }
    ).results("-i", "scripts.demo.read")
    assert {name: record["status"] for name, record in results.items()} == {
        "TestRead": "passed",
        "TestOwnHook": "passed",
    }


DETAILS = {
    "fields": ("throw new Base('x', 5);", ["  code: 5", "  seen: Date(1970-01-01T00:00:00.000Z)"]),
    "response": (
        "throw Object.assign(new Error('x'), { status: 503, response: { headers: { retry: 1 }, body: 'down' } });",
        ["  status: 503", '  response: {headers: {retry: 1}, body: "down"}'],
    ),
    "exception": ("throw new Exception('x', 418);", ["  code: 418"]),
    "cause": (
        "throw new Error('outer', { cause: make('inner') });",
        ["  caused by Special: inner", "    at assistants/demo/src/lib.ts:28:15", "    code: 7"],
    ),
    "causes": (
        "throw new Error('a', { cause: new Error('b', { cause: new TypeError('c') }) });",
        ["  caused by b", "    at TEST", "    caused by TypeError: c", "      at TEST"],
    ),
    "cause that is no error": ("throw new Error('a', { cause: { why: 1 } });", ["  caused by thrown, not an Error: {why: 1}"]),
    "cycle": (
        "const a: any = new Error('a'); a.cause = new Error('b', { cause: a }); throw a;",
        ["  caused by b", "    at TEST", "    caused by a [Circular]"],
    ),
    "aggregate": (
        "throw new AggregateError([new Base('one', 1), 'two', new AggregateError([new Error('three')])], 'many');",
        [
            "  error 1 of 3: Base: one",
            "    at TEST",
            "    code: 1",
            '  error 2 of 3: thrown, not an Error: "two"',
            "  error 3 of 3: AggregateError: ",
            "    error 1 of 1: three",
        ],
    ),
    "any": (
        "await Promise.any([Promise.reject(new Error('one')), Promise.reject(new Error('two'))]);",
        ["  error 1 of 2: one", "  error 2 of 2: two"],
    ),
    "many inner errors": (
        "throw new AggregateError(Array.from({ length: 500 }, (_, i) => new Error('n' + i)), 'many');",
        ["  error 10 of 500: n9", "  ... 490 more errors"],
    ),
    "getter": ("throw Object.defineProperty(new Error('x'), 'a', { enumerable: true, get() { throw 1; } });", ["  a: [Getter threw]"]),
    "long": ("throw Object.assign(new Error('x'), { body: 'b'.repeat(99999) });", ["more characters"]),
    "secrets": (
        "throw Object.assign(new Error('x'), { config: { headers: { Authorization: 'Bearer abcdefgh', 'x-api-key': 'k1' } }, apiKey: 'k2', "
        "password: 'p1', accessToken: 't1', header: 'Bearer zyxwvu', tokens: 12 });",
        ['  config: {headers: {Authorization: ***, "x-api-key": ***}}', "  apiKey: ***", "  password: ***", '  header: "***"', "  tokens: 12"],
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def details(shared_app: MakeApplication) -> dict[str, tuple[int, Record, str]]:
    lines = ['import { Base, make } from "./lib";']
    at = {}
    for number, (name, (body, _)) in enumerate(DETAILS.items()):
        lines += [f"export async function Test{number}(t: any) {{", body, "}"]
        at[name] = len(lines) - 1
    here = shared_app({"lib.ts": LIB, "detail_test.ts": "\n".join(lines)})
    results = here.results("-i", "scripts.demo.detail", code=1)
    output = here.run("-i", "scripts.demo.detail", "--no-color").stdout
    shown = re.split(r"(?m)^► \[", output)[1:]
    return {name: (at[name], results[f"Test{i}"], shown[i]) for i, name in enumerate(DETAILS)}


@each("what", DETAILS)
def test_an_error_says_what_it_carries(details: dict[str, tuple[int, Record, str]], what: str) -> None:
    line, record, shown = details[what]
    for text in DETAILS[what][1]:
        text = text.replace("TEST", f"assistants/demo/src/detail_test.ts:{line}:")
        assert text in record["stack_trace"] and text in shown, shown
    for secret in ("abcdefgh", "'k1'", '"k1"', '"k2"', '"p1"', '"t1"', "zyxwvu"):
        assert secret not in record["stack_trace"]
    assert len(record["stack_trace"]) < 9000


def test_a_message_names_inner_errors_and_causes(details: dict[str, tuple[int, Record, str]]) -> None:
    assert details["aggregate"][1]["error"] == (
        'AggregateError: many (errors: Base: one; thrown, not an Error: "two"; AggregateError:  (errors: three))'
    )
    assert details["causes"][1]["error"] == "a (cause: b (cause: TypeError: c))"
    assert len(details["many inner errors"][1]["error"]) < 500


@pytest.mark.parametrize("format", ["xml", "md", "jsonl", "json"])
def test_every_report_has_what_an_error_carries(app: MakeApplication, format: str) -> None:
    here = app(
        {
            "lib.ts": LIB,
            "one_test.ts": 'import { make } from "./lib";\nexport function TestOne() { throw new Error("a", { cause: make("why") }); }',
        }
    )
    here.run("-i", "scripts.demo.one", "-o", str(here.home / f"out.{format}"))
    text = (here.home / f"out.{format}").read_text("utf-8")
    for part in ("caused by Special: why", "lib.ts:28:15", "code: 7"):
        assert part in text


def test_the_place_in_a_script_that_was_called_is_no_constructor(app: MakeApplication) -> None:
    results = app(
        {
            "lib.ts": LIB,
            "/scripts/pay.ts": """class Refused extends Exception {
  constructor(message: string) {
    super(message, 402);
  }
}
function Pay() {
  throw new Refused("no");
}
""",
            "called_test.ts": "export function TestCalled() { Process('scripts.pay.Pay'); }",
        }
    ).results("-i", "scripts.demo.called", code=1)
    assert results["TestCalled"]["location"].endswith("scripts/pay.ts:7:13")


def test_a_method_that_is_taken_off_t_says_how_to_call_it(app: MakeApplication) -> None:
    code = """
export function TestTimer(t) { setTimeout(t.fail, 3, "no"); }
export function TestTaken(t) { const { error } = t; error("no"); }
export function TestSkip(t) { const { skip } = t; skip("no"); }
export function TestLog(t) { const { log } = t; log("works"); }
"""
    results = app({"a_test.ts": code}).results("-i", "scripts.demo.a", code=1)
    assert results["TestLog"]["logs"] == ["works"]
    for test, name in (("TestTimer", "fail"), ("TestTaken", "error"), ("TestSkip", "skip")):
        assert results[test]["status"] == "failed"
        assert results[test]["error"].startswith(f"TypeError: t.{name} was called without t: write t.{name}(...)")


MADE = (
    'new Function("return nope")();',
    'new Function("o", "\\n\\nreturn o.b()")({});',
    'eval("\\n\\nnope");',
    "(0, eval)(\"\\n\\nthrow new Error('x')\");",
    'new Function("(");',
    'new Function("f", "f()")(fails);',
)


def test_code_that_a_script_makes_is_placed_where_it_was_called(app: MakeApplication) -> None:
    lines = ["// one", "const three = { anonym: 3 };", "function fails() { throw new Error('fails'); }"]
    lines += [f"export function Test{number}(t) {{ {body} }}" for number, body in enumerate(MADE)]
    results = app({"a_test.ts": "\n".join(lines)}).results("-i", "scripts.demo.a", code=1)
    for number, body in enumerate(MADE):
        line = 3 if "fails" in body else number + 4
        assert results[f"Test{number}"]["location"].startswith(f"assistants/demo/src/a_test.ts:{line}:"), body
