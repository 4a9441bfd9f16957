"""`--record`, `--replay` and `--record-missing` by the real command: what is stored, and that a replay gives the same results."""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from agent_files import agent, case_file, run_cases, server
from command import Application, MakeApplication, Record, Run, eventually, unprivileged
from faults import with_model
from model_server import Behaviour, Exchange, ModelServer, says, status

from runner.answers.files import folder_of

KEY = "sk-live-0123456789abcdef"
PROMPTS = "- { role: system, content: 'It is $SYS.WEEKDAY, $SYS.DATETIME. You are $CTX.ASSISTANT_ID.' }"
HOOKS = """\
function Create(ctx, messages) {
  const id = Process("utils.str.UUID");
  const now = `asked at ${new Date().toISOString()} (${Date.now()}), id ${id}`;
  return { messages: [{ role: "system", content: now }, ...messages] };
}
"""
SUMMARY = """\
function Next(ctx, payload) {
  const said = payload.completion.content;
  const chunks = [];
  const model = ctx.llm.Stream("m", [{ role: "user", content: "Summarize: " + payload.messages.at(-1).content }], {
    onChunk: (message) => (chunks.push(message.delta ?? message.content ?? ""), 1),
  });
  return { data: { said, model } };
}
function Before(ctx, testCase) { return { warm: Process("llm.ChatCompletions", "m", "warm up").choices[0].message.content }; }
"""
TESTS = """\
export function TestAsk(t, ctx) {
  const answer = Process("agents.demo.Stream", "hello from a script");
  t.log(answer.content);
  t.assert.Contains(answer.content, "hello from a script");
}
export function TestJudge(t, ctx) {
  t.assert.Agent("a fine answer", "workers.test.validator", { criteria: "is fine" });
}
export function TestTwice(t, ctx) {
  for (const turn of [1, 2]) t.log(Process("llm.ChatCompletions", "m", "toss").choices[0].message.content);
}
"""
CASES: list[Record] = [
    {"id": "plain", "input": "hello", "assert": {"type": "contains", "value": "hello"}},
    {"id": "plain again", "input": "hello"},
    {"id": "tools", "input": "book 12", "assert": {"type": "tool_called", "name": "book"}},
    {"id": "judged", "input": "hi", "assert": {"type": "agent", "use": "agents:workers.test.validator", "value": "is fine"}},
    {"id": "failing", "input": "hi", "assert": {"type": "contains", "value": "never said"}},
    {"id": "turns", "turns": [{"input": "one"}, {"input": "two"}], "on_missing_input": "end"},
    {
        "id": "dynamic",
        "simulator": {"use": "workers.test.user-simulator", "persona": "a clerk", "goal": "book a trip"},
        "checkpoints": [{"id": "booked", "assert": {"type": "tool_called", "value": "book"}}],
        "max_turns": 5,
    },
    {
        "id": "graded",
        "mode": "conversation",
        "trials": 2,
        "turns": [{"input": "one", "assertions": ["is fine"]}, {"input": "two", "expected_output": "two"}],
    },
]  # fmt: skip


def model() -> Behaviour:
    """A model that never says the same thing twice, as real ones."""
    serial = itertools.count(1)

    async def behave(exchange: Exchange) -> None:
        last = exchange.request.body["messages"][-1]
        text = exchange.request.last_text
        if last["role"] == "tool":
            await says(f"Booked, says {last['content']} #{next(serial)}")(exchange)
        elif text.startswith("book"):
            arguments = json.dumps({"amount": int(text.split()[1])})
            await says(tool_calls=[(f"call_{uuid4().hex}", "office__book", arguments)])(exchange)
        elif text.startswith("{"):
            await says(json.dumps(helper(json.loads(text), next(serial))))(exchange)
        else:
            await says(f"#{next(serial)}: {text}, that is all.")(exchange)

    return behave


def helper(asked: Record, serial: int) -> Record:
    """What a simulator or a validator answers."""
    if asked.get("test_mode") == "simulator":
        turn = asked["turn_number"]
        return {"input": f"book {turn}" if turn < 3 else "thanks", "goal_achieved": turn > 2, "reasoning": f"#{serial}"}
    return {"passed": True, "score": 0.9, "reason": f"It is fine, #{serial}."}


