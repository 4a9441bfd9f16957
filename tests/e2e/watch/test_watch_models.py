"""What `--watch` asks real models, and which of their answers it keeps."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from command import Application, MakeApplication, eventually
from model_server import ModelServer, echo, says, silence
from terminal import on_open_terminal
from watching import FILES, WAITING, save_at_once, verdict


def test_a_real_model_is_asked_once_and_then_only_by_a_key(app: MakeApplication) -> None:
    with ModelServer() as server:
        definition = {"type": "openai", "options": {"host": server.url, "model": "m", "key": "sk-local"}}
        here = app(
            {
                "/assistants/demo/package.yao": '{"connector": "local"}',
                "/assistants/demo/prompts.yml": FILES["/assistants/demo/prompts.yml"],
                "/assistants/demo/tests/cases.jsonl": '{"id": "asks", "input": "Hi"}\n',
                "index.ts": "export function Next(ctx, payload) { return null; }\n",
                "/connectors/local.conn.yao": json.dumps(definition),
                "a_test.ts": "export function TestA(t) {}\n",
            }
        )
        with on_open_terminal(here, "--watch") as terminal:
            terminal.wait(WAITING)
            assert len(server.requests) == 1
            here.write({"index.ts": "export function Next(ctx, payload) { return { data: 3 }; }\n"})
            shown = terminal.wait(WAITING)
            assert "Recorded model responses were used: press Enter to call the model" in shown
            assert re.search(r"Passed: +1", shown), shown
            wrong = '{"id": "asks", "input": "Hi", "assert": {"type": "equals", "value": "x"}}\n'
            here.write({"/assistants/demo/tests/cases.jsonl": wrong})
            assert re.search(r"Failed: +1", terminal.wait(WAITING))
            here.write({"/assistants/demo/tests/cases.jsonl": '{"id": "asks", "input": "Hi"}\n'})
            assert re.search(r"Passed: +1", terminal.wait(WAITING))
            assert len(server.requests) == 1
            here.write({"/assistants/demo/tests/cases.jsonl": '{"id": "asks", "input": "Something else"}\n'})
            shown = terminal.wait(WAITING)
            assert "which watch mode does only on request: press Enter" in " ".join(shown.split()), shown
            assert "Recordings in" not in shown
            assert "No recorded response" not in shown
            assert len(server.requests) == 1
            here.write({"/assistants/demo/tests/cases.jsonl": '{"id": "asks", "input": "Hi"}\n'})
            assert re.search(r"Passed: +1", terminal.wait(WAITING))
            here.write({"/assistants/demo/prompts.yml": "- {role: system, content: Ho}\n"})
            assert "Not rerun: assistants/demo/tests/cases.jsonl (1 of 1 passed)" in terminal.wait(WAITING)
            assert len(server.requests) == 1
            terminal.press("\r")
            assert verdict(terminal) == ("", 1, 0)
            assert len(server.requests) == 2


def test_judges_of_another_connector_vote_once_and_their_votes_are_kept(app: MakeApplication) -> None:
    """`--judge-connector` and `--judge-samples` hold in every run of `--watch`."""
    with ModelServer(says('{"passed": true, "reason": "so it is"}')) as server:
        definition = {"type": "openai", "options": {"host": server.url, "model": "m", "key": "sk-local"}}
        judged = {"id": "judged", "input": "Hi", "assert": {"type": "agent", "use": "agents:judge", "value": "nice"}}
        here = app(
            {
                **{name: FILES[name] for name in FILES if "/demo/" in name and not name.endswith("jsonl")},
                "/assistants/demo/tests/cases.jsonl": json.dumps(judged) + "\n",
                "/assistants/judge/package.yao": '{"connector": "scripted"}',
                "/assistants/judge/prompts.yml": "- {role: system, content: Judge}\n",
                "/connectors/local.conn.yao": json.dumps(definition),
                "index.ts": "export function Next(ctx, payload) { return null; }\n",
            }
        )
        with on_open_terminal(here, "--watch", "--judge-connector", "local", "--judge-samples", "3") as terminal:
            assert re.search(r"Passed: +1", terminal.wait(WAITING))
            assert len(server.requests) == 2  # of three votes, two decide
            here.write({"index.ts": "export function Next(ctx, payload) { return undefined; }\n"})
            shown = terminal.wait(WAITING)
            assert re.search(r"Passed: +1", shown), shown
            assert len(server.requests) == 2  # of three votes, two decide


LIBRARY = "../../../scripts/lib.ts"


@pytest.fixture
def with_both(app: MakeApplication) -> Iterator[tuple[Application, ModelServer]]:
    """Suites that a real model answers, and others that depend on the same script."""
    with ModelServer() as server:
        definition = {"type": "openai", "options": {"host": server.url, "model": "m", "key": "sk-local"}}
        calls = 'Process("scripts.lib.Two"); return null;'
        here = app(
            {
                **{name: FILES[name] for name in FILES if "/demo/" in name},
                **{name.replace("demo", "asked"): FILES[name] for name in FILES if "/demo/prompts" in name},
                "/assistants/asked/package.yao": '{"connector": "local"}',
                "/assistants/asked/tests/asks.jsonl": '{"id": "asks", "input": "Hi"}\n',
                "/connectors/local.conn.yao": json.dumps(definition),
                "/scripts/lib.ts": "function Two() { return 2; }\n",
                "c_test.ts": FILES["c_test.ts"],
                "index.ts": f"export function Next(ctx, payload) {{ {calls} }}\n",
                "/assistants/asked/src/index.ts": f"export function Next() {{ {calls} }}\n",
            }
        )
        yield here, server


def add_case(here: Application) -> None:
    """A new suite that asks the model; nobody reads half of it."""
    written = here.root.parent / "new.jsonl"
    written.write_text('{"id": "new", "input": "Ho"}\n', "utf-8")
    written.rename(here.root / "assistants/asked/tests/new.jsonl")


def test_kept_answers_and_other_tests_have_one_verdict(with_both: tuple[Application, ModelServer]) -> None:
    here, server = with_both
    with on_open_terminal(here, "--watch") as terminal:
        assert verdict(terminal) == ("", 3, 0)
        save_at_once(here, LIBRARY, "function Two() { return 1 + 1; }\n")
        shown = terminal.wait(WAITING)
        assert "Recorded model responses were used: press Enter to call the model" in shown
        assert re.findall(r"Summary: (.*) skipped", shown) == ["3 passed, 0 failed, 0"], shown
        assert len(server.requests) == 1
        add_case(here)
        save_at_once(here, LIBRARY, "function Two() { return 2; }\n")
        while not re.search("Summary: ", shown := terminal.wait(WAITING)):
            assert re.search(r"Passed: +1", shown), "the new case ran before the second change was seen"
        assert re.findall(r"Summary: (.*) skipped", shown) == ["4 passed, 0 failed, 0"], shown
        asked = [request.last_text for request in server.requests]
        assert asked[0] == "Hi" and set(asked[1:]) == {"Ho"}  # twice, if the second change ended a run


def test_a_change_that_ends_a_run_asks_no_model_again(with_both: tuple[Application, ModelServer]) -> None:
    here, server = with_both
    with on_open_terminal(here, "--watch") as terminal:
        assert verdict(terminal) == ("", 3, 0)
        server.default = silence()
        add_case(here)
        eventually(lambda: len(server.requests) == 2, "the model is asked for the new case")
        server.default = echo()
        save_at_once(here, LIBRARY, "function Two() { return 1 + 1; }\n")
        shown = terminal.wait(WAITING)
        assert "Recorded model responses were used: press Enter to call the model" in shown
        assert re.findall(r"Summary: (.*) skipped", shown) == ["4 passed, 0 failed, 0"], shown
        assert [request.last_text for request in server.requests] == ["Hi", "Ho", "Ho"]
        terminal.press("\r")
        terminal.wait(WAITING)
        assert sorted(request.last_text for request in server.requests[3:]) == ["Hi", "Ho"]
