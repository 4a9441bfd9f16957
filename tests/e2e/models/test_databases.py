"""Models, queries and `t.db` by the real command: in script tests, hooks, tools, delegates and cases."""

from __future__ import annotations

import json

from agent_files import agent, case_file, run_cases
from command import MakeApplication
from model_files import HOOK, NAME, NAMES, PET, model


def test_models_are_reached_from_everywhere_under_their_ids(app: MakeApplication) -> None:
    files = {
        "/app.yao": '{"prefix": "my_"}',
        "/models/user/Pet2.0.mod.yao": model("user_pet", NAME),
        "/assistants/demo/models/note.mod.json": model("note", NAME),
        "/scripts/pets.ts": 'export function Add(name) { return Process("models.user.pet2_0.Save", { name }); }',
        "/models/commented.mod.yao": '{ // why\n  "table": {"name": "c"}, "columns": [] }',
        "models_test.ts": """\
            export function TestText(t) {
              t.assert.Equal(Process("models.commented.Read"), '{ // why\\n  "table": {"name": "c"}, "columns": [] }');
              t.assert.Nil(Process("models.added.Load", "/models/added.mod.yao", '{"table":  {"name": "a"}, "columns": []}'));
              t.assert.Equal(Process("models.added.Read"), '{"table":  {"name": "a"}, "columns": []}');
              t.assert.Contains(Process("models.__yao.role.Read"), '"columns"');
            }
            export function TestIds(t) {
              t.assert.Equal(Process("scripts.pets.Add", "Rex"), 1);
              t.assert.Equal(Process("models.User.PET2_0.find", 1, {}).name, "Rex");
              t.assert.Equal(Process("models.agents.demo.note.Create", { name: "x" }), 1);
              t.assert.Equal(Process("models.__yao.role.Create", { role_id: "r", name: "R" }), 1);
              const ids = Process("model.List", {}).map((model) => model.id);
              for (const id of ["user.Pet2_0", "agents.demo.note", "__yao.role"]) t.assert.Contains(ids, id);
              const tables = Process("schemas.default.Tables");
              for (const table of ["user_pet", "agents_demo_note", "my_role"]) t.assert.Contains(tables, table);
              t.assert.Equal(new Query().First({ select: ["name"], from: "$agents.demo.note" }), { name: "x" });
            }
            export function TestMocksWin(t) {
              t.mock.process("models.user.*.Get", [{ name: "mocked" }]);
              t.mock.process("query.default.Get", []);
              t.assert.Equal(Process("models.user.pet2_0.Get", {}), [{ name: "mocked" }]);
              t.assert.Equal(new Query().Get({ select: ["id"], from: "$agents.demo.note" }), []);
              t.assert.Len(t.db.rows("user.pet2_0"), 0);
            }
            export function TestErrors(t) {
              t.assert.Panic(() => Process("models.none.Get", {}), "Model:none; not found");
              try { Process("models.agents.demo.note.Nothing"); } catch (error) { t.assert.Equal(error.code, 404); }
              try { Process("models.agents.demo.note.Find", 9, {}); } catch (error) {
                t.assert.Equal([error.message, error.code, error.name], ["ID=9的数据不存在", undefined, "Error"]);
              }
              Process("models.late.Load", "late.mod.yao", JSON.stringify({ name: "Late", columns: [{ name: "id", type: "ID" }] }));
              const answered = Process("models.late.Migrate");
              t.assert.Equal([answered instanceof Error, answered.message], [true, "missing table name"]);
              t.assert.Equal(Process("models.none.Load", "models/none.mod.yao").message, "Cannot read model models/none.mod.yao: No such file or directory");
              t.assert.Panic(() => new Query("mysql").Get({ select: ["id"], from: "x" }), "Query Engine mysql does not loaded");
            }
        """,
    }
    results = app(files).results("-i", "scripts.demo.models")
    assert {name: record["status"] for name, record in results.items()} == dict.fromkeys(
        ("TestText", "TestIds", "TestMocksWin", "TestErrors"), "passed"
    ), results


