/**
 * Which value was not a function: the engine reports a position alone.
 *
 * The position of a call is the last one that the engine recorded before the call. That may be the position of a name,
 * of an operand, or of another call, even of one in the arguments. So the position belongs to the call there, or to a
 * call around it whose other arguments record no position. All of these are candidates. If the code is ambiguous, there
 * are none.
 */

import { type Node, child, children, isCall, isMember, pathTo, programOf, words } from "./tree";

/** Characters of a callee that are shown. */
const LONGEST = 60;
const NAMES_OR_LITERALS = words(
  "BigIntLiteral BooleanLiteral Identifier NullLiteral NumericLiteral PrivateName RegExpLiteral StringLiteral" +
    " ThisExpression",
);
/** What records no position and holds no name. */
const NAMELESS = words(
  "ArrayExpression BigIntLiteral BinaryExpression NumericLiteral RegExpLiteral StringLiteral TemplateElement" +
    " TemplateLiteral UnaryExpression",
);
const QUIET = words(
  "BigIntLiteral BooleanLiteral NullLiteral NumericLiteral RegExpLiteral StringLiteral ThisExpression TemplateElement",
);

/** Thrown where the code is of a kind that is not followed. */
class Doubt extends Error {}

/** The callees of the calls that the engine may mean by a place, inner ones first, each once. */
export function callees(code: string, place: number): string[] {
  const path = pathTo(programOf(code, ".js", true), place);
  try {
    return [...new Set([...called(code, path, place)].map((call) => textOf(code, child(call, "callee")!)))];
  } catch (error) {
    if (error instanceof Doubt) return [];
    throw error;
  }
}

function* called(code: string, path: Node[], place: number): Generator<Node> {
  let at = path.length - 1;
  const first = path[at];
  if (first.start !== place || !(NAMES_OR_LITERALS.has(first.type) || isQuiet(code, first))) throw new Doubt();
  const own = path[at - 1];
  if (isMember(own) && child(own, "property") === first && !own.computed) at--;
  const start = at;
  while (isMember(path[at - 1]) && child(path[at - 1], "object") === path[at]) at--;
  const parent = path[at - 1];
  if (parent.type === "TaggedTemplateExpression") throw new Doubt();
  const isCallee = isCall(parent) && child(parent, "callee") === path[at] && code[parent.end - 1] === ")";
  const isNew = parent.type === "NewExpression" && child(parent, "callee")?.start === place;
  if (isCallee && (at === start || isNew || path[at].computed)) {
    yield parent;
    at--;
  }
  yield* around(code, path, at);
}

/** The calls whose arguments end after a node of a path, as far as nothing before their end records a position. */
function* around(code: string, path: Node[], from: number): Generator<Node> {
  for (let at = from; at > 0; at--) {
    const node = path[at];
    const parent = path[at - 1];
    const is = (field: string) => child(parent, field) === node;
    const listed = (field: string) => {
      const all = children(parent, field);
      return all.slice(all.indexOf(node) + 1).every((later) => isQuiet(code, later));
    };
    switch (parent.type) {
      case "CallExpression":
      case "NewExpression":
      case "OptionalCallExpression":
        if (is("callee") ? children(parent, "arguments").some(hasName) : !listed("arguments")) return;
        yield parent;
        break;
      case "MemberExpression":
      case "OptionalMemberExpression":
        if (is("object") && !(parent.computed ? isQuiet(code, child(parent, "property")!) : !isCalled(parent, path[at - 2]))) return;
        break;
      case "ArrayExpression":
        if (!listed("elements")) return;
        break;
      case "ObjectExpression":
        if (!listed("properties")) return;
        break;
      case "SequenceExpression":
        if (!listed("expressions")) return;
        break;
      case "ConditionalExpression":
        if (is("test") || (is("consequent") && !isQuiet(code, child(parent, "alternate")!))) return;
        break;
      case "AssignmentExpression":
      case "BinaryExpression":
      case "LogicalExpression":
        if (!is("right")) return;
        break;
      case "TemplateLiteral":
        throw new Doubt();
      case "AwaitExpression":
      case "ObjectProperty":
      case "ParenthesizedExpression":
      case "SpreadElement":
      case "UnaryExpression":
      case "YieldExpression":
        break;
      default:
        return;
    }
  }
}

/** Whether a node is the callee of a call, which records the position of its name. Reading a member records none. */
function isCalled(node: Node, parent: Node | undefined): boolean {
  return parent !== undefined && isCall(parent) && child(parent, "callee") === node;
}

/** Whether evaluating a node records no position. */
function isQuiet(code: string, node: Node): boolean {
  if (node === null || QUIET.has(node.type)) return true;
  if (node.type === "TemplateLiteral" && children(node, "expressions").length === 0) return true;
  if (code[node.start] === "(" || code[node.start] === "`") throw new Doubt();
  if (node.type === "ArrayExpression") return children(node, "elements").every((item) => isQuiet(code, item));
  if (node.type === "ObjectExpression") return children(node, "properties").every((item) => isQuiet(code, item));
  if (node.type === "ObjectProperty") {
    return !node.computed && !node.shorthand && isQuiet(code, child(node, "value")!);
  }
  return node.type === "SpreadElement" && isQuiet(code, child(node, "argument")!);
}

function hasName(node: Node): boolean {
  const operator = node.operator as string | undefined;
  if (!NAMELESS.has(node.type) || (operator && /\w/.test(operator))) return true;
  return ["elements", "expressions"].some((field) => children(node, field).some((one) => one && hasName(one))) ||
    ["left", "right", "argument"].some((field) => child(node, field) !== null && hasName(child(node, field)!));
}

function textOf(code: string, node: Node): string {
  const text = code.slice(node.start, node.end).replace(/\s*\n\s*/g, "");
  return text.length <= LONGEST ? text : `...${text.slice(3 - LONGEST)}`;
}
