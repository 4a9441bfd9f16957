"""The records that `docs/json.md` shows are those of the example of `docs/reports.md`."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

from command import make_application

DOCS = Path(__file__).parents[3] / "docs"
PAGE = "\n".join((DOCS / name).read_text("utf-8") for name in ("reports.md", "json.md"))


def shown_of(actual: Any, shown: Any) -> Any:
    """What there is of a value, with the keys that are shown of it."""
    if isinstance(actual, dict) and isinstance(shown, dict):
        return {key: shown_of(actual.get(key, "missing"), value) for key, value in shown.items()}
    if isinstance(actual, list) and isinstance(shown, list) and len(actual) == len(shown):
        return [shown_of(*pair) for pair in zip(actual, shown, strict=True)]
    return actual


def test_the_records_of_the_page_are_those_of_its_example(tmp_path: Path) -> None:
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.M | re.S)
    files = {"/" + match[1]: text for _, text in blocks if (match := re.match(r"(?://|#) (assistants/\S+)\n", text))}
    application = make_application(tmp_path, files)

    report = application.report("-i", "assistants/rooms/tests/rooms.jsonl", code=0)

    records = {record["id"]: record for record in report["results"]}
    shown = [json.loads(text) for language, text in blocks if language == "json" and text.startswith("{")]
    assert [record.get("id") or record["test_id"] for record in shown] == ["single", "booked", "simulated", "graded"]
    for record in shown:
        assert shown_of(records[record.get("id") or record["test_id"]], record) == record


def test_every_key_of_a_record_is_on_the_page(tmp_path: Path) -> None:
    from sample_conversations import BROKEN, CONVERSATION, DYNAMIC, SIMULATED, STATIC, WITHOUT_ANSWER

    from runner.record.lines import line_of
    from runner.record.model import AGENT_TEST, Suite

    suite = Suite(id="trips", kind=AGENT_TEST, label="trips", file="", agent="demo")

    text = PAGE
    keys: set[str] = set()

    def collect(value: Any) -> None:
        if isinstance(value, dict):
            keys.update(value)
            value = list(value.values())
        for item in value if isinstance(value, list) else ():
            collect(item)

    for result in (STATIC, WITHOUT_ANSWER, SIMULATED, BROKEN, DYNAMIC, CONVERSATION):
        record = copy.deepcopy(line_of(result, suite))
        for turn in record["turns"]:
            turn["input"] = turn["output"] = None
            for call in turn.get("tool_calls", ()):
                call["args"] = call["result"] = None
        collect({**record, "output": None})
    assert sorted(key for key in keys if not re.search(rf"\b{re.escape(key)}\b", text)) == []
