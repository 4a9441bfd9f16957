"""JSON texts of reports are the same whatever writes them."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from runner.record.texts import indented


def deep(levels: int) -> Any:
    value: Any = "end"
    for _ in range(levels):
        value = [value]
    return value


VALUES = {
    "all kinds": {"a": [], "b": {}, "c": (1, 2.5, True, None), "d": "é\u2028\x01</", "e": 10**30, "f": -0.0},
    "deep": deep(300),
}


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("loaded", [True, False])
def test_an_indented_text_is_that_of_json(name: str, loaded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if loaded:
        pytest.importorskip("pydantic_core")
    else:
        monkeypatch.delitem(sys.modules, "pydantic_core", raising=False)
    assert indented(VALUES[name]) == json.dumps(VALUES[name], indent=2, ensure_ascii=False) + "\n"


def test_a_number_that_json_has_not_is_a_text_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pydantic_core")
    assert indented([float("inf")]) == '[\n  "Infinity"\n]\n'
    monkeypatch.delitem(sys.modules, "pydantic_core")
    with pytest.raises(ValueError):
        indented([float("inf")])
