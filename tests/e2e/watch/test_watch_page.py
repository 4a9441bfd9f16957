"""The sessions on the page about watching are those of a real terminal.

PYTHONPATH=tests/helpers python tests/e2e/watch/test_watch_page.py        writes it into docs/watch.md
"""

from __future__ import annotations

import re
import tempfile
from contextlib import closing
from pathlib import Path

from command import make_application
from terminal import Shell, Terminal, on_open_terminal

PAGE = Path(__file__).parents[3] / "docs/watch.md"
SESSION = re.compile(r"(<!-- session: [^\n]* -->\n).*?(<!-- /session -->\n)", re.S)
PROMPT = r"^\$ "
WAITING = r"Waiting for changes.*\n"
TIME = r"\((\d+ms|\d+\.\d\ds)"
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
        parts.append(re.sub(TIME, "(0ms", shown))

    with on_open_terminal(here, "--watch", "-q", NO_COLOR="1") as terminal:
        shows(terminal)
        for name, text in (("a first try", FIRST), ("the right one", RIGHT)):
            here.write({"initials.ts": text})
            parts.append(f"\n[{name} is saved: assistants/demo/src/initials.ts]\n\n")
            shows(terminal)
        terminal.press("q")
        assert terminal.ends() == 0
    return f"```text\n$ yao-test --watch -q\n{''.join(parts)}```\n"


def page(text: str, folder: Path) -> str:
    """The page with what the terminal shows."""
    shown = session(folder)
    return SESSION.sub(lambda match: match[1] + shown + match[2], text)


def test_the_sessions_on_the_page_are_what_a_terminal_shows(tmp_path: Path) -> None:
    text = PAGE.read_text("utf-8")

    assert len(SESSION.findall(text)) == 1
    assert page(text, tmp_path) == text


def test_tab_completes_names_in_a_real_shell(tmp_path: Path) -> None:
    here = make_application(tmp_path, {"initials_test.ts": TEST, "initials.ts": RIGHT})
    (tmp_path / "bin").mkdir()
    with closing(Shell(here, tmp_path / "bin")) as shell:
        shell.wait(PROMPT)
        shell.press('eval "$(yao-test completion bash)"\n')
        shell.wait(PROMPT)
        for typed, rest in (("yao-test -i scripts.demo.i", "nitials "), ("--run TestO", "neName ")):
            shell.press(f"{typed}\t")
            shell.wait(re.escape(typed + rest))
        shell.press("\n")
        assert "1 passed, 0 failed" in shell.wait(PROMPT)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        text = page(PAGE.read_text("utf-8"), Path(folder))
    PAGE.write_text(text, "utf-8")
