/**
 * The loop in which code was stopped: the engine reports the last position alone that it recorded.
 *
 * It records positions of calls and of few other things, but not when a loop begins its next round. So the position is
 * in the loop or before it. If the function has recorded none, it is the first column of the line where the function
 * begins. If several loops are possible, one without an end condition is chosen.
 */

import { LOOPS, type Node, allNodes, child, isCall, isFunction, ownNodes, programOf } from "./tree";

const LEAVES = new Set(["BreakStatement", "ReturnStatement", "ThrowStatement"]);

/**
 * The offset of the loop that was running; null if there is no loop around or after the position. Generators are not
 * considered: the code that reads from them may be what does not end.
 *
 * @param isCalling whether a call was running at this place, so that the loop must be around it
 */
export function loopAt(code: string, place: number, isCalling: boolean): number | null {
  return new Reader(code).loop(place, isCalling);
}

/** The offset of the last `return` of the first function; null when there is none. */
export function lastReturn(code: string): number | null {
  const [first] = functionsIn(programOf(code, ".js"));
  const found = first ? [...ownNodes(first)].filter(({ type }) => type === "ReturnStatement") : [];
  return found.at(-1)?.start ?? null;
}

class Reader {
  readonly #code: string;
  readonly #program: Node;
  readonly #calls: number[];

  constructor(code: string) {
    this.#code = code;
    this.#program = programOf(code, ".js");
    this.#calls = [...allNodes(this.#program)]
      .filter((node) => isCall(node) && code[node.end - 1] === ")")
      .map((node) => code.indexOf("(", child(node, "callee")!.end));
  }

  loop(place: number, isCalling: boolean): number | null {
    const at = place + this.#code.slice(place).search(/\S|$/);
    const functions = functionsIn(this.#program);
    if (!isCalling && (place === 0 || this.#code[place - 1] === "\n")) {
      const line = this.#code.indexOf("\n", place);
      const end = line < 0 ? this.#code.length : line;
      for (const begun of functions) {
        const { start } = child(begun, "body")!;
        const found = place <= start && start < end ? this.#loopOf(begun, start, isCalling) : null;
        if (found !== null) return found;
      }
    }
    const around = functions.filter(({ start, end }) => start <= at && at < end).at(-1);
    return this.#loopOf(around ?? this.#program, at, isCalling);
  }

  /** The offset of a function's loop, from a place in it. */
  #loopOf(node: Node, at: number, isCalling: boolean): number | null {
    const loops = [...ownNodes(node)].filter((one) => LOOPS.has(one.type) && !yields(one));
    const holding = loops.filter(({ start, end }) => start <= at && at < end);
    const endless = holding.filter((loop) => isEndless(loop));
    const last = holding.at(-1)?.end ?? node.end;
    if (!isCalling) {
      const begin = Math.max(at, child(node, "body")?.start ?? 0);
      const after = loops.find(({ start }) => begin <= start && start < last);
      if (after && !this.#callsIn(this.#over(begin), after.start) && (endless.length === 0 || isEndless(after))) {
        return after.start;
      }
      const next = holding.length > 0 && endless.length === 0 ? loops.find(({ start }) => start >= last) : undefined;
      if (next && isEndless(next) && !this.#callsIn(last, next.start) && !this.#callsIn(next.start, next.end)) {
        return next.start;
      }
    }
    return (endless.length > 0 ? endless : holding).at(-1)?.start ?? null;
  }

  /** The end of the statement that a place is in, or the beginning of its block. */
  #over(at: number): number {
    const around = [...allNodes(this.#program)].filter(
      ({ type, start, end }) => /Statement$|^VariableDeclaration$|^Program$/.test(type) && start <= at && at < end,
    );
    const inner = around.at(-1)!;
    if (inner.type === "BlockStatement" || inner.type === "Program") return at;
    const blocks = [...allNodes(inner)].filter(({ type, start }) => type === "BlockStatement" && start > at);
    return inner.type === "ExpressionStatement" || blocks.length === 0 ? inner.end : blocks[0].start;
  }

  #callsIn(first: number, last: number): boolean {
    return this.#calls.some((call) => first < call && call < last);
  }
}

/** The functions in a node, the outer ones before the inner ones. */
function functionsIn(node: Node): Node[] {
  return [...allNodes(node)].filter(isFunction);
}

function yields(loop: Node): boolean {
  return [...ownNodes(loop)].some(({ type }) => type === "YieldExpression");
}

/** Whether a loop says that it has no end. */
function isEndless(loop: Node): boolean {
  const test = child(loop, "test");
  const isOpen = loop.type === "ForStatement" && !child(loop, "init") && !test && !child(loop, "update");
  const isTrue = loop.type !== "ForStatement" && (test?.value === true || test?.value === 1);
  return (isOpen || isTrue) && ![...allNodes(child(loop, "body")!)].some(({ type }) => LEAVES.has(type));
}
