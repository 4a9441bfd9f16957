/**
 * `URL` and `URLSearchParams`, by the URL standard (https://url.spec.whatwg.org).
 *
 * Limits: `host-name.ts` says what it supports of names outside ASCII. There is no `URL.createObjectURL`. Both classes have
 * their text as an own property (`href`, `query`), so that it is compared and printed.
 */

import { parseHost } from "../host-name";
import type { Kernel } from "../kernel";
import { percentDecode, percentEncode } from "../percent";
import {
  addPath,
  format,
  fragmentSet,
  hostText,
  isSpecial,
  parse,
  type Parts,
  pathText,
  querySet,
  setPort,
  specialQuerySet,
  userSet,
} from "../url-parts";

function readPairs(text: string): [string, string][] {
  const decode = (part: string) => percentDecode(part.replace(/\+/g, " "));
  return text
    .split("&")
    .filter(Boolean)
    .map((pair) => {
      const at = pair.indexOf("=");
      return at < 0 ? [decode(pair), ""] : [decode(pair.slice(0, at)), decode(pair.slice(at + 1))];
    });
}

function writePairs(pairs: [string, string][]): string {
  const encode = (part: string) =>
    encodeURIComponent(part)
      .replace(/[!'()~]/g, (character) => "%" + character.charCodeAt(0).toString(16).toUpperCase())
      .replace(/%20/g, "+");
  return pairs.map(([name, value]) => encode(name) + "=" + encode(value)).join("&");
}

const wellFormed = (value: unknown) => String(value).toWellFormed();

/** `URLSearchParams` → functions that keep it and its URL the same: `changed` updates the URL, `reset` the parameters. */
const links = new WeakMap<object, { changed: (text: string) => void; reset: (text: string) => void }>();

function readInit(init: unknown): [string, string][] {
  if ((typeof init !== "object" && typeof init !== "function") || init === null) {
    return readPairs(wellFormed(init).replace(/^\?/, ""));
  }
  if (typeof (init as Iterable<unknown>)[Symbol.iterator] !== "function") {
    return Object.entries(init).map(([name, value]) => [wellFormed(name), wellFormed(value)]);
  }
  return Array.from(init as Iterable<Iterable<unknown>>, (item) => {
    const pair = typeof item === "string" ? [] : [...item];
    if (pair.length !== 2) throw new TypeError("URLSearchParams takes pairs of a name and a value");
    return [wellFormed(pair[0]), wellFormed(pair[1])];
  });
}

export default function (_kernel: Kernel) {
  const globals = {
    URLSearchParams: class {
      #pairs: [string, string][];

      constructor(init: unknown = "") {
        this.#pairs = readInit(init);
        links.set(this, { changed: () => undefined, reset: (text) => (this.#pairs = readPairs(text)) });
        Object.defineProperty(this, "query", { get: () => this.toString(), enumerable: true, configurable: true });
      }

      #changed(): void {
        links.get(this)!.changed(this.toString());
      }

      get size(): number {
        return this.#pairs.length;
      }

      append(name: unknown, value: unknown): void {
        this.#pairs.push([wellFormed(name), wellFormed(value)]);
        this.#changed();
      }

      delete(name: unknown, value?: unknown): void {
        this.#pairs = this.#pairs.filter((pair) => !matches(pair, name, value));
        this.#changed();
      }

      get(name: unknown): string | null {
        return this.#pairs.find((pair) => matches(pair, name))?.[1] ?? null;
      }

      getAll(name: unknown): string[] {
        return this.#pairs.filter((pair) => matches(pair, name)).map((pair) => pair[1]);
      }

      has(name: unknown, value?: unknown): boolean {
        return this.#pairs.some((pair) => matches(pair, name, value));
      }

      set(name: unknown, value: unknown): void {
        const first = this.#pairs.find((pair) => matches(pair, name));
        if (!first) return this.append(name, value);
        first[1] = wellFormed(value);
        this.#pairs = this.#pairs.filter((pair) => pair === first || !matches(pair, name));
        this.#changed();
      }

      sort(): void {
        this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
        this.#changed();
      }

      forEach(visit: (value: string, name: string, params: unknown) => void, self?: unknown): void {
        for (const [name, value] of this.entries()) visit.call(self, value, name, this);
      }

      *entries(): Generator<[string, string]> {
        for (let i = 0; i < this.#pairs.length; i++) yield [this.#pairs[i][0], this.#pairs[i][1]];
      }

      *keys(): Generator<string> {
        for (const [name] of this.entries()) yield name;
      }

      *values(): Generator<string> {
        for (const [, value] of this.entries()) yield value;
      }

      [Symbol.iterator](): Generator<[string, string]> {
        return this.entries();
      }

      toString(): string {
        return writePairs(this.#pairs);
      }

      toJSON(): object {
        return {};
      }

      get [Symbol.toStringTag](): string {
        return "URLSearchParams";
      }
    },

    URL: class {
      #url: Parts;
      #params: { toString(): string } | undefined;
      declare href: string;

      static canParse(input: unknown, base?: unknown): boolean {
        return resolve(input, base) !== undefined;
      }

      static parse(input: unknown, base?: unknown): object | null {
        const url = resolve(input, base);
        return url ? new globals.URL(format(url)) : null;
      }

      constructor(input: unknown, base?: unknown) {
        const url = resolve(input, base);
        if (!url) throw invalid(input, base);
        this.#url = url;
        Object.defineProperty(this, "href", {
          get: () => format(this.#url),
          set: (text: unknown) => {
            const changed = parse(wellFormed(text));
            if (!changed) throw invalid(text);
            this.#url = changed;
            this.#resetParams();
          },
          enumerable: true,
          configurable: true,
        });
      }

      #resetParams(): void {
        if (this.#params) links.get(this.#params)!.reset(this.#url.query ?? "");
      }

      get #hasNoCredentials(): boolean {
        return !this.#url.host || this.#url.scheme === "file";
      }

      get origin(): string {
        const { scheme, path } = this.#url;
        if (scheme === "blob") {
          const inner = parse(path as string);
          return inner && /^https?$/.test(inner.scheme) ? `${inner.scheme}://${hostText(inner)}` : "null";
        }
        return isSpecial(scheme) && scheme !== "file" ? `${scheme}://${hostText(this.#url)}` : "null";
      }

      get protocol(): string {
        return this.#url.scheme + ":";
      }

      set protocol(value: unknown) {
        const url = this.#url;
        const scheme = /^([a-z][a-z\d+.-]*)(:|$)/i.exec(wellFormed(value))?.[1].toLowerCase();
        if (!scheme || isSpecial(scheme) !== isSpecial(url.scheme)) return;
        if (scheme === "file" && (url.username || url.password || url.port)) return;
        if (url.scheme === "file" && !url.host) return;
        url.scheme = scheme;
        setPort(url, url.port);
      }

      get username(): string {
        return this.#url.username;
      }

      set username(value: unknown) {
        if (!this.#hasNoCredentials) this.#url.username = percentEncode(wellFormed(value), userSet);
      }

      get password(): string {
        return this.#url.password;
      }

      set password(value: unknown) {
        if (!this.#hasNoCredentials) this.#url.password = percentEncode(wellFormed(value), userSet);
      }

      get host(): string {
        return hostText(this.#url);
      }

      set host(value: unknown) {
        this.#setHost(value, true);
      }

      get hostname(): string {
        return this.#url.host ?? "";
      }

      set hostname(value: unknown) {
        this.#setHost(value, false);
      }

      #setHost(value: unknown, withPort: boolean): void {
        const url = this.#url;
        if (typeof url.path === "string") return;
        const special = isSpecial(url.scheme);
        const text = wellFormed(value)
          .replace(/[\t\n\r]/g, "")
          .split(special ? /[/\\?#]/ : /[/?#]/)[0];
        const [, host, port] = (url.scheme === "file" ? /^([^]*)()??/ : /^(\[[^\]]*\]|[^:]*)(?::(\d*))?/).exec(text)!;
        if (!withPort && port !== undefined) return;
        if (
          !host &&
          ((special && url.scheme !== "file") || port !== undefined || url.username || url.password || url.port)
        )
          return;
        const parsed = host && parseHost(host, special);
        if (parsed === undefined) return;
        url.host = url.scheme === "file" && parsed === "localhost" ? "" : parsed;
        if (port) setPort(url, port);
      }

      get port(): string {
        return this.#url.port;
      }

      set port(value: unknown) {
        const digits = /^\d*/.exec(wellFormed(value).replace(/[\t\n\r]/g, ""))![0];
        if (!this.#hasNoCredentials && (digits || value === "")) setPort(this.#url, digits);
      }

      get pathname(): string {
        return pathText(this.#url);
      }

      set pathname(value: unknown) {
        if (typeof this.#url.path === "string") return;
        this.#url.path = [];
        addPath(this.#url, wellFormed(value).replace(/[\t\n\r]/g, "") || (this.#url.host === null ? "/" : ""));
      }

      get search(): string {
        return this.#url.query ? "?" + this.#url.query : "";
      }

      set search(value: unknown) {
        const text = wellFormed(value).replace(/[\t\n\r]/g, "");
        const set = isSpecial(this.#url.scheme) ? specialQuerySet : querySet;
        this.#url.query = text ? percentEncode(text.replace(/^\?/, ""), set) : null;
        this.#resetParams();
      }

      get searchParams(): unknown {
        if (!this.#params) {
          this.#params = new globals.URLSearchParams(this.#url.query ?? "");
          links.get(this.#params)!.changed = (text) => (this.#url.query = text || null);
        }
        return this.#params;
      }

      get hash(): string {
        return this.#url.fragment ? "#" + this.#url.fragment : "";
      }

      set hash(value: unknown) {
        const text = wellFormed(value).replace(/[\t\n\r]/g, "");
        this.#url.fragment = text ? percentEncode(text.replace(/^#/, ""), fragmentSet) : null;
      }

      toString(): string {
        return format(this.#url);
      }

      toJSON(): string {
        return format(this.#url);
      }

      get [Symbol.toStringTag](): string {
        return "URL";
      }
    },
  };
  return globals;
}

function matches(pair: [string, string], name: unknown, value?: unknown): boolean {
  return pair[0] === wellFormed(name) && (value === undefined || pair[1] === wellFormed(value));
}

function resolve(input: unknown, base: unknown): Parts | undefined {
  const from = base === undefined ? undefined : parse(wellFormed(base));
  return base !== undefined && !from ? undefined : parse(wellFormed(input), from);
}

function invalid(input: unknown, base?: unknown): TypeError {
  return new TypeError(
    `Invalid URL: ${JSON.stringify(String(input))}${base === undefined ? "" : ` with base ${JSON.stringify(String(base))}`}`,
  );
}
