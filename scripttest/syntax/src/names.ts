/** Which names of a file, and members of what they stand for, a recorder tells. */

import { FUNCTIONS, type Node, allNodes, bare, boundNames, child, children, words, writtenName } from "./tree";

/** Bindings of tests that are not worth a look. */
export const GIVEN = words("t ctx testing");

export class Names {
  /** Those that the file declares itself. */
  readonly #declared = new Set<string>();
  readonly #imported = new Set<string>();

  constructor(program: Node) {
    for (const node of allNodes(program)) {
      if (node.type === "ImportDeclaration") for (const one of children(node, "specifiers")) this.#imported.add(nameOf(child(one, "local")));
      if (node.type === "VariableDeclarator") this.#declare(child(node, "id"));
      if (FUNCTIONS.has(node.type)) for (const one of children(node, "params")) this.#declare(one);
      if (node.type === "CatchClause") this.#declare(child(node, "param"));
    }
  }

  #declare(pattern: Node | null): void {
    for (const name of boundNames(pattern)) this.#declared.add(name);
  }

  /** Whether the value behind a name is worth to be told: that of a variable of the file, or of one it imports. */
  isWorth({ name }: Node): boolean {
    return !GIVEN.has(name as string) && this.#declared.has(name as string);
  }

  /** Whether a member is read by names only, `a.b.c` or `this.b`. */
  isChain(node: Node): boolean {
    let plain = bare(node);
    if (plain.type !== "MemberExpression") return false;
    while (plain.type === "MemberExpression" && plain.computed !== true) plain = bare(child(plain, "object")!);
    return plain.type === "ThisExpression" || (plain.type === "Identifier" && this.#isKnown(plain));
  }

  /** Whether a member is one of something that is not worth to be told. */
  mentionsGiven(node: Node): boolean {
    let plain = bare(node);
    while (/Member/.test(plain.type)) plain = bare(child(plain, "object")!);
    return plain.type === "Super" || (plain.type === "Identifier" && !this.#isKnown(plain));
  }

  /** Whether a call is one of `t.assert` and the like. */
  isCheck(callee: Node): boolean {
    return this.mentionsGiven(callee) && callee.type !== "Identifier";
  }

  #isKnown(name: Node): boolean {
    return this.isWorth(name) || this.#imported.has(name.name as string);
  }
}

/** The name that a node writes; empty when there is none. */
export function nameOf(node: Node | null): string {
  return writtenName(node) ?? "";
}
