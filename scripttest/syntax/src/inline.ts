/** Calls of `t.snapshot.inline` in the source of a test. */

import { type Node, allNodes, child, children, isCall, isMember, programOf } from "./tree";

export interface InlineCall {
  /** offsets in characters, not in units of UTF-16, as all others here */
  start: number;
  end: number;
  /** the end of the last argument, or of the comma behind it; null when there is none */
  given: number | null;
  hasComma: boolean;
  /** the last of several arguments, if it is a plain text: where it begins and ends */
  text: [number, number] | null;
}

const CASTS = new Set(["TSInstantiationExpression", "TSNonNullExpression"]);

/** @param suffix the end of the file's name, `.ts` */
export function inlineCalls(source: string, suffix: string): InlineCall[] {
  const at = /[\ud800-\udfff]/.test(source) ? (unit: number) => [...source.slice(0, unit)].length : (unit: number) => unit;
  return [...allNodes(programOf(source, suffix, true))].filter(isInline).map((node) => {
    const given = children(node, "arguments");
    const last = given.at(-1);
    const comma = last ? /^(?:\s|\/\*[^]*?\*\/|\/\/.*)*,/.exec(source.slice(last.end, node.end)) : null;
    const isText = last?.type === "StringLiteral" || (last?.type === "TemplateLiteral" && plain(last));
    return {
      start: at(node.start),
      end: at(node.end),
      given: last ? at(last.end + (comma ? comma[0].length : 0)) : null,
      hasComma: comma !== null,
      text: isText && given.length > 1 ? [at(last!.start), at(last!.end)] : null,
    };
  });
}

function isInline(node: Node): boolean {
  if (!isCall(node) || node.type === "NewExpression") return false;
  let callee = child(node, "callee")!;
  while (CASTS.has(callee.type)) callee = child(callee, "expression")!;
  const name = isMember(callee) ? child(callee, "property")! : callee;
  if (isMember(callee) && callee.computed) return name.value === "inline" || (name.type === "TemplateLiteral" && rawOf(name) === "inline");
  return name.type === "Identifier" && name.name === "inline";
}

function plain(template: Node): boolean {
  return children(template, "expressions").length === 0;
}

function rawOf(template: Node): string {
  return plain(template) ? (children(template, "quasis")[0].value as { raw: string }).raw : "";
}
