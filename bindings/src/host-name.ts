/**
 * Parses the hosts of URLs: names, IPv4 and IPv6 addresses, opaque hosts.
 *
 * Names outside ASCII are converted to lower case, normalised (NFKC) and encoded as Punycode. This is only a part of
 * UTS #46: its tables of forbidden and ignored characters, and the checks of labels that already are Punycode, are missing.
 */

import { percentDecode, percentEncode } from "./percent";

/** The serialized host; undefined if it is invalid. */
export function parseHost(text: string, special: boolean): string | undefined {
  if (text[0] === "[") {
    const pieces = text.endsWith("]") ? parseIPv6(text.slice(1, -1)) : undefined;
    return pieces && `[${formatIPv6(pieces)}]`;
  }
  if (!special) return /[\0\t\n\r #/:<>?@[\\\]^|]/.test(text) ? undefined : percentEncode(text, /[^ -~]/gu);
  const name = asciiName(percentDecode(text));
  if (!name || /[\0- #%/:<>?@[\\\]^|\x7f]/.test(name)) return undefined;
  return /(^|\.)(\d+|0x[\da-f]*)\.?$/.test(name) ? parseIPv4(name) : name;
}

function asciiName(name: string): string | undefined {
  if (/^[\0-\x7f]*$/.test(name)) return name.toLowerCase();
  const labels = name
    .replace(/[\xad\u200b\u2060\ufeff]/g, "")
    .normalize("NFKC")
    .toLowerCase()
    .normalize("NFKC")
    .split(/[.。．｡]/);
  const encoded = labels.map((label) => (/^[\0-\x7f]*$/.test(label) ? label : punycode(label)));
  return encoded.includes(undefined) ? undefined : encoded.join(".");
}

/** RFC 3492. */
function punycode(label: string): string | undefined {
  const points = Array.from(label, (character) => character.codePointAt(0)!);
  if (/[\ud800-\udfff\ufffd]/u.test(label)) return undefined;
  let output = points
    .filter((point) => point < 128)
    .map((point) => String.fromCharCode(point))
    .join("");
  const basic = output.length;
  let handled = basic;
  if (basic) output += "-";
  let delta = 0;
  let bias = 72;
  let floor = 128;
  while (handled < points.length) {
    const next = Math.min(...points.filter((point) => point >= floor));
    delta += (next - floor) * (handled + 1);
    floor = next;
    for (const point of points) {
      if (point < floor) delta++;
      if (point !== floor) continue;
      let rest = delta;
      for (let k = 36; ; k += 36) {
        const threshold = Math.max(1, Math.min(26, k - bias));
        if (rest < threshold) break;
        output += digit(threshold + ((rest - threshold) % (36 - threshold)));
        rest = Math.floor((rest - threshold) / (36 - threshold));
      }
      output += digit(rest);
      let damped = handled === basic ? Math.floor(delta / 700) : delta >> 1;
      damped += Math.floor(damped / (handled + 1));
      let k = 0;
      for (; damped > 455; k += 36) damped = Math.floor(damped / 35);
      bias = k + Math.floor((36 * damped) / (damped + 38));
      delta = 0;
      handled++;
    }
    delta++;
    floor++;
  }
  return "xn--" + output;
}

/** The digit of a value: `a` to `z`, then `0` to `9`. */
function digit(value: number): string {
  return String.fromCharCode(value < 26 ? 97 + value : 22 + value);
}

function parseIPv4(text: string): string | undefined {
  const parts = text.replace(/\.$/, "").split(".");
  if (parts.length > 4) return undefined;
  let address = 0;
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i];
    const last = i === parts.length - 1;
    const number = /^0x[\da-f]*$/.test(part)
      ? parseInt(part.slice(2) || "0", 16)
      : /^0[0-7]*$/.test(part)
        ? parseInt(part, 8)
        : /^[1-9]\d*$/.test(part)
          ? Number(part)
          : NaN;
    if (!(number < (last ? 256 ** (5 - parts.length) : 256))) return undefined;
    address += last ? number : number * 256 ** (3 - i);
  }
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join(".");
}

function parseIPv6(text: string): number[] | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const lists = halves.map((half, index) => (half ? pieces(half.split(":"), index === halves.length - 1) : []));
  const [before, after] = lists;
  if (!before || (halves.length > 1 && !after)) return undefined;
  if (!after) return before.length === 8 ? before : undefined;
  const missing = 8 - before.length - after.length;
  return missing < 1 ? undefined : [...before, ...new Array<number>(missing).fill(0), ...after];
}

function pieces(groups: string[], mayEndInIPv4: boolean): number[] | undefined {
  const numbers: number[] = [];
  for (let i = 0; i < groups.length; i++) {
    const group = groups[i];
    if (/^[\da-f]{1,4}$/i.test(group)) {
      numbers.push(parseInt(group, 16));
      continue;
    }
    const bytes = /^(0|[1-9]\d{0,2})(\.(0|[1-9]\d{0,2})){3}$/.test(group) ? group.split(".").map(Number) : [256];
    if (!mayEndInIPv4 || i < groups.length - 1 || bytes.some((byte) => byte > 255)) return undefined;
    numbers.push(bytes[0] * 256 + bytes[1], bytes[2] * 256 + bytes[3]);
  }
  return numbers;
}

/** The first longest run of two or more zeros becomes `::`. */
function formatIPv6(numbers: number[]): string {
  let at = -1;
  let length = 1;
  for (let i = 0; i < 8; i++) {
    let end = i;
    while (numbers[end] === 0) end++;
    if (end - i > length) {
      at = i;
      length = end - i;
    }
  }
  const hex = (list: number[]) => list.map((number) => number.toString(16)).join(":");
  return at < 0 ? hex(numbers) : `${hex(numbers.slice(0, at))}::${hex(numbers.slice(at + length))}`;
}
