"""A person at the terminal, through a pseudo-terminal and the real command."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from agent_files import agent, case_file, run_cases
from command import COMMAND, PATIENCE, Application, MakeApplication, Record, eventually, take_terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")

CLERK = """\
- when: { input: travel }
  reply: { text: "Which day?", awaiting_input: true, input_hint: YYYY-MM-DD }
- when: { input: { regex: '^\\d{4}' } }
  reply: "Filed for {{ input }}."
- when: { input: slow }
  reply: { delay: 1s, text: "Now which kind?" }
- when: { input: steer }
  reply: "Clear \\e[2J and which kind?"
- reply: What kind of expense is it?
"""
ASKS = {"id": "T1", "turns": [{"input": "I want to file"}]}
Session = Callable[..., "Terminal"]


class Terminal:
    """The command on a terminal of its own."""

    def __init__(self, app: Application, *arguments: str, controlling: bool = True, **variables: str) -> None:
        self.app = app
        self.shown = ""
        self._read_to = 0
        self._fd, inner = pty.openpty()
        self.report = app.home / f"report-{time.monotonic_ns()}.json"

        self.process = app.start(
            *("-i", case_file(), "-o", str(self.report), *arguments),
            env={**app.environment, "TERM": "xterm", **variables},
            stdin=inner,
            stdout=inner,
            stderr=inner,
            takes_terminal=controlling,
        )
        self.before = termios.tcgetattr(inner)
        os.close(inner)

    def sees(self, text: str) -> str:
        """Waits until a text is shown, after what was waited for before; what was shown up to then."""
        while (at := self.shown.find(text, self._read_to)) < 0:
            assert self._more(), f"{text!r} is never shown:\n{self.shown}"
        start, self._read_to = self._read_to, at + len(text)
        return self.shown[start : self._read_to]

    def types(self, text: str) -> None:
        """Types at the prompt, once it is there and takes keys."""
        self.sees("> ")
        os.write(self._fd, text.encode())

    def ends(self) -> tuple[int, dict[str, Record]]:
        """Waits for the end; the exit code, and the records."""
        while self._more():
            pass
        code = self.process.wait(PATIENCE)
        return code, {record["id"]: record for record in json.loads(self.report.read_text())["results"]}

    def close(self) -> None:
        """Ends what is left."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self._fd)

    def _more(self) -> bool:
        ready, _, _ = select.select([self._fd], [], [], PATIENCE)
        assert ready, f"nothing more is shown:\n{self.shown}"
        try:
            data = os.read(self._fd, 65536)
        except OSError:
            return False
        self.shown += data.decode(errors="replace").replace("\r\n", "\n")
        return bool(data)


@pytest.fixture
def terminal() -> Iterator[Session]:
    """Starts commands on terminals, and ends them with the test."""
    started: list[Terminal] = []

    def start(*arguments: Any, **more: Any) -> Terminal:
        started.append(Terminal(*arguments, **more))
        return started[-1]

    yield start
    for one in started:
        one.close()


def asking(*cases: Record) -> dict[str, str]:
    return agent(replies=CLERK, cases=list(cases or [ASKS]))


def said(record: Record) -> list[tuple[Any, str]]:
    return [(turn["input"], turn["input_source"]) for turn in record["turns"]]


def test_a_person_answers_with_the_question_and_the_hint_in_sight(app: MakeApplication, terminal: Session) -> None:
    person = terminal(app(asking()), "--interactive")

    assert "► [T1] turn 2: the agent is waiting for you\n  Agent: What kind of expense is it?\n  5m to answer" in person.sees("ans")  + person.sees("wer")  # fmt: skip
    person.types("travel\r")
    assert "  Agent: Which day?\n  Hint: YYYY-MM-DD\n" in person.sees("Ctrl-D")
    person.types("2025-01-02\r")
    code, records = person.ends()

    assert code == 0
    assert said(records["T1"]) == [("I want to file", "static"), ("travel", "human"), ("2025-01-02", "human")]
    assert 'Turn 2: [Human] "travel"' in person.shown


def test_a_case_may_ask_for_a_person_itself(app: MakeApplication, terminal: Session) -> None:
    person = terminal(app(asking({**ASKS, "interactive": {"enabled": True}})))
    person.types("2025-01-02\r")

    assert said(person.ends()[1]["T1"])[1:] == [("2025-01-02", "human")]


