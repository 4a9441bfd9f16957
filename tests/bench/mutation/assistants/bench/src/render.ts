/** Text from data: templates with paths, filters, conditions, loops and includes. */
type Node =
  | { kind: "text"; text: string }
  | { kind: "value"; path: string; filters: string[]; raw: boolean }
  | { kind: "if"; path: string; not: boolean; then: Node[]; otherwise: Node[] }
  | { kind: "each"; path: string; name: string; body: Node[]; empty: Node[] }
  | { kind: "include"; name: string };

export type Data = Record<string, unknown>;

const TAG = /\{\{(\{?)\s*([#/]?)([^{}]*?)\s*\}?\}\}/g;
const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const DEEPEST = 10;

export const FILTERS: Record<string, (value: unknown, argument?: string) => unknown> = {
  upper: (value) => String(value ?? "").toUpperCase(),
  lower: (value) => String(value ?? "").toLowerCase(),
  trim: (value) => String(value ?? "").trim(),
  first: (value) => (Array.isArray(value) ? value[0] : String(value).charAt(0)),
  last: (value) => (Array.isArray(value) ? value.at(-1) : String(value).slice(-1)),
  size: (value) => (Array.isArray(value) || typeof value === "string" ? value.length : Object.keys((value as Data) ?? {}).length),
  join: (value, between = ", ") => (Array.isArray(value) ? value.join(between) : value),
  or: (value, fallback = "") => (value === undefined || value === null || value === "" ? fallback : value),
  cut: (value, most = "20") => (String(value).length > Number(most) ? `${String(value).slice(0, Number(most) - 1)}…` : value),
  fixed: (value, digits = "2") => Number(value).toFixed(Number(digits)),
};

export function parse(text: string): Node[] {
  const root: Node[] = [];
  const open: { tag: string; list: Node[]; other: Node[] }[] = [];
  let list = root;
  let end = 0;
  const plain = (to: number) => {
    if (to > end) list.push({ kind: "text", text: text.slice(end, to) });
  };
  for (const match of text.matchAll(TAG)) {
    const [whole, raw, sign, inner] = match;
    plain(match.index);
    end = match.index + whole.length;
    const [word, ...rest] = inner.split(/\s+/);
    if (sign === "#" && (word === "if" || word === "unless")) {
      const node: Node = { kind: "if", path: rest[0], not: word === "unless", then: [], otherwise: [] };
      list.push(node);
      open.push({ tag: word, list, other: node.otherwise });
      list = node.then;
    } else if (sign === "#" && word === "each") {
      const node: Node = { kind: "each", path: rest[0], name: rest[1] === "as" ? rest[2] : "this", body: [], empty: [] };
      list.push(node);
      open.push({ tag: word, list, other: node.empty });
      list = node.body;
    } else if (sign === "/") {
      const last = open.pop();
      if (last?.tag !== word) throw new SyntaxError(`{{/${word}}} closes nothing`);
      list = last.list;
    } else if (word === "else" && open.length > 0) {
      list = open[open.length - 1].other;
    } else if (word === ">") {
      list.push({ kind: "include", name: rest[0] });
    } else {
      const [path, ...filters] = inner.split("|").map((one) => one.trim());
      list.push({ kind: "value", path, filters, raw: raw !== "" });
    }
  }
  plain(text.length);
  if (open.length > 0) throw new SyntaxError(`{{#${open[open.length - 1].tag}}} is not closed`);
  return root;
}

export function lookup(data: unknown, path: string): unknown {
  if (path === "." || path === "") return data;
  let value: unknown = data;
  for (const key of path.split(".")) {
    value = (value as Data | null | undefined)?.[key];
  }
  return value;
}

function isFilled(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return Boolean(value);
}

function filtered(value: unknown, filters: string[]): unknown {
  return filters.reduce<unknown>((before, text) => {
    const [name, argument] = text.split(/:(.*)/s);
    const filter = FILTERS[name];
    if (!filter) throw new ReferenceError(`there is no filter ${name}`);
    return filter(before, argument?.trim());
  }, value);
}

export function render(text: string, data: Data, parts: Record<string, string> = {}, depth = 0): string {
  if (depth > DEEPEST) throw new RangeError("includes go too deep");
  const write = (nodes: Node[], scope: Data): string =>
    nodes
      .map((node) => {
        switch (node.kind) {
          case "text":
            return node.text;
          case "value": {
            const value = filtered(lookup(scope, node.path), node.filters);
            const said = value === undefined || value === null ? "" : String(value);
            return node.raw ? said : said.replace(/[&<>"]/g, (letter) => ESCAPES[letter]);
          }
          case "if":
            return write(isFilled(lookup(scope, node.path)) !== node.not ? node.then : node.otherwise, scope);
          case "each": {
            const items = lookup(scope, node.path);
            if (!Array.isArray(items) || items.length === 0) return write(node.empty, scope);
            return items.map((item, index) => write(node.body, { ...scope, [node.name]: item, index, isLast: index === items.length - 1 })).join("");
          }
          default:
            return render(parts[node.name] ?? "", scope, parts, depth + 1);
        }
      })
      .join("");
  return write(parse(text), data);
}
