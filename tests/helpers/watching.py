"""An application for `--watch`, and what the command says of it."""

from __future__ import annotations

import re

from command import Application
from terminal import Terminal

SUMMARY = r"Summary: .*\n"
WAITING = r"Waiting for changes.*\n"
FILES = {
    "/assistants/demo/package.yao": '{"connector": "scripted", "prompt_preset": ""}',
    "/assistants/demo/prompts.yml": "- {role: system, content: Hi}\n",
    "/assistants/demo/replies.yml": "- reply: Hello\n",
    "/assistants/demo/tests/cases.jsonl": '{"id": "greets", "input": "Hi", "assert": {"type": "equals", "value": "Hello"}}\n',
    "a.ts": 'import { two } from "./shared";\nimport type { Shape } from "./types";\nexport const a = (): Shape => two + 1;\n',
    "a_test.ts": 'import { a } from "./a";\nexport function TestA(t) { t.assert.Equal(a(), 3); }\n',
    "b_test.ts": 'import data from "./data.json";\nexport function TestB(t) { t.assert.Equal(data.n, 1); }\n',
    "c_test.ts": 'export function TestC(t) { t.assert.Equal(Process("scripts.lib.Two"), 2); }\n',
    "shared.ts": "export const two = 2;\n",
    "types.ts": "export type Shape = number;\n",
    "data.json": '{"n": 1}',
    "/scripts/lib.ts": "function Two() { return 2; }\n",
    "/tsconfig.json": "{}",
}


def verdict(terminal: Terminal) -> tuple[str, int, int]:
    """What the next run says: the files that changed, and how many tests passed and failed."""
    shown = terminal.wait(WAITING)
    changed = re.search(r"Changed: (.*)\n", shown)
    found = re.findall(r"(\d+) passed, (\d+) failed|Passed: +(\d+)\s+Failed: +(\d+)", shown)
    assert len(found) == 1, shown
    passed, failed = [int(number) for number in found[0] if number]
    return changed[1] if changed else "", passed, failed


def save_at_once(here: Application, name: str, content: str) -> None:
    """Saves like an editor that writes another file and renames it: nobody sees the file empty or half written. `name` as
    for `Application.write`."""
    file = here.root / name[1:] if name.startswith("/") else here.source / name
    part = file.with_name(f"{file.name}.tmp")
    part.write_text(content)
    part.replace(file)


FOR_EVER = """export function TestSlow(t) {
  while (!Process("fs.data.Exists", "go")) Process("utils.time.Sleep", 20);
}
"""


def unending(here: Application) -> None:
    """Has a test wait for a file."""
    here.write({"/data/.keep": ""})
    save_at_once(here, "a_test.ts", FOR_EVER)
