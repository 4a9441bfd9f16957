/** Encodes and decodes UTF-8. The engine has no `TextEncoder`. */

/** The text as UTF-8 bytes. A lone surrogate becomes U+FFFD. */
export function encodeUtf8(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length * 3);
  let end = 0;
  for (let i = 0; i < text.length; i++) {
    let code = text.charCodeAt(i);
    if (code < 0x80) {
      bytes[end++] = code;
      continue;
    }
    if (code >= 0xd800 && code < 0xe000) {
      const low = text.charCodeAt(i + 1);
      if (code < 0xdc00 && low >= 0xdc00 && low < 0xe000) {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        i++;
      } else {
        code = 0xfffd;
      }
    }
    if (code < 0x800) {
      bytes[end++] = 0xc0 | (code >> 6);
    } else {
      if (code < 0x10000) {
        bytes[end++] = 0xe0 | (code >> 12);
      } else {
        bytes[end++] = 0xf0 | (code >> 18);
        bytes[end++] = 0x80 | ((code >> 12) & 63);
      }
      bytes[end++] = 0x80 | ((code >> 6) & 63);
    }
    bytes[end++] = 0x80 | (code & 63);
  }
  return bytes.slice(0, end);
}

/** A string of the given UTF-16 code units; each byte counts as one. */
export function unitsToText(units: Uint8Array | Uint16Array): string {
  let text = "";
  for (let i = 0; i < units.length; i += 8192) {
    text += String.fromCharCode.apply(null, units.subarray(i, i + 8192) as unknown as number[]);
  }
  return text;
}

/** Decodes UTF-8. Malformed sequences become U+FFFD, as the Encoding standard says; if `fatal`, they throw a TypeError. */
export function decodeUtf8(bytes: Uint8Array, fatal = false): string {
  try {
    return decodeURIComponent(escape(unitsToText(bytes)));
  } catch {
    if (fatal) throw new TypeError("The bytes are not valid UTF-8");
  }
  const units: number[] = [];
  let text = "";
  for (let i = 0; i < bytes.length;) {
    const { size, code } = sequenceAt(bytes, i);
    i += size;
    if (code > 0xffff) units.push(0xd7c0 + (code >> 10), 0xdc00 | (code & 1023));
    else units.push(code);
    if (units.length > 4096) text += String.fromCharCode.apply(null, units.splice(0));
  }
  return text + String.fromCharCode.apply(null, units);
}

/**
 * The sequence that starts at an index: its size in bytes and its code point. A malformed one has the code point U+FFFD and
 * the size of its longest valid prefix. `cut` is true if it is malformed only because the bytes end too early.
 */
export function sequenceAt(bytes: Uint8Array, at: number): { size: number; code: number; cut?: boolean } {
  const lead = bytes[at];
  if (lead < 0x80) return { size: 1, code: lead };
  const more = lead < 0xc2 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : lead < 0xf5 ? 3 : 0;
  let code = lead & (0x3f >> more);
  let size = 1;
  for (; size <= more; size++) {
    if (at + size >= bytes.length) return { size, code: 0xfffd, cut: true };
    const byte = bytes[at + size];
    const low = size > 1 ? 0x80 : lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
    const high = size > 1 ? 0xbf : lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
    if (byte < low || byte > high) return { size, code: 0xfffd };
    code = (code << 6) | (byte & 63);
  }
  return more ? { size, code } : { size: 1, code: 0xfffd };
}
