"""Faults that hit a run, drawn from a seed: what the model host does wrong, and which tests spin or sleep until their worker
is killed."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from command import Record
from faults import lines_of, worker_pids
from model_server import Behaviour, Exchange, body, raw, says, sends, silence, status

RETRIES = 2
"""Of the connectors: a call is made three times at the most."""
NOW = {"retry-after": "0"}
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n"


class Fault(NamedTuple):
    """One way in which the model host fails a call."""

    kind: str
    behaviour: Behaviour
    may_pass: bool = True
    """Whether the call is made again."""


UNANSWERED = Fault(kind="reset before the answer", behaviour=raw(b"", reset=True))
"""On a connection that was kept it costs no try: the host may have closed it before."""
PASSING: tuple[Fault, ...] = (
    Fault(kind="reset in mid-stream", behaviour=says("half of an answer", reset_after=2)),
    UNANSWERED,
    Fault(kind="reset within the head", behaviour=raw(b"HTTP/1.1 200 OK\r\ncontent-ty", reset=True)),
    Fault(kind="truncated stream", behaviour=says("half of an answer", cut_after=2)),
    Fault(kind="truncated body", behaviour=raw(_HEAD + b'{"choices": [{"mess')),
    Fault(kind="500", behaviour=status(500, "broken", NOW)),
    Fault(kind="502", behaviour=body(502, "<html>Bad Gateway</html>", NOW)),
    Fault(kind="503", behaviour=status(503, "overloaded", NOW)),
)
REFUSED = Fault(kind="429", behaviour=status(429, "slow down", NOW))
LASTING: tuple[Fault, ...] = (
    Fault(kind="no JSON", behaviour=body(200, "<html>Welcome</html>"), may_pass=False),
    Fault(kind="an event that is not JSON", behaviour=sends('data: {"choices": [{"del\n\n'), may_pass=False),
    Fault(kind="another shape", behaviour=sends({"choices": "none"}), may_pass=False),
    Fault(kind="a list", behaviour=body(200, [1, 2, 3]), may_pass=False),
)
SLOW: tuple[Fault, ...] = (
    Fault(kind="slow model: no answer", behaviour=silence(), may_pass=False),
    Fault(kind="slow model: silent in mid-stream", behaviour=says("half of an answer", hold_after=2), may_pass=False),
)


def answer_to(id: str) -> str:
    """What the host answers in a case, when it does."""
    return f"the answer to {id} ✓"


class Host:
    """The model host: each case meets its faults, one a call, and then its answer."""

    def __init__(self, plan: Mapping[str, list[Fault]]) -> None:
        self.happened: Counter[str] = Counter()
        self.is_healthy = False
        self._left = {key: list(faults) for key, faults in plan.items()}

    async def __call__(self, exchange: Exchange) -> None:
        text = exchange.request.last_text
        found = re.search(r"judge-\d+", text) or re.search(r"case-\d+", text)
        assert found, text
        faults = self._left.get(found[0])
        if faults and not self.is_healthy:
            fault = faults.pop(0)
            self.happened[fault.kind] += 1
            await fault.behaviour(exchange)
        elif found[0].startswith("judge"):
            await says(json.dumps({"passed": True, "reason": "as it should be"}))(exchange)
        else:
            await says(answer_to(found[0]))(exchange)


class Killer:
    """Kills workers while there are tests that wait for it: any worker, but mostly one that computes."""

    def __init__(self, chance: random.Random, marks: Path, report: Path) -> None:
        self.kills = 0
        self._chance = chance
        self._marks = marks
        self._report = report

    def run(self, process: subprocess.Popen[bytes], patience: float) -> None:
        """Blocks until the process has ended; what it prints must go to files."""
        end = time.monotonic() + patience
        while process.poll() is None and time.monotonic() < end:
            done = {record.get("id") for record in lines_of(self._report)}
            if {path.name for path in self._marks.iterdir()} - {".keep"} - done:
                self._kill(worker_pids(process.pid))
            time.sleep(self._chance.uniform(0.03, 0.15))

    def _kill(self, pids: list[int]) -> None:
        computing = [pid for pid in pids if _state(pid) == "R"]
        chosen = self._chance.choice(computing if computing and self._chance.random() < 0.8 else pids or [0])
        if chosen and _state(chosen) not in ("Z", ""):
            os.kill(chosen, signal.SIGKILL)
            self.kills += 1


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


class Plan(NamedTuple):
    """What runs, which faults hit it, and how each test has to end: `passed`, the cause of its failure, or `killed`."""

    files: dict[str, str]
    faults: dict[str, list[Fault]]
    """By what the host finds in a request."""
    expected: dict[str, str]
    """Case or test → how it ends in the run."""
    verdicts: dict[str, str]
    """How those end that run without a fault."""
    in_workers: set[str]
    """Those that a killed worker may take with it."""

    @property
    def kinds(self) -> Counter[str]:
        """How often each fault of the host has to happen."""
        return Counter(fault.kind for faults in self.faults.values() for fault in faults)


MODULES = 12
CASES = {"plain": 140, "limited": 34, "hooked": 40}
SPINNING_CASES = 8
WAITING = """\
const mark = "/marks/" + name;
if (!new FS("data").Exists(mark)) { new FS("data").WriteFile(mark, "x"); %s }
"""
SPIN, SLEEP = WAITING % "for (;;) {}", WAITING % "time.Sleep(1e6);"
HOOKS = f"""\
function Create(ctx, messages) {{
  const [name, spins] = messages[0].content.split(" ");
  if (spins) {{ {SPIN} }}
  return {{ messages }};
}}
"""
"""A case that spins does it once: when it runs again, it goes on."""


def draw(seed: int) -> Plan:
    """A run of 310 tests: 12 script modules of 8, and the cases of three agents."""
    chance = random.Random(seed)
    plan = Plan(
        files={"/data/marks/.keep": "", **_agent("judge", "local")},
        faults={},
        expected={},
        verdicts={},
        in_workers=set(),
    )
    for number in range(MODULES):
        _add_module(plan, number, chance)
    faults: list[list[Fault]]
    for agent, faults in (("plain", _call_faults(chance)), ("limited", _refusals()), ("hooked", [])):
        faults += [[] for _ in range(CASES[agent] - len(faults))]
        chance.shuffle(faults)
        _add_cases(plan, agent, faults, chance)
    return plan


def _add_module(plan: Plan, number: int, chance: random.Random) -> None:
    """A script module: one test waits for its worker to be killed, one is wrong, six are right."""
    names = [f"Test{number:02}{letter}" for letter in "ABCDEFGH"]
    sleeps, wrong = chance.sample(names, 2)
    text = ""
    for name in names:
        body = f'const name = "{name}"; {SLEEP}' if name == sleeps else ""
        text += f"export function {name}(t) {{ {body} t.assert.Equal(1, {2 if name == wrong else 1}); }}\n"
        plan.verdicts[name] = "assertion" if name == wrong else "passed"
        plan.expected[name] = "killed" if name == sleeps else plan.verdicts[name]
    plan.in_workers.update(names)
    plan.files[f"/assistants/plain/src/m{number:02}_test.ts"] = text


def _add_cases(plan: Plan, agent: str, faults: list[list[Fault]], chance: random.Random) -> None:
    """The cases of an agent, each with the faults that its calls meet."""
    spinning = set(chance.sample(range(len(faults)), SPINNING_CASES)) if agent == "hooked" else set()
    text = ""
    for number, own in enumerate(faults):
        id = f"case-{len(plan.expected):03}"
        kind = chance.choice(["right", "right", "wrong", "negated", *(["judged"] if agent == "plain" else [])])
        end = verdict = "assertion" if kind in ("wrong", "negated") else "passed"
        case = {"id": id, "input": id, "assert": _check(kind, id)}
        plan.faults[id] = own
        if number in spinning:
            case["input"], end = f"{id} spin", "killed"
        elif own and own[-1] in SLOW:
            case["timeout"], end = "2500ms", "timeout"
        elif len(own) > RETRIES or not all(fault.may_pass for fault in own):
            end = "infrastructure"
        elif kind == "judged" and chance.random() < 0.5:
            plan.faults[id.replace("case", "judge")], end = [chance.choice(LASTING)], "infrastructure"
        plan.expected[id], plan.verdicts[id] = end, verdict
        text += json.dumps(case) + "\n"
        if agent == "hooked":
            plan.in_workers.add(id)
    plan.files.update(_agent(agent, "limited" if agent == "limited" else "local", HOOKS if agent == "hooked" else ""))
    plan.files[f"/assistants/{agent}/tests/cases.jsonl"] = text


def _check(kind: str, id: str) -> Record:
    judge = id.replace("case", "judge")
    return {
        "right": {"type": "equals", "value": answer_to(id)},
        "wrong": {"type": "equals", "value": f"no {answer_to(id)}"},
        "negated": {"type": "contains", "value": id, "negate": True},
        "judged": {"type": "agent", "use": "agents:judge", "value": judge},
    }[kind]


def _call_faults(chance: random.Random) -> list[list[Fault]]:
    """Faults of 120 cases: most pass with another call or two, the others last."""
    once = [[chance.choice(PASSING)] for _ in range(70)]
    twice = [chance.choices(PASSING, k=RETRIES) for _ in range(10)]
    answered = [fault for fault in PASSING if fault is not UNANSWERED]
    too_often = [chance.choices(answered, k=RETRIES + 1) for _ in range(6)]
    then_lasting = [[chance.choice(PASSING), chance.choice(LASTING)] for _ in range(6)]
    lasting = [[chance.choice(LASTING)] for _ in range(12)]
    slow = [[chance.choice(SLOW)] for _ in range(16)]
    return [*once, *twice, *too_often, *then_lasting, *lasting, *slow]


def _refusals() -> list[list[Fault]]:
    """On a connector of their own, since each makes its calls fewer at a time."""
    return [[REFUSED] for _ in range(14)] + [[REFUSED] * RETRIES for _ in range(10)]


def _agent(id: str, connector: str, hooks: str = "") -> dict[str, str]:
    folder = f"/assistants/{id}"
    files = {
        f"{folder}/package.yao": json.dumps({"connector": connector}),
        f"{folder}/prompts.yml": "- { role: system, content: Answer. }",
    }
    return {**files, f"{folder}/src/index.ts": hooks} if hooks else files
