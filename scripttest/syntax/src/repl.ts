/** Makes of what is typed at a prompt what a realm evaluates: what it declares stays for the next input. */

import { type Node, allChildren, allNodes, boundNames, child, children, isFunction, programOf } from "./tree";

type Edit = [start: number, end: number, text: string];

const ENDLESS = /^Unterminated (template|comment|block comment)/;

/**
 * What to evaluate: `code`, and whether it `waits`, so that it gives a promise of a list with the value; or that the text is no
 * whole input yet; or, of TypeScript, what the compiler has to translate first. Throws a SyntaxError.
 */
export function replInput(typed: string, isTypeScript: boolean): { more: true } | { typescript: string } | { code: string; waits: boolean; names: string[] } {
  let source = typed;
  let program: Node;
  try {
    if (/^\s*\{[^]*\}\s*$/.test(typed)) {
      try {
        program = programOf((source = `(${typed})`), ".ts");
      } catch {
        program = programOf((source = typed), ".ts");
      }
    } else program = programOf(source, ".ts");
  } catch (error) {
    const { pos, message } = error as Error & { pos?: number };
    if (ENDLESS.test(message) || (pos !== undefined && pos >= source.trimEnd().length)) return { more: true };
    throw error;
  }
  const edits: Edit[] = [];
  const names: string[] = [];
  if (isTypeScript && [...allNodes(program)].some(isTyped)) return { typescript: source };
  const body = children(program, "body");
  const waits = body.some(awaits);
  for (const node of body) declare(node, edits, names, waits);
  const last = body.at(-1);
  if (waits && last?.type === "ExpressionStatement") {
    const value = child(last, "expression")!;
    edits.push([last.start, last.start, "return ["], [endOf(value, source, last.end), last.end, "];"]);
  }
  let code = edited(source, edits);
  if (last?.type !== "ExpressionStatement") code += ";void 0";
  const declared = names.length ? `var ${names.join(",")};` : "";
  return { code: declared + (waits ? `(async()=>{${code}\n})()` : code), waits, names };
}

/** Turns a declaration into an assignment to a global, which later inputs may declare once more. */
function declare(node: Node, edits: Edit[], names: string[], waits: boolean): void {
  if (node.type === "VariableDeclaration") {
    const all = children(node, "declarations");
    edits.push([node.start, all[0].start, ";("]);
    for (const one of all) {
      names.push(...boundNames(child(one, "id")));
      if (!child(one, "init")) edits.push([one.end, one.end, "=undefined"]);
    }
    const end = all.at(-1)!.end;
    edits.push([end, node.end, ");"]);
  } else if (node.type === "ClassDeclaration" || (node.type === "FunctionDeclaration" && waits)) {
    const name = child(node, "id")!.name as string;
    names.push(name);
    edits.push([node.start, node.start, `${name}=`], [node.end, node.end, ";"]);
  }
}

/** Whether a node is one of TypeScript alone, which the compiler leaves out or rewrites. */
function isTyped(node: Node): boolean {
  const { type, accessibility, abstract, declare, decorators, definite, optional, readonly } = node;
  if (type.startsWith("Optional")) return false;
  return type.startsWith("TS") || [accessibility, abstract, declare, decorators, definite, optional, readonly].some(Boolean);
}

/** The end of an expression with the brackets around it, before an offset. */
function endOf(node: Node, source: string, before: number): number {
  let end = node.end;
  for (let open = node.start; /[(\s]/.test(source[open - 1] ?? "") && /^\s*\)/.test(source.slice(end, before)); ) {
    while (/\s/.test(source[open - 1] ?? "")) open--;
    if (source[open - 1] !== "(") break;
    open--;
    end = source.indexOf(")", end) + 1;
  }
  return end;
}

/** Whether something waits that is in no function. */
function awaits(node: Node): boolean {
  if (node.type === "AwaitExpression" || (node.type === "ForOfStatement" && node.await === true)) return true;
  if (isFunction(node) || node.type === "ArrowFunctionExpression" || node.type.startsWith("Class")) return false;
  return [...allChildren(node)].some(awaits);
}

/** The text with all edits; what lies in another one is left out. */
function edited(source: string, edits: Edit[]): string {
  let text = "";
  let at = 0;
  const found = edits.map((edit, number) => ({ edit, number })).sort((a, b) => a.edit[0] - b.edit[0] || a.number - b.number);
  for (const { edit: [start, end, put] } of found) {
    if (start < at) continue;
    text += source.slice(at, start) + put;
    at = Math.max(at, end);
  }
  return text + source.slice(at);
}
