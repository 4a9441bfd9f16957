/**
 * The mutators of StrykerJS, with its names and replacements; see its page "Supported mutators". What one makes of a node
 * is the text that StrykerJS reports, in the author's spacing.
 */

import { type Node, allNodes } from "../tree";
import { type At, type Source, child, children, isCallNode, isIdentifier } from "./at";

export interface Replacement {
  mutator: string;
  /** what StrykerJS, and every report, shows in place of the node */
  text: string;
  /** what is put there, where that is another text */
  code?: string;
  /** a statement that is left out in place of an expression that is replaced */
  removes?: boolean;
  /** the child of the node that is replaced by `code`, where that is not the node */
  inner?: Node;
  /** where `code` is put in, and nothing is replaced */
  insert?: number;
}

const ARITHMETIC: Record<string, string> = { "+": "-", "-": "+", "*": "/", "/": "*", "%": "*" };
const ASSIGNED: Record<string, string> = {
  "+=": "-=",
  "-=": "+=",
  "*=": "/=",
  "/=": "*=",
  "%=": "*=",
  "<<=": ">>=",
  ">>=": "<<=",
  "&=": "|=",
  "|=": "&=",
  "&&=": "||=",
  "||=": "&&=",
  "??=": "&&=",
};
const COMPARED: Record<string, string[]> = {
  "<": ["<=", ">="],
  "<=": ["<", ">"],
  ">": [">=", "<="],
  ">=": [">", "<"],
  "==": ["!="],
  "!=": ["=="],
  "===": ["!=="],
  "!==": ["==="],
};
const LOGICAL: Record<string, string> = { "&&": "||", "||": "&&", "??": "&&" };
const UNARY: Record<string, string> = { "+": "-", "-": "+", "~": "" };
const REMOVED = new Set("charAt filter reverse slice sort substr substring trim".split(" "));
const SWAPPED: Record<string, string> = {
  endsWith: "startsWith",
  startsWith: "endsWith",
  every: "some",
  some: "every",
  toLocaleLowerCase: "toLocaleUpperCase",
  toLocaleUpperCase: "toLocaleLowerCase",
  toLowerCase: "toUpperCase",
  toUpperCase: "toLowerCase",
  trimEnd: "trimStart",
  trimStart: "trimEnd",
  min: "max",
  max: "min",
  setDate: "setTime",
  setTime: "setDate",
  setFullYear: "setMonth",
  setMonth: "setFullYear",
  setHours: "setMinutes",
  setMinutes: "setHours",
  setSeconds: "setMilliseconds",
  setMilliseconds: "setSeconds",
  setUTCDate: "setTime",
  setUTCFullYear: "setUTCMonth",
  setUTCMonth: "setUTCFullYear",
  setUTCHours: "setUTCMinutes",
  setUTCMinutes: "setUTCHours",
  setUTCSeconds: "setUTCMilliseconds",
  setUTCMilliseconds: "setUTCSeconds",
};
const TEXTS = new Set(["StringLiteral", "TemplateLiteral"]);
const LOOPS = new Set(["ForStatement", "WhileStatement", "DoWhileStatement"]);
const HERE = "Stryker was here!";
/** Parents of a text in which it is a name, or cannot be another. */
const NAMING = new Set(
  "ImportDeclaration ExportNamedDeclaration ExportAllDeclaration ExportDefaultDeclaration ExportSpecifier TSExternalModuleReference JSXAttribute ExpressionStatement TSLiteralType ObjectMethod ImportAttribute".split(" "),
);

/** Type of a node → what its mutators make of it. */
const MUTATORS: Record<string, (at: At, source: Source) => Iterable<Replacement>> = {
  BinaryExpression: ({ node }, source) => binary(node, source),
  LogicalExpression: ({ node }, source) => [{ mutator: "LogicalOperator", text: logical(node, source) }],
  AssignmentExpression: ({ node }, source) => assignment(node, source),
  ArrayExpression: ({ node }) => [{ mutator: "ArrayDeclaration", text: children(node, "elements").length ? "[]" : '["Stryker was here"]' }],
  ObjectExpression: ({ node }) => (children(node, "properties").length ? [{ mutator: "ObjectLiteral", text: "{}" }] : []),
  ArrowFunctionExpression: ({ node }) => arrow(node),
  BlockStatement: (at) => (children(at.node, "body").length && !isBoundConstructor(at) ? [{ mutator: "BlockStatement", text: "{}" }] : []),
  BooleanLiteral: ({ node }) => [{ mutator: "BooleanLiteral", text: String(!node.value) }],
  UnaryExpression: ({ node }, source) => unary(node, source),
  UpdateExpression: ({ node }, source) => [update(node, source)],
  CallExpression: ({ node }, source) => call(node, source),
  OptionalCallExpression: ({ node }, source) => call(node, source),
  NewExpression: ({ node }) => arrayCall(node),
  OptionalMemberExpression: ({ node }, source) => (node.optional ? [unchained(node, source)] : []),
  RegExpLiteral: ({ node }) =>
    patterns(node.pattern as string, node.flags as string).map((pattern) => ({ mutator: "Regex", text: `/${pattern}/${node.flags as string}` })),
  StringLiteral: (at) => text(at),
  TemplateLiteral: ({ node }) => [{ mutator: "StringLiteral", text: isEmptyTemplate(node) ? `\`${HERE}\`` : "``" }],
  ForStatement: ({ node }, source) => (node.test ? [] : [endlessFor(node, source)]),
  SwitchCase: ({ node }, source) =>
    children(node, "consequent").length ? [{ mutator: "ConditionalExpression", text: source.text.slice(node.start, caseHead(node, source)) }] : [],
};

