/** Which functions call `t.only`, and so leave the tests beside them out, in code that the compiler printed. */

import { type Node, allChildren, allNodes, child, children, isCall, isMember, programOf } from "./tree";

export interface Focus {
  /** whether the function itself does, in one of its own statements */
  only: boolean;
  /** whether a subtest that is written in it does */
  focused: boolean;
  /** names of functions declared elsewhere that are subtests in it */
  names: string[];
}

const FUNCTIONS = new Set("ArrowFunctionExpression FunctionDeclaration FunctionExpression ObjectMethod".split(" "));
/** Method that has subtests → which argument is their function. */
const SUBTESTS = new Map([
  ["run", 1],
  ["each", 2],
]);

/** @param source of one function, as the engine has it */
export function focusOf(source: string): Focus {
  const root = functionIn(source);
  const found: Focus = { only: false, focused: false, names: [] };
  if (!root) return found;
  found.only = callsOnly(root);
  const declared = new Map<string, Node>();
  for (const node of allNodes(root)) {
    const value = node.type === "VariableDeclarator" ? child(node, "init") : node.type === "FunctionDeclaration" ? node : null;
    const id = value && value !== root ? child(node, "id") : null;
    if (value && id?.type === "Identifier") declared.set(id.name as string, value);
  }
  for (const subtest of subtestsIn(root)) {
    const name = subtest.type === "Identifier" ? (subtest.name as string) : "";
    const body = name ? declared.get(name) : subtest;
    if (!body) found.names.push(name);
    else if (FUNCTIONS.has(body.type) && callsOnly(body)) found.focused = true;
  }
  return found;
}

/** The function of a source, which may be that of a method. */
function functionIn(source: string): Node | undefined {
  for (const text of [`(${source})`, `({${source}})`]) {
    try {
      for (const node of allNodes(programOf(text, ".js"))) if (FUNCTIONS.has(node.type)) return node;
    } catch (error) {
      if ((error as Error).name !== "SyntaxError") throw error;
    }
  }
  return undefined;
}

/** The functions that are given to `run` and `each`, but those within one of them. */
function* subtestsIn(node: Node): Generator<Node> {
  for (const inner of allChildren(node)) {
    const at = SUBTESTS.get(methodOf(inner));
    const given = at === undefined ? undefined : children(inner, "arguments")[at];
    if (given) yield given;
    else yield* subtestsIn(inner);
  }
}

/** The name of the method that a node calls; empty if it calls none. */
function methodOf(node: Node): string {
  const callee = isCall(node) ? child(node, "callee")! : null;
  return callee && isMember(callee) && !callee.computed ? String(child(callee, "property")!.name) : "";
}

function callsOnly(body: Node): boolean {
  const parameter = children(body, "params")[0];
  if (parameter?.type !== "Identifier") return false;
  return statementsOf(body).some((statement) => {
    let node: Node | null = statement.type === "ExpressionStatement" ? child(statement, "expression") : statement;
    if (node?.type === "YieldExpression" || node?.type === "AwaitExpression") node = child(node, "argument");
    if (!node || methodOf(node) !== "only") return false;
    const object = child(child(node, "callee")!, "object")!;
    return object.type === "Identifier" && object.name === parameter.name;
  });
}

/** The statements of a function; those of the generator, where the compiler made one of an asynchronous function. */
function statementsOf(body: Node): Node[] {
  let block = child(body, "body")!;
  for (let depth = 0; depth < 2; depth++) {
    const statements = block.type === "BlockStatement" ? children(block, "body") : [block];
    const last = statements.length === 1 ? statements[0] : null;
    const call = last?.type === "ReturnStatement" ? child(last, "argument") : last;
    const inner = call && isCall(call) ? children(call, "arguments").at(-1) : undefined;
    if (inner?.type !== "FunctionExpression" || !inner.generator) return statements;
    block = child(inner, "body")!;
  }
  return children(block, "body");
}
