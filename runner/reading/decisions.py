"""The object of a model's answer that decides something: a verdict, or what a simulated user says next.

Beside it there may be quotations of what is judged, broken ones too. Hence

- whole objects count: JSON, also with comments, trailing commas, and raw line breaks in its texts. All of them have to
  say the same, and nothing beside them may say the opposite;
- without one, a broken object is repaired if it has all keys of the text that decide something, each of them once, and
  if it ends: what is cut within a text, stays open after prose, or is in an open code fence may be a quotation;
- what is in quotation marks, or in an array or object that stays open, decides nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from runner.reading.answer_text import (
    MAX_STARTS,
    MAX_TEXT,
    MAX_YAML,
    behind_thinking,
    closing,
    is_sentence,
    thinking_in,
)
from scripttest.values import Value

YES = ("true", "yes", "pass", "passed")
NO = ("false", "no", "fail", "failed")
MAX_FORGIVEN = 10
"""Most brackets at which a value with comments or trailing commas is looked for: each costs time by the length."""

_NEAR = 100
"""Characters before a key in which a comma or a bracket is looked for."""
_FENCE = "```"
_QUOTES = "\"'“”‘’«»„"
_QUOTE = rf"\\?[{_QUOTES}`]"
_BOOLEAN = re.compile(rf"\s*\\?[{_QUOTES}]?(?P<word>[A-Za-z]+)\\?[{_QUOTES}]?(?P<rest>\s*(?:or\b|\||/(?![/*])))?")
_BEGINS_FENCE = re.compile(r"\w*\s*(?:(?://|#).*+\s*+)*")
_GOES_ON = re.compile(r"[ \t]*(?:[,}\]\n\r#]|//|/\*|\Z)|\s*[\"']?\w+[\"']?\s*:")


class UnclearError(Exception):
    """An answer does not say one thing; the message says why, as in `..., since it has "passed" twice`."""


class Decision(Value):
    """What an object decides."""

    yes: bool | None
    """None: it says that it cannot decide."""
    detail: Any = None
    """What else has to be the same where there are several; None: anything."""


class Form(Value):
    """Objects that decide something."""

    keys: tuple[str, ...]
    """The names of the key with the decision, a boolean."""
    others: tuple[str, ...]
    """The names of another key, which such an object may have alone."""
    weighed: tuple[str, ...] = ()
    """The names of keys that count along with it."""
    decision: Callable[[Mapping[str, Any]], Decision | None]
    """What an object decides; None: nothing."""


class _Found(Value):
    """A whole value in a text."""

    start: int
    end: int
    value: Any


class _Mark(Value):
    """A key of a decision outside of whole values."""

    start: int
    yes: bool | None
    """None: no boolean follows."""
    is_key: bool
    """Whether it is where an object can have a key, and a value follows that ends."""


class _Torn(dict[str, Any]):
    """An object that has a key twice, with different values."""

    key = ""


def boolean(value: Any) -> bool | None:
    """A boolean, or a text that means one; None for all else."""
    if isinstance(value, bool):
        return value
    word = value.strip().lower() if isinstance(value, str) else ""
    return True if word in YES else False if word in NO else None


def deciding_object(text: str, form: Form) -> Mapping[str, Any] | None:
    """The object in a model's answer that decides something; None if nothing looks like one. Raises UnclearError."""
    thought, text = thinking_in(text), behind_thinking(text).strip()
    if thought and not text:
        raise UnclearError("it consists of reasoning only")
    found = _whole_values(text)
    decided: list[tuple[_Found, Mapping[str, Any], Decision]] = []
    for one in found:
        value = one.value[0] if isinstance(one.value, list) and len(one.value) == 1 else one.value
        if isinstance(value, _Torn) and {*form.keys, *form.others} & value.keys():
            raise UnclearError(f'it has "{value.key}" twice, with different values')
        decision = form.decision(value) if isinstance(value, dict) else None
        if decision is not None:
            decided.append((one, value, decision))
    beside = _without(text, found)
    marks = list(_marks(beside, form.keys))
    if decided:
        first = decided[0][2]
        said_yes = {decision.yes for _, _, decision in decided} | {mark.yes for mark in marks if mark.yes is not None}
        details = [one.detail for _, _, one in decided if one.detail is not None and first.detail is not None]
        if said_yes != {first.yes} or any(detail != first.detail for detail in details):
            raise UnclearError("it contains contradicting verdicts")
        said = next((value for one, value, _ in decided if not _is_quoted(beside, one)), None)
        if said is None:
            raise UnclearError("the verdict is only in a quotation")
        return said
    return _repaired(text, beside, form, marks) if len(text) <= MAX_TEXT else None