def test_each_test_and_each_attempt_begins_with_the_rows_of_the_models(app: MakeApplication) -> None:
    fresh = """\
        export function Test%d(t) {
          t.assert.Equal(t.db.rows("pet").map((pet) => pet.name), ["Rex"]);
          t.assert.Equal(Process("models.pet.Create", { name: "Mia" }), 2);
        }
    """
    cases = [{"id": id, "input": id, "assert": {"type": "equals", "value": f"Rex,{id} 2"}} for id in ("a", "b", "c")]
    application = app(
        {**PET, **agent(hooks=HOOK, replies=json.dumps(NAMES), cases=cases), "pets_test.ts": fresh % 1 + fresh % 2}
    )
    run = application.run("-i", "scripts.demo.pets", "-i", case_file(), "--runs", "2", "--parallel", "3")
    assert (run.code, "5 passed" in run.stdout) == (0, True), run


def test_a_mock_of_a_case_wins_over_the_model(app: MakeApplication) -> None:
    mocks = {"process": {"models.pet.Create": 7, "models.pet.Get": [{"name": "mocked"}]}}
    case = {"id": "a", "input": "Mia", "mocks": mocks, "assert": {"type": "equals", "value": "mocked 7"}}
    application = app({**PET, **agent(hooks=HOOK, replies=json.dumps(NAMES), cases=[case])})
    assert run_cases(application, code=0)["a"]["status"] == "passed"


USERS = """\
export function TestUses(t) { t.assert.Equal(t.db.rows("pet").length, 1); }
export function TestCatches(t) {
  try { Process("models.pet.Get", {}); } catch (error) { t.log(error.message); }
}
export function TestDoesNot(t) { t.assert.True(true); }
"""


def test_a_broken_file_fails_the_tests_that_use_models_and_no_other(app: MakeApplication) -> None:
    broken = '{\n  "table": {"name": "x"},\n  "columns": [{"name": "a", "type": "vector"}]\n}'
    application = app({**PET, "/models/x.mod.yao": broken, "pets_test.ts": USERS})
    said = 'Cannot read model models/x.mod.yao:3:29: column "a" has the type "vector", which does not exist'
    results = application.results("-i", "scripts.demo.pets", code=1)
    assert [results[name]["status"] for name in ("TestUses", "TestCatches", "TestDoesNot")] == [
        "failed",
        "passed",
        "passed",
    ]
    assert results["TestUses"]["error"].startswith(said)
    run = application.run("-i", "scripts.demo.pets", "--run", "TestCatches")
    assert (run.code, run.stdout.count(f"Warning: {said}")) == (0, 1), run
    run = application.run("-i", "scripts.demo.pets", "--run", "TestDoesNot")
    assert (run.code, "x.mod.yao" in run.stdout) == (0, False), run


def test_a_broken_model_of_an_agent_fails_what_uses_it(app: MakeApplication) -> None:
    application = app(
        {
            **PET,
            "/assistants/other/package.yao": "{}",
            "/assistants/other/models/x.mod.yao": '{"name": }',
            "pets_test.ts": USERS + 'export function TestOther() { Process("models.agents.other.x.Get", {}); }',
        }
    )
    results = application.results("-i", "scripts.demo.pets", code=1)
    assert [name for name, record in results.items() if record["status"] == "failed"] == ["TestOther"]
    assert "Cannot read model assistants/other/models/x.mod.yao:1:10" in results["TestOther"]["error"]
    assert (
        application.run("-i", "scripts.demo.pets", "--run", "TestUses").stdout.count("Warning: Cannot read model") == 1
    )


