/**
 * Finds what is counted in a program: statements, functions and the arms of branches, as Istanbul defines them.
 *
 * A counter is put before a statement: `counter;`. An expression is wrapped: `(counter,expression)`. A function or
 * class that takes its name from its place keeps it, as it is made in a place of that name:
 * `(counter,{["name"]:expression}["name"])`.
 */

import { Insertions } from "./text";
import { LOOPS, type Node, type Position, type Range, allChildren, bare, child, children, words, writtenName } from "./tree";

/** The global with all counters. */
const COUNTERS = "$yaoHits";
/** What has one statement as its body. */
const AROUND = LOOPS.union(words("WithStatement"));
const STATEMENTS = words(
  "BreakStatement ContinueStatement DebuggerStatement ExpressionStatement IfStatement LabeledStatement" +
    " ReturnStatement SwitchStatement ThrowStatement TryStatement",
).union(AROUND);
const FUNCTIONS = words("ArrowFunctionExpression ClassMethod FunctionDeclaration FunctionExpression ObjectMethod");
/** What a comment can leave out. */
const LEFT_OUT = words(
  "AssignmentPattern BlockStatement ClassAccessorProperty ClassDeclaration ClassPrivateMethod ClassPrivateProperty" +
    " ClassProperty ConditionalExpression ExportDefaultDeclaration ExportNamedDeclaration LogicalExpression" +
    " SwitchCase TSEnumDeclaration TSModuleDeclaration VariableDeclaration VariableDeclarator",
)
  .union(STATEMENTS)
  .union(FUNCTIONS);
/** What TypeScript adds to JavaScript that runs, or has something in it that runs. */
const RUNS = words(
  "TSAsExpression TSEnumBody TSEnumDeclaration TSEnumMember TSExportAssignment TSInstantiationExpression" +
    " TSModuleBlock TSModuleDeclaration TSNonNullExpression TSParameterProperty TSSatisfiesExpression TSTypeAssertion",
);
const NAMED_BY_PLACE = words("ArrowFunctionExpression ClassExpression FunctionExpression");
const HINT = /^\s*istanbul\s+ignore\s+(if|else|next)(?=\W|$)/;
const NOWHERE = { start: {}, end: {} };

/** The points of a program, whose counters have the numbers from `first` on, and the texts that count them. */
export class Points {
  /** The points in the shapes of Istanbul, with the numbers of counters in place of counts. */
  readonly table = {
    statementMap: {} as Record<string, unknown>,
    fnMap: {} as Record<string, unknown>,
    branchMap: {} as Record<string, unknown>,
    s: {} as Record<string, number>,
    f: {} as Record<string, number>,
    b: {} as Record<string, number[]>,
  };
  readonly #found = { statements: 0, functions: 0, branches: 0 };
  readonly insertions = new Insertions();
  /** The number of the next counter. */
  next: number;
  /** Statement → the outermost label before it. */
  readonly #labels = new Map<Node, Node>();

  constructor(program: Node, first: number) {
    this.next = first;
    this.#visitAll(program);
  }

