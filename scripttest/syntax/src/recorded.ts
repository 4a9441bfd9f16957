/**
 * Puts a recorder into a file, which tells what runs and which values there are.
 *
 * `$yaoS` is the recorder, see `bindings/src/realm/story.ts`. A number in its calls is that of a site, a place in the file, and
 * `$yaoF` is the number of the call of the function that runs; at the top of a module it is 0. Functions are not wrapped, so
 * they keep the names that they get from their places.
 */

import { Insertions } from "./text";
import { CALLS, FUNCTIONS, LOOPS, type Node, allNodes, bare, boundNames, child, children, fieldsOf, programOf, words } from "./tree";
import { Source } from "./mutants/at";
import { GIVEN, Names, nameOf } from "./names";

/** What a site is: `read`, `tested`, `assigned`, `returned`, `threw`, `caught`, `line`, `call`, `turn`. */
type Site = [line: number, kind: string, name: string, names?: string[]];

const UNNAMED = words("ArrowFunctionExpression ClassExpression FunctionExpression");
const CHAINS = words("OptionalCallExpression OptionalMemberExpression");
/** Expressions that make a value of others. */
const MADE = words("BinaryExpression CallExpression ConditionalExpression LogicalExpression OptionalCallExpression TemplateLiteral UnaryExpression");
const LITERALS = words("BigIntLiteral BooleanLiteral NullLiteral NumericLiteral RegExpLiteral StringLiteral");
/** Statements that are told by what is in them, or that do nothing when they are reached. */
const SILENT = words(
  "BlockStatement ClassDeclaration EmptyStatement ExportAllDeclaration FunctionDeclaration ImportDeclaration LabeledStatement",
);
const LONGEST_NAME = 60;

/**
 * The text with the recorder, and its sites; null when there is nothing to record.
 *
 * @param suffix the end of the file's name, `.ts`
 * @param first the number of the first site
 */
export function recorded(source: string, suffix: string, first: number) {
  const recording = new Recording(programOf(source, suffix), source, first);
  if (recording.sites.length === 0) return null;
  return { ...recording.insertions.into(source), sites: recording.sites };
}

class Recording {
  readonly sites: Site[] = [];
  readonly insertions = new Insertions();
  readonly #source: Source;
  readonly #first: number;
  readonly #names: Names;

  constructor(program: Node, source: string, first: number) {
    this.#source = new Source(source);
    this.#first = first;
    this.#names = new Names(program);
    this.#list(children(program, "body"), "0");
  }

