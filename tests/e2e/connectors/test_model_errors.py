"""Errors of models reach scripts as in Yao, without their code; reports show the code."""

from __future__ import annotations

from command import MakeApplication
from model_files import NAME, model

FIND = """
    import { Lost } from "./index";
    export function TestCaught(t) {
      for (const name of ["models.agents.demo.note.Find", "agents.demo.index.Lost"]) {
        try { name === "agents.demo.index.Lost" ? Lost() : Process(name, 9, {}); t.fail("found"); } catch (error) {
          t.assert.Equal(String(error), "Error: ID=9的数据不存在");
          t.assert.Equal([error.code, error instanceof Exception, Object.keys(error)], [undefined, false, []]);
        }
      }
    }
    export function TestQuery(t) {
      try { new Query().Get({ select: ["nope"], from: "$agents.demo.note" }); t.fail("found"); } catch (error) {
        t.assert.Equal([error.code, error.name], [undefined, "Error"]);
      }
    }
    export function TestUncaught(t) { Process("models.agents.demo.note.Find", 9, {}); }
    export function TestOwn(t) {
      try { throw new Exception("no", 403); } catch (error) { t.assert.Equal([error.code, error.name], [403, "Exception|403"]); }
    }
"""


def test_an_error_of_a_model_has_no_code_for_scripts_and_one_in_reports(app: MakeApplication) -> None:
    files = {
        "/assistants/demo/models/note.mod.json": model("note", NAME),
        "index.ts": 'export function Lost() { return Process("models.agents.demo.note.Find", 9, {}); }',
        "lost_test.ts": FIND,
    }
    made = app(files)
    results = made.results("-i", "scripts.demo.lost")

    assert {name: record["status"] for name, record in results.items()} == {
        "TestCaught": "passed",
        "TestQuery": "passed",
        "TestUncaught": "failed",
        "TestOwn": "passed",
    }
    (failure,) = results["TestUncaught"]["failures"]
    assert failure["message"] == "ID=9的数据不存在"
    assert "code: 500" in str(failure["details"])
