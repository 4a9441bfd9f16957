/** Patterns: versions with pre-releases, their order, and the ranges that they are in. */
export interface Version {
  major: number;
  minor: number;
  patch: number;
  pre: (string | number)[];
  build: string;
}

type Test = (version: Version) => boolean;

const VERSION = /^v?(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z.-]+))?$/;
const PART = /^(\^|~|>=|<=|>|<|=)?\s*v?(\d+|x|\*)(?:\.(\d+|x|\*))?(?:\.(\d+|x|\*))?(?:-([0-9A-Za-z.-]+))?$/;

export function parse(text: string): Version {
  const match = VERSION.exec(text.trim());
  if (!match) throw new SyntaxError(`${text} is no version`);
  const [, major, minor, patch, pre, build = ""] = match;
  return { major: Number(major), minor: Number(minor), patch: Number(patch), pre: identifiers(pre), build };
}

function identifiers(text?: string): (string | number)[] {
  return text?.split(".").map((one) => (/^\d+$/.test(one) ? Number(one) : one)) ?? [];
}

export function format({ major, minor, patch, pre, build }: Version): string {
  const release = [major, minor, patch].join(".");
  return `${release}${pre.length > 0 ? `-${pre.join(".")}` : ""}${build && `+${build}`}`;
}

export function compare(a: Version, b: Version): number {
  const numbers = a.major - b.major || a.minor - b.minor || a.patch - b.patch;
  if (numbers !== 0) return Math.sign(numbers);
  if (a.pre.length === 0 || b.pre.length === 0) return Math.sign(b.pre.length - a.pre.length);
  for (let at = 0; at < Math.max(a.pre.length, b.pre.length); at++) {
    const [one, other] = [a.pre[at], b.pre[at]];
    if (one === undefined) return -1;
    if (other === undefined) return 1;
    if (one === other) continue;
    if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
    return one < other ? -1 : 1;
  }
  return 0;
}

export function sorted(texts: string[]): string[] {
  return texts.map(parse).sort(compare).map(format);
}

export function bump(text: string, part: "major" | "minor" | "patch" | "pre"): string {
  const version = parse(text);
  const isPre = version.pre.length > 0;
  version.build = "";
  switch (part) {
    case "major":
      return `${version.major + 1}.0.0`;
    case "minor":
      return `${version.major}.${version.minor + 1}.0`;
    case "patch":
      return `${version.major}.${version.minor}.${version.patch + (isPre ? 0 : 1)}`;
    default:
      if (!isPre) return `${version.major}.${version.minor}.${version.patch + 1}-0`;
  }
  const last = version.pre.findLastIndex((one) => typeof one === "number");
  if (last < 0) version.pre.push(0);
  else version.pre[last] = (version.pre[last] as number) + 1;
  return format(version);
}

function within(from: Version, to: Version | null): Test {
  return (version) => compare(version, from) >= 0 && (to === null || compare(version, to) < 0);
}

function test(text: string): Test {
  const match = PART.exec(text);
  if (!match) throw new SyntaxError(`${text} is no range`);
  const [, sign = "", ...rest] = match;
  const [major, minor, patch] = rest.slice(0, 3).map((one) => (one === undefined || /[x*]/.test(one) ? null : Number(one)));
  const made = (a: number, b = 0, c = 0): Version => ({ major: a, minor: b, patch: c, pre: [], build: "" });
  if (major === null) return () => true;
  const low = { ...made(major, minor ?? 0, patch ?? 0), pre: identifiers(rest[3]) };
  const wide = minor === null ? made(major + 1) : made(major, minor + 1);
  const above = patch === null ? wide : null;
  if (sign === ">=") return within(low, null);
  if (sign === "<") return (version) => compare(version, low) < 0;
  if (sign === ">") return (version) => compare(version, above ?? low) >= (above ? 0 : 1);
  if (sign === "<=") return (version) => compare(version, above ?? low) <= (above ? -1 : 0);
  if (sign === "~") return within(low, wide);
  if (sign === "^") return within(low, major > 0 || minor === null ? made(major + 1) : minor > 0 || patch === null ? made(0, minor + 1) : made(0, 0, patch + 1));
  return above ? within(low, above) : (version) => compare(version, low) === 0;
}

export function satisfies(text: string, range: string): boolean {
  const version = parse(text);
  return range.split("||").some((one) => one.trim().split(/\s+(?=[\^~<>=v\d*x])/).every((part) => test(part)(version)));
}

export function best(texts: string[], range: string): string | null {
  return sorted(texts).findLast((text) => satisfies(text, range)) ?? null;
}
