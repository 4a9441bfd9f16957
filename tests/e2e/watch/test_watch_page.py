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
WAITING = r"Waiting for changes.*\n"
PROMPT = r"^\$ "
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

    with on_open_terminal(here, "--watch", NO_COLOR="1") as terminal:
        shows(terminal)
        for name, text in (("a first try", FIRST), ("the right one", RIGHT)):
            here.write({"initials.ts": text})
            parts.append(f"\n[{name} is saved: assistants/demo/src/initials.ts]\n\n")
            shows(terminal)
        terminal.press("q")
        assert terminal.ends() == 0
    return f"```text\n$ yao-test --watch\n{''.join(parts)}```\n"


def finish(folder: Path) -> str:
    """What a shell shows of a command that is completed, and of coverage; `⇥` is where Tab was pressed."""
    here = make_application(folder, {"initials_test.ts": TEST, "initials.ts": RIGHT})
    (folder / "bin").mkdir()
    with closing(Shell(here, folder / "bin")) as shell:
        shell.wait(r"\$ ")
        shell.press('eval "$(yao-test completion bash)"\n')
        parts = [f"$ {shell.wait(PROMPT)}"]
        for typed, rest in (("yao-test -i scripts.demo.i", "nitials "), ("--run TestO", "neName ")):
            shell.press(f"{typed}\t")
            parts.append(f"{typed}⇥{shell.wait(re.escape(typed + rest)).removeprefix(typed)}")
        for typed in ("\n", "yao-test --coverage\n"):
            shell.press(typed)
            parts.append(shell.wait(PROMPT))
    shown = here.anonymous("".join(parts).encode()).removesuffix("$ ")
    return f"```text\n{re.sub(TIME, '(0ms', shown)}```\n"


def page(text: str, folder: Path) -> str:
    """The page with what the terminal shows."""
    (folder / "one").mkdir()
    (folder / "two").mkdir()
    found = iter((session(folder / "one"), finish(folder / "two")))
    return SESSION.sub(lambda match: match[1] + next(found) + match[2], text)


def test_the_sessions_on_the_page_are_what_a_terminal_shows(tmp_path: Path) -> None:
    text = PAGE.read_text("utf-8")

    assert len(SESSION.findall(text)) == 2
    assert page(text, tmp_path) == text


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        text = page(PAGE.read_text("utf-8"), Path(folder))
    PAGE.write_text(text, "utf-8")
