/**
 * Which literals a type allows, as far as a file and what it imports tell: unions of literals, in annotations, in types,
 * interfaces and enums, and `as const`. What a type checker would refuse anyway is no mutant.
 */

import { type Node, allNodes, programOf } from "../tree";
import { type At, bare, child, children, isIdentifier } from "./at";

const DECLARATIONS = new Set(["TSTypeAliasDeclaration", "TSInterfaceDeclaration", "TSEnumDeclaration"]);
const WRAPPERS = new Set(["Promise", "Readonly", "Partial", "Required", "NonNullable", "Pick", "Omit"]);
const LISTS = new Set(["Array", "ReadonlyArray", "Set", "ReadonlySet"]);
const EQUAL = new Set(["==", "!=", "===", "!=="]);
type Literal = string | number | boolean;

/** What a file imports: specifier → path; and by their paths the files to which that leads. */
export interface Imported {
  imports: Record<string, string>;
  files: Record<string, { text: string; suffix: string; imports: Record<string, string> }>;
}

/** A name that stands for one of a file, `*` for all of them; without a source, of the same file. */
interface Alias {
  source?: string;
  name: string;
}

/** Path → the last text of a file, and its types; null if that cannot be read. */
const known = new Map<string, { text: string; types: Types | null }>();

/** Reference to a type → the types of the file in which it is written. */
const written = new WeakMap<Node, Types>();

export class Types {
  /** Name → what declares it: a type, or a constant that is `as const`. */
  readonly #declared = new Map<string, Node>();
  readonly #imports = new Map<string, Alias>();
  readonly #exports = new Map<string, Alias>();
  /** Sources of `export * from`. */
  readonly #passedOn: string[] = [];

  constructor(
    program: Node,
    readonly imported: Imported,
  ) {
    for (const node of allNodes(program)) {
      if (DECLARATIONS.has(node.type)) this.#declared.set(child(node, "id")!.name as string, node);
      else if (node.type === "TSTypeReference" || node.type === "TSTypeQuery" || node.type === "TSExpressionWithTypeArguments" || node.type === "TSInterfaceHeritage") written.set(node, this);
      else if (node.type === "VariableDeclarator") {
        const [id, init] = [child(node, "id")!, child(node, "init")];
        if (id.type === "Identifier" && init?.type === "TSAsExpression" && this.#isConst(init)) this.#declared.set(id.name as string, bare(init));
      }
    }
    for (const statement of children(program, "body")) this.#takeNames(statement);
  }

  #takeNames(statement: Node): void {
    const source = child(statement, "source")?.value as string | undefined;
    if (statement.type === "ExportAllDeclaration") this.#passedOn.push(source!);
    if (statement.type === "ExportDefaultDeclaration") {
      const name = (child(child(statement, "declaration")!, "id") ?? child(statement, "declaration"))?.name;
      if (typeof name === "string") this.#exports.set("default", { name });
    }
    for (const one of children(statement, "specifiers")) {
      const local = child(one, "local")?.name as string;
      const foreign = child(one, statement.type === "ImportDeclaration" ? "imported" : "exported");
      const name = (foreign?.name ?? foreign?.value) as string;
      if (statement.type !== "ImportDeclaration") this.#exports.set(name, { source, name: one.type === "ExportNamespaceSpecifier" ? "*" : local });
      else this.#imports.set(local, { source, name: one.type === "ImportNamespaceSpecifier" ? "*" : one.type === "ImportDefaultSpecifier" ? "default" : name });
    }
  }

