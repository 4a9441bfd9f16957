"""The keys of `--watch`, on a real terminal."""

from __future__ import annotations

import pytest
from command import Application, MakeApplication
from terminal import Terminal, on_open_terminal
from watching import WAITING, unending, verdict


def test_keys(watched: Terminal) -> None:
    here = watched.application
    here.write({"b_test.ts": "export function TestB(t) { t.fail('no'); }\n"})
    assert verdict(watched) == ("assistants/demo/src/b_test.ts", 0, 1)
    watched.press("a")
    assert verdict(watched) == ("", 3, 1)
    watched.press("f")
    assert verdict(watched) == ("", 0, 1)
    watched.press("\r")
    assert verdict(watched) == ("", 0, 1)
    watched.press("p")
    watched.wait("Files that match: ")
    watched.press("a_teX\x7fst\r")
    assert verdict(watched) == ("", 1, 0)
    watched.press("t")
    watched.wait("Tests that match: ")
    watched.press("Nothing\r")
    assert "No test or case matches --run Nothing" in watched.wait(WAITING)
    watched.press("\x1b")
    assert verdict(watched) == ("", 3, 1)
    watched.press("p")
    watched.wait("Files that match: ")
    watched.press("abc\x1b")
    watched.press("h")
    watched.wait("q +quit\n")
    watched.press("q")
    assert watched.ends() == 0


def test_keys_that_decide_give_up_a_run_and_begin_another(here: Application) -> None:
    unending(here)
    with on_open_terminal(here, "--watch", "-i", "scripts.demo.a", "--timeout", "1h") as terminal:
        for key in "afu\r":
            terminal.wait("Running Tests")
            terminal.press(key)
        terminal.wait("Running Tests")
        here.write({"/data/go": ""})
        assert verdict(terminal) == ("", 1, 0)


def test_other_keys_wait_for_the_end_of_a_run(here: Application) -> None:
    unending(here)
    with on_open_terminal(here, "--watch", "-i", "scripts.demo.a", "--timeout", "1h") as terminal:
        terminal.wait("Running Tests")
        terminal.press("hp")
        here.write({"/data/go": ""})
        assert verdict(terminal) == ("", 1, 0)
        terminal.wait("q +quit\n")
        terminal.wait("Files that match: ")
        terminal.press("a_test\r")
        assert "files a_test" in terminal.wait(WAITING)


WAITS = {
    "a timer": "export async function TestSlow(t) { await new Promise((done) => setTimeout(done, 3e6)); }\n",
    "a loop": "export function TestSlow(t) { for (;;) {} }\n",
    "a loop while it is loaded": "for (;;) {}\nexport function TestSlow(t) {}\n",
    "the host": 'export function TestSlow(t) { Process("utils.time.Sleep", 3000000); }\n',
    "a script": 'export function TestSlow(t) { Process("scripts.lib.Slow"); }\n',
    "an agent": 'export function TestSlow(t) { Process("agents.demo.Stream", "Hi"); }\n',
}


@pytest.mark.parametrize("name", WAITS)
def test_q_gives_up_whatever_a_test_waits_for(here: Application, name: str) -> None:
    here.write({"/scripts/lib.ts": "function Slow() { for (;;) {} }\n"})
    here.write({"/assistants/demo/replies.yml": "- {reply: Hello, delay: 1h}\n"})
    with on_open_terminal(here, "--watch", "-i", "scripts.demo.a", "--timeout", "1h") as terminal:
        terminal.wait(WAITING)
        here.write({"a_test.ts": WAITS[name]})
        terminal.wait("Changed: ")
        terminal.press("q")
        assert terminal.ends() == 0


def test_q_counts_however_early_it_comes(here: Application) -> None:
    here.write({"a_test.ts": WAITS["a loop"]})
    with on_open_terminal(here, "--watch", "-i", "scripts.demo.a", "--timeout", "1h") as terminal:
        terminal.press("q")
        assert terminal.ends() == 0


def test_snapshots_of_what_failed_are_updated(app: MakeApplication) -> None:
    shown = "export function TestS(t) { t.snapshot({ a: 1 }); }\n"
    here = app({"s_test.ts": shown, "k_test.ts": "export function TestK(t) {}\n"})
    with on_open_terminal(here, "--watch") as terminal:
        terminal.wait(WAITING)
        here.write({"s_test.ts": shown.replace("1", "2")})
        assert verdict(terminal)[1:] == (0, 1)
        terminal.press("u")
        assert verdict(terminal)[1:] == (1, 0)
        terminal.press("a")
        assert verdict(terminal)[1:] == (2, 0)


def test_inline_snapshots_are_written_and_start_nothing(app: MakeApplication) -> None:
    here = app({"s_test.ts": "export function TestS(t) { t.snapshot.inline({ a: 1 }); }\n"})
    with on_open_terminal(here, "--watch") as terminal:
        assert verdict(terminal)[1:] == (1, 0)
        filled = (here.source / "s_test.ts").read_text()
        assert filled == "export function TestS(t) { t.snapshot.inline({ a: 1 }, `{a: 1}`); }\n"
        here.write({"s_test.ts": filled.replace("1 }", "2 }")})
        assert verdict(terminal) == ("assistants/demo/src/s_test.ts", 0, 1)
        assert terminal.output.count("Changed: ") == 1
        terminal.press("u")
        assert verdict(terminal)[1:] == (1, 0)
        assert (here.source / "s_test.ts").read_text() == filled.replace("1 ", "2 ").replace("1}", "2}")
        here.write({"k_test.ts": "export function TestK(t) {}\n"})
        assert verdict(terminal) == ("assistants/demo/src/k_test.ts", 1, 0)