def test_what_is_odd_about_models_and_queries_is_said_once_in_a_run(app: MakeApplication) -> None:
    twice = {"name": "key", "type": "string", "primary": True}
    files = {
        **PET,
        "/models/bad.mod.yao": model("bad", twice),
        "/models/town.mod.yao": model("town", NAME, values=[{"name": {}}, {"nick": "x"}, {"name": "Ulm"}]),
        "/models/dog.mod.yao": model("dog", {**NAME, "validations": [{"method": "typeof", "args": ["integer"]}]}),
        "pets_test.ts": """\
            export function TestFirst(t) {
              for (let i = 0; i < 120; i++) Process("models.dog.Create", { name: "d" + i, nick: "x" });
              t.assert.Len(Process("models.dog.Get", {}), 100);
              t.assert.Len(Process("models.dog.Get", { limit: 110 }), 110);
              t.assert.Len(t.db.rows("dog"), 120);
            }
            export function TestSecond(t) {
              Process("models.dog.Create", { name: "d", nick: "x" });
              Process("models.pet.Get", { wheres: [{ column: "name", op: "between", value: "x" }] });
              Process("models.pet.Get", { wheres: [{ column: "name", method: "whereIn", value: "x" }] });
              try { Process("models.rat.Get", {}); } catch {}
            }
        """,
    }
    application = app(files)
    report = application.report("-i", "scripts.demo.pets", "--parallel", "1", code=0)
    first, second = "(first in TestFirst of scripts.demo.pets)", "(first in TestSecond of scripts.demo.pets)"
    assert sorted(report["warnings"]) == sorted(
        [
            '/models/bad.mod.yao: the table bad cannot be created: table "bad" has more than one primary key',
            "models.town: nick is not a column: left out",
            '/models/town.mod.yao: a row of values is left out: near ")": syntax error',
            f"models.dog: the validation typeof of name never runs, because Yao skips it {first}",
            f"models.dog: nick is not a column: left out {first}",
            f"models.dog: Get returns the first 100 rows, since there is no limit; there are more {first}",
            f'models.pet: the condition on name compares with "=": unknown op "between" {second}',
            f"models.rat.Get: Model:rat; not found; there are bad, dog, pet, town: add the model file, or mock the process {second}",
            f'models.pet: the condition on name is dropped: unknown method "whereIn" {second}',
        ]
    )


def test_what_only_a_mock_can_answer_is_missing(app: MakeApplication) -> None:
    files = {
        **PET,
        "/connectors/books.conn.yao": '{"type": "mysql"}',
        "pets_test.ts": """\
            const tried = (work) => { try { return work(); } catch (error) { return error.message; } };
            export function TestMissing(t) {
              t.assert.Equal(tried(() => Process("models.__yao.job.Get", {})),
                'models.__yao.job.Get: the columns of __yao.job are not known, only its name; mock it with t.mock.process("models.__yao.job.Get", ...)');
              t.assert.Equal(Process("models.__yao.job.Exists"), true);
              t.assert.Contains(tried(() => new Query("books")), "here is only default; the database of connectors/books.conn.yao is not opened in tests; mock it with");
              t.assert.Contains(tried(() => Process("yao.table.Search", "pet", {}, 1, 10)), 'such as Process("models.pet.Paginate", ...)');
              t.assert.Contains(tried(() => Process("yao.form.pet.Find", 1)), 'or call the model behind it, such as Process("models.<id>.Find", ...)');
              t.assert.True(tried(() => Process("yao.table.Setting", "pet")).endsWith("or call the model behind it"));
            }
        """,
    }
    record = app(files).results("-i", "scripts.demo.pets", code=0)["TestMissing"]
    missing = {call["call"] for call in record["outside"] if call["answered"] == "missing"}
    assert missing == {
        "models.__yao.job.Get",
        "query.books.Open",
        "yao.table.Search",
        "yao.form.pet.Find",
        "yao.table.Setting",
    }