/** The replacements of a node. */
export function* standard(at: At, source: Source): Generator<Replacement> {
  yield* MUTATORS[at.node.type]?.(at, source) ?? [];
  if (at.node.type !== "RegExpLiteral") yield* truth(at);
}

/** The offset behind the colon of a case. */
export function caseHead(node: Node, source: Source): number {
  const test = child(node, "test");
  return source.find(":", test?.end ?? node.start, node.end) + 1;
}

/** What a condition becomes: always true, always false. */
function* truth({ node, key, parent }: At): Generator<Replacement> {
  const mutator = "ConditionalExpression";
  if (parent === null) return;
  if (key === "test" && LOOPS.has(parent.node.type)) yield { mutator, text: "false" };
  else if (key === "test" && parent.node.type === "IfStatement") {
    yield { mutator, text: "true" };
    yield { mutator, text: "false" };
  } else if (isBoolean(node)) {
    const around = parent.node.type === "LogicalExpression" ? parent.node.operator : "";
    if (around !== "||") yield { mutator, text: "true" };
    if (around !== "&&") yield { mutator, text: "false" };
  }
}

function isBoolean(node: Node): boolean {
  const operator = node.operator as string;
  return (node.type === "BinaryExpression" && operator in COMPARED) || (node.type === "LogicalExpression" && operator !== "??");
}

function withOperator(node: Node, source: Source, operator: string): string {
  const old = node.operator as string;
  const at = source.operator(child(node, "left")!, child(node, "right")!, old);
  return source.with(node, at, at + old.length, operator);
}

/** `a || b || c` becomes `(a || b) && c`, for `&&` binds more tightly. */
function logical(node: Node, source: Source): string {
  const operator = LOGICAL[node.operator as string];
  const left = child(node, "left")!;
  const text = withOperator(node, source, operator);
  const isLoose = left.type === "LogicalExpression" && left.start === node.start && left.operator !== "&&" && operator === "&&";
  return isLoose ? `(${source.of(left)})${text.slice(left.end - node.start)}` : text;
}

function* binary(node: Node, source: Source): Generator<Replacement> {
  const operator = node.operator as string;
  const left = child(node, "left")!;
  const last = left.type === "BinaryExpression" ? child(left, "right")! : left;
  if (operator in ARITHMETIC && !TEXTS.has(child(node, "right")!.type) && !TEXTS.has(last.type)) {
    yield { mutator: "ArithmeticOperator", text: withOperator(node, source, ARITHMETIC[operator]) };
  }
  for (const other of COMPARED[operator] ?? []) {
    yield { mutator: "EqualityOperator", text: withOperator(node, source, other) };
  }
}

function* assignment(node: Node, source: Source): Generator<Replacement> {
  const operator = ASSIGNED[node.operator as string];
  const isLogical = /[&|?]{2}=/.test(node.operator as string);
  if (operator === undefined || (TEXTS.has(child(node, "right")!.type) && !isLogical)) return;
  yield { mutator: "AssignmentOperator", text: withOperator(node, source, operator) };
}

function* arrow(node: Node): Generator<Replacement> {
  const body = child(node, "body")!;
  if (body.type !== "BlockStatement" && !isIdentifier(body, "undefined")) yield { mutator: "ArrowFunction", text: "() => undefined" };
}

function* unary(node: Node, source: Source): Generator<Replacement> {
  const operator = node.operator as string;
  const rest = source.text.slice(node.start + 1, node.end).trimStart();
  const argument = source.of(child(node, "argument")!);
  if (operator === "!") yield { mutator: "BooleanLiteral", text: argument, code: rest };
  if (!(operator in UNARY)) return;
  const [shown, code] = UNARY[operator] ? [UNARY[operator] + rest, undefined] : [argument, rest];
  yield { mutator: "UnaryOperator", text: shown, code };
}

