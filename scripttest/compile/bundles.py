"""What esbuild writes, as scripts that are evaluated in global scope: without its export clause, and with the
`async` functions of the bindings."""

from __future__ import annotations

import re

_EXPORT_CLAUSE = "\nexport {\n"
_ASYNC = r"^var __async = \(__this, __arguments, \w+\) => \{\n  return new Promise\("
"""How esbuild's helper for `async` functions begins; it ends with the first line that begins with a bracket. The names
of its variables have a number where the script has the same at its top."""
_OWN_ASYNC = "(self, args, body) => __yaoAsync(self, args, body)"
"""The same by the bindings, which know who calls it and what has not ended."""
_GENERATORS = r"^var __(?:asyncGenerator|forAwait) = .*?;\n(?=\S)(?!\};)"
"""esbuild's helpers for asynchronous generators and `for await`."""
_COMMONJS = r"^export default (require_\w+)\(\);\s*\Z"


def without_interpreter(code: str) -> str:
    """A script whose line `#!...`, which stands before other scripts of its realm, is a comment of the same length."""
    return f"//{code[2:]}" if code.startswith("#!") else code


def with_own_async(code: str) -> str:
    """A bundle whose `async` functions are those of the bindings; its lines stay where they are."""
    if "\nvar __forAwait = " in code or "\nvar __asyncGenerator = " in code:
        code = re.sub(_GENERATORS, _own_generators, code, flags=re.MULTILINE | re.DOTALL)
    match = re.search(_ASYNC, code, re.MULTILINE) if "__async = " in code else None
    end = code.find("\n};", match.end()) if match else -1
    if match is None or end < 0:
        return code
    lines = "\n" * code.count("\n", match.start(), end + 1)
    return f"{code[: match.start()]}var __async = {_OWN_ASYNC};{lines}{code[end + 3 :]}"


def _own_generators(helper: re.Match[str]) -> str:
    text = helper[0].replace("Promise.resolve(", "__yaoAsync.wait(")
    if text.startswith("var __forAwait"):
        return text
    text = text.replace("new Promise(", "__yaoAsync.next(")
    return re.sub(r"\b(it\d*) = \{\};", r"\1 = __yaoAsync.iterator();", text)


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