# whole values


def _whole_values(text: str) -> list[_Found]:
    """The text, or the objects and arrays in it, in order; none where there are too many other brackets."""
    from bindings.processes.formats import strict_decoder

    decoder = strict_decoder(object_pairs_hook=_object, strict=False)
    try:
        return [_Found(start=0, end=len(text), value=decoder.decode(text))]
    except (ValueError, RecursionError):
        found: list[_Found] = []
    at = tried = 0
    while len(text) <= MAX_TEXT and (opening := re.compile(r"[{\[]").search(text, at)):
        try:
            one = _value_at(text, opening.start(), decoder, forgive=tried < MAX_FORGIVEN)
        except RecursionError:
            return []
        if one is not None:
            found.append(one)
            at = one.end
        elif (tried := tried + 1) > MAX_STARTS:
            return []
        else:
            at = opening.end()
    return found


def _value_at(text: str, start: int, decoder: json.JSONDecoder, *, forgive: bool) -> _Found | None:
    from bindings.processes.formats import MAX_REPAIR, strip_comments, strip_trailing_commas

    try:
        value, end = decoder.raw_decode(text, start)
        return _Found(start=start, end=end, value=value)
    except ValueError:
        if not forgive:
            return None
    written = text[start : start + MAX_REPAIR]
    size = closing(written, 0)
    if size is None:
        return None
    try:
        value = decoder.decode(strip_trailing_commas(strip_comments(written[:size])))
    except (ValueError, RecursionError):
        return None
    return _Found(start=start, end=start + size, value=value)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    for key, item in pairs:
        if item != value[key] or isinstance(item, bool) is not isinstance(value[key], bool):
            torn = _Torn(value)
            torn.key = key
            return torn
    return value


def _without(text: str, found: Sequence[_Found]) -> str:
    """The text with blanks in the places of whole values."""
    parts, at = [], 0
    for one in found:
        parts += [text[at : one.start], " " * (one.end - one.start)]
        at = one.end
    return "".join([*parts, text[at:]])


def _is_quoted(beside: str, one: _Found) -> bool:
    """Whether a value is in quotation marks or a block quote; is followed by words, and in backticks, in an open
    quotation or in a code fence that is open or has other text; or is part of an array or object that stays open."""
    before, after = beside[: one.start], beside[one.end :]
    rest = after.strip()
    if {*before[-1:], *after[:1]} & {*_QUOTES} or before.rpartition("\n")[2].lstrip().startswith(">"):
        return True
    if rest and (before.count('"') % 2 == 1 or before.count("“") > before.count("”")):
        return True
    if rest and before.count(_FENCE) % 2 == 1:
        last, closed, words = rest.partition(_FENCE)
        first = before.rpartition(_FENCE)[2]
        if not closed or (words.strip() and (last or not _BEGINS_FENCE.fullmatch(first))):
            return True
    elif re.search(r"\w", rest) and (before.endswith("`") or after.startswith("`")):
        return True
    depth = 0
    for bracket in re.findall(r"[{}\[\]]", before):
        depth = depth + 1 if bracket in "{[" else max(depth - 1, 0)
    if not depth:
        return False
    is_part = re.search(r"(?:[\[,]|[\"']\s*:)\s*\Z", before) is not None
    return is_part or rest.startswith((",", "]", "}", '"', "'"))


# broken ones


