/** Bytes as base64 text, the form in which they cross between realm and host. */

import { fromBase64, toBase64 } from "../base64";

export default function () {
  return { toBase64, fromBase64 };
}