def test_what_a_person_says_is_graded_like_every_talk(app: MakeApplication, terminal: Session) -> None:
    case = {
        "id": "T1",
        "mode": "conversation",
        "turns": [{"input": "I want to file", "assertions": [{"type": "contains", "value": "kind"}]}],
        "interactive": {"enabled": True},
        "turn_assertions": [{"type": "not_contains", "value": "Filed"}],
        "final_assertions": [{"type": "contains", "value": "Filed", "weight": 2}],
        "threshold": 0.6,
    }
    person = terminal(app(asking(case)))
    person.types("2025-01-02\r")
    code, records = person.ends()

    assert code == 0
    assert said(records["T1"]) == [("I want to file", "static"), ("2025-01-02", "human")]
    assert [entry["score"] for entry in records["T1"]["scores"]] == [1.0, 0.0, 1.0]
    assert records["T1"]["score"] == pytest.approx(2 / 3)


def test_a_line_can_be_edited_and_earlier_answers_called_back(app: MakeApplication, terminal: Session) -> None:
    person = terminal(app(asking()), "--interactive")
    person.types("trbvel\x1b[D\x1b[D\x1b[D\x7fa\r")  # three to the left, and a letter is replaced: travel needs it
    person.sees("Which day?")
    person.types("\x1b[A\r")
    person.sees("Which day?")
    person.types(" \r\r2025-01-02\r")  # empty lines are no answers

    assert said(person.ends()[1]["T1"])[1:] == [
        ("travel", "human"),
        ("travel", "human"),
        ("2025-01-02", "human"),
    ]


def test_the_end_of_input_skips_the_case(app: MakeApplication, terminal: Session) -> None:
    person = terminal(app(asking(ASKS, {**ASKS, "id": "T2", "on_missing_input": "fail"})), "--interactive")
    person.types("\x04")
    person.types("\x04")
    code, records = person.ends()

    reason = "Agent awaiting input, skipped at the prompt"
    assert code == 0
    assert {id: (record["status"], record["skip_reason"]) for id, record in records.items()} == {
        "T1": ("skipped", reason),
        "T2": ("skipped", reason),
    }
    assert records["T1"]["turns"][1]["skip_reason"] == reason


def test_a_person_who_takes_too_long_is_not_waited_for(app: MakeApplication, terminal: Session) -> None:
    hurried = {"interactive": {"enabled": True, "timeout": "200ms"}}
    cases = [{**ASKS, **hurried}, {**ASKS, **hurried, "id": "T2", "on_missing_input": "fail"}]
    person = terminal(app(asking(*cases)))
    code, records = person.ends()

    reason = "Agent awaiting input, no answer within 200ms"
    assert code == 1
    assert (records["T1"]["status"], records["T1"]["skip_reason"]) == ("skipped", reason)
    assert records["T2"]["error"] == f"{reason}: What kind of expense is it?"


def test_the_time_of_a_person_is_not_the_time_of_the_case(app: MakeApplication, terminal: Session) -> None:
    person = terminal(app(asking({**ASKS, "timeout": "1500ms"})), "--interactive")
    person.sees("> ")
    time.sleep(1.6)  # the time of the case would be over
    os.write(person._fd, b"2025-01-02\r")

    assert person.ends()[1]["T1"]["status"] == "passed"


def test_an_interrupt_at_the_prompt_ends_the_run_and_leaves_the_terminal_as_it_was(
    app: MakeApplication, terminal: Session
) -> None:
    person = terminal(app(asking()), "--interactive")
    person.types("\x03")
    code, records = person.ends()

    assert code == 130
    assert said(records["T1"]) == [("I want to file", "static")]
    assert (records["T1"]["status"], records["T1"]["skip_reason"]) == ("skipped", "interrupted")
    assert termios.tcgetattr(person._fd)[:4] == person.before[:4]


def test_one_person_is_asked_one_question_at_a_time(app: MakeApplication, terminal: Session) -> None:
    cases = [{"id": f"T{number}", "turns": [{"input": "hello"}]} for number in range(3)]
    person = terminal(app(asking(*cases)), "--interactive", "--parallel", "3")
    asked = []
    for _ in cases:
        asked += re.findall(r"► \[(T\d)\] turn 2: the agent is waiting", person.sees("Ctrl-C ends the run\n"))
        person.types(f"2025-01-0{len(asked)}\r")
    _, records = person.ends()

    assert sorted(asked) == ["T0", "T1", "T2"]
    answers = {id: record["turns"][1]["input"] for id, record in records.items()}
    assert answers == {id: f"2025-01-0{number}" for number, id in enumerate(asked, 1)}


def test_nothing_else_is_written_while_a_question_is_open(app: MakeApplication, terminal: Session) -> None:
    cases = [
        {"id": "asks", "turns": [{"input": "hello"}], "interactive": {"enabled": True}},
        {"id": "ends", "turns": [{"input": "slow"}], "on_missing_input": "end"},
    ]
    application = app(asking(*cases))
    lines = application.home / "report.jsonl"
    person = terminal(application, "--parallel", "2", "-o", str(lines))
    person.sees("> ")
    eventually(lambda: '"ends"' in lines.read_text(), "the other case ended")
    os.write(person._fd, b"2025-01-02\r")
    shown = person.sees("2025-01-02")
    person.ends()

    assert shown.strip() == "2025-01-02"
    assert "► [ends]" in person.shown[person.shown.index("> 2025-01-02") :]


