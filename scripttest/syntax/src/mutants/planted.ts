/**
 * Plants all mutants of a file, each behind a switch.
 *
 * `$yaoM` is the number of the mutant that is switched on, 0 when none is; `$yaoR` then notes which places are reached. An
 * expression becomes `($yaoM||$yaoR(7),$yaoV(7,$yaoM===7?mutant:$yaoM===8?other:original))`; `$yaoV` returns the value, and
 * may note it. A statement that is left out gets `if($yaoM?$yaoM===7:$yaoR(7));else` before it. Loops and functions count down in `$yaoHits[0]`, and `$yaoE` ends what goes
 * on for too long.
 */

import { Insertions } from "../text";
import { LOOPS, type Node, allNodes, fieldsOf, isFunction, programOf, words } from "../tree";
import { type At, Source, child, children } from "./at";
import { leftOut } from "./left_out";
import { own } from "./own";
import { placeOf } from "./places";
import { type Replacement, caseHead, standard } from "./standard";
import { type Imported, Types } from "./types";

export interface Mutant {
  /** 0: it is not planted */
  id: number;
  mutator: string;
  /** what stands in place of `original`, as StrykerJS shows it */
  replacement: string;
  original: string;
  /** the first mutant of its place, by which that is noted as reached */
  site: number;
  /** the place whose values tell what it changes, 0 for none: of a literal, that of the operator around it */
  noted: number;
  loc: { start: { line: number; column: number }; end: { line: number; column: number } };
  /** the text of the lines from the first to the last of `loc` once the mutant is in it */
  mutated: string;
  /** the name of the function that it is in; empty at the top of a module */
  within: string;
  /** why it is not planted */
  ignored?: string;
}

/** What TypeScript adds that runs, or has something in it that runs. */
const RUNS = words(
  "TSAsExpression TSExportAssignment TSInstantiationExpression TSModuleBlock TSModuleDeclaration TSNonNullExpression TSParameterProperty TSSatisfiesExpression TSTypeAssertion",
);
const LISTS = new Set(["BlockStatement", "Program", "StaticBlock", "SwitchCase", "TSModuleBlock"]);
const ROUND = "--$yaoHits[0]||$yaoE();";

/**
 * The text with mutants, and the mutants; null when there are none.
 *
 * @param suffix the end of the file's name, `.ts`
 * @param first the number of the first mutant
 * @param calls see `leftOut`
 * @param imported what the file imports
 */
export function planted(source: string, suffix: string, first: number, calls: string[], imported: Imported) {
  const program = programOf(source, suffix);
  const planting = new Planting(program, source, first, calls, imported);
  if (planting.mutants.length === 0) return null;
  return { ...planting.insertions.into(source), mutants: planting.mutants };
}

class Planting {
  readonly mutants: Mutant[] = [];
  readonly insertions = new Insertions();
  readonly #source: Source;
  readonly #leftOut;
  readonly #types: Types;
  #next: number;
  /** Place → the mutants at it, each with its text. */
  readonly #places = new Map<Node, { id: number; code: string }[]>();
  /** Statements that are left out by a mutant. */
  readonly #removable = new Set<Node>();
  /** Mutants that leave a statement out, each with the expression whose value tells what goes with it. */
  readonly #lost: { mutant: Mutant; value: Node }[] = [];
  /** Statements in lists that are an expression, before which a semicolon may be missing. */
  readonly #starts: Node[] = [];

  constructor(program: Node, source: string, first: number, calls: string[], imported: Imported) {
    this.#source = new Source(source);
    this.#leftOut = leftOut(program, source, calls);
    this.#types = new Types(program, imported);
    this.#next = first;
    this.#visitAll({ node: program, key: "", parent: null }, "", undefined);
    this.#noteLost();
    this.#switches();
    this.#guardStarts();
  }

