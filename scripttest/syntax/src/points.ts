/**
 * Finds what is counted in a program: statements, functions and the arms of branches, as Istanbul defines them.
 *
 * A counter is put before a statement: `counter;`. An expression is wrapped: `(counter,expression)`. A function or
 * class that takes its name from its place keeps it, as it is made in a place of that name:
 * `(counter,{["name"]:expression}["name"])`.
 */

import { Insertions } from "./text";
import { LOOPS, type Node, type Position, type Range, allChildren, bare, child, children, words, writtenName } from "./tree";

/** Something that is counted. */
export interface Point {
  /** `statement`, `function`, or the type of a branch as Istanbul names it */
  kind: string;
  /** where it is; of a function, its body */
  loc: Range;
  /** the arms of a branch, each with a counter; empty places: what is not written, such as a missing `else` */
  arms?: (Range | { start: object; end: object })[];
  /** the name of a function, if it has one, and where that is written */
  name?: string;
  decl?: Range;
  /** the number of its first counter */
  counter: number;
}

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
  readonly found: Point[] = [];
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
    if (AROUND.has(type)) this.#braces(child(node, "body")!, "");
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
    const [counter] = this.#count({ kind: "statement", loc: rangeOf(node) });
    this.insertions.open(place.start, place.end, `${counter};`, 1);
  }

  #function(node: Node, parent: Node): void {
    const body = child(node, "body")!;
    const named = child(node, "id");
    const name = writtenName(named) ?? keyName(node) ?? placeName(parent);
    const { line, column } = node.loc.start;
    const first = { start: { line, column }, end: { line, column: column + 1 } };
    const declared = named !== null ? rangeOf(named) : first;
    const [counter] = this.#count({ kind: "function", loc: rangeOf(body), name: name ?? "", decl: declared });
    if (body.type !== "BlockStatement") {
      const [returned] = this.#count({ kind: "statement", loc: rangeOf(body) });
      this.#wrap(body, `${counter},${returned}`);
      return;
    }
    const directive = children(body, "directives").at(-1);
    if (directive === undefined) this.insertions.open(body.start + 1, body.end, `${counter};`, 0);
    else this.insertions.open(directive.end, body.end, `;${counter};`, 0);
  }

  #if(node: Node): void {
    const hint = hintFor(node);
    const then = child(node, "consequent")!;
    const other = child(node, "alternate");
    const arms = hint === "if" ? [] : [rangeOf(node)];
    if (hint !== "else") arms.push(other === null ? (NOWHERE as Range) : rangeOf(other));
    const counters = this.#count({ kind: "if", loc: rangeOf(node), arms });
    this.#braces(then, hint === "if" ? "" : `${counters[0]};`);
    const last = hint === "else" ? "" : `${counters.at(-1)};`;
    if (other !== null) this.#braces(other, last);
    else if (last) this.insertions.close(node.start, node.end, ` else{${last}}`, 0);
    this.#visit(child(node, "test")!, node);
    if (hint !== "if") this.#visit(then, node);
    if (other !== null && hint !== "else") this.#visit(other, node);
  }

  #switch(node: Node): void {
    const cases = children(node, "cases").filter((one) => hintFor(one) !== "next");
    const counters = this.#count({ kind: "switch", loc: rangeOf(node), arms: cases.map(rangeOf) });
    for (const [number, one] of cases.entries()) {
      const first = children(one, "consequent").at(0);
      this.insertions.open(first?.start ?? one.end, one.end, `${counters[number]};`, 0);
    }
  }

  #arms(kind: string, node: Node, arms: Node[], name: string | null = null): void {
    const counted = arms.filter((arm) => hintOf(arm) !== "next");
    const counters = this.#count({ kind, loc: rangeOf(node), arms: counted.map(rangeOf) });
    for (const [number, arm] of counted.entries()) this.#wrap(arm, counters[number], name);
  }

  #value(value: Node | null, name: string | null): void {
    if (value === null) return;
    const [counter] = this.#count({ kind: "statement", loc: rangeOf(value) });
    this.#wrap(value, counter, name);
  }

  #property(node: Node): void {
    const value = child(node, "value");
    if (value === null || !isNamedByPlace(value) || node.computed !== true) {
      this.#value(value, keyName(node));
      return;
    }
    // Only the class knows the name: counted beside the property.
    const [counter] = this.#count({ kind: "statement", loc: rangeOf(value) });
    const beside = node.static === true ? `static{${counter};}` : `#$yao${this.next}=${counter};`;
    this.insertions.open(children(node, "decorators").at(0)?.start ?? node.start, node.end, beside, 0);
  }

  /** The texts of the counters of a new point. */
  #count(point: Omit<Point, "counter">): string[] {
    const first = this.next;
    this.next += point.arms?.length ?? 1;
    if (this.next > first) this.found.push({ ...point, counter: first });
    return Array.from({ length: this.next - first }, (_, index) => `${COUNTERS}[${first + index}]++`);
  }

  #wrap(node: Node, counters: string, name: string | null = null): void {
    const key = `[${JSON.stringify(name)}]`;
    const [before, after] = name !== null && isNamedByPlace(node) ? [`{${key}:`, `}${key}`] : ["", ""];
    this.insertions.wrap(node.start, node.end, `(${counters},${before}`, `${after})`, 2);
  }

  /** Puts a counter first in a body, which gets braces if it has none. */
  #braces(body: Node, counter: string): void {
    if (body.type !== "BlockStatement") this.insertions.wrap(body.start, body.end, `{${counter}`, "}", 0);
    else if (counter) this.insertions.open(body.start + 1, body.end, counter, 0);
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
