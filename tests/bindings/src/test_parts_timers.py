"""Timers, and when a loop that looks at a stopped clock and repeats its calls counts as one that waits.

In such a loop the first two rounds have calls that are new; rounds without progress begin with the third.
"""

from __future__ import annotations

import pytest
from parts_realm import evaluate
from table_tests import each

# A row of a table is one line.


# `at(ms)` sets the clock, `run()` polls once, `all()` polls until nothing is due
SETUP = """
    const { poll } = part("timers");
    const seen = [];
    const see = (name) => () => seen.push(name);
    const base = clock.now;
    const at = (ms) => (clock.now = base + ms);
    const run = () => poll(clock.now);
    const all = () => { while (run() === 0); return seen.join(" "); };
"""

TIMERS = [
    ("order of due time, then of creation", "setTimeout(see('c'), 20); setTimeout(see('a'), 10); setTimeout(see('b'), 10); at(20); return all()", "a b c"),
    ("nothing runs early", "setTimeout(see('a'), 10); at(9); return [run(), seen]", [1, []]),
    ("one at a time", "setTimeout(see('a')); setTimeout(see('b')); return [run(), seen.length, run(), seen.length, run()]", [0, 1, 0, 2, -1]),
    ("nothing left", "return run()", -1),
    ("extra arguments", "setTimeout((...args) => seen.push(...args), 0, 1, 'x'); run(); return seen", [1, "x"]),
    ("a delay that is not a number", "setTimeout(see('a'), 'x'); setTimeout(see('b'), -5); setTimeout(see('c'), Infinity); setTimeout(see('d'), 1e10); return all()", "a b c"),
    ("a text as delay", "setTimeout(see('a'), '10'); return run()", 10),
    ("clear before", "clearTimeout(setTimeout(see('a'))); return [run(), seen]", [-1, []]),
    ("clear of another one while running", "let b; setTimeout(() => clearTimeout(b)); b = setTimeout(see('b')); return [run(), run(), seen]", [0, -1, []]),
    ("clear of anything", "clearTimeout(); clearInterval(99); clearTimeout('x'); clearTimeout(null); return run()", -1),
    ("one set while running comes after", "setTimeout(() => { seen.push('a'); setTimeout(see('c')) }); setTimeout(see('b')); return all()", "a b c"),
    ("interval", "setInterval(see('i'), 10); at(10); const ran = run(); const wait = run(); at(20); run(); return [ran, wait, seen.length, run()]", [0, 10, 2, 10]),
    ("an interval clears itself", "const id = setInterval(() => { seen.push('i'); clearInterval(id) }, 5); at(5); return [run(), run(), seen]", [0, -1, ["i"]]),
    ("shortest interval", "setInterval(see('i'), 0); return [run(), seen]", [1, []]),
    ("an interval goes on after a throw", "setInterval(() => { throw new Error('x') }, 5); at(5); try { run() } catch (e) { seen.push(e.message) } return [run(), seen]", [5, ["x"]]),
    ("what a callback throws", "setTimeout(() => { throw new RangeError('boom') }); return run()", "RangeError: boom"),
    ("the rest runs after a throw", "setTimeout(() => { throw 1 }); setTimeout(see('b')); try { run() } catch {} return [run(), run(), seen]", [0, -1, ["b"]]),
    ("the wait is counted from the time it is, not the time of the call", "setTimeout(see('b'), 20); at(15); return poll(base)", 5),
    ("setImmediate", "setImmediate(see('a')); clearImmediate(setImmediate(see('b'))); return all()", "a"),
    ("ids are numbers", "return [typeof setTimeout(see('a')), typeof setInterval(see('b'))]", ["number", "number"]),
    ("a text as handler", "return setTimeout('alert(1)')", "TypeError: setTimeout takes a function as its first argument, not string"),
    ("many timers", "for (let i = 0; i < 2000; i++) setTimeout(see(i), (i * 7919) % 101); at(101); all(); return [seen.length, seen[0], seen.every((n, i) => !i || (seen[i - 1] * 7919) % 101 <= (n * 7919) % 101)]", [2000, 0, True]),
]  # fmt: skip


@each(("body", "expected"), [row[1:] for row in TIMERS], ids=[row[0] for row in TIMERS])
def test_timers(body: str, expected: object) -> None:
    assert evaluate(f"(() => {{ {SETUP} {body} }})()", "timers") == expected


LOOP = """(() => {
    let real = 0;
    kernel.clock = () => real;
    const waiting = part("waiting");
    for (let round = 0; round < %d; round++) {
        real += %g;
        waiting.call("jobs.State", %s, () => { waiting.heard({ writes: %s }, false); return "busy"; });
        try { waiting.look(1); } catch (error) { return error.message.includes("calls such as jobs.State") && round; }
    }
    return "never";
})()"""
SAME, OTHER = "[1]", "[round]"
EACH = "round"
"""Writes that the host has counted, when each round has one."""


@each(
    ("rounds", "milliseconds", "args", "ends"),
    [
        (3000, 1, SAME, "never"),
        (3100, 1, SAME, 3002),
        (10_000, 0.1, SAME, "never"),
        (25_000, 0.1, SAME, 20_003),
        (10_000, 1, OTHER, "never"),
        (1000, 20, SAME, "never"),
        (1100, 20, SAME, 1002),
        (1100, 9, SAME, "never"),
        (1500, 9, SAME, 1114),
    ],
)
def test_many_rounds_that_took_long_are_a_wait(rounds: int, milliseconds: float, args: str, ends: object) -> None:
    assert evaluate(LOOP % (rounds, milliseconds, args, "0")) == ends


@pytest.mark.parametrize(("rounds", "ends"), [(20_000, "never"), (25_000, 23_002)])
def test_writes_are_progress_for_a_while(rounds: int, ends: object) -> None:
    assert evaluate(LOOP % (rounds, 1, SAME, EACH)) == ends


@pytest.mark.parametrize(("same", "other"), [('"busy"', "String(round)"), ("look(1)", "look(round)")])
def test_another_answer_and_a_clock_that_moves_are_progress(same: str, other: str) -> None:
    assert evaluate((LOOP % (10_000, 1, SAME, "0")).replace(same, other)) == "never"