function update(node: Node, source: Source): Replacement {
  const operator = node.operator === "++" ? "--" : "++";
  const at = node.prefix ? node.start : node.end - 2;
  return { mutator: "UpdateOperator", text: source.with(node, at, at + 2, operator) };
}

function* arrayCall(node: Node): Generator<Replacement> {
  if (!isIdentifier(child(node, "callee"), "Array")) return;
  const given = children(node, "arguments").length ? "" : "[]";
  yield { mutator: "ArrayDeclaration", text: `${node.type === "NewExpression" ? "new " : ""}Array(${given})` };
}

function* call(node: Node, source: Source): Generator<Replacement> {
  yield* arrayCall(node);
  const callee = child(node, "callee")!;
  const name = callee.type.endsWith("MemberExpression") ? child(callee, "property")! : null;
  yield* method(node, name, source, "MethodExpression", SWAPPED, REMOVED);
  if (node.type === "OptionalCallExpression" && node.optional) yield unchained(node, source);
}

/** What becomes of the call of a method, by its name: another method, or what it was called on. */
export function* method(node: Node, name: Node | null, source: Source, mutator: string, swapped: Record<string, string>, removed: Set<string>): Generator<Replacement> {
  if (name?.type !== "Identifier") return;
  const written = name.name as string;
  const callee = child(node, "callee")!;
  if (Object.hasOwn(swapped, written)) yield { mutator, text: source.with(node, name.start, name.end, swapped[written]) };
  else if (removed.has(written)) yield { mutator, text: source.of(child(callee, "object")!), code: source.text.slice(node.start, source.objectEnd(callee)) };
}

/** A link of an optional chain that is no longer optional. */
function unchained(node: Node, source: Source): Replacement {
  const isCall = isCallNode(node);
  const before = child(node, isCall ? "callee" : "object")!;
  const at = source.find("?.", before.end, node.end);
  const behind = isCall || node.computed ? "" : ".";
  return { mutator: "OptionalChaining", text: source.with(node, at, at + 2, behind) };
}

function* text(at: At): Generator<Replacement> {
  const { node, key, parent } = at;
  const value = node.value as string;
  const around = parent?.node;
  if (around?.type === "NewExpression" && isIdentifier(child(around, "callee"), "RegExp") && children(around, "arguments")[0] === node) {
    const flags = children(around, "arguments")[1]?.value as string | undefined;
    for (const pattern of patterns(value, flags)) yield { mutator: "Regex", text: JSON.stringify(pattern) };
  }
  const isName = NAMING.has(around?.type ?? "") || (key === "key" && /Property$/.test(around?.type ?? ""));
  const isNamed = around !== undefined && isCallNode(around) && /^(require|Symbol)$/.test(String(child(around, "callee")?.name ?? ""));
  const isImported = around?.type === "ImportExpression" || (around !== undefined && isCallNode(around) && child(around, "callee")?.type === "Import");
  if (!isName && !isNamed && !isImported) yield { mutator: "StringLiteral", text: value ? '""' : `"${HERE}"` };
}

function isEmptyTemplate(node: Node): boolean {
  const [first, ...others] = children(node, "quasis");
  return others.length === 0 && (first.value as { raw: string }).raw === "";
}

/** What mutates regular expressions, `../regex.ts`: from JSON to JSON. It is large, and loaded when it is first called. */
declare const $regex: (request: string) => string;

function patterns(pattern: string, flags: string | undefined): string[] {
  if (!pattern) return [];
  const { answer } = JSON.parse($regex(JSON.stringify({ question: "patterns", given: [pattern, flags] }))) as { answer: string[] };
  return answer;
}

function endlessFor(node: Node, source: Source): Replacement {
  const at = endlessTest(node, source);
  const end = child(node, "body")!.end;
  return { mutator: "ConditionalExpression", text: `${source.text.slice(node.start, at)} false${source.text.slice(at, end)}`, insert: at };
}

/** Where the test of a `for` without one would stand. */
function endlessTest(node: Node, source: Source): number {
  const init = child(node, "init");
  const from = init === null ? node.start : init.end - (source.text[init.end - 1] === ";" ? 1 : 0);
  return source.find(";", from, node.end) + 1;
}

/** Whether a block is the body of a constructor that has to call `super` first. */
function isBoundConstructor({ node, parent }: At): boolean {
  if (parent?.node.type !== "ClassMethod" || parent.node.kind !== "constructor") return false;
  const isBound =
    children(parent.node, "params").some(({ type }) => type === "TSParameterProperty") ||
    children(parent.parent!.node, "body").some((one) => one.type === "ClassProperty" && one.value);
  return isBound && [...allNodes(node)].some(({ type }) => type === "Super");
}
