"""Whether a script could overwrite the intrinsics that verdicts depend on.

A realm takes those intrinsics away before any script runs only if it must, because that costs a third of its set-up. So
this looks for any use of a built-in other than calling it, and for the ways to reach one without its name; when in doubt
the answer is yes.
"""

from __future__ import annotations

import re

_BUILT_INS = (
    "Object|Array|JSON|Promise|Map|Set|WeakMap|WeakSet|Symbol|String|Number|BigInt|RegExp|Date|Math|Reflect|Proxy|Function|"
    r"ArrayBuffer|\w*Error|\w+Array"
)
_SUSPICIOUS = re.compile(
    r"prototype|__proto__|globalThis|\beval\b|\bEval\b|\bthis\s*\[|\.constructor|\[\s*[\"'`]|define(?:Property|Properties|Getter|Setter)|assign\("
    rf"|(?<!instanceof )(?<!new )(?<!extends )\b(?:{_BUILT_INS})\b(?!\s*\()(?!\.\w+\()"
)


def may_tamper(code: str) -> bool:
    """True unless the code plainly only calls built-ins."""
    return _SUSPICIOUS.search(code) is not None