  /** The types of a file that this one imports. */
  #of(source: string): Types | null {
    const path = this.imported.imports[source];
    const file = this.imported.files[path];
    if (!file) return null;
    const before = known.get(path);
    if (before?.text === file.text) return before.types;
    let types: Types | null = null;
    try {
      types = new Types(programOf(file.text, file.suffix), { imports: file.imports, files: this.imported.files });
    } catch {
      // A file that cannot be read declares nothing: the compiler says so
    }
    known.set(path, { text: file.text, types });
    return types;
  }

  /** What declares a name in this file, or in one that it imports. */
  #find(name: string, depth = 0): Node | null {
    return this.#declared.get(name) ?? this.#aliased(this.#imports.get(name), depth);
  }

  exported(name: string, depth: number): Node | null {
    const own = this.#aliased(this.#exports.get(name), depth) ?? this.#declared.get(name);
    if (own || depth > 9) return own ?? null;
    for (const source of this.#passedOn) {
      const found = this.#of(source)?.exported(name, depth + 1);
      if (found) return found;
    }
    return null;
  }

  #aliased(alias: Alias | undefined, depth: number): Node | null {
    if (alias === undefined || depth > 9) return null;
    if (alias.source === undefined) return this.#find(alias.name, depth + 1);
    return this.#of(alias.source)?.exported(alias.name, depth + 1) ?? null;
  }

  /** What a name declares, `Kind` or `kinds.Kind`, where it is written. */
  #named(name: Node | null): Node | null {
    if (name?.type === "Identifier") return this.#find(name.name as string);
    const space = name && child(name, "left");
    const source = space?.type === "Identifier" ? this.#imports.get(space.name as string)?.source : undefined;
    return source === undefined ? null : (this.#of(source)?.exported(child(name!, "right")!.name as string, 0) ?? null);
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
    if (known.type === "TSIntersectionType") {
      for (const one of children(known, "types")) {
        const found = this.#member(one, key);
        if (found) return found;
      }
      return null;
    }
    const body = child(known, "body");
    const members = known.type === "TSTypeLiteral" ? children(known, "members") : body ? children(body, "body") : [];
    const name = key.name ?? key.value;
    const found = members.find((one) => one.type === "TSPropertySignature" && (child(one, "key")!.name ?? child(one, "key")!.value) === name);
    if (found) return annotation(found);
    for (const base of children(known, "extends")) {
      const inherited = this.#member(base, key);
      if (inherited) return inherited;
    }
    return null;
  }

  #element(type: Node | null): Node | null {
    const known = this.#resolved(type);
    if (known?.type === "TSArrayType") return child(known, "elementType");
    return known && LISTS.has(nameOf(known)) ? (argumentsOf(known)[0] ?? null) : null;
  }

  /** The type that a name stands for. */
  #resolved(type: Node | null, depth = 0): Node | null {
    if (type === null || depth > 9) return null;
    if (type.type === "TSParenthesizedType" || (type.type === "TSTypeOperator" && type.operator === "readonly")) return this.#resolved(child(type, "typeAnnotation"), depth + 1);
    if (type.type === "TSIndexedAccessType") {
      const of = child(type, "objectType");
      const index = child(type, "indexType")!;
      if (index.type === "TSNumberKeyword") {
        const list = this.#resolved(of, depth + 1);
        return list?.type === "ArrayExpression" ? list : this.#resolved(this.#element(list), depth + 1);
      }
      const literal = child(index, "literal");
      return literal && this.#resolved(this.#member(of, literal), depth + 1);
    }
    const scope = written.get(type) ?? this;
    if (type.type === "TSTypeQuery") return scope.#named(child(type, "exprName"));
    const isBase = type.type === "TSExpressionWithTypeArguments" || type.type === "TSInterfaceHeritage";
    if (type.type !== "TSTypeReference" && !isBase) return type;
    const name = nameOf(type);
    if (WRAPPERS.has(name)) return this.#resolved(argumentsOf(type)[0] ?? null, depth + 1);
    const declared = scope.#named(child(type, "typeName") ?? child(type, "expression"));
    if (!declared) return LISTS.has(name) ? type : null;
    if (declared.type !== "TSTypeAliasDeclaration") return declared;
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
      case "ArrayExpression": {
        const values = children(known, "elements").map((one) => one?.value as Literal | undefined);
        return values.includes(undefined) ? null : (values as Literal[]);
      }
      case "TSEnumDeclaration":
        return enumerated(known);
      case "TSTypeOperator":
        return this.#keys(child(known, "typeAnnotation"));
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

  /** The names of what a type, or a constant that is `as const`, has; null if they are not known. */
  #keys(type: Node | null): Literal[] | null {
    const known = this.#resolved(type);
    const isOpen = known?.type === "TSInterfaceDeclaration" && children(known, "extends").length > 0;
    const members = { ObjectExpression: "properties", TSTypeLiteral: "members", TSInterfaceDeclaration: "body" }[known?.type ?? ""];
    if (!known || members === undefined || isOpen) return null;
    const found = children(members === "body" ? child(known, "body")! : known, members).map((one) => (one.key && !one.computed ? (child(one, "key")!.name ?? child(one, "key")!.value) : undefined));
    return found.includes(undefined) ? null : (found as Literal[]);
  }
}

/** The values of an enum, as far as they are literals. */
function enumerated(declared: Node): Literal[] {
  let next = 0;
  return children(child(declared, "body") ?? declared, "members").map((one) => {
    const value = child(one, "initializer")?.value as Literal | undefined;
    const own = value ?? next;
    if (typeof own === "number") next = own + 1;
    return own;
  });
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
