"""The session on the page about watching is one of a real terminal.

PYTHONPATH=tests/helpers python tests/e2e/test_watch_page.py        writes it into docs/watch.md
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from command import make_application
from terminal import Terminal, on_open_terminal

PAGE = Path(__file__).parents[2] / "docs/watch.md"
SESSION = re.compile(r"(<!-- session: .* -->\n).*?(<!-- /session -->\n)", re.S)
WAITING = r"Waiting for changes.*\n"
TEST = """\
import { initials } from "./initials";

export function TestInitials(t: testing.T) {
  t.assert.Equal(initials("Ada Lovelace"), "AL");
}

export function TestOneName(t: testing.T) {
  t.assert.Equal(initials("Ada"), "A");
}
"""
FIRST = """\
export function initials(name: string) {
  const [first, last] = name.split(" ");
  return first[0] + last[0];
}
"""
RIGHT = """\
export function initials(name: string) {
  return name.split(" ").map((part) => part[0]).join("");
}
"""


def session(folder: Path) -> str:
    """What the terminal shows, with the steps between."""
    here = make_application(folder, {"initials_test.ts": TEST})
    parts: list[str] = []

    def shows(terminal: Terminal) -> None:
        shown = here.anonymous(terminal.wait(WAITING).encode())
        parts.append(re.sub(r"\((\d+ms|\d+\.\d\ds)", "(0ms", shown))

    with on_open_terminal(here, "--watch", NO_COLOR="1") as terminal:
        shows(terminal)
        for name, text in (("a first try", FIRST), ("the right one", RIGHT)):
            here.write({"initials.ts": text})
            parts.append(f"\n[{name} is saved: assistants/demo/src/initials.ts]\n\n")
            shows(terminal)
        terminal.press("q")
        assert terminal.ends() == 0
    return f"```text\n$ yao-test --watch\n{''.join(parts)}```\n"


def test_the_session_on_the_page_is_what_a_terminal_shows(tmp_path: Path) -> None:
    match = SESSION.search(PAGE.read_text("utf-8"))

    assert match
    assert match[0] == match[1] + session(tmp_path) + match[2]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        found = session(Path(folder))
    text = PAGE.read_text("utf-8")
    sys.exit(0 if PAGE.write_text(SESSION.sub(lambda match: match[1] + found + match[2], text), "utf-8") else 1)