  #visitAll(at: At, within: string, ignored: string | undefined): void {
    for (const [key, node] of fieldsOf(at.node)) {
      if (key !== "decorators") this.#visit({ node, key, parent: at }, within, ignored);
    }
  }

  #visit(at: At, within: string, ignored: string | undefined): void {
    const { node, parent } = at;
    const { type } = node;
    if (node.declare === true || type === "ImportDeclaration" || (type.startsWith("TS") && !RUNS.has(type))) return;
    const why = ignored ?? this.#leftOut.nodes.get(node);
    const name = nameOf(at) ?? within;
    if (type === "ExpressionStatement" && parent !== null && LISTS.has(parent.node.type)) this.#starts.push(node);
    if (LOOPS.has(type)) this.insertions.braces(child(node, "body")!, ROUND);
    for (const replacement of standard(at, this.#source)) this.#plant(at, replacement, name, why);
    for (const replacement of own(at, this.#source)) this.#plant(at, replacement, name, why);
    if (isFunction(node)) this.insertions.first(child(node, "body")!, ROUND, 0);
    this.#visitAll(at, name, why);
  }

  #plant(at: At, replacement: Replacement, within: string, ignored: string | undefined): void {
    const { node } = at;
    const { mutator, text, code = text, inner = node } = replacement;
    const isEmptied = text === "{}" && node.type === "BlockStatement";
    const isCase = node.type === "SwitchCase";
    const isLiteral = /^(String|Number|Boolean)Literal$/.test(mutator);
    const forbidden = isLiteral && this.#types.forbids(at, text) ? "its type does not allow it" : undefined;
    const why = ignored ?? this.#leftOut.lines.get(node.loc.start.line) ?? forbidden;
    const target = node.type === "ArrowFunctionExpression" ? child(node, "body")! : inner;
    const here: At = target === node ? at : { node: target, key: keyIn(node, target), parent: at };
    const isStatement = isEmptied || isCase || replacement.removes === true || replacement.insert !== undefined;
    const place = isStatement ? here : placeOf(here);
    if (place === null || (isCase && sharesNames(at))) return;
    const id = why === undefined ? this.#next++ : 0;
    const [start, end] = replacement.insert === undefined ? [inner.start, inner.end] : [replacement.insert, replacement.insert];
    const site = isStatement ? id : (this.#places.get(place.node)?.[0].id ?? id);
    const mutant: Mutant = {
      id,
      mutator,
      replacement: text,
      original: this.#source.of(node),
      site,
      noted: isStatement || hasEffect(node, mutator) ? 0 : (this.#operator(place) ?? site),
      loc: { start: { line: node.loc.start.line, column: node.loc.start.column }, end: { line: node.loc.end.line, column: node.loc.end.column } },
      mutated: this.#lines(node, start, end, isCase ? "" : replacement.insert === undefined ? code : " false", isCase ? caseHead(node, this.#source) : start),
      within,
      ignored: why,
    };
    this.mutants.push(mutant);
    if (id === 0) return;
    const on = `$yaoM?$yaoM===${id}:$yaoR(${id})`;
    if (replacement.insert !== undefined) this.insertions.open(replacement.insert, node.end, ` !(${on})`, 0);
    else if (isEmptied && isFunctionBody(at)) this.insertions.first(node, `if(${on})return;`, 1);
    else if (isEmptied) this.insertions.wrap(node.start + 1, node.end - 1, `if(${on});else{`, "}", 1);
    else if (isCase) this.insertions.wrap(caseHead(node, this.#source), node.end, `if(${on});else{`, "}", 0);
    else if (replacement.removes) {
      this.insertions.open(node.start, node.end, `if(${on});else `, 1);
      this.#removable.add(node);
      const value = child(node, "expression") ?? (node.type === "ReturnStatement" ? child(node, "argument") : null);
      if (value) this.#lost.push({ mutant, value });
    } else {
      const spliced = target === node || inner !== node ? code : "undefined";
      const whole = place.node === target ? spliced : this.#source.with(place.node, target.start, target.end, this.#inBrackets(spliced, here));
      const found = this.#places.get(place.node);
      if (found) found.push({ id, code: whole });
      else this.#places.set(place.node, [{ id, code: whole }]);
    }
  }

  /** The first mutant of the nearest operator around a literal. */
  #operator({ node, parent }: At): number | undefined {
    if (!/Literal$/.test(node.type)) return undefined;
    for (let one = parent; one !== null && /^(Binary|Logical|Unary|Conditional)Expression$/.test(one.node.type); one = one.parent) {
      const found = this.#places.get(one.node);
      if (found) return found[0].id;
    }
    return undefined;
  }

  /** Code that takes the place of an expression within another one. */
  #inBrackets(code: string, { node }: At): string {
    return /^(Optional)?(Member|Call)Expression$|Literal$/.test(node.type) ? code : `(${code})`;
  }

  /** The values of statements that are left out are noted like those of other places. */
  #noteLost(): void {
    for (const { mutant, value } of this.#lost) {
      const found = this.#places.get(value);
      mutant.noted = found ? found[0].id : mutant.id;
      if (!found) this.insertions.wrap(value.start, value.end, `$yaoV(${mutant.id},`, ")", 2);
    }
  }

  /** Writes the switches of all expressions. */
  #switches(): void {
    for (const [node, mutants] of this.#places) {
      const arms = mutants.map(({ id, code }) => `$yaoM===${id}?${code.startsWith("(") ? `(${code})` : code}:`).join("");
      const { id } = mutants[0];
      this.insertions.wrap(node.start, node.end, `($yaoM||$yaoR(${id}),$yaoV(${id},${arms}`, "))", 2);
    }
  }

  /** Keeps statements that begin with a switch apart from those before them, which may have no semicolon. */
  #guardStarts(): void {
    const switched = new Set([...this.#places.keys()].map(({ start }) => start));
    for (const one of this.#starts) {
      if (switched.has(one.start) && !this.#removable.has(one)) this.insertions.open(one.start, one.end, ";", 0);
    }
  }

  /** The whole lines around a node with another text in place of what is from `start` to `end` of it. */
  #lines(node: Node, start: number, end: number, code: string, from: number): string {
    const { text } = this.#source;
    const first = text.lastIndexOf("\n", node.start - 1) + 1;
    const last = text.indexOf("\n", node.end);
    return text.slice(first, Math.max(start, from)) + code + text.slice(end, last < 0 ? text.length : last);
  }
}

/** Whether what a mutant changes is not the value of its place. */
function hasEffect(node: Node, mutator: string): boolean {
  const method = mutator === "MethodSwap" ? child(child(node, "callee")!, "property")!.name : "";
  return /^(Update|Assignment)Expression$/.test(node.type) || method === "push" || method === "unshift";
}

function keyIn(parent: Node, wanted: Node): string {
  return Object.keys(parent).find((key) => parent[key] === wanted) ?? "";
}

function isFunctionBody({ key, parent }: At): boolean {
  return key === "body" && parent !== null && isFunction(parent.node);
}

/** Whether other cases use what one declares. */
function sharesNames({ node, parent }: At): boolean {
  const declared = new Set<unknown>();
  for (const one of children(node, "consequent")) {
    if (/^(Function|Class)Declaration$/.test(one.type)) declared.add(child(one, "id")!.name);
    else if (one.type === "VariableDeclaration" && one.kind !== "var") for (const inner of allNodes(one)) if (inner.type === "Identifier") declared.add(inner.name);
  }
  const others = children(parent!.node, "cases").filter((one) => one !== node);
  return declared.size > 0 && others.some((one) => [...allNodes(one)].some((inner) => inner.type === "Identifier" && declared.has(inner.name)));
}

/** The name of a function or a class member; null when a node is none, or has none. */
function nameOf({ node, parent }: At): string | null {
  if (/^Class(Declaration|Expression)$/.test(node.type)) return null;
  const isMember = /^(Class|Object)(Private)?Method$/.test(node.type);
  if (!isMember && !/Function/.test(node.type)) return null;
  const around = parent?.node;
  const key = isMember ? child(node, "key") : (child(node, "id") ?? (around?.type === "VariableDeclarator" ? child(around, "id") : around && /Property$/.test(around.type) ? child(around, "key") : null));
  const name = key?.type === "PrivateName" ? `#${(key.id as Node).name as string}` : (key?.name ?? key?.value);
  return typeof name === "string" ? name : null;
}
