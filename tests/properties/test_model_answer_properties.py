"""What models answer: it can be read, whatever it is, and JSON is found in it."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import assume, example, given
from hypothesis import strategies as st
from made_up import json_values, letters, texts

from runner.reading.answer_text import extract_json
from runner.reading.helper_answers import read_cases, read_simulation, read_verdict

values = json_values()


@given(
    st.one_of(st.text(letters, max_size=60), values.map(json.dumps), texts.map("```yaml\n{}\n```".format), values),
    st.data(),
)
@example("```yaml\na: !!bool maybe\n```", None)
@example("```yaml\n? [a]\n: b\n```", None)
@example("a: !!int ''", None)
@example("```yaml\na: \x1f\n```", None)
@example("```yaml\n" + "- " * 5000 + "a\n```", None)
@example("```yaml\n" + "[" * 5000 + "\n```", None)
@example("{" * 50_000, None)
@example('{"a":' * 3000, None)
@example("[" * 900 + "]" * 900, None)
@example('{"a": 1e999}', None)
@example("9" * 5000, None)
def test_any_answer_of_a_model_can_be_read(answer: Any, data: st.DataObject | None) -> None:
    if isinstance(answer, str) and data and answer:
        answer = answer[: data.draw(st.integers(0, len(answer)))] + data.draw(
            st.sampled_from(["", "}", "]", "```", "\n", ":", '"'])
        )
    for read in (read_verdict, read_simulation, read_cases):
        read(answer)
    if isinstance(answer, str):
        json.dumps(extract_json(answer), allow_nan=False)


@given(values)
def test_json_is_found_in_prose_and_fences(value: Any) -> None:
    assume(isinstance(value, dict | list) and value)
    text = json.dumps(value)
    assert extract_json(text) == value
    assert extract_json(f"Sure!\n```json\n{text}\n```\nAnything else?") == value
    assert isinstance(value, list) or extract_json(f"Sure: {text} and so on.") == value