class Recorded:
    """An application whose models are on a server that may be stopped."""

    def __init__(self, app: Application, server: ModelServer) -> None:
        self.app = app
        self.server = server

    def run(self, *arguments: str, key: str | None = KEY) -> Run:
        environment = {**self.app.environment, **({"MODEL_KEY": key} if key else {})}
        return self.app.run(*arguments, env=environment)

    def report(self, *arguments: str, key: str | None = KEY, code: int) -> Any:
        """The JSON report, without times."""
        path = self.app.home / f"report-{uuid4().hex}.json"
        run = self.run(*arguments, "-o", str(path), key=key)
        assert run.code == code, run
        assert "Traceback" not in run.stdout + run.stderr
        return steady(json.loads(self.app.anonymous(path.read_bytes())))

    def offline(self, *arguments: str, code: int) -> Any:
        """The report of a replay without a key, which asks nobody."""
        asked = len(self.server.requests)
        report = self.report(*arguments, "--replay", "rec", key=None, code=code)
        assert len(self.server.requests) == asked
        return report

    @property
    def files(self) -> dict[str, str]:
        folder = self.app.root / "rec"
        return {
            path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*.json") if path.is_file()
        }


def steady(value: Any) -> Any:
    """A report without what differs from run to run: times, durations, flags that say where answers come from, and the
    order of calls side by side, such as that of a judge and of the next turn."""
    if isinstance(value, dict):
        kept = {
            key: steady(item)
            for key, item in value.items()
            if not re.search("_ms$|^timestamp$|^created$|_at$|duration|flags$|^run_id$", key)
        }
        return {**kept, "steps": sorted(kept["steps"], key=json.dumps)} if "steps" in kept else kept
    if isinstance(value, str):
        return re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "<time>", value)
    return [steady(item) for item in value] if isinstance(value, list) else value


@pytest.fixture
def recorded(app: MakeApplication) -> Iterator[Recorded]:
    with ModelServer(model()) as host:
        connector = {"type": "openai", "options": {"host": host.url, "model": "gpt-x", "key": "$ENV.MODEL_KEY"}}
        files = {
            **agent(
                package={"connector": "m", "mcp": {"servers": ["office"]}},
                prompts=PROMPTS,
                replies=None,
                hooks=HOOKS,
                cases=CASES,
            ),
            **agent(
                "talker",
                package={"connector": "m"},
                prompts=PROMPTS,
                replies=None,
                hooks=SUMMARY,
                cases=[{"id": "summary", "input": "a story", "before": "index.Before"}],
            ),
            **server("office", {"book": "scripts.office.Book"}),
            "/scripts/office.ts": "function Book(args) { return { id: 'EXP-1', at: new Date().toISOString(), ...args }; }",
            "/connectors/m.conn.yao": json.dumps(connector),
            "/agent/agent.yml": "system: { default: m }",
            "asking_test.ts": TESTS,
        }
        yield Recorded(app(files), host)


EVERYTHING = ("-i", "assistants")


@pytest.mark.parametrize("parallel", [("8", "1"), ("1", "8")], ids="-".join)
def test_a_replay_without_key_and_network_gives_the_same_report(recorded: Recorded, parallel: tuple[str, str]) -> None:
    first, second = parallel
    live = recorded.report(*EVERYTHING, "--record", "rec", "--parallel", first, code=1)
    results = [record for part in live["reports"] for record in part["results"]]
    failed = {record.get("id", record.get("name")): record for record in results if record["status"] != "passed"}
    assert list(failed) == ["failing"], failed
    recorded.server.default = status(500)

    replay = recorded.offline(*EVERYTHING, "--parallel", second, code=1)

    assert json.dumps(replay, indent=1).split("\n") == json.dumps(live, indent=1).split("\n")
    said = recorded.run(*EVERYTHING, "--replay", "rec", key=None).stdout
    (warning,) = live["warnings"]
    assert [line for line in said.splitlines() if "Warning" in line] == [f"Warning: {warning}"]


