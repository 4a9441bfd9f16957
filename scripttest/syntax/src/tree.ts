/** Syntax trees, as Babel's parser makes them: of the author's own TypeScript, and of code that the compiler printed. */

import { parse, type ParserPlugin } from "@babel/parser";

export interface Position {
  /** from 1 */
  line: number;
  /** from 0, in units of UTF-16 */
  column: number;
}

export interface Range {
  start: Position;
  end: Position;
}

export interface Node {
  type: string;
  /** offsets in the text, in units of UTF-16 */
  start: number;
  end: number;
  loc: Range;
  leadingComments?: { value: string }[];
  [field: string]: unknown;
}

const DECORATORS: ParserPlugin[] = ["decorators-legacy", "decorators"];
export const FUNCTIONS = words(
  "ArrowFunctionExpression ClassMethod ClassPrivateMethod FunctionDeclaration FunctionExpression ObjectMethod",
);
export const CALLS = words("CallExpression NewExpression OptionalCallExpression");
export const LOOPS = words("DoWhileStatement ForInStatement ForOfStatement ForStatement WhileStatement");
/** What says how an expression is typed, and is nothing at run time. */
const CASTS = words("TSAsExpression TSNonNullExpression TSSatisfiesExpression TSTypeAssertion");
/** Keys of nodes whose values are no part of the tree. */
const APART = words("type start end loc extra leadingComments trailingComments innerComments");

export function words(text: string): Set<string> {
  return new Set(text.split(" "));
}

/**
 * The program of a text. Rules that are no matter of reading, such as those about names, are left to the compiler.
 * Throws the parser's SyntaxError.
 *
 * @param suffix the end of the file's name, `.ts`: which languages it may contain
 * @param withBrackets whether brackets around expressions are nodes, `ParenthesizedExpression`
 */
export function programOf(source: string, suffix: string, withBrackets = false): Node {
  const languages: ParserPlugin[] = ["decoratorAutoAccessors", "deferredImportEvaluation", "explicitResourceManagement"];
  if (/^\.[mc]?tsx?$/.test(suffix)) languages.push("typescript");
  if (suffix.endsWith("x")) languages.push("jsx");
  let first: unknown;
  // The older form of decorators has those of parameters, the newer one `export @decorator class`. As a script, a text
  // may use the words that modules reserve.
  for (const sourceType of ["module", "script"] as const) {
    for (const decorators of DECORATORS) {
      try {
        const file = parse(source, {
          sourceType,
          plugins: [...languages, decorators],
          attachComment: source.includes("istanbul"),
          createParenthesizedExpressions: withBrackets,
          errorRecovery: true,
          allowAwaitOutsideFunction: true,
          allowNewTargetOutsideFunction: true,
          allowReturnOutsideFunction: true,
          allowSuperOutsideMethod: true,
          allowUndeclaredExports: true,
        });
        return Object.assign(file.program as unknown as Node, { comments: file.comments });
      } catch (error) {
        first ??= error;
      }
    }
  }
  throw first;
}

/** A child of a node; null when it has none of this name. */
export function child(node: Node, field: string): Node | null {
  return (node[field] ?? null) as Node | null;
}

/** Several children, such as the statements of a block. */
export function children(node: Node, field: string): Node[] {
  return (node[field] ?? []) as Node[];
}

/** All children of a node, each with the name of the field that it is in. */
export function* fieldsOf(node: Node): Generator<[string, Node]> {
  for (const key in node) {
    if (APART.has(key)) continue;
    const value = node[key];
    if (Array.isArray(value)) {
      for (const one of value) if (isNode(one)) yield [key, one];
    } else if (isNode(value)) yield [key, value];
  }
}

/** All children of a node. */
export function* allChildren(node: Node): Generator<Node> {
  for (const [, one] of fieldsOf(node)) yield one;
}

/** A node and all in it, each before what is in it. */
export function* allNodes(node: Node): Generator<Node> {
  yield node;
  for (const inner of allChildren(node)) yield* allNodes(inner);
}

/** All that is in a node, but what is in a function in it. */
export function* ownNodes(node: Node): Generator<Node> {
  for (const inner of allChildren(node)) {
    yield inner;
    if (!isFunction(inner)) yield* ownNodes(inner);
  }
}

/** An expression without what only types it. */
export function bare(node: Node): Node {
  let plain = node;
  while (CASTS.has(plain.type)) plain = child(plain, "expression")!;
  return plain;
}

/** The name that a node writes, `x`, `#x` or `"x"`; null when it is none or is computed. */
export function writtenName(node: Node | null): string | null {
  switch (node?.type) {
    case "Identifier":
      return node.name as string;
    case "PrivateName":
      return `#${(node.id as Node).name as string}`;
    case "StringLiteral":
    case "NumericLiteral":
    case "BigIntLiteral":
      return String(node.value);
    default:
      return null;
  }
}

/** The names that a pattern binds. */
export function boundNames(node: Node | null): string[] {
  switch (node?.type) {
    case "Identifier":
      return node.name === "this" ? [] : [node.name as string];
    case "ObjectPattern":
      return children(node, "properties").flatMap((one) => boundNames(one.type === "RestElement" ? one : child(one, "value")));
    case "ArrayPattern":
      return children(node, "elements").filter(Boolean).flatMap((one) => boundNames(one));
    case "AssignmentPattern":
      return boundNames(child(node, "left"));
    case "RestElement":
      return boundNames(child(node, "argument"));
    case "TSParameterProperty":
      return boundNames(child(node, "parameter"));
    default:
      return [];
  }
}

/** The nodes around a place, from the program to the innermost one, which may only begin there. */
export function pathTo(program: Node, place: number): Node[] {
  const path = [program];
  for (let node: Node | undefined = program; node; ) {
    node = [...allChildren(node)].find(({ start, end }) => start <= place && place < end);
    if (node) path.push(node);
  }
  return path;
}

/** Whether a node is a function with a body of statements. */
export function isFunction(node: Node): boolean {
  return FUNCTIONS.has(node.type) && child(node, "body")?.type === "BlockStatement";
}

/** Whether a node calls something: a call, or `new` with brackets or without. */
export function isCall(node: Node): boolean {
  return CALLS.has(node.type);
}

/** Whether a node is `a.b`, `a?.b` or `a[b]`. */
export function isMember(node: Node): boolean {
  return node.type === "MemberExpression" || node.type === "OptionalMemberExpression";
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as Node).type === "string";
}

/**
 * A function that answers requests, JSON of `{question, given}`: which of some functions is called with what. It answers
 * `{answer}`, or `{unread}` when the parser cannot read a text: why and where, `Unexpected token at 2:5`.
 */
export function answering(questions: Record<string, (...given: never[]) => unknown>): (request: string) => string {
  return (request) => {
    const { question, given } = JSON.parse(request) as { question: string; given: never[] };
    try {
      return JSON.stringify({ answer: questions[question](...given) });
    } catch (error) {
      const { name, message, loc } = error as Error & { loc?: Position };
      if (name !== "SyntaxError") throw error;
      const at = loc === undefined ? "" : ` at ${loc.line}:${loc.column + 1}`;
      return JSON.stringify({ unread: message.replace(/ \(\d+:\d+\)$/, "") + at });
    }
  };
}
