/** What gets no mutants, and why: code that never runs, what only tells people something, and what a comment excludes. */

import { type Node, allChildren, allNodes, isCall } from "../tree";
import { bare, calleeName, child, children } from "./at";

interface Comment {
  value: string;
  start: number;
  end: number;
  loc: { start: { line: number } };
}

const HINT = /^\s*yao-test-ignore\s+mutate(?:\s*:\s*([^]*?))?\s*$/;
/** Calls that tell people something: a `*` stands for any name. */
const TELLING = ["console.*", "log.*"];
const ENDING = new Set("ReturnStatement ThrowStatement BreakStatement ContinueStatement".split(" "));
const HOISTED = new Set("FunctionDeclaration TSInterfaceDeclaration TSTypeAliasDeclaration".split(" "));

export interface LeftOut {
  /** Node → why neither it nor what is in it is mutated. */
  nodes: Map<Node, string>;
  /** Line → why nothing that begins in it is mutated. */
  lines: Map<number, string>;
}

/** @param calls further calls whose arguments are not mutated: names in which `*` stands for anything */
export function leftOut(program: Node, source: string, calls: string[]): LeftOut {
  const nodes = new Map<Node, string>();
  const lines = new Map<number, string>();
  const all = [...allNodes(program)];
  const telling = [...TELLING, ...calls].map(pattern);
  for (const comment of program.comments as Comment[]) {
    const hint = HINT.exec(comment.value);
    if (!hint) continue;
    const reason = hint[1] || "excluded by a comment";
    const before = source.slice(source.lastIndexOf("\n", comment.start - 1) + 1, comment.start);
    if (before.trim()) lines.set(comment.loc.start.line, reason);
    else {
      const node = following(all, comment.end);
      if (node) nodes.set(node, reason);
    }
  }
  for (const node of all) {
    for (const dead of deadIn(node)) nodes.set(dead, "it never runs");
    if (isCall(node)) {
      const name = calleeName(node);
      if (telling.some((one) => one.test(name))) nodes.set(node, `arguments of ${name} are not mutated`);
    } else if (node.type === "ExpressionStatement") {
      const call = bare(child(node, "expression")!);
      if (isCall(call) && telling.some((one) => one.test(calleeName(call)))) nodes.set(node, `calls of ${calleeName(call)} are not mutated`);
    }
  }
  for (const unused of unusedConstants(program)) nodes.set(unused, "the constant is unused");
  return { nodes, lines };
}

/** The outermost node that begins first behind an offset. */
function following(nodes: Node[], end: number): Node | undefined {
  let found: Node | undefined;
  for (const node of nodes) {
    if (node.start >= end && (!found || node.start < found.start || (node.start === found.start && node.end > found.end))) found = node;
  }
  return found;
}

function pattern(name: string): RegExp {
  return new RegExp(`^${name.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&")).join(".*")}$`);
}

function* deadIn(node: Node): Generator<Node> {
  const lists = [children(node, "body"), children(node, "consequent")].filter(Array.isArray);
  for (const list of lists) {
    const end = list.findIndex(({ type }) => ENDING.has(type));
    if (end >= 0) yield* list.slice(end + 1).filter((one) => !HOISTED.has(one.type));
  }
  const test = child(node, "test") ?? (node.type === "LogicalExpression" ? child(node, "left") : null);
  const known = test === null ? undefined : constant(test);
  if (known === undefined || node.type === "SwitchCase") return;
  if (node.type === "LogicalExpression") {
    if (node.operator !== "??" && (node.operator === "&&") !== known) yield child(node, "right")!;
    return;
  }
  const dead = child(node, known ? "alternate" : node.type.endsWith("Statement") && node.body ? "body" : "consequent");
  if (dead !== null && node.type !== "DoWhileStatement") yield dead;
  if (!known || node.type === "IfStatement" || node.type === "ConditionalExpression") yield test!;
}

function constant(node: Node): boolean | undefined {
  const plain = bare(node);
  if (plain.type === "BooleanLiteral") return plain.value as boolean;
  if (plain.type === "UnaryExpression" && plain.operator === "!") {
    const inner = constant(child(plain, "argument")!);
    return inner === undefined ? undefined : !inner;
  }
  return undefined;
}

/** The values of constants at the top of a module that nothing in it names and that it does not export. */
function* unusedConstants(program: Node): Generator<Node> {
  const counts = new Map<string, number>();
  for (const node of allNodes(program)) {
    if (node.type === "Identifier") counts.set(node.name as string, (counts.get(node.name as string) ?? 0) + 1);
  }
  for (const statement of children(program, "body")) {
    if (statement.type !== "VariableDeclaration" || statement.kind !== "const") continue;
    for (const one of children(statement, "declarations")) {
      const name = child(one, "id")!;
      const value = child(one, "init");
      if (name.type === "Identifier" && counts.get(name.name as string) === 1 && value && isPure(value)) yield value;
    }
  }
}

function isPure(node: Node): boolean {
  return !isCall(node) && [...allChildren(node)].every((inner) => /Function/.test(inner.type) || isPure(inner));
}