def test_runs_of_a_case_are_replayed_one_by_one(recorded: Recorded) -> None:
    arguments = ("-i", case_file(), "-i", "scripts.demo.asking", "--runs", "3", "--run", "plain|TestTwice")
    live = recorded.report(*arguments, "--record", "rec", "--parallel", "2", code=0)

    assert recorded.offline(*arguments, "--parallel", "4", code=0) == live
    assert sorted(recorded.files)[:3] == [
        f"{case_file()}/plain{run}.json" for run in ("-again-765e4c29", "-again-765e4c29~2", "-again-765e4c29~3")
    ]


def test_no_secret_is_in_a_recording(recorded: Recorded) -> None:
    recorded.app.write({"/assistants/demo/prompts.yml": f"- {{ role: system, content: 'key {KEY}' }}"})
    recorded.run(*EVERYTHING, "--record", "rec")

    assert [name for name, text in recorded.files.items() if KEY in text] == []
    assert any("key ***MODEL_KEY***" in text for text in recorded.files.values())


def test_what_differs_from_the_recording_fails_its_case_and_shows_how(recorded: Recorded) -> None:
    recorded.report("-i", case_file(), "--record", "rec", "--run", "^plain", code=0)
    changed = [{"id": "plain", "input": "hullo"}, CASES[1]]
    recorded.app.write({f"/{case_file()}": "".join(json.dumps(case) + "\n" for case in changed)})

    results = recorded.offline("-i", case_file(), code=1)["results"]

    assert [(record["id"], record["status"]) for record in results] == [("plain", "failed"), ("plain again", "passed")]
    assert results[0]["error"].endswith(
        f'No recorded response for call 1 of "plain", in which agent demo calls m: no recording in rec/{case_file()}/plain.json matches. '
        "--record-missing rec calls the model and adds its response\n"
        "The closest recording is its call 1 (- recorded, + requested):\n"
        " system: asked at <time> (<time>), id <id>\n"
        "-user: hello\n"
        "+user: hullo"
    )


SWALLOWED = {
    "a hook": {"src/index.ts": "function Create() { try { Process('llm.ChatCompletions', 'm', 'new'); } catch (e) {} return null; }"},
    "a simulator in a multi-turn case": {
        "tests/cases.jsonl": json.dumps({"id": "a", "input": "hi", "simulator": {"use": "workers.test.user-simulator", "goal": "x"}})
    },
}  # fmt: skip


@pytest.mark.parametrize("change", SWALLOWED.values(), ids=SWALLOWED)
def test_a_miss_fails_the_case_even_when_the_case_goes_on(recorded: Recorded, change: dict[str, str]) -> None:
    recorded.app.write(
        {
            f"/{case_file()}": json.dumps(
                {"id": "a", "input": "hi", "turns": [{"input": "hi"}], "on_missing_input": "end"}
            )
        }
    )
    recorded.report("-i", case_file(), "--record", "rec", code=0)
    recorded.app.write({f"/assistants/demo/{name}": text for name, text in change.items()})

    (record,) = recorded.offline("-i", case_file(), code=1)["results"]

    assert (record["status"], record["cause"]) == ("failed", "infrastructure")
    assert "No recorded response for call " in record["error"]


def test_a_miss_fails_the_script_test_that_catches_it(recorded: Recorded) -> None:
    recorded.report("-i", "scripts.demo.asking", "--record", "rec", code=0)
    recorded.app.write(
        {
            "asking_test.ts": TESTS
            + "export function TestCatches(t) { try { Process('agents.demo.Stream', 'new'); } catch (e) {} }"
        }
    )

    results = recorded.offline("-i", "scripts.demo.asking", code=1)["results"]

    assert [record["name"] for record in results if record["status"] == "failed"] == ["TestCatches"]
    assert 'call 1 of "TestCatches"' in results[-1]["error"]


