"""Measures graded conversations with a slow model server on this machine: nothing must wait without need.

python tests/bench/conversations.py [--turns 5] [--graders 8] [--rounds 3]

The agent answers after AGENT milliseconds; the graders of a turn after different times, the slowest after SLOWEST.

| conversation | goal |
| --- | --- |
| `on_turn_failure: continue` | turns x AGENT + SLOWEST: grading continues during the next turn |
| `on_turn_failure: stop` | turns x (AGENT + SLOWEST) + SLOWEST, for the whole, which is graded at the end |

Both may take longer by the share SPARE. Ends with exit code 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))

from model_server import Exchange, ModelServer, says

AGENT = 200
"""Milliseconds."""
SLOWEST = 300
"""Milliseconds."""
SPARE = 0.15
"""Share of the goal."""
YAO_TEST = [str(Path(sys.executable).parent / "yao-test")]


async def answer(exchange: Exchange) -> None:
    """The agent's answer, or a verdict: criteria are numbered, and the lower ones take longer."""
    if exchange.request.body["model"] == "agent":
        return await says("So be it.", delay=AGENT / 1000)(exchange)
    number = int(json.loads(exchange.request.last_text)["criteria"].split()[-1])
    await says('{"passed": true}', delay=SLOWEST / 1000 / number)(exchange)


def application(folder: Path, url: str, turns: int, graders: int) -> Path:
    """An application with a conversation of each kind; its case file."""
    criteria = [f"Criterion {number}" for number in range(1, graders + 1)]
    said = [{"input": f"Turn {number}", "assertions": criteria} for number in range(1, turns + 1)]
    cases = [
        {"id": how, "mode": "conversation", "on_turn_failure": how, "turns": said, "assertions": criteria}
        for how in ("continue", "stop")
    ]
    cases.insert(0, {"id": "warm", "input": "So that all is loaded"})
    files: dict[str, Any] = {
        f"connectors/{id}.conn.yao": json.dumps(
            {"type": "openai", "options": {"host": url, "model": id, "key": "none"}}
        )
        for id in ("agent", "judge")
    }
    files |= {
        "assistants/bench/package.yao": '{"connector": "agent"}',
        "assistants/bench/prompts.yml": "- role: system\n  content: You talk.\n",
        "assistants/workers/test/validator/package.yao": '{"connector": "judge"}',
        "assistants/workers/test/validator/prompts.yml": "- role: system\n  content: You judge.\n",
        "assistants/bench/tests/talks.jsonl": "\n".join(map(json.dumps, cases)),
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "assistants/bench/tests/talks.jsonl"


def run(turns: int, graders: int) -> dict[str, float]:
    """Milliseconds that each conversation took."""
    with tempfile.TemporaryDirectory() as name, ModelServer(answer) as server:
        folder = Path(name)
        cases = application(folder, server.url, turns, graders)
        report = folder / "report.json"
        command = [*YAO_TEST, "-i", str(cases), "-o", str(report), "-q"]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        expected = 1 + 2 * (turns + (turns + 1) * graders)
        if len(server.requests) != expected:
            raise SystemExit(f"{len(server.requests)} model calls were made, not {expected}")
        return {record["id"]: record["duration_ms"] for record in json.loads(report.read_text())["results"]}


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--graders", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    flags = parser.parse_args()
    runs = [run(flags.turns, flags.graders) for _ in range(flags.rounds)]
    goals = {
        "continue": flags.turns * AGENT + SLOWEST,
        "stop": flags.turns * (AGENT + SLOWEST) + SLOWEST,
    }
    print(f"{flags.turns} turns, {flags.graders} graders each\n")
    print("| conversation | measured | goal | ratio |  |\n| --- | --- | --- | --- | --- |")
    missed = 0
    for how, goal in goals.items():
        took = statistics.median(result[how] for result in runs)
        held = took <= goal * (1 + SPARE)
        missed += not held
        print(f"| {how} | {took:.0f} ms | {goal} ms | {took / goal:.2f} | {'PASS' if held else '**MISS**'} |")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
