/** Tells whether only the form of texts keeps a check from holding: spaces, the order of keys, the form of Unicode. */

import { isObject } from "../objects";
import type { Std } from "../std";

export type Holds = (expected: unknown, actual: unknown) => unknown;
type Form = (text: string) => string;

const blank = /^\s$/;
/** A text may begin so if it is an object or a list as JSON. */
const structured = /^\s*[[{]/;

export function forms(std: Std): (expected: unknown, actual: unknown, holds: Holds) => string {
  const without: Form = (text) => {
    let out = "";
    for (let i = 0; i < text.length; i++) {
      const character = std.slice(text, i, i + 1);
      if (!std.exec(blank, character)) out += character;
    }
    return out;
  };

  const characters: Form = (text) => std.join(std.sort(std.split(without(text), "")), "");

  /** JSON with its keys in order, and as many spaces as it has. What is lost when it is read is no matter of the order: digits, a key that is there twice. */
  const ordered: Form = (text) => {
    if (!std.exec(structured, text)) return text;
    try {
      const compact = std.stringify(formed(std.parse(text), ordered));
      if (characters(compact) !== characters(text)) return text;
      const spaces = (of: string): number => of.length - without(of).length;
      return compact + std.repeat(" ", std.max(0, spaces(text) - spaces(compact)));
    } catch {
      return text;
    }
  };

  const composed: Form = (text) => std.normalize(text, "NFKC");

  const names: [Form, string][] = [[without, "spaces"], [ordered, "the order of keys"], [composed, "the normal form of Unicode"]];
  /** Which of them are tried together: a bit for each. */
  const tried = [1, 2, 4, 3, 5, 6, 7];

  /** A JSON value with another form of its texts and keys. */
  function formed(value: unknown, form: Form): unknown {
    if (typeof value === "string") return form(value);
    if (!isObject(value)) return value;
    const keys = std.keys(value);
    const isList = std.isArray(value);
    if (!isList && form === ordered) std.sort(keys);
    const out: Record<string, unknown> = isList ? (std.list() as never) : {};
    for (let i = 0; i < keys.length; i++) out[isList ? keys[i] : form(keys[i])] = formed(value[keys[i] as never], form);
    return out;
  }

  return (expected, actual, holds) => {
    for (let at = 0; at < tried.length; at++) {
      let wanted = expected;
      let found = actual;
      const said = std.list<string>();
      for (let i = 0; i < names.length; i++) {
        if (!(tried[at] & (1 << i))) continue;
        wanted = formed(wanted, names[i][0]);
        found = formed(found, names[i][0]);
        said[said.length] = names[i][1];
      }
      if (holds(wanted, found)) return "only " + std.join(said, " and ") + (tried[at] === 2 || tried[at] === 4 ? " differs" : " differ");
    }
    return "";
  };
}
