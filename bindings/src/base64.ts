/** Base64, encoded and decoded by the engine. */

const native = Uint8Array as unknown as {
  fromBase64(text: string): Uint8Array<ArrayBuffer>;
  prototype: { toBase64(this: Uint8Array): string };
};
const encode = native.prototype.toBase64;
const decode = native.fromBase64;

/** Uses the standard alphabet, with padding. */
export function toBase64(bytes: Uint8Array): string {
  return encode.call(bytes);
}

/** Reads the standard alphabet. White space and missing padding are accepted; anything else throws a SyntaxError. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return decode.call(Uint8Array, text);
}
