"""Finds where a value was thrown that is not an Error and so has no stack, by searching the code.

A place is returned only if it is certain: the only statement that throws this value or one of the same form, first in
the test and then in the module; or the only statement whose value cannot be read from the code. Other tests are not
searched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from scripttest.diagnostics.callees import Token, tokens
from scripttest.values import Value

MOST = 200_000
"""Characters of a script that are read."""
_NO_ERROR = "thrown, not an Error: "
_NULL = "null was thrown"
_UNREADABLE = "an exception that cannot be read"
_IN_TEMPLATE = r"\$\{[^{}]*\}"
_KEY = r"[{,]([A-Za-z_$][\w$]*)(?=[:,}])"
_UNDEFINED = ("undefined", "void0", "")


class Throw(Value):
    """A statement that throws, or a call that rejects."""

    script: int
    start: int
    """Its offset."""
    word: str
    """`throw` or `reject`."""
    value: str
    """What it throws, as it is written, without blanks."""
    within: tuple[int, int]
    """The top-level statement that it is in, from its offset to the next one's."""

    def is_in(self, script: int, declared: int) -> bool:
        """Whether it is in what a script declares at an offset."""
        return self.script == script and self.within[0] <= declared < self.within[1]


def is_without_stack(message: str) -> bool:
    """Whether a failure's message, as `bindings/src/errors.ts` writes it, is that of a value without a stack."""
    return message.startswith((_NO_ERROR, _NULL, _UNREADABLE))


def throws_in(codes: Sequence[str]) -> tuple[Throw, ...]:
    """The throw statements in code that esbuild printed, except `throw new ...`; none if the code cannot be read."""
    if sum(map(len, codes)) > MOST:
        return ()
    try:
        return tuple([throw for number, code in enumerate(codes) for throw in _throws(number, code)])
    except ValueError:
        return ()


def throw_at(throws: Sequence[Throw], script: int, tests: Sequence[int], own: int, message: str) -> Throw | None:
    """Where a value was thrown; None if that is not certain.

    Args:
        throws: the throw statements of the scripts.
        script: the script of the tests.
        tests: the ranges of all tests in it; their throw statements are not considered.
        own: the range of the failed test, whose statements are considered.
        message: message of the failure, see `is_without_stack`.
    """
    in_test = [throw for throw in throws if throw.is_in(script, own)]
    elsewhere = [throw for throw in throws if not any(throw.is_in(script, test) for test in tests)]
    values = _written(message)
    exact = [{throw for throw in some if throw.value in values} for some in (in_test, elsewhere)]
    shaped = [{throw for throw in some if _is_shaped(throw.value, values[0])} for some in (in_test, elsewhere)]
    computed = {throw for throw in (*in_test, *elsewhere) if not _is_literal(throw.value)}
    found = next(filter(None, (*exact, *shaped, computed if values != ("null",) else set())), set[Throw]())
    return found.pop() if len(found) == 1 else None


def _written(message: str) -> tuple[str, ...]:
    """How the thrown value may be written in the code."""
    if message.startswith(_NULL):
        return ("null",)
    value = "".join(message.removeprefix(_NO_ERROR).split())
    return _UNDEFINED if value == "undefined" else (value,)


def _is_shaped(written: str, value: str) -> bool:
    """Whether a template or an object, without blanks, may be a value: its fixed texts, or its keys, are the same."""
    if written.startswith("`") and written.endswith("`") and re.sub(_IN_TEMPLATE, "", written) != "``":
        texts = (re.escape(text) for text in re.split(_IN_TEMPLATE, written[1:-1]))
        return re.fullmatch(f'"{".*".join(texts)}"', value) is not None
    keys = re.findall(_KEY, written)
    return bool(keys) and written.startswith("{") and value.startswith("{") and keys == re.findall(_KEY, value)


def _is_literal(value: str) -> bool:
    return (
        value in (*_UNDEFINED, "null", "true", "false")
        or re.fullmatch(r"\"[^\"]*\"|'[^']*'|-?[\d.]+", value) is not None
    )


def _throws(number: int, code: str) -> Iterator[Throw]:
    """The throws of a script. Raises ValueError when the code is not followed."""
    starts = [match.start() for match in re.finditer(r"^[^\s})\]]", code, re.MULTILINE)]
    for start, end in zip(starts, [*starts[1:], len(code)], strict=True):
        piece = code[start:end]
        if "throw" not in piece and "reject" not in piece:
            continue
        found = list(tokens(piece, 0))
        if any(token.text == "`" for token in found):
            raise ValueError("a template within a template")
        for at, token in enumerate(found):
            if (value := _thrown(piece, found, at)) is not None:
                yield Throw(script=number, start=start + token.start, word=token.text, value=value, within=(start, end))


def _thrown(code: str, found: list[Token], at: int) -> str | None:
    """What a token throws, if it does; nothing where it makes an object, which says its place itself."""
    token = found[at]
    if token.kind != "name" or at + 1 >= len(found):
        return None
    follows = found[at + 1]
    if token.text == "throw" and found[at - 1].text != "." and code[token.start + 5] in " {[\"'`":
        ends, first = (";",), at + 1
    elif token.text == "reject" and follows.text == "(":
        ends, first = (")",), at + 2
    else:
        return None
    depth = 0
    for last in range(first, len(found)):
        text = found[last].text if found[last].kind == "sign" else ""
        if depth == 0 and text in ends:
            value = "".join(code[found[first].start : found[last].start].split())
            return None if first < last and found[first].text == "new" else value
        depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
    return None