  #visitAll(node: Node): void {
    for (const one of allChildren(node)) this.#visit(one, node);
  }

  #visit(node: Node, parent: Node): void {
    const { type } = node;
    if (node.declare === true || (type.startsWith("TS") && !RUNS.has(type)) || hintFor(node) === "next") return;
    if (STATEMENTS.has(type)) this.#statement(node);
    if (FUNCTIONS.has(type)) this.#function(node, parent);
    if (AROUND.has(type)) this.insertions.braces(child(node, "body")!, "");
    switch (type) {
      case "IfStatement":
        this.#if(node);
        return;
      case "SwitchStatement":
        this.#switch(node);
        break;
      case "ConditionalExpression":
        this.#arms("cond-expr", node, [child(node, "consequent")!, child(node, "alternate")!]);
        break;
      case "LogicalExpression":
        if (parent.type !== type) this.#arms("binary-expr", node, [...operands(node)]);
        break;
      case "AssignmentPattern":
        this.#arms("default-arg", node, [child(node, "right")!], writtenName(child(node, "left")));
        break;
      case "VariableDeclarator":
        this.#value(child(node, "init"), writtenName(child(node, "id")));
        break;
      case "ClassProperty":
      case "ClassPrivateProperty":
        this.#property(node);
    }
    this.#visitAll(node);
  }

  #statement(node: Node): void {
    const place = this.#labels.get(node) ?? node;
    if (node.type === "LabeledStatement") this.#labels.set(child(node, "body")!, place);
    const counter = this.#countStatement(node);
    this.insertions.open(place.start, place.end, `${counter};`, 1);
  }

  #function(node: Node, parent: Node): void {
    const body = child(node, "body")!;
    const named = child(node, "id");
    const name = writtenName(named) ?? keyName(node) ?? placeName(parent);
    const { line, column } = node.loc.start;
    const first = { start: { line, column }, end: { line, column: column + 1 } };
    const declared = named !== null ? rangeOf(named) : first;
    const number = this.#found.functions++;
    this.table.fnMap[number] = { name: name || `(anonymous_${number})`, decl: declared, loc: rangeOf(body), line: declared.start.line };
    const counter = this.#counter((this.table.f[number] = this.next++));
    if (body.type !== "BlockStatement") {
      const returned = this.#countStatement(body);
      this.#wrap(body, `${counter},${returned}`);
      return;
    }
    this.insertions.first(body, `${counter};`, 0);
  }

  #if(node: Node): void {
    const hint = hintFor(node);
    const then = child(node, "consequent")!;
    const other = child(node, "alternate");
    const arms = hint === "if" ? [] : [rangeOf(node)];
    if (hint !== "else") arms.push(other === null ? (NOWHERE as Range) : rangeOf(other));
    const counters = this.#countBranch("if", node, arms);
    this.insertions.braces(then, hint === "if" ? "" : `${counters[0]};`);
    const last = hint === "else" ? "" : `${counters.at(-1)};`;
    if (other !== null) this.insertions.braces(other, last);
    else if (last) this.insertions.close(node.start, node.end, ` else{${last}}`, 0);
    this.#visit(child(node, "test")!, node);
    if (hint !== "if") this.#visit(then, node);
    if (other !== null && hint !== "else") this.#visit(other, node);
  }

  #switch(node: Node): void {
    const cases = children(node, "cases").filter((one) => hintFor(one) !== "next");
    const counters = this.#countBranch("switch", node, cases.map(rangeOf));
    for (const [number, one] of cases.entries()) {
      const first = children(one, "consequent").at(0);
      this.insertions.open(first?.start ?? one.end, one.end, `${counters[number]};`, 0);
    }
  }

  #arms(kind: string, node: Node, arms: Node[], name: string | null = null): void {
    const counted = arms.filter((arm) => hintOf(arm) !== "next");
    const counters = this.#countBranch(kind, node, counted.map(rangeOf));
    for (const [number, arm] of counted.entries()) this.#wrap(arm, counters[number], name);
  }

  #value(value: Node | null, name: string | null): void {
    if (value === null) return;
    this.#wrap(value, this.#countStatement(value), name);
  }

  #property(node: Node): void {
    const value = child(node, "value");
    if (value === null || !isNamedByPlace(value) || node.computed !== true) {
      this.#value(value, keyName(node));
      return;
    }
    // Only the class knows the name: counted beside the property.
    const counter = this.#countStatement(value);
    const beside = node.static === true ? `static{${counter};}` : `#$yao${this.next}=${counter};`;
    this.insertions.open(children(node, "decorators").at(0)?.start ?? node.start, node.end, beside, 0);
  }

  #countStatement(node: Node): string {
    const number = this.#found.statements++;
    this.table.statementMap[number] = rangeOf(node);
    return this.#counter((this.table.s[number] = this.next++));
  }

  /** The texts of the counters of a branch, `kind` as Istanbul names it: one for each of its arms. */
  #countBranch(kind: string, node: Node, arms: Range[]): string[] {
    if (arms.length === 0) return [];
    const [number, loc] = [this.#found.branches++, rangeOf(node)];
    this.table.branchMap[number] = { loc, type: kind, locations: arms, line: loc.start.line };
    this.table.b[number] = arms.map(() => this.next++);
    return this.table.b[number].map((one) => this.#counter(one));
  }

  #counter(number: number): string {
    return `${COUNTERS}[${number}]++`;
  }

  #wrap(node: Node, counters: string, name: string | null = null): void {
    const key = `[${JSON.stringify(name)}]`;
    const [before, after] = name !== null && isNamedByPlace(node) ? [`{${key}:`, `}${key}`] : ["", ""];
    this.insertions.wrap(node.start, node.end, `(${counters},${before}`, `${after})`, 2);
  }
}

function rangeOf(node: Node): Range {
  return { start: place(node.loc.start), end: place(node.loc.end) };
}

function place({ line, column }: Position): Position {
  return { line, column };
}

/** What a comment before a node says of it. */
function hintFor(node: Node): string | undefined {
  return LEFT_OUT.has(node.type) ? hintOf(node) : undefined;
}

function hintOf(node: Node): string | undefined {
  return node.leadingComments?.map(({ value }) => HINT.exec(value)?.[1]).findLast(Boolean);
}

/** The operands of a chain of logical operators, whatever its brackets. */
function* operands(node: Node): Generator<Node> {
  if (node.type !== "LogicalExpression") yield node;
  else if (hintOf(node) !== "next") {
    yield* operands(child(node, "left")!);
    yield* operands(child(node, "right")!);
  }
}

function isNamedByPlace(node: Node): boolean {
  const plain = bare(node);
  return NAMED_BY_PLACE.has(plain.type) && child(plain, "id") === null;
}

/** The name that a function without one gets from what it is the value of. */
function placeName(parent: Node): string | null {
  return parent.type === "VariableDeclarator" ? writtenName(child(parent, "id")) : keyName(parent);
}

/** The name of a method or a property. */
function keyName(node: Node): string | null {
  return node.computed === true ? null : writtenName(child(node, "key"));
}