def _marks(beside: str, names: Sequence[str]) -> Iterator[_Mark]:
    """The keys of these names in a text, also within texts, and in quotation marks that are escaped."""
    key = "|".join(names) or "(?!)"
    pattern = rf"(?im)(?P<quoted>{_QUOTE})\s*(?:{key})\s*{_QUOTE}\s*:|(?:^|[{{,(\[]\s*)(?P<bare>{key})\s*:"
    for found in re.finditer(pattern, beside):
        start = found.start("quoted") if found["quoted"] else found.start("bare")
        value = _BOOLEAN.match(beside, found.end())
        is_whole = value is not None and not value["rest"] and _GOES_ON.match(beside, value.end()) is not None
        before = beside[max(start - _NEAR, 0) : start].rstrip(" \t")
        is_key = found["quoted"] is None or before[-1:] in ("", "{", ",", "\n") or before.rstrip()[-1:] in ("{", ",")
        yes = boolean(value["word"]) if value is not None and not value["rest"] else None
        escaped = (found["quoted"] or "").startswith("\\")
        yield _Mark(start=start, yes=yes, is_key=is_key and is_whole and not escaped)


def _repaired(text: str, beside: str, form: Form, marks: Sequence[_Mark]) -> Mapping[str, Any] | None:
    """The one broken object with a decision, or YAML that is one."""
    others = list(_marks(beside, form.others))
    if not marks and len(others) != 1:
        return None
    first = (*marks, *others)[0].start
    between = [text[slice(*sorted((mark.start, first)))] for mark in _marks(beside, form.weighed)]
    weighed = [part for part in between if part.count("{") == part.count("}")]
    if len(marks) > 1 or len(others) > 1 or len(weighed) > 1:
        raise UnclearError("its JSON is broken and contradicts itself")
    value = _broken_object(text, first)
    decision = form.decision(value) if isinstance(value, dict) else None
    if decision is not None and all(mark.is_key and decision.yes in (mark.yes, None) for mark in marks):
        assert isinstance(value, dict)
        return value
    if marks:
        raise UnclearError("its JSON is broken and may be a quotation")
    return None


def _broken_object(text: str, spot: int) -> Any:
    """The broken object, or the YAML, around a position; None if it may be part of something else."""
    from bindings.processes.formats import parse
    from bindings.processes.text import guess

    fences = [fence.start() for fence in re.finditer(_FENCE, text)]
    if len(fences) % 2:
        return None
    tag = ""
    for opening, closed in zip(fences[::2], fences[1::2], strict=True):
        if opening < spot < closed:
            inside = re.compile(r"```(\w*)\s*").match(text, opening)
            assert inside is not None
            tag, text, spot = inside[1].lower(), text[inside.end() : closed].strip(), spot - inside.end()
            break
    kind = "json"
    span: str | None = text
    if not text.startswith("{"):
        starts_line = text[:spot].endswith("\n") or spot <= 0
        if tag in ("yaml", "yml") or (starts_line and guess(text) == "yaml" and len(text) <= MAX_YAML):
            kind = "yaml"
        else:
            span = _object_in_prose(text, spot)
    elif not text.endswith("}"):
        end = closing(text, 0)
        is_cut_in_a_text = '"' in re.sub(r'(?s)"(?:[^"\\]|\\.)*+"', "", text)
        span = None if is_cut_in_a_text else text
        span = span if end is None else _in_double_quotes(text[:end])
    try:
        value = None if span is None else parse(span, kind)
    except (ValueError, RecursionError):
        return None
    return None if kind == "yaml" and not tag and is_sentence(value) else value


def _object_in_prose(text: str, spot: int) -> str | None:
    """The object around a position, which has to end."""
    for opening in list(re.finditer(r"\{", text[:spot]))[:MAX_FORGIVEN]:
        end = closing(text, opening.start())
        if end is not None and end > spot:
            return _in_double_quotes(text[opening.start() : end])
    return None


def _in_double_quotes(span: str) -> str | None:
    """An object in prose; None if its keys are in single quotation marks, as in a quotation."""
    return None if re.match(r"\{\s*'", span) else span
