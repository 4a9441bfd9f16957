"""What esbuild writes, as scripts that are evaluated in global scope: without its export clause, and with the
`async` functions of the bindings."""

from __future__ import annotations

import re

_EXPORT_CLAUSE = "\nexport {\n"
_ASYNC = "var __async = (__this, __arguments, generator) => {\n  return new Promise("
"""How esbuild's helper for `async` functions begins; it ends with the first line that begins with a bracket."""
_OWN_ASYNC = "(self, args, body) => __yaoAsync(self, args, body)"
"""The same by the bindings, which know who calls it and what has not ended."""
_GENERATORS = (
    ("Promise.resolve(isAwait ? v[0] : v).then(", "__yaoAsync.wait(isAwait ? v[0] : v).then("),
    ("(call = new Promise((yes, no, run)", "(call = __yaoAsync.next((yes, no, run)"),
    ("Promise.resolve(arg.value).then((value)", "__yaoAsync.wait(arg.value).then((value)"),
)
"""Pieces of esbuild's helpers for asynchronous generators and `for await`, and their replacements."""
_COMMONJS = r"^export default (require_\w+)\(\);\s*\Z"


def without_interpreter(code: str) -> str:
    """A script whose line `#!...`, which stands before other scripts of its realm, is a comment of the same length."""
    return f"//{code[2:]}" if code.startswith("#!") else code


def with_own_async(code: str) -> str:
    """A bundle whose `async` functions are those of the bindings; its lines stay where they are."""
    if "\nvar __forAwait = " in code or "\nvar __asyncGenerator = " in code:
        for piece, own in _GENERATORS:
            code = code.replace(piece, own, 1)
    start = code.find(_ASYNC)
    end = code.find("\n};", start)
    if start < 0 or end < 0:
        return code
    return f"{code[:start]}var __async = {_OWN_ASYNC};{chr(10) * code.count(chr(10), start, end + 1)}{code[end + 3 :]}"


def without_exports(code: str) -> tuple[str, dict[str, str]]:
    """A flat bundle as a script, and its exports. What a CommonJS entry point exports becomes global."""
    start = code.rfind(_EXPORT_CLAUSE)
    end = code.find("\n};", start)
    if start >= 0 and not code[end + 3 :].strip():
        exports = {}
        for clause in code[start + len(_EXPORT_CLAUSE) : end].split(",\n"):
            local, _, name = clause.strip().partition(" as ")
            exports[plain(name or local)] = plain(local)
        return code[: start + 1], exports
    if match := re.search(_COMMONJS, code, re.MULTILINE):
        return f"{code[: match.start()]}Object.assign(globalThis, {match[1]}());\n", {}
    return code, {}


def plain(identifier: str) -> str:
    """An identifier without the escapes that esbuild writes for characters outside ASCII."""
    if "\\" not in identifier:
        return identifier
    return re.sub(r"\\u\{?([0-9A-Fa-f]+)\}?", lambda match: chr(int(match[1], 16)), identifier)
