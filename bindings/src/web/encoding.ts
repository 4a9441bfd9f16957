/**
 * `TextEncoder`, `TextDecoder`, `atob` and `btoa`.
 *
 * The decoder supports utf-8, utf-16le, utf-16be and windows-1252, which the Encoding standard also calls `latin1` and
 * `ascii`. `atob` and `btoa` use UTF-8, as in Yao and unlike browsers: `btoa("é")` is `"w6k="`.
 */

import { fromBase64, toBase64 } from "../base64";
import type { Kernel } from "../kernel";
import { decodeUtf8, encodeUtf8, sequenceAt, unitsToText } from "../utf8";

const labels: [string, RegExp][] = [
  ["utf-8", /^(unicode-1-1-utf-8|unicode11utf8|unicode20utf8|x-unicode20utf8|utf-?8)$/],
  ["utf-16le", /^(utf-16(le)?|ucs-2|unicode|unicodefeff|csunicode|iso-10646-ucs-2)$/],
  ["utf-16be", /^(utf-16be|unicodefffe)$/],
  [
    "windows-1252",
    /^(latin1|l1|ascii|us-ascii|iso-?8859-?1|iso_8859-1(:1987)?|ansi_x3\.4-1968|cp1252|windows-1252|x-cp1252|cp819|ibm819|csisolatin1|iso-ir-100)$/,
  ],
];

/** The characters of windows-1252 from 0x80 to 0x9f. */
const high = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ";

type Input = ArrayBuffer | ArrayBufferView;

function bytesOf(input: unknown): Uint8Array {
  if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
  if (input instanceof ArrayBuffer || input instanceof SharedArrayBuffer) return new Uint8Array(input);
  if (input === undefined) return new Uint8Array();
  throw new TypeError("TextDecoder.decode takes an ArrayBuffer or a view of one");
}

export default function (kernel: Kernel) {
  return {
    TextEncoder: class {
      get encoding(): string {
        return "utf-8";
      }

      encode(text: unknown = ""): Uint8Array {
        return encodeUtf8(String(text));
      }

      encodeInto(text: unknown, target: Uint8Array): { read: number; written: number } {
        let read = 0;
        let written = 0;
        for (const character of String(text)) {
          const bytes = encodeUtf8(character);
          if (written + bytes.length > target.length) break;
          target.set(bytes, written);
          written += bytes.length;
          read += character.length;
        }
        return { read, written };
      }
    },

    TextDecoder: class {
      readonly encoding: string;
      readonly fatal: boolean;
      readonly ignoreBOM: boolean;
      #pending = new Uint8Array();
      #begun = false;

      constructor(label: unknown = "utf-8", options?: { fatal?: unknown; ignoreBOM?: unknown }) {
        const wanted = String(label).trim().toLowerCase();
        const found = labels.find(([, pattern]) => pattern.test(wanted));
        if (!found) throw new RangeError(`TextDecoder has no encoding ${JSON.stringify(String(label))}`);
        this.encoding = found[0];
        this.fatal = !!options?.fatal;
        this.ignoreBOM = !!options?.ignoreBOM;
      }

      decode(input?: Input, options?: { stream?: unknown }): string {
        const stream = !!options?.stream;
        let bytes = bytesOf(input);
        if (this.#pending.length) {
          const all = new Uint8Array(this.#pending.length + bytes.length);
          all.set(this.#pending);
          all.set(bytes, this.#pending.length);
          bytes = all;
          this.#pending = new Uint8Array();
        }
        if (stream) {
          const whole = this.#wholeLength(bytes);
          this.#pending = bytes.slice(whole);
          bytes = bytes.subarray(0, whole);
        }
        let text: string;
        try {
          text = this.#text(bytes);
        } catch (error) {
          this.#pending = new Uint8Array();
          this.#begun = false;
          throw error;
        }
        if (!this.#begun && !this.ignoreBOM && text[0] === "\ufeff") {
          text = text.slice(1);
          this.#begun = true;
        }
        this.#begun = stream && (this.#begun || text !== "");
        return text;
      }

      /** How many bytes can be decoded without the bytes that follow. */
      #wholeLength(bytes: Uint8Array): number {
        const { length } = bytes;
        if (this.encoding === "windows-1252") return length;
        if (this.encoding !== "utf-8") {
          const even = length & ~1;
          const last = bytes[even - (this.encoding === "utf-16le" ? 1 : 2)];
          return even && (last & 0xfc) === 0xd8 ? even - 2 : even;
        }
        for (let back = 1; back <= 3 && back <= length; back++) {
          if (bytes[length - back] >= 0xc0) return sequenceAt(bytes, length - back).cut ? length - back : length;
        }
        return length;
      }

      #text(bytes: Uint8Array): string {
        if (this.encoding === "utf-8") return decodeUtf8(bytes, this.fatal);
        if (this.encoding === "windows-1252") {
          return unitsToText(bytes).replace(/[\x80-\x9f]/g, (byte) => high[byte.charCodeAt(0) - 0x80]);
        }
        const units = new Uint16Array(bytes.length >> 1);
        const [first, second] = this.encoding === "utf-16le" ? [0, 8] : [8, 0];
        for (let i = 0; i < units.length; i++) units[i] = (bytes[2 * i] << first) | (bytes[2 * i + 1] << second);
        // A single byte at the end is an error, and so is half a surrogate pair before it; both together count as one.
        const cut = bytes.length & 1 && (units[units.length - 1] & 0xfc00) !== 0xd800;
        const text = unitsToText(units) + (cut ? "\ufffd" : "");
        if (this.fatal && (bytes.length & 1 || !text.isWellFormed()))
          throw new TypeError(`The bytes are not valid ${this.encoding}`);
        return text.toWellFormed();
      }
    },

    atob(text: unknown): string {
      try {
        return decodeUtf8(fromBase64(String(text)));
      } catch {
        throw new kernel.Exception("atob: the text is not base64", 400);
      }
    },

    btoa(text: unknown): string {
      return toBase64(encodeUtf8(String(text)));
    },
  };
}
