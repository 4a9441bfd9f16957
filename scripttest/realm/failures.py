"""Reports failures of realms that cannot do it themselves, as JSON. It does without the json module, whose import takes
longer than the start of a worker."""

from __future__ import annotations


def failure_envelope(message: str, code: int = 500, stack: str = "") -> str:
    """`{"error": {"message", "code", "stack"}}`."""
    text, trace = ("".join(map(_escaped, text)) for text in (message, stack))
    return f'{{"error":{{"message":"{text}","code":{code},"stack":"{trace}"}}}}'


def broken_outcome(reason: str, kind: str, stack: str, noted: list[str]) -> str:
    """The outcome of a test whose realm cannot say what failed; `noted` is JSON of the failures before that."""
    message, trace = ("".join(map(_escaped, text)) for text in (reason, stack))
    stopped = str(kind == "timeout").lower()
    failure = f'{{"kind":"{kind}","message":"{message}","stack":"{trace}","stopped":{stopped}}}'
    return f'{{"status":"failed","failures":[{",".join([*noted, failure])}],"steps":[]}}'


def _escaped(letter: str) -> str:
    if " " <= letter <= "~" and letter not in '"\\':
        return letter
    code = ord(letter)
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
