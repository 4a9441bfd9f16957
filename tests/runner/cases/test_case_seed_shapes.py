"""Counterparts of the case files that the design documents show: the same fields in the same layout."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read, refusal

from runner.cases.messages import messages_of

LINES = """\
{"id": "K01", "input": "A plain question"}
{"id": "K02", "input": {"role": "user", "content": "A message"}}
{"id": "K03", "input": {"role": "user", "content": [{"type": "text", "text": "A list of parts"}]}}
{"id": "K04", "input": [{"role": "user", "content": "One"}, {"role": "assistant", "content": "Two"}, {"role": "user", "content": "Three"}]}
{"id": "K05", "input": "With an output", "expected": {"words": ["tea", "milk"]}}
{"id": "K06", "input": "As somebody", "user": "maria", "team": "sales"}
"""
HASH_COMMENTS = """\
# K01 asks as nobody in particular
{"id": "K01", "input": "Good day"}

# K02 asks as maria of sales
{"id": "K02", "input": "Show the ledger", "user": "maria", "team": "sales"}

# K03 asks as felix
{"id": "K03", "input": "Show mine", "user": "felix"}
"""
LIST_OF_ASSERTIONS = """\
{
  "id": "K03",
  "input": "Add nine and six",
  "assert": [
    {
      "type": "json_path",
      "path": "$.search",
      "value": false
    },
    {
      "type": "json_path",
      "path": "$.certainty",
      "value": 0.9
    },
    {
      "type": "not_contains",
      "value": "sorry"
    }
  ]
}
"""
ONE_ASSERTION = """\
{
  "id": "K04",
  "input": "Something difficult",
  "assert": {
    "type": "script",
    "script": "scripts.checks.Judge"
  }
}
"""
NEGATED = """\
{
  "id": "K05",
  "input": "Good day",
  "assert": {
    "type": "contains",
    "value": "sorry",
    "negate": true
  }
}
"""
HISTORY = """\
{
  "id": "K02",
  "name": "A booking - last confirmation",
  "messages": [
    {
      "role": "user",
      "content": "Book a room"
    },
    {
      "role": "assistant",
      "content": "In which town?"
    },
    {
      "role": "user",
      "content": "Bergen, yes"
    }
  ],
  "assertions": [
    {
      "type": "contains",
      "value": "booked"
    },
    {
      "type": "tool_called",
      "name": "book_room"
    }
  ]
}
"""
SLASH_COMMENTS = """\
// First: it asks for the town
{
  "id": "booking-1",
  "messages": [
    {"role": "user", "content": "Book a room"}
  ],
  "assertions": [{"type": "contains", "value": "town"}]
}

// Second: it books
{
  "id": "booking-2",
  "messages": [
    {"role": "user", "content": "Book a room"},
    {"role": "assistant", "content": "In which town?"},
    {"role": "user", "content": "Bergen"}
  ],
  "assertions": [{"type": "tool_called", "name": "book_room"}]
}
"""
ATTACHMENT = """\
{
  "id": "K03",
  "messages": [
    {
      "role": "user",
      "content": [
        {
          "type": "text",
          "text": "What does this ticket say?"
        },
        {
          "type": "image",
          "source": "file://./fixtures/ticket.jpg"
        }
      ]
    }
  ],
  "assertions": [
    {
      "type": "contains",
      "value": "platform"
    }
  ]
}
"""
OPTIONS = """\
{
  "id": "K01",
  "input": "Good day",
  "options": {
    "connector": "local-small",
    "skip": {
      "history": true
    },
    "metadata": {
      "scenario": "first-contact"
    }
  }
}
"""
JUDGES = """\
{"id": "K06", "input": "Good day", "assertions": [
  {
    "type": "agent",
    "use": "agents:workers.test.validator",
    "options": {"metadata": {"criteria": "It greets back", "tone": "warm"}}
  },
  {
    "type": "script",
    "use": "scripts:checks.judge",
    "options": {"metadata": {"lowest": 1, "highest": 9}}
  }
]}
"""

FILES = {
    "a line each": (LINES, ["K01", "K02", "K03", "K04", "K05", "K06"]),
    "comments with #": (HASH_COMMENTS, ["K01", "K02", "K03"]),
    "list of assertions": (LIST_OF_ASSERTIONS, ["K03"]),
    "one assertion": (ONE_ASSERTION, ["K04"]),
    "negated": (NEGATED, ["K05"]),
    "history": (HISTORY, ["K02"]),
    "comments with //": (SLASH_COMMENTS, ["booking-1", "booking-2"]),
    "attachment": (ATTACHMENT, ["K03"]),
    "options": (OPTIONS, ["K01"]),
    "judges": (JUDGES, ["K06"]),
}


@pytest.mark.parametrize(("text", "ids"), FILES.values(), ids=FILES.keys())
def test_the_layouts_of_the_design_documents_are_read(tmp_path: Path, text: str, ids: list[str]) -> None:
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "fixtures/ticket.jpg").write_bytes(b"jpg")
    file = read(tmp_path, text)
    assert [located.case.id for located in file] == ids
    assert [messages_of(located.case, tmp_path)[-1]["role"] for located in file] == ["user"] * len(ids)


def test_all_of_them_in_one_file_are_read_until_an_id_comes_again(tmp_path: Path) -> None:
    message = refusal(tmp_path, LINES + SLASH_COMMENTS + HASH_COMMENTS)
    assert [line.partition(": ")[2][:14] for line in message.splitlines()[1:]] == [
        'the id "K01" i',
        'the id "K02" i',
        'the id "K03" i',
    ]