def test_missing_recordings_are_added_and_nothing_else_is_asked(recorded: Recorded) -> None:
    recorded.report("-i", case_file(), "--record", "rec", "--run", "^plain$", code=0)
    asked = len(recorded.server.requests)

    live = recorded.report("-i", case_file(), "--record-missing", "rec", "--run", "^plain", code=0)

    assert len(recorded.server.requests) == asked + 1
    assert recorded.offline("-i", case_file(), "--run", "^plain", code=0) == live


def test_recordings_that_are_not_used_are_listed(recorded: Recorded) -> None:
    recorded.report("-i", case_file(), "--record", "rec", "--run", "^(plain|turns|judged)$", code=0)
    changed = [CASES[0], {**CASES[5], "turns": [{"input": "one"}]}]
    recorded.app.write({f"/{case_file()}": "".join(json.dumps(case) + "\n" for case in changed)})

    run = recorded.run("-i", case_file(), "--replay", "rec", key=None)

    assert run.code == 0
    assert (
        f'Warning: Unused recordings in rec: "turns" in {case_file()} (1 of 2), '
        f"{case_file()}/judged.json (of no case)\n"
    ) in run.stdout
    assert "not used" not in recorded.run("-i", case_file(), "--replay", "rec", "--run", "plain", key=None).stdout


def test_a_model_that_fails_leaves_no_recording_of_that_call(recorded: Recorded) -> None:
    recorded.server.plan(status(400, "no"))

    recorded.report("-i", case_file(), "--record", "rec", "--run", "^plain$", code=1)

    assert recorded.files == {}
    (record,) = recorded.offline("-i", case_file(), "--run", "^plain$", code=1)["results"]
    assert "there is no rec/" in record["error"]


def test_a_run_that_is_killed_leaves_whole_files_and_is_completed_later(recorded: Recorded) -> None:
    cases = [{"id": f"case-{number:02}", "input": f"say {number}"} for number in range(12)]
    recorded.app.write({f"/{case_file()}": "".join(json.dumps(case) + "\n" for case in cases)})
    arguments = ("-i", case_file(), "--parallel", "2")
    environment = {**recorded.app.environment, "MODEL_KEY": KEY}
    process = recorded.app.start(*arguments, "--record", "rec", env=environment)
    with process:
        eventually(lambda: len(recorded.server.requests) > 4, "some cases are recorded")
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()

    for text in recorded.files.values():
        assert json.loads(text)["version"] == 1
    before = recorded.files
    live = recorded.report(*arguments, "--record-missing", "rec", code=0)

    assert len(recorded.files) == 12
    assert {name: text for name, text in recorded.files.items() if name in before} == before
    assert recorded.offline(*arguments, code=0) == live


def test_two_runs_at_once_leave_whole_files(recorded: Recorded) -> None:
    environment = {**recorded.app.environment, "MODEL_KEY": KEY}
    arguments = ("-i", case_file(), "--record", "rec", "--parallel", "4", "--run", "^(plain|turns|judged|dynamic)")
    processes = [
        recorded.app.start(*arguments, "-q", "-o", str(recorded.app.home / f"{n}.jsonl"), env=environment) for n in "ab"
    ]
    runs = [recorded.app.finish(process) for process in processes]

    assert [run.code for run in runs] == [0, 0], runs
    assert recorded.offline(*arguments[:2], "--run", "^(plain|turns|judged|dynamic)", code=0)
    assert list((recorded.app.root / "rec").rglob("*.tmp")) == []


def test_the_connector_of_the_flag_needs_no_key_in_a_replay(recorded: Recorded) -> None:
    arguments = ("-i", case_file(), "-c", "m", "--run", "^plain$")
    live = recorded.report(*arguments, "--record", "rec", code=0)

    assert recorded.offline(*arguments, code=0) == live
    run = recorded.run("-i", case_file(), "-c", "n", "--replay", "rec", key=None)
    assert (run.code, run.stderr.splitlines()[0]) == (
        2,
        'Error: Cannot use -c n: Cannot find connector "n": no such file below <app>/connectors',
    )


