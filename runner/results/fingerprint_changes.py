"""Names the parts of a fingerprint, which say what a result depends on, and finds the differences of two
fingerprints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from runner.parts import part_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_WHOLE = {
    "format": "the format of fingerprints",
    "context": "the context",
    "case": "the case",
    "variant": "the variant",
    "attachments": "an attachment",
    "coverage": "the use of --coverage",
}
_NAMED = {
    "agent": "package.yao of {}",
    "prompts": "the prompts of {}",
    "replies": "the replies of {}",
    "runner": "runner.yml of {}",
    "model": "the model of {}",
    "connector": "the connector {}",
    "server": "the MCP server {}",
    "program": "the program of the MCP server {}",
    "script": "{}",
    "module": "{}",
    "handler": "the handler {}",
    "missing": "what answers {}",
    "models": "the models of the application",
    "fixture": "the fixture {}",
    "corpus": "the corpus {}",
    "recording": "the recording {}",
    "env": "$ENV.{}",
}
OWN = "env"
"""The kind of parts whose digests can be compared only within one report."""
COUNTED = {"script", "module"}
"""Kinds whose digests can be compared only if both runs measured coverage, or neither did."""
SAID = 4
"""At most this many parts are named."""


def described(keys: Iterable[str]) -> str:
    """The parts of these keys in words, such as `the prompts of expense, the model of local`."""
    names = [_name_of(key) for key in keys]
    more = f" and {len(names) - SAID} more" if len(names) > SAID else ""
    return ", ".join(names[:SAID]) + more


def changed(before: Any, after: Any) -> tuple[str, ...]:
    """The keys of the parts that differ between two fingerprints; empty when they cannot be compared, or one is
    missing."""
    if not isinstance(before, Mapping) or not isinstance(after, Mapping) or before.get("format") != after.get("format"):
        return ()
    keys = dict.fromkeys([*before, *after])
    left_out = {OWN}
    if before.get("coverage") != after.get("coverage"):
        left_out |= COUNTED
    return tuple(
        key
        for key in keys
        if ((part := part_in(key)) is None or part.kind not in left_out) and before.get(key) != after.get(key)
    )


def _name_of(key: str) -> str:
    part = part_in(key)
    return _NAMED[part.kind].format(part.name) if part and part.kind in _NAMED else _WHOLE.get(key, key)
