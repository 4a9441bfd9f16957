/** Puts the expressions of `--watch-expr` into a file: each is evaluated after its line. */

import { Insertions } from "./text";
import { type Node, allNodes, child, children, programOf } from "./tree";

/** A line, from 1, an expression, and what names both. */
export type Watch = [line: number, expression: string, name: string];

const LISTS = ["body", "consequent", "alternate"];
const ENDS = /^(Return|Throw|Break|Continue)Statement$/;
const SILENT = /^(TS.*|Import.*|ExportAll.*|EmptyStatement|(Function|Class)Declaration)$/;

interface Statement {
  node: Node;
  /** the node that has it in a list, whose end is that of `export`, too */
  alone: boolean;
}

/**
 * The text with the expressions, or what is wrong: the number of the first watch that does not fit, and, when its line has no
 * code, the nearest one that has some; 0: none has. Throws a SyntaxError for an expression that is none.
 */
export function watched(source: string, suffix: string, watches: Watch[], program = programOf(source, suffix), insertions = new Insertions()) {
  const statements: Statement[] = [];
  const blocks: Node[] = [];
  for (const node of allNodes(program)) {
    if (node.type === "BlockStatement" || node.type === "StaticBlock") blocks.push(node);
    if (node.type.startsWith("Class") && node.type !== "ClassMethod" && node.type !== "ClassPrivateMethod") continue;
    for (const field of LISTS) {
      const inner = node[field];
      const all = Array.isArray(inner) ? (inner as Node[]) : inner ? [inner as Node] : [];
      for (const one of all) if (isStatement(one)) statements.push({ node: one, alone: !Array.isArray(inner) });
    }
  }
  for (const [number, [line, expression, name]] of watches.entries()) {
    const problem = problemOf(expression, suffix);
    if (problem) return { number, problem };
    if (!put(line, `$yaoWatch(${JSON.stringify(name)},()=>(${expression.trim()}));`)) {
      const lines = source.split(/\r\n|[\r\n\u2028\u2029]/).length;
      const from = Math.min(line, lines + 1);
      for (let away = 0; away <= lines; away++) {
        for (const near of [from - away, from + away]) if (near > 0 && put(near, "")) return { number, nearest: near };
      }
      return { number, nearest: 0 };
    }
  }
  return insertions.into(source);

  /** Puts a text behind what is on a line; false when there is no code. An empty text only looks. */
  function put(line: number, text: string): boolean {
    const own = statements.filter(({ node }) => node.loc.start.line === line && node.loc.end.line === line);
    const outer = own.filter(({ node }) => !own.some((other) => other.node !== node && around(other.node, node)));
    const last = outer.at(-1);
    if (last) {
      after(last, text);
      for (const one of own) if (one !== last && ENDS.test(one.node.type)) before(one, text);
      return true;
    }
    const opened = blocks.filter((node) => node.loc.start.line === line && node.loc.end.line > line).at(-1);
    if (opened) {
      const at = source.indexOf("{", opened.start) + 1;
      if (text) insertions.open(at, opened.end, text, 0);
      return true;
    }
    for (const node of allNodes(program)) {
      const [first] = node.type === "SwitchCase" ? children(node, "consequent") : [];
      if (first && node.loc.start.line === line) {
        if (text) insertions.open(first.start, first.end, text, 0);
        return true;
      }
    }
    const covers = (node: Node) => node.loc.start.line <= line && line <= node.loc.end.line;
    const within = statements.filter(({ node }) => covers(node)).at(-1);
    if (!within || blocks.some((block) => covers(block) && around(within.node, block))) return false;
    after(within, text);
    return true;
  }

  function after({ node, alone }: Statement, text: string): void {
    if (ENDS.test(node.type)) return before({ node, alone }, text);
    if (!text) return;
    if (alone) insertions.wrap(node.start, node.end, "{", `;${text}}`, 3);
    else insertions.close(node.start, node.end, `;${text}`, 3);
  }

  function before({ node, alone }: Statement, text: string): void {
    if (!text) return;
    if (alone) insertions.wrap(node.start, node.end, `{${text}`, "}", 0);
    else insertions.open(node.start, node.end, text, 0);
  }
}

/** Why a text is no expression that can be watched; empty: it is one. */
function problemOf(expression: string, suffix: string): string {
  const program = programOf(`(${expression.trim()}\n)`, suffix);
  const [only, ...more] = children(program, "body");
  if (only?.type !== "ExpressionStatement" || more.length || children(program, "directives").length) return "it is not an expression";
  for (const node of allNodes(child(only, "expression")!)) {
    if (node.type === "AwaitExpression" || node.type === "YieldExpression") return "a watched expression cannot use await";
  }
  return "";
}

function isStatement(node: Node): boolean {
  if (SILENT.test(node.type) || node.declare === true) return false;
  const declared = node.type.startsWith("Export") ? child(node, "declaration") : node;
  return declared !== null && /Statement$|^VariableDeclaration$|^Export/.test(node.type) && node.type !== "BlockStatement" && !SILENT.test(declared.type);
}

function around(outer: Node, inner: Node): boolean {
  return outer.start <= inner.start && inner.end <= outer.end;
}