def test_generated_cases_are_replayed_with_their_generation(app: MakeApplication) -> None:
    made = [{"id": "G1", "input": "hello"}]
    application = app(
        {
            **agent(),
            **agent("maker", replies=f"- reply: {json.dumps(json.dumps({'cases': made}))}"),
        }
    )
    arguments = ("-i", "agents:maker?count=1", "-n", "demo")
    live = run_cases(application, *arguments, "--record", "rec", code=0)
    (application.root / "assistants/maker/replies.yml").unlink()
    (application.root / "assistants/demo/replies.yml").unlink()

    assert steady(run_cases(application, *arguments, "--replay", "rec", code=0)) == steady(live)


BAD = {
    "no folder": (("--replay", "nowhere"), "Error: Cannot use --replay nowhere: there is no such folder\nHint: Record first, with --record nowhere\n"),
    "a file": (("--replay", "app.yao"), "Error: Cannot use --replay app.yao: it is a file\nHint: Pass a folder; each case gets its own file in it\n"),
    "a file to record to": (("--record", "app.yao"), "Error: Cannot use --record app.yao: it is a file\nHint: Pass a folder; each case gets its own file in it\n"),
    "nothing": (("--replay", ""), "Error: Cannot use --replay: it is empty\nHint: Pass the folder of the recordings\n"),
    "two at once": (("--replay", "rec", "--record", "rec"), "Error: --record and --replay cannot be used together\n"),
    "two others": (("--replay", "rec", "--record-missing", "rec"), "Error: --replay and --record-missing cannot be used together\n"),
}  # fmt: skip


@pytest.mark.parametrize(("flags", "said"), BAD.values(), ids=BAD)
def test_flags_that_cannot_be_used_end_the_command_before_anything_runs(
    app: MakeApplication, flags: tuple[str, ...], said: str
) -> None:
    application = app({**agent(cases=[{"id": "a", "input": "hi"}]), "/app.yao": "{}"})

    run = application.run("-i", case_file(), *flags)

    assert (run.code, run.stdout, run.stderr) == (2, "", said)


def test_a_folder_that_cannot_be_written_is_said_before_anything_runs(app: MakeApplication, tmp_path: Path) -> None:
    application = app(agent(cases=[{"id": "a", "input": "hi"}]))
    (tmp_path / "locked").mkdir(mode=0o500)

    run = application.spawn("-i", case_file(), "--record", str(tmp_path / "locked"), prefix=unprivileged())

    assert run.code == 2
    assert "Permission denied" in run.stderr


def test_a_broken_recording_fails_its_case_with_its_place(app: MakeApplication) -> None:
    application = app(agent(cases=[{"id": "a", "input": "hi"}, {"id": "b", "input": "hi"}]))
    application.run("-i", case_file(), "--record", "rec")
    (application.root / f"rec/{case_file()}/a.json").write_text('{\n  "version": 1,\n')

    found = run_cases(application, "--replay", "rec", code=1)

    assert [record["status"] for record in found.values()] == ["failed", "passed"]
    assert f"Cannot read recording rec/{case_file()}/a.json:3:1: " in found["a"]["error"]


def test_recordings_that_cannot_be_written_are_an_error_of_the_run(app: MakeApplication) -> None:
    application = app({**agent(cases=[{"id": "a", "input": "hi"}]), "/rec/assistants": "in the way"})

    run = application.run("-i", case_file(), "--record", "rec")

    assert run.code == 3
    assert "Cannot write recordings: " in run.stdout + run.stderr


def test_messages_that_differ_by_a_slash_have_recordings_of_their_own(app: MakeApplication) -> None:
    messages = ("km/h or mph?", "km h or mph?")
    with ModelServer() as server:
        here = app({**agent(package={"connector": "local"}), **with_model(server)})
        for message in messages:
            assert here.run("-i", message, "-n", "demo", "--record", "rec").code == 0
    with_slash, without = (here.root / "rec" / folder_of(f"message {message}", True) for message in messages)
    assert sorted((here.root / "rec").iterdir()) == sorted([with_slash, without])

    replayed = [here.run("-i", message, "-n", "demo", "--replay", "rec") for message in messages]

    assert [run.code for run in replayed] == [0, 0], replayed
    assert "not used" not in "".join(run.stdout + run.stderr for run in replayed)