def test_letters_that_steer_a_terminal_are_not_shown(app: MakeApplication, terminal: Session) -> None:
    person = terminal(app(asking({"id": "T1", "turns": [{"input": "steer"}]})), "--interactive")

    assert "Agent: Clear [2J and which kind?\n" in person.sees("to answer")
    person.types("2025-01-02\r")
    assert person.ends()[0] == 0


def test_secrets_are_not_shown_at_the_prompt(app: MakeApplication, terminal: Session) -> None:
    replies = '- { reply: { text: "Is it sk-secret-\\e-of-mine and sk-secret--of-mine?", awaiting_input: true, input_hint: sk-secret--of-mine } }'
    files = agent(replies=replies, cases=[ASKS])
    person = terminal(app(files), "--interactive", SOME_KEY="sk-secret--of-mine")
    person.sees("Agent: Is it ***SOME_KEY*** and ***SOME_KEY***?\n  Hint: ***SOME_KEY***\n")
    person.types("\x04")
    person.ends()
    assert "sk-secret--of-mine" not in person.shown


def test_without_a_terminal_nobody_is_asked(app: MakeApplication) -> None:
    application = app(asking(ASKS, {**ASKS, "id": "T2", "on_missing_input": "end"}))
    records = run_cases(application, "--interactive", code=0)

    assert (records["T1"]["status"], records["T1"]["skip_reason"]) == (
        "skipped",
        "Agent awaiting input, no terminal",
    )
    assert records["T2"]["status"] == "passed"


def test_nobody_is_asked_in_continuous_integration(app: MakeApplication, terminal: Session) -> None:
    person = terminal(app(asking()), "--interactive", CI="true")
    _, records = person.ends()

    why = "no terminal: this is a CI job"
    assert records["T1"]["skip_reason"] == f"Agent awaiting input, {why}"


def test_a_person_sits_at_a_terminal_that_controls_no_processes(app: MakeApplication, terminal: Session) -> None:
    """As in a container, or below a program that drives the command through a terminal of its own."""
    person = terminal(app(asking()), "--interactive", controlling=False)
    person.types("travel\r")
    person.sees("Which day?")
    person.types("2026-03-01\r")
    code, records = person.ends()

    assert (code, records["T1"]["status"]) == (0, "passed")
    assert records["T1"]["output"] == "Filed for 2026-03-01."


@pytest.mark.parametrize("controlling", [True, False])
def test_the_terminal_of_the_input_is_asked_when_the_output_is_a_file(app: MakeApplication, controlling: bool) -> None:
    application = app(asking())
    outer, inner = pty.openpty()
    process = application.start(
        *("-i", case_file(), "--interactive"),
        stdin=inner,
        takes_terminal=controlling,
    )
    os.close(inner)
    shown = b""
    while b"> " not in shown:
        shown += os.read(outer, 1000)
    os.write(outer, b"\x04")
    run = application.finish(process)
    os.close(outer)

    assert b"What kind of expense is it?" in shown
    assert "skipped at the prompt" in run.stdout


def test_the_end_of_the_input_skips_the_case_on_such_a_terminal(app: MakeApplication, terminal: Session) -> None:
    person = terminal(app(asking()), "--interactive", controlling=False)
    person.types("\x04")
    _, records = person.ends()
    assert "skipped at the prompt" in records["T1"]["skip_reason"]


def test_a_run_in_the_background_asks_nobody(app: MakeApplication, terminal: Session, tmp_path: Path) -> None:
    application = app(asking())
    report = tmp_path / "report.json"
    shell = f"set -m; {' '.join(COMMAND)} -i {case_file()} --interactive -o {report} & wait"
    inner_fd, inner = pty.openpty()
    with subprocess.Popen(
        ["bash", "-c", shell],
        cwd=application.root,
        env={**application.environment, "TERM": "xterm"},
        stdin=inner,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=take_terminal,
    ) as process:
        process.wait(PATIENCE)
    os.close(inner)
    os.close(inner_fd)
    (record,) = json.loads(report.read_text())["results"]

    assert record["skip_reason"] == "Agent awaiting input, no terminal: the run is in the background"


def test_a_simulator_speaks_before_a_person(app: MakeApplication, terminal: Session) -> None:
    play = {"/scripts/play.ts": "export function Simulate() { return '2025-01-02'; }"}
    case = {**ASKS, "simulator": {"use": "scripts:play"}}
    person = terminal(app({**asking(case), **play}), "--interactive")

    assert said(person.ends()[1]["T1"])[1:] == [("2025-01-02", "simulated")]
