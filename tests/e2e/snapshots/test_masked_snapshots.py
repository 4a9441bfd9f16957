"""`mask` of snapshots of tests and cases: what JSONPaths name is not compared."""

from __future__ import annotations

import pytest
from agent_files import agent, case_file, run_cases
from command import MakeApplication

VALUES = """
    class User { id = Math.random(); name = "Ada"; }
    export function TestValues(t) {
      t.snapshot(
        { created_at: new Date(Math.random() * 1e12), items: [{ id: Math.random(), n: 1 }, { id: Math.random(), n: 2 }],
          user: new User(), map: new Map([["created_at", Math.random()], ["n", 1]]), set: new Set([Math.random(), 2]), big: 7n },
        { mask: ["$..created_at", "$.items[*].id", "user.id", "$.set[0]"] },
      );
      t.snapshot([{ id: Math.random() }, { id: 2 }], { name: "filtered", mask: ["$[?(@.id < 1)].id"] });
      t.snapshot(Math.random(), { name: "all", mask: ["$"] });
      t.snapshot({ id: t.any("string"), of: [t.contains({ a: 1 })] }, "matchers");
    }
"""
STORED = """\
# Snapshots of a_test.ts, stored by yao-test.

[TestValues 1]
  {
    big: 7n,
    created_at: [masked],
    items: [{id: [masked], n: 1}, {id: [masked], n: 2}],
    map: Map(2) {"created_at" => [masked], "n" => 1},
    set: Set(2) {2, [masked]},
    user: User {id: [masked], name: "Ada"},
  }

[TestValues all]
  [masked]

[TestValues filtered]
  [{id: [masked]}, {id: 2}]

[TestValues matchers]
  {id: t.any("string"), of: [t.contains({a: 1})]}
"""


def test_masked_places_are_stored_as_such_and_not_compared(app: MakeApplication) -> None:
    here = app({"a_test.ts": VALUES})
    stored = here.source / "__snapshots__/a_test.ts.snap"
    for _ in range(2):
        assert here.run("-i", "scripts.demo.a").code == 0
        assert stored.read_text() == STORED
    here.write({"a_test.ts": VALUES.replace('"Ada"', '"Bo"').replace("set: new", "more: new")})
    assert here.run("-i", "scripts.demo.a").code == 1
    assert here.run("-i", "scripts.demo.a", "--update-snapshots").code == 0
    assert 'user: User {id: [masked], name: "Bo"}' in stored.read_text()


INLINE = """
    export function TestInline(t) {
      t.snapshot.inline({ id: Math.random(), n: 1 }, { mask: ["$.id"] });
      t.snapshot.inline([{ id: Math.random() }, { id: 2 }], { mask: ["$[*].id"] }, `old`);
    }
"""


def test_an_inline_snapshot_has_a_mask_before_its_text(app: MakeApplication) -> None:
    here = app({"a_test.ts": INLINE})
    for flags in (["--update-snapshots"], [], []):
        assert here.run("-i", "scripts.demo.a", *flags).code == 0
    written = (here.source / "a_test.ts").read_text()
    assert '{ mask: ["$.id"] }, `{id: [masked], n: 1}`);' in written
    assert '{ mask: ["$[*].id"] }, `[{id: [masked]}, {id: [masked]}]`);' in written

    here.write({"a_test.ts": written.replace("n: 1 }", "n: 2 }").replace('"$.id"', '"$.id", "$.at"')})
    failed = here.results("-i", "scripts.demo.a", code=1)["TestInline"]

    assert "The mask $.at of the snapshot matches nothing" in failed["warnings"][0]["message"]
    assert "Not equal to the snapshot" in failed["error"]


def test_a_value_is_not_changed_by_its_mask(app: MakeApplication) -> None:
    body = """
        const value = { a: { id: 1 }, list: [1, 2] };
        t.snapshot(value, { mask: ["$.a.id", "$.list[0]"] });
        t.assert.Equal(value, { a: { id: 1 }, list: [1, 2] });
    """
    assert app({"a_test.ts": f"export function TestA(t) {{ {body} }}"}).run("-i", "scripts.demo.a").code == 0


