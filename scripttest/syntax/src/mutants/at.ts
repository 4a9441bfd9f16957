/** A node of a tree and where it stands in that. */

import { type Node, bare, child, children } from "../tree";

export interface At {
  node: Node;
  /** the name of the field of the parent that it is in */
  key: string;
  parent: At | null;
}

const CALLS = new Set(["CallExpression", "OptionalCallExpression"]);

/** The texts of one source. */
export class Source {
  constructor(readonly text: string) {}

  of(node: Node): string {
    return this.text.slice(node.start, node.end);
  }

  /** A node with another text in place of one in it. */
  with(node: Node, start: number, end: number, text: string): string {
    return this.text.slice(node.start, start) + text + this.text.slice(end, node.end);
  }

  /** Where an operator stands between two operands, each of which may be in brackets. */
  operator(after: Node, before: Node, operator: string): number {
    return this.find(operator, after.end, before.start);
  }

  /** Where a text stands first between two offsets, in no comment. */
  find(wanted: string, from: number, to: number): number {
    return this.#find(from, to, (at) => this.text.startsWith(wanted, at));
  }

  /** The end of what a member is read of, with its brackets. */
  objectEnd(member: Node): number {
    const object = child(member, "object")!;
    const name = child(member, "property")!;
    const is = (at: number) => this.text[at] === "." || this.text.startsWith("?.", at) || this.text[at] === "[" || this.text[at] === "!";
    return this.#find(object.end, name.start, is, true);
  }

  #find(from: number, to: number, is: (at: number) => boolean, behindBrackets = false): number {
    let end = from;
    for (let at = from; at < to; at++) {
      if (this.text.startsWith("/*", at)) at = this.text.indexOf("*/", at) + 1;
      else if (this.text.startsWith("//", at)) at = this.text.indexOf("\n", at);
      else if (is(at)) return behindBrackets ? end : at;
      else if (this.text[at] === ")") end = at + 1;
    }
    return from;
  }
}

export function isCallNode(node: Node): boolean {
  return CALLS.has(node.type);
}

/** The name that a call is written with, `console.log`; empty when it is no chain of names. */
export function calleeName(node: Node): string {
  let callee = bare(child(node, "callee")!);
  const names: string[] = [];
  while ((callee.type === "MemberExpression" || callee.type === "OptionalMemberExpression") && !callee.computed) {
    names.unshift(child(callee, "property")!.name as string);
    callee = bare(child(callee, "object")!);
  }
  if (callee.type === "ThisExpression") return ["this", ...names].join(".");
  return callee.type === "Identifier" ? [callee.name as string, ...names].join(".") : "";
}

export function isIdentifier(node: Node | null, name?: string): boolean {
  return node?.type === "Identifier" && (name === undefined || node.name === name);
}

export { bare, child, children };
