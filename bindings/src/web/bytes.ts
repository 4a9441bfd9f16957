/** Base64, the form in which bytes are passed between realm and host. */

import { fromBase64, toBase64 } from "../base64";

export default function () {
  return { toBase64, fromBase64 };
}