UNKNOWN_COLUMNS: list[tuple[str, str, str, str]] = [
    ('Process("models.__yao.agent.chat.Get", {})', "models.__yao.agent.chat.Get", "__yao.agent.chat", "models.__yao.agent.chat.Get"),
    ('Process("models.pet.Get", { withs: { job: {} } })', 'withs "job"', "__yao.job", "models.pet.Get"),
    ('Process("models.pet.Get", { withs: { logs: {} } })', 'withs "logs"', "__yao.job.log", "models.pet.Get"),
    ('new Query().Get({ select: ["id"], from: "yao_agent_chat" })', "Query", "__yao.agent.chat", "query.default.Get"),
    ('new Query().Get({ select: ["title"], from: "$__yao.agent.chat" })', "Query", "__yao.agent.chat", "query.default.Get"),
    ('new Query().First({ select: ["pet.id"], from: "pet", joins: [{ from: "yao_job", key: "yao_job.id", foreign: "pet.id" }] })', "Query", "__yao.job", "query.default.First"),
    ("new Query().Get({ sql: { stmt: 'SELECT 1 FROM `yao_audit_log`' } })", "Query", "__yao.audit", "query.default.Get"),
    ('new Query().Run({ sql: { stmt: "INSERT INTO yao_config (id) VALUES (1)" } })', "Query", "__yao.config", "query.default.Run"),
    ('t.db.rows("__yao.attachment")', "t.db.rows", "__yao.attachment", "models.__yao.attachment.*"),
    ('t.db.seed({ "__yao.dsl": [{ a: 1 }] })', "t.db.seed: row 0 of __yao.dsl", "__yao.dsl", "models.__yao.dsl.*"),
]  # fmt: skip
"""A call, what its error begins with, the built-in model of which only the name is known, and what to mock."""


def test_whoever_asks_for_columns_that_are_unknown_is_told(app: MakeApplication) -> None:
    relations = {
        "job": {"type": "hasOne", "model": "__yao.job", "key": "id", "foreign": "id"},
        "logs": {"type": "hasMany", "model": "__yao.job.log", "key": "pet_id", "foreign": "id"},
    }
    files = {
        **PET,
        "/models/pet.mod.yao": model("pet", NAME, relations=relations, values=[{"name": "a"}]),
        "unknown_test.ts": "".join(
            f"export function Test{place}(t) {{ {call}; }}\n" for place, (call, *_) in enumerate(UNKNOWN_COLUMNS)
        ),
    }
    results = app(files).results("-i", "scripts.demo.unknown", code=1)
    for place, (call, begins, id, mock) in enumerate(UNKNOWN_COLUMNS):
        result = results[f"Test{place}"]
        text = f'{begins}: the columns of {id} are not known, only its name; mock it with t.mock.process("{mock}", ...)'
        assert result["error"] == text, call
        if "t.db" not in call:
            assert [noted["answered"] for noted in result["outside"]] == ["missing"], call


def test_the_ledger_says_what_to_do_about_models_that_are_missing(app: MakeApplication) -> None:
    """Scripts get only Yao's message; people get a longer one."""
    tried = "try { %s; } catch (error) { if (error.message !== %s) throw error; }"
    files = {
        **PET,
        "gone_test.ts": "export function TestGone(t) {"
        + tried % ('Process("models.rat.Get", {})', '"Model:rat; not found"')
        + tried % ('Process("models.pet.Sing")', '"models.pet.Sing Handler -> models.Sing not found"')
        + "}",
        **agent(cases=[{"id": "A", "input": "x"}], hooks='export function Next() { Process("models.rat.Get", {}); }'),
    }
    application = app(files)
    outside = application.results("-i", "scripts.demo.gone", code=0)["TestGone"]["outside"]
    assert [noted["message"] for noted in outside] == [
        'Model:rat; not found. Add the model file, or mock it with t.mock.process("models.rat.Get", ...)',
        'models.pet.Sing Handler -> models.Sing not found. Mock it with t.mock.process("models.pet.Sing", ...)',
    ]
    (case,) = application.report("-i", case_file(), code=1)["results"]
    (of_case,) = case["outside"]
    assert of_case["message"].endswith('or mock it with mocks: {"process": {"models.rat.Get": ...}}')


def test_t_db_needs_no_models_to_say_what_is_wrong(app: MakeApplication) -> None:
    files = {"db_test.ts": 'export function TestRows(t) { t.db.rows("pet"); }'}
    assert app(files).results("-i", "scripts.demo.db", code=1)["TestRows"]["error"] == "t.db.rows: Model:pet; not found"


