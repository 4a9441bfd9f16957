/** Percent-encoding, as the URL standard does it. */

import { decodeUtf8 } from "./utf8";

/** Encodes each character that `set` matches (a pattern with the flags `gu`) as UTF-8 bytes. The text must be well-formed. */
export function percentEncode(text: string, set: RegExp): string {
  return text.replace(set, (character) => {
    const code = character.charCodeAt(0);
    if (code > 0x7f) return encodeURIComponent(character);
    return (code < 16 ? "%0" : "%") + code.toString(16).toUpperCase();
  });
}

/** Decodes `%XX`. Bytes that are not UTF-8 become U+FFFD; a `%` without two digits is kept. */
export function percentDecode(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => {
    const bytes = new Uint8Array(run.length / 3);
    for (let i = 0; i < bytes.length; i++) bytes[i] = parseInt(run.slice(3 * i + 1, 3 * i + 3), 16);
    return decodeUtf8(bytes);
  });
}
