/** What statements throw, and what calls of `reject` reject with, as it is written. */

import { type Node, allNodes, child, children, isMember, programOf } from "./tree";

export interface Throw {
  /** its offset */
  start: number;
  word: "throw" | "reject";
  /** what it throws, without blanks */
  value: string;
}

/** The throws of a piece of code, without those that make an object, which says its place itself. */
export function throwsIn(code: string): Throw[] {
  const found: Throw[] = [];
  for (const node of allNodes(programOf(code, ".js", true))) {
    if (node.type === "ThrowStatement") {
      const { start, end } = child(node, "argument")!;
      add(node.start, "throw", start, end);
    } else if (node.type === "CallExpression") {
      const name = nameOf(child(node, "callee")!);
      const [first] = children(node, "arguments");
      if (name !== null) add(name, "reject", first?.start ?? node.end - 1, node.end - 1);
    }
  }
  return found;

  function add(at: number, word: Throw["word"], start: number, end: number) {
    const written = code.slice(start, end);
    if (!/^new\b/.test(written)) found.push({ start: at, word, value: written.replace(/\s+/g, "") });
  }
}

/** Where the name stands by which `reject` is called; null when something else is called. */
function nameOf(callee: Node): number | null {
  const name = isMember(callee) && !callee.computed ? child(callee, "property")! : callee;
  return name.type === "Identifier" && name.name === "reject" ? name.start : null;
}
