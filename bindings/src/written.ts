/**
 * The text of a function without the recorder that `scripttest/syntax/src/recorded.ts` has put into it: as the compiler would
 * have printed what the author wrote.
 */

import type { Std } from "./std";

const statements = "fsqlkni";
/** How many arguments are before the value that a call returns. */
const before = { v: 2, t: 2, c: 2, p: 3, w: 1 } as Record<string, number>;
const assignment = /^[\w$.#\[\]"']+ (?:[-+*/%&|^<>?]*)= /;

export function written(std: Std, text: string): string {
  const mark = "$yaoS.";
  const at = (index: number): string => std.slice(text, index, index + 1);
  const put = (from: number, to: number, by: string): void => {
    text = std.slice(text, 0, from) + by + std.slice(text, to);
  };
  const lineStart = (index: number): number => {
    while (index > 0 && at(index - 1) !== "\n") index--;
    return index;
  };
  const indent = (start: number): string => {
    let end = start;
    while (at(end) === " ") end++;
    return std.slice(text, start, end);
  };

  /** The end of a literal that begins at an index; the index itself where none does. */
  function literalEnd(start: number): number {
    const quote = at(start);
    if (quote === "/") {
      if (!std.exec(/(?:^|[(,=:[!&|?{};+\-*%<>~^]|return|typeof|yield|case|=>)\s*$/, std.slice(text, std.max(0, start - 12), start))) return start;
    } else if (quote !== '"' && quote !== "'" && quote !== "`") return start;
    let inClass = false;
    for (let i = start + 1; i < text.length; i++) {
      const letter = at(i);
      if (letter === "\\") i++;
      else if (quote === "/" && (letter === "[" || letter === "]")) inClass = letter === "[";
      else if (quote === "`" && std.slice(text, i, i + 2) === "${") i = closing(i + 1);
      else if (letter === quote && !inClass) return i;
    }
    return text.length;
  }

  /** The index of the bracket that closes the one at an index. */
  function closing(open: number): number {
    let depth = 0;
    for (let i = open; i < text.length; i++) {
      const letter = at(i);
      if (letter === "(" || letter === "[" || letter === "{") depth++;
      else if (letter === ")" || letter === "]" || letter === "}") {
        if (--depth === 0) return i;
      } else i = literalEnd(i);
    }
    return text.length;
  }

  const dedented = (code: string): string => std.join(std.split(code, "\n  "), "\n");

  /** Removes the line of a statement, and an empty one before it. */
  function removeLine(place: number, end: number): void {
    let start = lineStart(place);
    if (start > 0 && std.exec(/^ *;$/, std.slice(text, lineStart(start - 1), start - 1))) start = lineStart(start - 1);
    while (end < text.length && at(end) !== "\n") end++;
    put(start, end + 1, "");
  }

  /** Takes the braces away that a statement of its own did not have. */
  function unbraced(place: number): void {
    let open = place;
    while (at(open) !== "{") open--;
    const end = closing(open);
    const around = indent(lineStart(open));
    let code = written(std, std.slice(text, open + 1, end));
    code = std.slice(std.join(std.split(code, "\n" + around + "  "), "\n" + around), around.length + 1);
    if (std.slice(code, -1) !== "\n") code = std.slice(code, 0, -around.length || code.length);
    code = std.slice(code, 0, -1);
    const goesOn = std.slice(text, end + 1, end + 6) === " else";
    put(open, goesOn ? end + 2 : end + 1, goesOn ? code + "\n" + around : code);
  }

  function value(place: number, op: string): void {
    const open = place + mark.length + 1;
    const end = closing(open);
    let start = open + 1;
    for (let i = 0; i < before[op]; i++) start = std.indexOf(text, ", ", start) + 2;
    const code = std.slice(text, start, end);
    const next = std.slice(text, end + 1, end + 3);
    const isRead = std.exec(/^[.[(]|^\?\./, next) !== null;
    const isOperand = isRead || std.exec(/^ [-+*/%<>=!&|^?]/, next) !== null || std.exec(/[-+*/%<>&|^!?] ?$/, std.slice(text, std.max(0, place - 2), place)) !== null;
    const isLoose = std.slice(code, 0, 6) === "yield " || std.exec(assignment, code) !== null;
    const needs = (isLoose && isOperand) || (isRead && std.slice(code, 0, 6) === "await ");
    put(place, end + 1, needs ? "(" + code + ")" : code);
  }

  for (let place = std.indexOf(text, mark); place >= 0; place = std.indexOf(text, mark)) {
    const op = at(place + mark.length);
    const end = closing(place + mark.length + 1);
    if (std.indexOf(statements, op) < 0) {
      value(place, op);
      continue;
    }
    const start = lineStart(place);
    const next = end + 3 + indent(end + 3).length; // behind the bracket, a semicolon and a line break
    const opened = start - 2;
    if (op === "f" && std.slice(text, opened - 3, opened + 1) === "=> {" && std.slice(text, next, next + 14) === "return $yaoS.t") {
      const returned = next + 7;
      const last = closing(returned + mark.length + 1);
      let from = returned + mark.length + 2;
      for (let i = 0; i < 2; i++) from = std.indexOf(text, ", ", from) + 2;
      const code = dedented(std.slice(text, from, last));
      put(opened, closing(opened) + 1, at(from) === "{" ? "(" + code + ")" : code);
    } else if (op === "i") {
      removeLine(place, end);
      unbraced(start - 2);
    } else removeLine(place, end);
  }
  return std.slice(text + " ", 0, -1); // flat, see `Kernel.bridge`
}
