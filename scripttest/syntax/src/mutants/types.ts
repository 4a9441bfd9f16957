/**
 * Which literals a type allows, as far as one file tells: unions of literals, in annotations, in types and interfaces that
 * the file declares, and `as const`. What a type checker would refuse anyway is no mutant.
 */

import { type Node, allNodes } from "../tree";
import { type At, bare, child, children, isIdentifier } from "./at";

const DECLARATIONS = new Set(["TSTypeAliasDeclaration", "TSInterfaceDeclaration"]);
const WRAPPERS = new Set(["Promise", "Readonly", "Partial", "Required", "NonNullable"]);
const LISTS = new Set(["Array", "ReadonlyArray", "Set", "ReadonlySet"]);
const EQUAL = new Set(["==", "!=", "===", "!=="]);
type Literal = string | number | boolean;

export class Types {
  /** Name → what declares it. */
  readonly #declared = new Map<string, Node>();

  constructor(program: Node) {
    for (const node of allNodes(program)) if (DECLARATIONS.has(node.type)) this.#declared.set(child(node, "id")!.name as string, node);
  }

  /** Whether the type of a literal's place is known, and does not allow another literal, which is given as code. */
  forbids(at: At, code: string): boolean {
    if (!/^(String|Numeric|Boolean)Literal$/.test(at.node.type)) return false;
    const { parent } = at;
    if (parent?.node.type === "TSAsExpression" && this.#isConst(parent.node)) return true;
    const allowed = this.#literals(this.#wanted(at) ?? this.#compared(at));
    return allowed !== null && !allowed.includes(JSON.parse(code) as Literal);
  }

  #isConst(cast: Node): boolean {
    const name = child(child(cast, "typeAnnotation")!, "typeName");
    return isIdentifier(name, "const");
  }

  /** The type that the place of an expression has; null if that is not known. */
  #wanted({ key, parent }: At): Node | null {
    if (parent === null) return null;
    const around = parent.node;
    switch (around.type) {
      case "VariableDeclarator":
        return annotation(child(around, "id")!);
      case "AssignmentPattern":
        return key === "right" ? annotation(child(around, "left")!) : null;
      case "ClassProperty":
        return key === "value" ? annotation(around) : null;
      case "TSAsExpression":
      case "TSSatisfiesExpression":
        return child(around, "typeAnnotation");
      case "ConditionalExpression":
        return key === "test" ? null : this.#wanted(parent);
      case "LogicalExpression":
        return key === "right" ? this.#wanted(parent) : null;
      case "ObjectProperty":
        return key === "value" && parent.parent ? this.#member(this.#wanted(parent.parent), child(around, "key")!) : null;
      case "ArrayExpression":
        return this.#element(this.#wanted(parent));
      case "ReturnStatement":
      case "ArrowFunctionExpression":
        return key === "argument" || key === "body" ? this.#returned(parent) : null;
      case "AssignmentExpression":
        return key === "right" && around.operator === "=" ? this.#typeOf(child(around, "left")!, parent) : null;
    }
    return null;
  }

  /** The type of what a literal is compared with. */
  #compared({ key, parent }: At): Node | null {
    if (parent === null) return null;
    const around = parent.node;
    if (around.type === "SwitchCase" && key === "test") return this.#typeOf(child(parent.parent!.node, "discriminant")!, parent);
    if (around.type !== "BinaryExpression" || !EQUAL.has(around.operator as string)) return null;
    return this.#typeOf(child(around, key === "left" ? "right" : "left")!, parent);
  }

  #returned(at: At): Node | null {
    let one: At | null = at;
    while (one !== null && !/Function|Method/.test(one.node.type)) one = one.parent;
    const type = one && child(one.node, "returnType");
    return type && child(type, "typeAnnotation");
  }

  /** The type of a variable or parameter, or of a member of one. */
  #typeOf(expression: Node, at: At): Node | null {
    const node = bare(expression);
    if (/^(Optional)?MemberExpression$/.test(node.type) && node.computed !== true) {
      return this.#member(this.#typeOf(child(node, "object")!, at), child(node, "property")!);
    }
    if (node.type !== "Identifier") return null;
    for (let one: At | null = at; one !== null; one = one.parent) {
      const declared = declaredIn(one.node, node.name as string);
      if (declared) return annotation(declared);
    }
    return null;
  }

  #member(type: Node | null, key: Node): Node | null {
    const known = this.#resolved(type);
    if (known === null) return null;
    const body = child(known, "body");
    const members = known.type === "TSTypeLiteral" ? children(known, "members") : body ? children(body, "body") : [];
    const name = key.name ?? key.value;
    const found = members.find((one) => one.type === "TSPropertySignature" && (child(one, "key")!.name ?? child(one, "key")!.value) === name);
    return found ? annotation(found) : null;
  }

  #element(type: Node | null): Node | null {
    const known = this.#resolved(type);
    if (known?.type === "TSArrayType") return child(known, "elementType");
    return known && LISTS.has(nameOf(known)) ? (argumentsOf(known)[0] ?? null) : null;
  }

  /** The type that a name stands for. */
  #resolved(type: Node | null, depth = 0): Node | null {
    if (type === null || depth > 9) return null;
    if (type.type === "TSParenthesizedType" || type.type === "TSTypeOperator") return this.#resolved(child(type, "typeAnnotation"), depth + 1);
    if (type.type === "TSIndexedAccessType") {
      const index = child(child(type, "indexType")!, "literal");
      return index && this.#resolved(this.#member(child(type, "objectType"), index), depth + 1);
    }
    if (type.type !== "TSTypeReference") return type;
    const name = nameOf(type);
    if (WRAPPERS.has(name)) return this.#resolved(argumentsOf(type)[0] ?? null, depth + 1);
    const declared = this.#declared.get(name);
    if (!declared) return LISTS.has(name) ? type : null;
    if (declared.type === "TSInterfaceDeclaration") return declared;
    return this.#resolved(child(declared, "typeAnnotation"), depth + 1);
  }

  /** The literals of a type; null if it has other values, or is not known. */
  #literals(type: Node | null): Literal[] | null {
    const known = this.#resolved(type);
    switch (known?.type) {
      case "TSLiteralType": {
        const value = child(known, "literal")!.value;
        return value === undefined ? null : [value as Literal];
      }
      case "TSNullKeyword":
      case "TSUndefinedKeyword":
        return [];
      case "TSUnionType": {
        const all = children(known, "types").map((one) => this.#literals(one));
        return all.includes(null) ? null : (all as Literal[][]).flat();
      }
    }
    return null;
  }
}

function annotation(node: Node): Node | null {
  const type = child(node, "typeAnnotation");
  return type && child(type, "typeAnnotation");
}

function nameOf(reference: Node): string {
  const name = child(reference, "typeName");
  return name?.type === "Identifier" ? (name.name as string) : "";
}

function argumentsOf(reference: Node): Node[] {
  const given = child(reference, "typeParameters") ?? child(reference, "typeArguments");
  return given ? children(given, "params") : [];
}

/** What a function or a list of statements declares under a name. */
function declaredIn(node: Node, name: string): Node | undefined {
  const params = children(node, "params").map((one) => (one.type === "AssignmentPattern" ? child(one, "left")! : one));
  const statements = Array.isArray(node.body) ? children(node, "body") : [];
  const variables = statements
    .map((one) => (one.type === "ExportNamedDeclaration" ? (child(one, "declaration") ?? one) : one))
    .flatMap((one) => (one.type === "VariableDeclaration" ? children(one, "declarations") : []))
    .map((one) => child(one, "id")!);
  return [...params, ...variables].find((one) => isIdentifier(one, name));
}
