"""An application whose handlers are counted with `--coverage`, and a run of it."""

from __future__ import annotations

import json
from pathlib import Path

from agent_files import agent
from command import Application, Record

SHAPES = """\
import type { Kind } from "./types";
export type { Kind } from "./types";
export enum Color { Red = 1, Blue = Red || 2 }
namespace Inner { export function hidden(a?: number) { return a || 3; } }
export const pick = (x: number, { y = 2 }: any = {}) => x > 1 || y ? x : `é${x}`;
export class Box {
  handler = () => this.size;
  constructor(private readonly size: number = 2) {}
  kind(): Kind { switch (this.size) { case 1: return "one"; case 2: return "two"; default: return "many"; } }
}
export async function walk(n: number): Promise<number> {
  outer: for (let i = 0; i < n; i++) for (const q of [1, 2]) if (q > 1) continue outer; else await null;
  try { if (n > 9) throw new Error("é"); else if (n) return 1; } catch { return 2; }
  return Inner.hidden();
}
export const named = function () { return 1; };
export function boom(): number { const items: any = {}; return items.missing.deep; }
"""
SHAPES_TEST = """\
import { Box, boom, named, pick, walk } from "./shapes";
export async function TestShapes(t) {
  t.log(JSON.stringify([pick(1), pick(0, { y: 0 }), new Box().kind(), new Box(7).handler(), await walk(3)]));
  t.log(named.name, new Box().handler.name, Process("scripts.tool.Twice", 4));
}
export function TestBoom(t) { boom(); }
"""
HOOKS = """\
function Create(ctx: agent.Context, messages: any[]) {
  return messages.length > 5 ? { messages: [] } : { messages };
}
function Next(ctx: agent.Context, payload: any) {
  if (payload.never) {
    return { data: 1 };
  }
  return null;
}
"""
FILES = {
    **agent(hooks=HOOKS, cases=[{"id": "a", "input": "Hi"}, {"id": "b", "input": "Ho"}]),
    "shapes.ts": SHAPES,
    "shapes_test.ts": SHAPES_TEST,
    "types.ts": 'export type Kind = "one" | "two" | "many";\n',
    "unused.ts": "export function lonely(a: number) {\n  if (a) return 1;\n  return 2;\n}\n",
    "/scripts/tool.ts": "function Twice(n: number) {\n  return n * 2;\n}\n",
    "/scripts/tool_test.ts": "function TestNothing(t) {}\n",
}
SHAPES_PATH = "assistants/demo/src/shapes.ts"
FORMATS = ("coverage-final.json", "lcov.info", "cobertura.xml", "report.json", "report.jsonl", "report.html")


class Covered:
    """A run with `--coverage` and what it wrote."""

    def __init__(self, app: Application) -> None:
        self.app = app
        outputs = [word for name in FORMATS for word in ("-o", f"{app.home}/{name}")]
        self.run = app.run("-i", "assistants", "--coverage", "-v", *outputs)

    def text(self, name: str) -> str:
        return Path(f"{self.app.home}/{name}").read_text("utf-8")

    @property
    def files(self) -> dict[str, Record]:
        found: dict[str, Record] = json.loads(self.text("coverage-final.json"))
        return found