  #site(node: Node, kind: string, name = "", names?: string[]): number {
    const line = lineOf(node);
    this.sites.push(names ? [line, kind, name, names] : [line, kind, name]);
    return this.#first + this.sites.length - 1;
  }

  #list(statements: Node[], frame: string): void {
    for (const one of statements) this.#statement(one, frame);
  }

  #statement(outer: Node, frame: string): void {
    let node = outer;
    if (/^Export(Named|Default)Declaration$/.test(node.type)) {
      const declared = child(node, "declaration");
      if (declared === null) return;
      node = declared;
      if (/Expression$|Literal$|^Identifier$/.test(node.type)) return this.#value(node, frame, "read", "default");
    }
    if (node.type.startsWith("TS") || node.declare === true) return;
    let labelled = node;
    while (labelled.type === "LabeledStatement") labelled = child(labelled, "body")!;
    const silent = SILENT.has(labelled.type);
    const isJump = /^(Break|Continue|Return)Statement$/.test(labelled.type) && !child(labelled, "argument");
    if (!silent) this.insertions.open(outer.start, outer.end, `$yaoS.s(${this.#site(node, "line", isJump ? this.#text(node) : "")},${frame});`, 1);
    node = labelled;
    switch (node.type) {
      case "BlockStatement":
        return this.#list(children(node, "body"), frame);
      case "VariableDeclaration":
        return this.#declaration(node, frame, outer);
      case "ExpressionStatement":
        return this.#effect(child(node, "expression")!, frame);
      case "ReturnStatement":
        if (child(node, "argument")) return this.#value(child(node, "argument")!, frame, "returned", undefined, node);
        return this.insertions.open(node.start, node.end, `$yaoS.q(${frame});`, 2);
      case "ThrowStatement":
        return this.#value(child(node, "argument")!, frame, "threw");
      case "IfStatement": {
        this.#value(child(node, "test")!, frame, "tested");
        this.#body(child(node, "consequent")!, frame);
        const other = child(node, "alternate");
        return other === null ? undefined : this.#body(other, frame);
      }
      case "SwitchStatement":
        this.#value(child(node, "discriminant")!, frame, "tested");
        for (const one of children(node, "cases")) this.#list(children(one, "consequent"), frame);
        return;
      case "TryStatement": {
        this.#statement(child(node, "block")!, frame);
        const caught = child(node, "handler");
        if (caught) {
          const body = child(caught, "body")!;
          const names = boundNames(child(caught, "param"));
          this.insertions.open(body.start + 1, body.end, `$yaoS.k(${[this.#site(caught, "caught", "", names), frame, ...names]});`, 0);
          this.#list(children(body, "body"), frame);
        }
        const last = child(node, "finalizer");
        return last ? this.#statement(last, frame) : undefined;
      }
      case "WithStatement":
        return;
      case "FunctionDeclaration":
        return this.#function(node, nameOf(child(node, "id")), frame);
      case "ClassDeclaration":
        return this.#class(node, frame);
    }
    if (LOOPS.has(node.type)) this.#loop(node, frame);
  }

  /** A statement that a list, or a place where only one may stand, has as its body: it gets braces. */
  #body(node: Node, frame: string): void {
    if (node.type !== "BlockStatement") this.#braces(node, "");
    this.#statement(node, frame);
  }

  #braces(node: Node, first: string): void {
    this.insertions.open(node.start, node.end, `{$yaoS.i();${first}`, 0);
    this.insertions.close(node.start, node.end, "}", 9);
  }

  #loop(node: Node, frame: string): void {
    const head = child(node, "left") ?? child(node, "init");
    let names: string[] = [];
    if (head?.type === "VariableDeclaration") {
      names = children(head, "declarations").flatMap((one) => boundNames(child(one, "id")));
      if (child(node, "init")) this.#declaration(head, frame, null);
    } else if (child(node, "left")) names = boundNames(head);
    else if (head) this.#effect(head, frame);
    const [test, update, list] = [child(node, "test"), child(node, "update"), child(node, "right")];
    if (list) this.#value(list, frame, "read");
    if (test) this.#value(test, frame, "tested");
    if (update) this.#effect(update, frame);
    const body = child(node, "body")!;
    const turn = `$yaoS.l(${[this.#site(node, "turn", "", names), frame, ...names]});`;
    if (body.type === "BlockStatement") {
      this.insertions.open(body.start + 1, body.end, turn, 0);
      this.#list(children(body, "body"), frame);
    } else {
      this.#braces(body, turn);
      this.#statement(body, frame);
    }
  }

  /** `place`: the statement behind which names are told that patterns give; null: nowhere. */
  #declaration(node: Node, frame: string, place: Node | null): void {
    const names: string[] = [];
    for (const one of children(node, "declarations")) {
      const [name, value] = [child(one, "id")!, child(one, "init")];
      if (value === null) continue;
      if (name.type === "Identifier") this.#value(value, frame, "assigned", name.name as string, name);
      else {
        this.#defaults(name, frame);
        this.#value(value, frame, "read");
        names.push(...boundNames(name));
      }
    }
    if (names.length && place) this.insertions.close(place.start, place.end, `;$yaoS.n(${[this.#site(node, "assigned", "", names), frame, ...names]});`, 9);
  }

  /** An expression whose own value nobody needs. */
  #effect(node: Node, frame: string): void {
    const plain = bare(node);
    if (CALLS.has(plain.type)) this.#call(plain, frame, true);
    else if (plain.type === "AwaitExpression") {
      this.#awaited(plain, frame);
      this.#wrap(plain, `$yaoS.c(0,${frame},`);
    } else this.#expression(node, frame);
  }

  /** An expression whose value is told as that of a site. */
  #value(node: Node, frame: string, kind: string, name?: string, at = node): void {
    const plain = bare(node);
    if (UNNAMED.has(plain.type)) {
      this.#expression(plain, frame, name);
      if (kind === "returned") this.insertions.open(node.start, node.start, "", 0);
      return;
    }
    if (kind === "tested" && LITERALS.has(plain.type)) return;
    const op = kind === "returned" ? "t" : "v";
    this.#wrap(node, `$yaoS.${op}(${this.#site(at, kind, name ?? this.#text(node))},${frame},`);
    if (CALLS.has(plain.type)) this.#call(plain, frame, true);
    else if (plain.type === "AwaitExpression") this.#awaited(plain, frame);
    else if (plain.type !== "Identifier" && !this.#names.isChain(plain)) this.#expression(node, frame);
  }

  /** What is awaited: when it is there, the caller goes on. */
  #awaited(node: Node, frame: string): void {
    const inner = child(node, "argument")!;
    const plain = bare(inner);
    if (CALLS.has(plain.type)) this.#call(plain, frame, true);
    else this.#expression(inner, frame);
    this.insertions.wrap(inner.start, inner.end, ` $yaoS.w(${frame},`, ")", 2);
  }

  #wrap(node: Node, before: string): void {
    const [open, close] = node.type === "SequenceExpression" ? ["(", ")"] : ["", ""]; // `a, b` is one argument
    this.insertions.wrap(node.start, node.end, ` ${before}${open}`, `${close})`, 3); // apart from a word such as `of`
  }

  #text(node: Node): string {
    const text = this.#source.of(node).replace(/\s+/g, " ");
    return text.length > LONGEST_NAME ? `${text.slice(0, LONGEST_NAME)}…` : text;
  }

  /** All expressions in a node. */
  #inside(node: Node, frame: string): void {
    for (const [key, one] of fieldsOf(node)) if (key !== "decorators" && key !== "typeParameters" && key !== "typeArguments") this.#expression(one, frame);
  }

  #expression(node: Node, frame: string, name = ""): void {
    const { type } = node;
    if (type === "Identifier") {
      if (this.#names.isWorth(node)) this.#wrap(node, `$yaoS.v(${this.#site(node, "read", node.name as string)},${frame},`);
      return;
    }
    if (FUNCTIONS.has(type)) return this.#function(node, nameOf(child(node, "id")) || name, frame);
    if (LITERALS.has(type) || type === "TemplateElement" || type === "Import" || type === "MetaProperty" || type === "Super") return;
    switch (type) {
      case "TSAsExpression":
      case "TSNonNullExpression":
      case "TSSatisfiesExpression":
      case "TSTypeAssertion":
      case "TSInstantiationExpression":
        return this.#expression(child(node, "expression")!, frame, name);
      case "ClassExpression":
        return this.#class(node, frame);
      case "CallExpression":
      case "NewExpression":
      case "OptionalCallExpression":
        return this.#call(node, frame, false);
      case "MemberExpression":
      case "OptionalMemberExpression":
        return this.#member(node, frame);
      case "AssignmentExpression":
        return this.#assignment(node, frame);
      case "UpdateExpression": {
        const target = bare(child(node, "argument")!);
        const by = node.prefix ? 0 : node.operator === "++" ? 1 : -1;
        const site = this.#site(node, "assigned", this.#text(target));
        this.#wrap(node, `$yaoS.p(${site},${frame},${by},`);
        if (target.computed) this.#expression(child(target, "property")!, frame);
        return;
      }
      case "UnaryExpression":
        if (node.operator === "delete" || node.operator === "typeof") {
          const target = bare(child(node, "argument")!);
          if (node.operator === "delete" || target.type === "Identifier") return;
        }
        return this.#inside(node, frame);
      case "ConditionalExpression":
        this.#value(child(node, "test")!, frame, "tested");
        this.#expression(child(node, "consequent")!, frame);
        return this.#expression(child(node, "alternate")!, frame);
      case "AwaitExpression":
        this.#wrap(node, `$yaoS.v(${this.#site(node, "read", this.#text(node))},${frame},`);
        return this.#awaited(node, frame);
      case "TaggedTemplateExpression":
        return this.#inside(child(node, "quasi")!, frame);
      case "ObjectExpression":
        for (const one of children(node, "properties")) {
          if (one.type === "ObjectProperty") {
            if (one.computed) this.#expression(child(one, "key")!, frame);
            const value = child(one, "value")!;
            const isMade = MADE.has(bare(value).type) && !one.computed;
            if (isMade) this.#value(value, frame, "assigned", nameOf(child(one, "key")));
            else if (!one.shorthand) this.#expression(value, frame, nameOf(child(one, "key")));
          } else if (one.type === "ObjectMethod") this.#function(one, nameOf(child(one, "key")), frame);
          else this.#inside(one, frame);
        }
        return;
    }
    if (type.startsWith("TS") || type.startsWith("JSX") || /Pattern$/.test(type)) return;
    this.#inside(node, frame);
  }

  #member(node: Node, frame: string): void {
    if (CHAINS.has(node.type) || !this.#names.mentionsGiven(node)) this.#wrap(node, `$yaoS.v(${this.#site(node, "read", this.#text(node))},${frame},`);
    this.#chain(node, frame, true);
  }

  /** What a chain of members and calls is made from, but itself. `a?.b.c` must stay in one piece. */
  #chain(node: Node, frame: string, isWhole = false): void {
    if (/Call/.test(node.type) && !isWhole) for (const one of children(node, "arguments")) this.#expression(one, frame);
    if (node.computed) this.#expression(child(node, "property")!, frame);
    const inner = child(node, "object") ?? child(node, "callee");
    if (inner === null) return;
    const plain = bare(inner);
    const isOptional = CHAINS.has(node.type);
    if (isOptional && (CHAINS.has(plain.type) || inner !== plain)) return this.#chain(plain, frame);
    if (/Member/.test(plain.type) && /Member/.test(node.type) && (this.#names.isChain(plain) || plain !== inner)) return plain !== inner ? this.#chain(plain, frame) : undefined;
    if (plain.type === "Identifier" && !(node.computed || isOptional)) return;
    this.#expression(inner, frame);
  }

  /** `isTold`: the value of the call is told by what is around it. */
  #call(node: Node, frame: string, isTold: boolean): void {
    const callee = child(node, "callee")!;
    const plain = bare(callee);
    for (const one of children(node, "arguments")) this.#expression(one, frame);
    if (plain.type === "Super" || plain.type === "Import") return;
    const site = isTold || this.#names.isCheck(plain) ? 0 : this.#site(node, "read", this.#text(node));
    this.#wrap(node, `$yaoS.c(${site},${frame},`);
    if (node.type === "NewExpression") return;
    if (node.type === "OptionalCallExpression" || CHAINS.has(plain.type)) {
      if (FUNCTIONS.has(plain.type)) this.#expression(callee, frame);
      else if (/Member|Call/.test(plain.type)) this.#chain(plain, frame);
    } else if (plain.type === "MemberExpression") {
      const object = child(plain, "object")!;
      if (plain.computed) this.#expression(child(plain, "property")!, frame);
      if (callee !== plain || bare(object) !== object || this.#names.mentionsGiven(object)) {
        if (!/^(Identifier|Super|MemberExpression)$/.test(bare(object).type)) this.#expression(object, frame);
      } else if (!(object.type === "Identifier" && !this.#names.isWorth(object))) this.#expression(object, frame);
    } else if (plain.type !== "Identifier") this.#expression(callee, frame);
  }

  #assignment(node: Node, frame: string): void {
    const [left, right] = [bare(child(node, "left")!), child(node, "right")!];
    if (/Pattern$/.test(left.type)) {
      this.#value(right, frame, "read");
      return;
    }
    if (/Member/.test(left.type)) {
      if (left.computed) this.#expression(child(left, "property")!, frame);
      const object = child(left, "object")!;
      if (bare(object).type !== "Identifier" && bare(object).type !== "Super") this.#expression(object, frame);
    }
    const plain = bare(right);
    if (UNNAMED.has(plain.type)) return this.#expression(plain, frame, this.#text(left));
    this.#wrap(node, `$yaoS.v(${this.#site(left, "assigned", this.#text(left))},${frame},`);
    if (CALLS.has(plain.type) && node.operator === "=") this.#call(plain, frame, true);
    else if (plain.type === "AwaitExpression" && node.operator === "=") this.#awaited(plain, frame);
    else this.#expression(right, frame);
  }

  /** The default values in a pattern. */
  #defaults(pattern: Node, frame: string): void {
    for (const node of allNodes(pattern)) if (node.type === "AssignmentPattern") this.#expression(child(node, "right")!, frame, nameOf(child(node, "left")));
  }

  #function(node: Node, name: string, outer: string): void {
    for (const one of children(node, "params")) this.#defaults(one.type === "TSParameterProperty" ? child(one, "parameter")! : one, outer);
    if (node.computed) this.#expression(child(node, "key")!, outer);
    const names = children(node, "params").flatMap((one) => boundNames(one)).filter((one) => !GIVEN.has(one));
    const body = child(node, "body")!;
    const end = ";$yaoS.q($yaoF);";
    const isEmpty = body.type === "BlockStatement" && children(body, "body").length === 0;
    const start = `const $yaoF=$yaoS.f(${[this.#site(node, "call", name, names), ...names]});${isEmpty ? end : ""}`;
    if (body.type !== "BlockStatement") {
      const params = children(node, "params");
      const from = child(node, "returnType")?.end ?? params.at(-1)?.end ?? node.start;
      const arrow = this.#source.find("=>", from, body.start) + 2;
      const plain = bare(body);
      const site = this.#site(body, "returned", this.#text(body));
      this.insertions.open(arrow, node.end, `{${start}return $yaoS.t(${site},$yaoF,`, 0); // brackets of the author follow
      this.insertions.close(node.start, node.end, ")}", 0);
      if (CALLS.has(plain.type)) this.#call(plain, "$yaoF", true);
      else if (plain.type !== "Identifier" && !this.#names.isChain(plain)) this.#expression(body, "$yaoF");
      return;
    }
    this.insertions.first(body, start, 0);
    this.#list(children(body, "body"), "$yaoF");
    if (!isEmpty) this.insertions.close(body.start, body.end - 1, end, 9);
  }

  #class(node: Node, frame: string): void {
    for (const member of children(child(node, "body")!, "body")) {
      if (/^Class(Private)?Method$/.test(member.type)) this.#function(member, nameOf(child(member, "key")), frame);
      else if (/^Class(Private|Accessor)?Property$/.test(member.type) && child(member, "value") && member.declare !== true) {
        this.#expression(child(member, "value")!, frame, nameOf(child(member, "key")));
      }
    }
  }
}

/** The line of a node; of a chain, `a\n.b()\n.c()`, that of its last name. */
function lineOf(node: Node): number {
  const callee = /Call/.test(node.type) ? child(node, "callee")! : node;
  const last = /Member/.test(callee.type) ? child(callee, "property")! : node;
  return last.loc.start.line;
}
