"""`yao-test repl`: a prompt in the realm of a script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing

import pytest
from command import Application, MakeApplication, Run
from terminal import Terminal

FILES = {
    "limit.ts": "export const Limit = 10;\n",
    "tally.ts": """\
import { Limit } from "./limit";
const rate = 0.5;
interface Row { price: number }
function half(n: number) { return n * rate; }
export async function Later(n: number) { return n + Limit; }
export function Price(row: Row) {
  return row.price.toFixed(2);
}
export class Odd { get price() { throw new Error("read"); } toJSON() { throw new Error("read"); } }
export function Rate() { return http.Get("https://rates.example.com").data; }
""",
    "/models/pet.mod.yao": '{"name": "Pet", "table": {"name": "pet"}, "columns": ['
    '{"name": "id", "type": "ID"}, {"name": "name", "type": "string"}]}',
}


@pytest.fixture(scope="module")
def here(shared_app: MakeApplication) -> Application:
    return shared_app(FILES)


def piped(here: Application, text: str, *words: str) -> Run:
    file = here.root / "typed"
    file.write_text(text, "utf-8")
    with open(file, "rb") as stdin:
        process = here.start("repl", *(words or ("scripts.demo.tally",)), stdin=stdin.fileno())
        return here.finish(process)


VALUES = {
    "a call": ("half(8)", "4"),
    "a constant of the script": ("rate + 1", "1.5"),
    "types": ("const a: number = 3 as any\na! * 2", "6"),
    "several lines": ("function f(\n  a: number,\n) {\n\n  return `${a}\n.`;\n}\nf(1)", '"1\\n."'),
    "await": ("await Later(1)", "11"),
    "what await gave": ("const { length } = [await Later(1), 2]\nlength", "2"),
    "a second declaration": ("let x = 1\nlet x = 2\nx", "2"),
    "an object": ("{ a: 1, b: [2] }", "{a: 1, b: [2]}"),
    "no getter": ("[new Odd()]", "[Odd {}]"),
    "a promise": ("Later(1)", "Promise {<fulfilled>: 11}"),
    "nothing": ("undefined\nvoid 0", ""),
    "the last value": ("half(8)\n_ + 1", "4\n5"),
    "the console": ("console.log('said', { a: 1 })", "said {a: 1}"),
    "timers": ("await new Promise((r) => setTimeout(r, 5, 'late'))", '"late"'),
    "mocks": ('void t.mock.http("https://rates.example.com", { data: { EUR: 1 } })\nRate()', "{EUR: 1}"),
    "the context": ("ctx.authorized.user_id", '"test-user"'),
    "the database": (
        'void Process("models.pet.Create", { name: "Rex" })\nProcess("models.pet.Find", 1, {}).name',
        '"Rex"',
    ),
    "an enum": ("enum Color { Red, Green = 5 }\nColor.Green", "5"),
    "a namespace": ("namespace Shop { export const tax = 2; export type T = number }\nShop.tax", "2"),
    "a generic class": (
        "abstract class Box<T> { constructor(readonly v: T) {} }\nnew (class extends Box<number> {})(3).v",
        "3",
    ),
    "a watched value": ("void t.watch(3, 'three')", "three = 3"),
}


def test_values_from_a_pipe(here: Application) -> None:
    text = "".join(f"console.log('== {name}')\n{typed}\n" for name, (typed, _) in VALUES.items())
    run = piped(here, text)

    assert (run.code, run.stderr) == (0, "")
    parts = re.split(r"^== (.*)\n", run.stdout, flags=re.M)[1:]
    assert {name: said.rstrip("\n") for name, said in zip(parts[::2], parts[1::2], strict=True)} == {
        name: value for name, (_, value) in VALUES.items()
    }


def test_errors_name_their_places_and_the_session_goes_on(here: Application) -> None:
    run = piped(here, "Price({})\nthrow 3\nlet q = ;\nt.assert.Equal(1, 2)\n1 + 1\nf(\n")

    place = "assistants/demo/src/tally.ts:7"
    assert (run.code, run.stdout) == (1, "false\n2\n")
    lines = run.stderr.splitlines()
    assert lines[0] == "Uncaught TypeError: cannot read property 'toFixed' of undefined"
    assert lines[1].startswith(f"    at Price ({place}:")
    assert lines[2:] == [
        "Uncaught 3",
        "Uncaught SyntaxError: Unexpected token at 1:9",
        "✗ Not equal",
        "Uncaught SyntaxError: unexpected end of input",
    ]


def test_what_never_ends_ends_its_realm_alone(here: Application) -> None:
    run = piped(here, "var a = 1\nwhile (true) {}\ntypeof a\n", "scripts.demo.tally", "--timeout", "300ms")

    assert (run.code, run.stdout) == (1, '"undefined"\n')
    assert "The realm ended: started a new one" in run.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("scripts.demo.taly",), "there is no such script"),
        (("scripts.demo.tally", "--nope"), "Unknown flag --nope"),
        ((), "yao-test repl needs scripts.AGENT.MODULE"),
    ],
)
def test_what_cannot_be_opened(here: Application, words: tuple[str, ...], said: str) -> None:
    run = here.run("repl", *words)

    assert (run.code, run.stdout) == (2, "")
    assert said in run.stderr


def test_a_script_that_does_not_load(app: MakeApplication) -> None:
    here = app({"bad.ts": "throw new Error('early');\n", "worse.ts": "let x = ;\n"})
    for name, said in (("bad", "early"), ("worse", "Unexpected")):
        run = piped(here, "1\n", f"scripts.demo.{name}")
        assert (run.code, run.stdout) == (2, "")
        assert f"Cannot load scripts.demo.{name}" in run.stderr
        assert said in run.stderr


@pytest.fixture
def terminal(here: Application) -> Iterator[Terminal]:
    with closing(Terminal(here, "repl", "scripts.demo.tally", HOME=str(here.root / "home"))) as opened:
        opened.wait("Ctrl-D quits.")
        opened.wait("> ")
        yield opened


def test_a_terminal_has_completion_several_lines_and_ctrl_c(terminal: Terminal) -> None:
    terminal.press("hal\t(6)\r")
    terminal.wait(r"^3$")
    terminal.press("[\r")
    terminal.wait(r"\.\.\. ")
    terminal.press("5]\r")
    terminal.wait(r"^\[5\]$")
    terminal.wait("> ")
    terminal.press("nonsense(")
    terminal.wait(r"nonsense\(")
    terminal.insist("\x03", "> ")
    terminal.press("t.asse\t.True(true)\r")
    terminal.wait(r"^true$")
    terminal.press("console.log('on'); while (true) {}\r")
    terminal.wait(r"^on$")
    terminal.press("\x03")
    terminal.wait("started a new realm")
    terminal.wait("> ")
    terminal.press("half(10)\r")
    terminal.wait(r"^5$")
    terminal.wait("> ")  # before that, a terminal in its usual mode takes Ctrl-D for the end of a line
    terminal.press("\x04")
    assert terminal.ends() == 0


def test_history_stays_across_sessions(here: Application) -> None:
    home = str(here.root / "other home")
    for keys in ("half(44)\r", "\x1b[A\r"):
        with closing(Terminal(here, "repl", "scripts.demo.tally", HOME=home)) as terminal:
            terminal.wait("> ")
            terminal.press(keys)
            terminal.wait(r"^22$")
            terminal.wait("> ")
            terminal.press("\x04")
            assert terminal.ends() == 0
