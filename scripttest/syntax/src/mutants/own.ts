/** Mutators that StrykerJS does not have, each with its name in `docs/mutating.md`. */

import type { Node } from "../tree";
import { type At, type Source, bare, calleeName, child, children, isCallNode, isIdentifier } from "./at";
import { type Replacement, method } from "./standard";

/** Methods that are easily taken for each other. */
const SWAPPED: Record<string, string> = {
  push: "unshift",
  unshift: "push",
  pop: "shift",
  shift: "pop",
  find: "findLast",
  findLast: "find",
  findIndex: "findLastIndex",
  findLastIndex: "findIndex",
  indexOf: "lastIndexOf",
  lastIndexOf: "indexOf",
  padStart: "padEnd",
  padEnd: "padStart",
  floor: "ceil",
  ceil: "floor",
  keys: "values",
};
/** Methods that are left out, so that what they were called on stays. */
const REMOVED = new Set("concat flat map replace replaceAll toFixed toReversed toSorted".split(" "));
const STATEMENTS: Record<string, string> = {
  AssignmentExpression: "AssignmentRemoval",
  UpdateExpression: "AssignmentRemoval",
  CallExpression: "CallRemoval",
  OptionalCallExpression: "CallRemoval",
};
const PLAIN = new Set("BooleanLiteral NullLiteral StringLiteral TemplateLiteral NumericLiteral ArrayExpression ObjectExpression".split(" "));
const COMPARISONS = new Set(["==", "!=", "===", "!==", "<", "<=", ">", ">="]);

/** The replacements of a node that are no mutants of StrykerJS. */
export function* own(at: At, source: Source): Generator<Replacement> {
  const { node, key, parent } = at;
  if (key === "test" && (parent?.node.type === "IfStatement" || parent?.node.type === "ConditionalExpression")) yield* condition(at, source);
  switch (node.type) {
    case "NumericLiteral":
      yield* number(at);
      break;
    case "LogicalExpression":
      if (node.operator === "??") {
        yield { mutator: "NullishOperand", text: source.text.slice(node.start, bracketsBehind(child(node, "left")!, source)) };
        yield { mutator: "NullishOperand", text: source.of(child(node, "right")!) };
      }
      break;
    case "ExpressionStatement":
      yield* statement(node);
      break;
    case "ThrowStatement":
      yield { mutator: "ThrowRemoval", text: "", removes: true };
      break;
    case "ReturnStatement":
      yield* returned(at);
      break;
    case "AwaitExpression":
      yield awaited(node, source);
      break;
    case "CallExpression":
    case "OptionalCallExpression":
      yield* method(node, methodOf(node), source, "MethodSwap", SWAPPED, REMOVED);
      break;
    case "SpreadElement":
      if (parent !== null && !isCallNode(parent.node) && parent.node.type !== "NewExpression") yield spread(node, parent.node);
      break;
    case "AssignmentPattern":
      if (!isFalsy(child(node, "right")!)) yield { mutator: "DefaultRemoval", text: source.of(child(node, "left")!), code: "undefined", inner: child(node, "right")! };
  }
}

/** What a condition becomes when it is negated; one that is a comparison or `!x` is negated by a mutator of StrykerJS. */
function* condition({ node, parent }: At, source: Source): Generator<Replacement> {
  const plain = bare(node);
  const isNegatable = plain.type !== "UnaryExpression" && !(plain.type === "BinaryExpression" && COMPARISONS.has(plain.operator as string));
  if (isNegatable && plain.type !== "BooleanLiteral") yield { mutator: "ConditionNegation", text: `!(${source.of(node)})` };
  const isBoolean = plain.type === "LogicalExpression" || (plain.type === "BinaryExpression" && COMPARISONS.has(plain.operator as string));
  if (parent!.node.type === "ConditionalExpression" && !isBoolean && plain.type !== "BooleanLiteral") {
    yield { mutator: "TernaryCondition", text: "true" };
    yield { mutator: "TernaryCondition", text: "false" };
  }
}

/** A number becomes the next one, and 0. How long something waits is no matter of a test. */
function* number({ node, key, parent }: At): Generator<Replacement> {
  const isDelay = parent !== null && isCallNode(parent.node) && /^(setTimeout|setInterval|Sleep|time\.Sleep)$/.test(calleeName(parent.node));
  if (key === "key" || isDelay || (parent !== null && isVoid(parent.node))) return;
  const value = node.value as number;
  yield { mutator: "NumberLiteral", text: String(value + 1) };
  if (value > 1) yield { mutator: "NumberLiteral", text: "0" };
}

function* statement(node: Node): Generator<Replacement> {
  let expression = bare(child(node, "expression")!);
  if (expression.type === "AwaitExpression") expression = bare(child(expression, "argument")!);
  const mutator = STATEMENTS[expression.type];
  if (mutator !== undefined && child(expression, "callee")?.type !== "Super") yield { mutator, text: "", removes: true };
}

/** A return that is not the last thing of its function is left out; what one returns becomes `undefined`. */
function* returned({ node, parent }: At): Generator<Replacement> {
  const value = child(node, "argument");
  const list = parent?.node.type === "BlockStatement" ? children(parent.node, "body") : [node];
  const outer = parent?.node.type === "BlockStatement" ? parent.parent : parent;
  const isInBranch = outer !== null && outer !== undefined && !/Function|Method/.test(outer.node.type);
  if (isInBranch && list.at(-1) === node) yield { mutator: "ReturnRemoval", text: "", removes: true };
  if (value !== null && !PLAIN.has(bare(value).type) && !isIdentifier(value, "undefined") && !isVoid(value)) {
    yield { mutator: "ReturnValue", text: "return undefined;", code: "undefined", inner: value };
  }
}

/** Whether a default is what most code takes `undefined` for. */
function isFalsy(node: Node): boolean {
  return node.value === false || node.type === "NullLiteral" || isIdentifier(node, "undefined");
}

function isVoid(node: Node): boolean {
  return node.type === "UnaryExpression" && node.operator === "void";
}

function awaited(node: Node, source: Source): Replacement {
  const rest = source.text.slice(node.start + "await".length, node.end).trimStart();
  return { mutator: "AwaitRemoval", text: rest };
}

function methodOf(node: Node): Node | null {
  const callee = child(node, "callee")!;
  return /MemberExpression$/.test(callee.type) && !callee.computed ? child(callee, "property")! : null;
}

/** A spread that brings nothing: `...[]`, `...{}`. */
function spread(node: Node, parent: Node): Replacement {
  const argument = child(node, "argument")!;
  const nothing = parent.type === "ObjectExpression" ? "{}" : "[]";
  return { mutator: "SpreadRemoval", text: `...${nothing}`, code: nothing, inner: argument };
}

function bracketsBehind(node: Node, source: Source): number {
  let end = node.end;
  for (let at = end; at < source.text.length && /[\s)]/.test(source.text[at]); at++) if (source.text[at] === ")") end = at + 1;
  return end;
}
