"""Whether a script could overwrite the intrinsics that verdicts depend on.

A realm takes those intrinsics away before any script runs only if it must, because that costs a third of its set-up. So
this looks for any use of a built-in other than calling it, and for the ways to reach one without its name; when in
doubt the answer is yes.
"""

from __future__ import annotations

import re

_REACHES = set(
    """prototype __proto__ globalThis eval Eval constructor Reflect Proxy Function defineProperty defineProperties
    __defineGetter__ __defineSetter__ setPrototypeOf assign""".split()
)
_BUILT_INS = set(
    """Object Array JSON Promise Map Set WeakMap WeakSet Symbol String Number BigInt RegExp Date Math ArrayBuffer Error
    TypeError RangeError SyntaxError Uint8Array Iterator""".split()
)
_COMPUTED = r"[\w)\]]\s*\[\s*[\"'`]|\bthis\s*\["


def may_tamper(code: str) -> bool:
    """True unless the code plainly only calls built-ins."""
    words = set(re.findall(r"\w+", code))
    if words & _REACHES and (words & _REACHES != {"constructor"} or re.search(r"\.\s*constructor\b", code)):
        return True
    used = words & _BUILT_INS
    if used and re.search(rf"(?<!instanceof )(?<!new )(?<!extends )\b(?:{'|'.join(used)})\b(?!\s*\()(?!\.\w+\()", code):
        return True
    return re.search(_COMPUTED, code) is not None
