/** Percent-encoding, as the URL standard does it. */

import { decodeUtf8 } from "./utf8";

/** Encodes the UTF-8 bytes of every character that `set` (a global, unicode pattern) finds; the text is well-formed. */
export function percentEncode(text: string, set: RegExp): string {
  return text.replace(set, (character) => {
    const code = character.charCodeAt(0);
    if (code > 0x7f) return encodeURIComponent(character);
    return (code < 16 ? "%0" : "%") + code.toString(16).toUpperCase();
  });
}

/** Decodes `%XX`; whatever is not UTF-8 then becomes U+FFFD, and a `%` without two digits stays. */
export function percentDecode(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => {
    const bytes = new Uint8Array(run.length / 3);
    for (let i = 0; i < bytes.length; i++) bytes[i] = parseInt(run.slice(3 * i + 1, 3 * i + 3), 16);
    return decodeUtf8(bytes);
  });
}