DB_ERRORS: list[tuple[str, str]] = [
    ('t.db.seed({ pet: [{ name: "a" }, 5] })', "t.db.seed: row 1 of pet: a row must be an object"),
    ('t.db.seed({ none: [{}] })', "t.db.seed: row 0 of none: Model:none; not found; there are loose, pet"),
    ('t.db.seed({ pet: { name: "a" } })', "t.db.seed takes the name of a fixture, or rows by model"),
    ("t.db.seed([])", "t.db.seed takes the name of a fixture, or rows by model"),
    ("t.db.seed()", "t.db.seed takes the name of a fixture, or rows by model"),
    ('t.db.seed("none")', 'There is no fixture "none": no assistants/demo/src/fixtures/none.jsonl'),
    ('t.db.seed("broken")', "fixtures/broken.jsonl:2: this line is not JSON: "),
    ('t.db.seed("odd")', 'fixtures/odd.jsonl:1: a line of a fixture is {"model": "<id>", "row": {...}}'),
    ('t.db.seed("long")', "fixtures/long.jsonl:3: no such table: "),
    ("t.db.rows()", "t.db.rows takes a model id"),
    ('t.db.rows("none")', "t.db.rows: Model:none; not found; there are loose, pet"),
    ('t.db.rows("pet", { wheres: [] })', "t.db.rows: the options are where and deleted"),
    ('t.db.rows("pet", { where: "id = 1" })', "t.db.rows: where is an object of columns and values, or a list"),
    ('t.db.rows("pet", { where: { nick: 1 } })', "no such column: nick"),
]  # fmt: skip


def test_t_db_says_what_it_cannot_do(app: MakeApplication) -> None:
    row = '{"model": "pet", "row": {"name": "a"}}\n'
    tests = "".join(f"export function Test{place}(t) {{ {call}; }}\n" for place, (call, _) in enumerate(DB_ERRORS))
    application = app(
        {
            **PET,
            "/models/loose.mod.yao": model("", NAME),
            "/fixtures/broken.jsonl": row + "{",
            "/fixtures/odd.jsonl": '{"model": "pet", "rows": []}',
            "/fixtures/long.jsonl": row + row + '{"model": "loose", "row": {"name": "a"}}\n',
            "db_test.ts": tests,
        }
    )
    results = application.results("-i", "scripts.demo.db", code=1)
    for place, (call, said) in enumerate(DB_ERRORS):
        assert results[f"Test{place}"]["error"].startswith(said), (call, results[f"Test{place}"]["error"])


def test_t_db_reads_and_writes_what_the_script_works_on(app: MakeApplication) -> None:
    files = {
        **PET,
        "/assistants/demo/fixtures/pets.jsonl": '{"model": "pet", "row": {"name": "Ida"}}\n',
        "db_test.ts": """\
            export function TestRows(t) {
              t.assert.Equal(t.db.seed({ pet: [{ name: "Mia" }, { name: "Bo" }] }), { pet: [2, 3] });
              t.assert.Equal(t.db.seed("pets"), { pet: [4] });
              Process("models.pet.Delete", 1);
              t.assert.Equal(t.db.rows("pet").map((pet) => pet.id), [2, 3, 4]);
              t.assert.Equal(t.db.rows("Pet", { deleted: true }).map((pet) => pet.id), [1, 2, 3, 4]);
              t.assert.Equal(t.db.rows("pet", { where: { name: "Bo", id: 3 } }).map((pet) => pet.id), [3]);
              t.assert.Equal(t.db.rows("pet", { where: [{ column: "id", op: "gt", value: 3 }] }).map((pet) => pet.id), [4]);
              t.assert.Equal(t.db.rows("pet", { where: { name: null } }), []);
              t.mock.process("db.*", []);
              t.assert.Len(t.db.rows("pet"), 3);
            }
        """,
    }
    assert app(files).results("-i", "scripts.demo.db", code=0)["TestRows"]["status"] == "passed"