def test_a_mask_without_a_match_is_a_warning_and_a_wrong_one_an_error(app: MakeApplication) -> None:
    source = """
        export function TestNothing(t) { t.snapshot({ a: 1 }, { mask: ["$..b", "$.a"] }); }
        export function TestPath(t) { t.snapshot({ a: 1 }, { mask: ["$["] }); }
        export function TestOption(t) { t.snapshot({ a: 1 }, { masks: ["$.a"] }); }
        export function TestText(t) { t.snapshot({ a: 1 }, { mask: "$.a" }); }
        export function TestNoValue(t) { t.snapshot(); }
        export function TestInline(t) { t.snapshot.inline(1, { name: "a", mask: ["$"] }); }
        export function TestCycle(t) { const it = {}; it.it = it; t.snapshot(it, { mask: ["$.a"] }); }
    """
    results = app({"a_test.ts": source}).results("-i", "scripts.demo.a", code=1)
    [warning] = results["TestNothing"]["warnings"]
    assert warning["message"] == "The mask $..b of the snapshot matches nothing"
    assert warning["location"].startswith("assistants/demo/src/a_test.ts:2:")
    assert "Cannot use JSONPath `$[`" in results["TestPath"]["error"]
    assert results["TestNoValue"]["error"].endswith("t.snapshot takes (value, name or options?), got no argument")
    for name in ("TestOption", "TestText"):
        assert 't.snapshot takes (value, name) or (value, { name, mask: ["$..id"] })' in results[name]["error"]
    assert "t.snapshot.inline takes (value, text?)" in results["TestInline"]["error"]
    assert "A mask needs a value that can be JSON" in results["TestCycle"]["error"]


HOOK = "export function Next(ctx, payload) { return { data: { id: Math.random(), lines: [{ id: Math.random(), n: N }] } }; }"
MASKED = {"type": "snapshot", "mask": ["$..id"]}


def test_cases_have_masks(app: MakeApplication) -> None:
    texts = [{"id": "data", "input": "x", "assert": MASKED}]
    here = app(agent(hooks=HOOK.replace("N }", "1 }"), cases=texts))
    for _ in range(2):
        assert run_cases(here, code=0)["data"]["status"] == "passed"
    here.write({"index.ts": HOOK.replace("N }", "2 }")})
    [check] = run_cases(here, code=1)["data"]["assertions"]
    assert '-       "n": 1,' in check["message"] and '"id": "[masked]"' in check["message"]


def test_a_mask_looks_into_the_json_of_an_answer_and_says_what_it_does_not_find(app: MakeApplication) -> None:
    masks = {"found": ["$.id"], "other": ["$.at", "$..id"], "text": ["$.id"]}
    cases = [{"id": id, "input": id, "assert": {**MASKED, "mask": mask}} for id, mask in masks.items()]
    replies = (
        '- { when: { input: text }, reply: "id: 7 of them" }\n- reply: \'Here: ```json\\n{"id": {{ turn }}}\\n```\''
    )
    results = run_cases(app(agent(replies=replies, cases=cases)), code=0)
    said = {id: [one["message"] for one in record.get("warnings", ())] for id, record in results.items()}
    assert said == {
        "found": [],
        "other": ['The mask $.at of the snapshot "other" matches nothing'],
        "text": ['The mask $.id of the snapshot "text" matches nothing'],
    }


WRONG_MASKS = {"a path": ["$["], "a text": "$.id", "a number": [1]}


@pytest.mark.parametrize("what", WRONG_MASKS)
def test_a_wrong_mask_is_an_error_of_the_case_file(app: MakeApplication, what: str) -> None:
    here = app(agent(cases=[{"id": "a", "input": "x", "assert": {**MASKED, "mask": WRONG_MASKS[what]}}]))
    run = here.run("-i", case_file())
    assert run.code == 2 and "cases.jsonl:1:" in run.stderr and "Traceback" not in run.stderr
