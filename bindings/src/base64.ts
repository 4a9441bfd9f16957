/** Base64 text and bytes, by the engine's own codec. */

const native = Uint8Array as unknown as {
  fromBase64(text: string): Uint8Array<ArrayBuffer>;
  prototype: { toBase64(this: Uint8Array): string };
};
const encode = native.prototype.toBase64;
const decode = native.fromBase64;

/** Standard alphabet, padded. */
export function toBase64(bytes: Uint8Array): string {
  return encode.call(bytes);
}

/** Standard alphabet; white space and missing padding are accepted. Throws a SyntaxError for anything else. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return decode.call(Uint8Array, text);
}
