"""An application whose runs a server of `yao-test view` shows: pictures, judges, conversations, hostile names."""

from __future__ import annotations

from typing import Any

from agent_files import agent
from html_reports import NASTY

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'
JUDGED = {"type": "agent", "use": "agents:judge", "value": "is polite"}
CASES = [
    {"id": "late", "input": "May I check out late?", "assert": JUDGED},
    {"id": "-x --app=/", "input": "a dog?", "assert": {"type": "contains", "value": "cat"}},
    {"id": NASTY.replace("\0", ""), "input": NASTY.replace("\0", ""), "assert": {"type": "contains", "value": "heard"}},
    {
        "id": "seen",
        "input": {"role": "user", "content": [{"type": "text", "text": "What is it?"}, *({"type": "image", "source": f"file://{name}"} for name in ("room.png", "fake.png", "../../../outside.png"))]},
        "assert": {"type": "contains", "value": "heard"},
    },
    {"id": "talk", "turns": [{"input": "hello", "assertions": JUDGED}, {"input": "bye", "assertions": JUDGED}]},
]  # fmt: skip
FILES: dict[str, Any] = {
    **agent(replies="- reply: 'heard {{ input }}'", cases=CASES),
    **agent("judge", replies="- reply: { json: { passed: true, reason: fine } }"),
    "/assistants/demo/tests/room.png": PNG,
    "/assistants/demo/tests/fake.png": SVG,
    "/outside.png": PNG,
}