def test_fixtures_of_a_case_are_there_before_its_hooks(app: MakeApplication) -> None:
    row = '{"model": "pet", "row": {"name": "%s"}}\n'
    cases = [
        {
            "id": "two",
            "input": "Z",
            "fixtures": ["pets", "more"],
            "assert": {"type": "equals", "value": "Rex,A,B,C,Z 5"},
        },
        {"id": "none", "input": "Z", "assert": {"type": "equals", "value": "Rex,Z 2"}},
        {"id": "missing", "input": "Z", "fixtures": ["pet"]},
        {"id": "wrong", "input": "Z", "fixtures": ["wrong"]},
    ]
    files = {
        **PET,
        **agent(hooks=HOOK, replies=json.dumps(NAMES), cases=cases),
        "/assistants/demo/tests/fixtures/pets.jsonl": row % "A" + row % "B",
        "/fixtures/more.jsonl": row % "C",
        "/fixtures/wrong.jsonl": row % "C" + '{"model": "pet", "row": 5}',
    }
    results = run_cases(app(files), code=1)
    assert [results[id]["status"] for id in ("two", "none", "missing", "wrong")] == [
        "passed",
        "passed",
        "failed",
        "failed",
    ]
    assert results["missing"]["error"].startswith('fixtures: There is no fixture "pet"')
    assert results["wrong"]["error"] == "fixtures: fixtures/wrong.jsonl:2: a row must be an object"


def test_results_know_the_models_and_fixtures_that_they_were_made_of(app: MakeApplication) -> None:
    row = '{"model": "pet", "row": {"name": "A"}}\n'
    cases = [
        {"id": "rows", "input": "x", "fixtures": ["pets"]},
        {"id": "none", "input": "x", "mocks": {"process": {"models.*": []}}},
    ]
    files = {
        **PET,
        **agent(hooks=HOOK, replies=json.dumps(NAMES), cases=cases),
        "/fixtures/pets.jsonl": row,
        "pets_test.ts": "export function TestUses(t) { t.db.rows('pet'); }\nexport function TestSeeds(t) { t.db.seed('pets'); }\n"
        "export function TestNeither(t) { t.assert.True(true); }",
    }
    application = app(files)
    report = str(application.home / "r.jsonl")
    assert application.run("-i", "scripts.demo.pets", "-i", case_file(), "-o", report).code == 0

    def stale() -> dict[str, str]:
        found = {}
        for line in application.run("status", report).stdout.splitlines()[1:]:
            _, reason, ids = line.strip().split(": ")
            found |= dict.fromkeys(ids.split(", "), reason)
        return found

    assert stale() == {}
    application.write({"/fixtures/pets.jsonl": row * 2})
    assert stale() == dict.fromkeys(("rows", "TestSeeds"), "re-run because fixture fixtures/pets.jsonl changed")
    application.write({"/fixtures/pets.jsonl": row, "/models/new.mod.yao": model("new")})
    assert stale() == dict.fromkeys(("rows", "TestSeeds", "TestUses"), "re-run because data models changed")


def test_salts_of_passwords_come_of_the_seed_of_the_test(app: MakeApplication) -> None:
    key = {"name": "key", "type": "string", "crypt": "PASSWORD"}
    look = "t.db.seed({ user: [{ key: 'secret' }] }); t.log(t.db.rows('user')[0].key);"
    files = {
        "/models/user.mod.yao": model("user", key),
        "user_test.ts": "".join(
            f"export function Test{name}(t) {{ {seed} {look} }}\n"
            for name, seed in (("A", "t.mock.random(7);"), ("B", "t.mock.random(7);"), ("C", ""), ("D", ""))
        ),
    }
    results = app(files).results("-i", "scripts.demo.user", code=0)
    logs = [str(results[f"Test{name}"]["logs"]) for name in "ABCD"]
    assert logs[0] == logs[1] and len(set(logs)) == 3 and all("$2b$04$" in log for log in logs)
