/** The syntax tree of a file in the author's own TypeScript, as Babel's parser makes it. */

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
/** Keys of nodes whose values are no part of the tree. */
const APART = new Set("type start end loc extra leadingComments trailingComments innerComments".split(" "));

/**
 * The program of a text. Rules that are no matter of reading, such as those about names, are left to the compiler.
 * Throws the parser's SyntaxError.
 *
 * @param suffix the end of the file's name, `.ts`: which languages it may contain
 */
export function programOf(source: string, suffix: string): Node {
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

/** All children of a node. */
export function* allChildren(node: Node): Generator<Node> {
  for (const key in node) {
    if (APART.has(key)) continue;
    const value = node[key];
    if (Array.isArray(value)) {
      for (const one of value) if (isNode(one)) yield one;
    } else if (isNode(value)) yield value;
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as Node).type === "string";
}
