"""An application whose run has spans of all kinds."""

from __future__ import annotations

from command import Application, Run
from span_collector import Collector

KEY = "s3cr3t-value-of-a-token"
SECRET_ANSWER = "Nobody outside should read this"
REPLIES = f"""\
- when: {{ tool.name: find }}
  reply: It is here.
- when: {{ input: find }}
  reply: {{ tool_calls: [{{ name: find, arguments: {{ id: 7 }} }}] }}
- when: {{ input: down }}
  reply: {{ error: {{ status: 400, message: the prompt is too long }} }}
- when: {{ input: flaky, turn: 1 }}
  reply: {SECRET_ANSWER}
- reply: {SECRET_ANSWER}
"""
JUDGE = "- reply: { json: { passed: true, reason: so, score: 1 } }\n"
SIMULATED = "- reply: { json: { input: find it, goal_achieved: true } }\n"
JUDGED = {"type": "agent", "use": "agents:judge", "value": "Anything"}
CASES = [
    {"id": "plain", "input": "find it", "tags": ["smoke"], "assert": JUDGED},
    {"id": "talk", "input": "Hello", "simulator": {"use": "agents:guest", "goal": "Find it"}, "max_turns": 2},
    {"id": "wrong", "input": KEY, "assert": {"type": "contains", "value": "a price"}},
    {"id": "down", "input": "down"},
]
TESTS = """\
import { twice } from "./twice";
export function TestGood(t: testing.T) { t.assert.Equal(twice(2), 4); }
export function TestBad(t: testing.T) { t.assert.Equal(twice(2), 5); }
export function TestNone(t: testing.T) { t.skip("not today"); }
"""
ASKING = f"""\
export function TestAsks(t: testing.T) {{
  const said = Process("agents.demo.Stream", [{{ role: "user", content: "find {KEY}" }}]).content;
  t.assert.Agent(said, "agents:judge", {{ criteria: "Anything about {KEY}" }});
  t.mock.agent("guest", "mocked");
  Process("agents.guest.Stream", "find");
  t.assert.Equal(said, "{KEY}");
}}
export function TestBreaks(t: testing.T) {{ t.assert.Error(Process("agents.demo.Stream", "down")); }}
"""


def sending(application: Application, collector: Collector, *arguments: str, **variables: str) -> Run:
    environment = {**application.environment, **variables}
    return application.run(*arguments, "--otlp", collector.url, env=environment)
