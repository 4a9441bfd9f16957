"""One context with the assertions of `t.assert`, and the tables that their tests share."""

from __future__ import annotations

import json
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import _quickjs

SOURCES = Path(__file__).parents[2] / "bindings" / "src"
ESBUILD = SOURCES.parent / "node_modules/@esbuild/linux-x64/bin/esbuild"
OPTIONS = "--bundle --minify --target=es2023 --log-level=warning --supported:template-literal=false".split()

KERNEL = """
import * as checks from "./assert";
import { basis } from "./std";
import { values } from "./std-values";
const std = { ...values, ...basis };
const parts = {}, loaded = [], evaluate = eval, host = $host, sources = $parts;
const ask = (name, args) => {
  const answer = std.parse(host(name, std.stringify(args)));
  if (std.hasOwn(answer, "error")) throw new std.Error(answer.error);
  return answer.ok;
};
const kernel = { std, host: ask, call: ask, isStop: () => false, isBroken: () => false, part(name) {
  if (!std.hasOwn(parts, name)) {
    loaded[loaded.length] = name;
    const check = std.slice(name, 0, 6) === "check." && checks[std.slice(name, 6)];
    parts[name] = check || evaluate(sources[name])(kernel);
  }
  return parts[name];
} };
let settled;
globalThis.$ = {
  loaded: () => std.join(loaded, " "),
  explain: () => kernel.part("explain"),
  equal: (a, b) => { const equal = kernel.part("equal"); return std.stringify([equal(a, b), equal(b, a)]); },
  inspect: (value, options) => std.stringify(kernel.part("explain").inspect(value, options)),
  diff: (expected, actual) => std.stringify(kernel.part("explain").diff(expected, actual)),
  json: (value) => std.stringify(kernel.part("explain").json(value) ?? null),
  check(name, args) {
    const result = kernel.part("assert").check(name, args);
    if (!(result instanceof std.Promise)) return std.stringify(result);
    settled = undefined;
    std.then(result, (value) => { settled = std.stringify(value); });
    return "null";
  },
  settled: () => settled,
};
"""


def bundled(*arguments: str, source: str | None = None) -> str:
    command = [str(ESBUILD), *arguments, *OPTIONS]
    return subprocess.run(command, input=source, cwd=SOURCES, check=True, capture_output=True, text=True).stdout


@cache
def kernel() -> str:
    return bundled("--format=iife", source=KERNEL)


@cache
def part(name: str) -> str:
    """The part as the core loads it: text of an expression, whose value takes the kernel."""
    text = bundled(f"check/{name}.ts", "--format=esm").strip()
    body, exported = re.fullmatch(r"(.*)export\{([\w$]+) as default\};", text, re.DOTALL).groups()  # type: ignore[union-attr]
    assert "\n" not in body and "`" not in body
    return f"(function(){{{body}return {exported}}})()"


HOST: dict[str, Any] = {
    "regex.Match": lambda pattern, text: re.search(pattern, text) is not None,
    "jsonpath.Find": lambda value, path: {"$..id": [1, 2], "$.items[?(@.id==2)]": [{"id": 2}], "$..nothing": []}[path],
}


class Realm:
    """One context with the parts `assert`, `equal` and `explain`, which are evaluated on first use."""

    def __init__(self, before: str = "", **answers: Any) -> None:
        self.asked: list[Any] = []
        self.answers = HOST | {name.replace("_", "."): answer for name, answer in answers.items()}
        self.context = _quickjs.Context()
        self.context.set_max_stack_size(1 << 19)
        self.context.add_callable("$host", self.host)
        self.context.eval(
            f"globalThis.$parts = {json.dumps({name: part(name) for name in ('assert', 'equal', 'explain')})}"
        )
        self.context.eval(kernel())
        self.context.eval(before + ";0")

    def host(self, name: str, args: str) -> str:
        self.asked.append([name, *json.loads(args)])
        try:
            answer = self.answers[name]
            return json.dumps({"ok": answer(*json.loads(args)) if callable(answer) else answer})
        except Exception as error:
            return json.dumps({"error": str(error)})

    def run(self, expression: str) -> Any:
        """The value of an expression that makes a JSON text."""
        return json.loads(self.context.eval(f"(() => {{ {DECLARATIONS} return {expression} }})()"))

    def check(self, name: str, args: str) -> dict[str, Any]:
        result = self.run(f"$.check({name!r}, [{args}])")
        if result is None:
            while self.context.execute_pending_job():
                pass
            result = json.loads(self.context.eval("$.settled()"))
        return dict(result)

    def failure(self, name: str, args: str) -> dict[str, Any]:
        return dict(self.check(name, args)["outcome"])


DECLARATIONS = """
class Point { constructor(x) { this.x = x } }
class Dot { constructor(x) { this.x = x } }
class Money extends Map { get [Symbol.toStringTag]() { return "Money" } }
const Twin = (() => { class Point { constructor(x) { this.x = x } } return Point })();
const cycle = (length) => {
  const first = {};
  let last = first;
  while (--length) last = last.next = {};
  last.next = first;
  return first;
};
const nest = (depth, wrap, end) => { let value = end; while (depth--) value = wrap(value); return value };
const deep = (depth, end) => { let value = end; while (depth--) value = { in: [value] }; return value };
const shared = (depth) => { let value = {}; while (depth--) value = { l: value, r: value }; return value };
const range = (n) => Array.from({ length: n }, (_, i) => i);
const f = () => 1, s = Symbol("s");
const selfSet = () => { const set = new Set(); set.add(set); return set };
const throws = () => Object.defineProperty({}, "x", { enumerable: true, get() { throw new Error("no") } });
const revoked = () => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy };
const hostile = () => new Proxy({}, { get() { throw 1 }, ownKeys() { throw 2 }, getPrototypeOf() { throw 3 } });
"""
