"""Script tests that attack: what they share, and the result of each."""

from __future__ import annotations

from collections.abc import Mapping

from command import Application, Record

MARK = "OUTSIDE-OF-EVERYTHING"
"""The content of every file, answer and variable that no script may see."""

REFUSE = """
function refused(t: any, work: () => any, why = "") {
  let got: any;
  try { got = work(); } catch (error: any) {
    if (why && !new RegExp(why).test(String(error.message))) t.fail("another refusal: " + error.message);
    return;
  }
  if (got && got.status === 0 && got.message) return; // a request that came to nothing
  t.fail("ESCAPED: " + JSON.stringify(got));
}
declare const process: any, require: any, os: any, std: any;
"""


def module(attacks: Mapping[str, str], head: str = REFUSE) -> str:
    """A test module with one test for each attack, in order, named `Test0`, `Test1` ..."""
    tests = [
        f"export async function Test{number}(t: any, ctx: any) {{\n{code}\n}}\n"
        for number, code in enumerate(attacks.values())
    ]
    return head + "".join(tests)


def attacked(app: Application, attacks: Mapping[str, str], *arguments: str, **more: object) -> dict[str, Record]:
    """What came of each attack when all run as tests of one module; `more` is for `Application.report`."""
    app.write({"attack_test.ts": module(attacks)})
    records = app.results("-i", "scripts.demo.attack", "-q", *arguments)
    return {name: records[f"Test{number}"] for number, name in enumerate(attacks)}


def held(record: Record) -> bool:
    """Whether an attack got nothing."""
    return record["status"] == "passed" and MARK not in repr(record)
