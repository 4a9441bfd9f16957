"""Statements of scripts end: each is bounded in what SQLite does without a look at the clock; what triggers and views do is
ruled as the statements themselves."""

from __future__ import annotations

import json
import signal
import sqlite3
import time
from threading import Timer

import pytest
from command import MakeApplication, eventually
from table_tests import each

from bindings.errors import ProcessError
from bindings.models.database import Database

MODEL = {"/models/m.mod.yao": json.dumps({"name": "m", "table": {"name": "m"}, "columns": [
    {"name": "id", "type": "ID"}, {"name": "a", "type": "string", "nullable": True}]})}  # fmt: skip
BEGUN = 'new FS("data").WriteFile("begun.txt", "x");'
ROWS = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r LIMIT {})"
WIDE = "WITH b(x) AS (SELECT CAST(zeroblob(8000000) AS TEXT))"
ENDLESS = "WITH RECURSIVE r(x, y) AS (SELECT 1, '' UNION ALL SELECT x + 1, {} FROM r) SELECT count(y) FROM r"
DOUBLED = ", ".join(f"a{n} AS (SELECT 1 AS x FROM a{n - 1}, a{n - 1} AS b)" for n in range(1, 30))
HOLD = {
    "printf, precision": "SELECT " + ", ".join("printf('%.*c', 2000000000, 'x')" for _ in range(6)),
    "printf, width": "SELECT printf('%2000000000d', 1)",
    "printf, width as a text": "SELECT printf('%*d', ' 2000000000x', 1)",
    "printf, width as a number": "SELECT printf('%*d', 2e9, 1)",
    "printf, long width": f"SELECT printf('%{'9' * 5000}d', 1)",
    "printf, many": "SELECT printf(replace(hex(zeroblob(100000)), '00', '%.*c'), 1000000, 'x', 1000000, 'y')",
    "format": "SELECT format('%,.2000000000f', 1e300)",
    "replace": "SELECT replace(zeroblob(5000000), zeroblob(1000000) || x'01', 'x')",
    "replace that grows": "SELECT replace(hex(zeroblob(900000)), '0', hex(zeroblob(900000)))",
    "instr": "SELECT instr(zeroblob(5000000), CAST(zeroblob(2000000) || x'01' AS BLOB))",
    "trim": "SELECT trim(hex(zeroblob(1000000)), hex(randomblob(1000000)))",
    "trim of bytes": "SELECT trim(zeroblob(4000000), randomblob(3000000))",
    "like": "SELECT hex(zeroblob(400000)) LIKE '%' || substr(hex(zeroblob(20000)), 1, 30000) || '1'",
    "like, many signs": f"SELECT hex(zeroblob(400000)) LIKE '{'%0' * 240}1'",
    "like, any signs": f"SELECT hex(zeroblob(400000)) LIKE '%{'_' * 390}1'",
    "like, many": "SELECT " + ", ".join(f"hex(zeroblob(40000)) LIKE '%{'_' * 390}{n}'" for n in range(300)),
    "glob": f"SELECT hex(zeroblob(400000)) GLOB '*{'[0-9]' * 90}1'",
    "upper, many": "SELECT " + ", ".join("upper(hex(zeroblob(1000000)))" for _ in range(600)),
    "functions without end": "SELECT " + ", ".join("upper(lower(upper(hex(zeroblob(30000)))))" for _ in range(600)),
    "concatenation, many": "SELECT " + "||".join(["zeroblob(900000)"] * 900),
    "concatenation, columns": f"{WIDE} SELECT {','.join(['x || x'] * 1900)} FROM b",
    "one value, many columns": f"{WIDE} SELECT {','.join(['x'] * 1900)} FROM b",
    "comparisons": f"{WIDE} SELECT {','.join(['x = x COLLATE NOCASE'] * 1500)} FROM b",
    "zeroblob": "SELECT zeroblob(2000000000)",
    "randomblob": ENDLESS.format("randomblob(5000000)"),
    "upper, endless": ENDLESS.format("upper(hex(zeroblob(2000000)))"),
    "zeroblob, endless": ENDLESS.format("zeroblob(15000000)"),
    "a text that doubles": "WITH RECURSIVE r(x) AS (SELECT 'aa' UNION ALL SELECT x || x FROM r) SELECT max(length(x)) FROM r",
    "group_concat": f"{ROWS.format(1000000)} SELECT length(group_concat(x, hex(zeroblob(1000)))) FROM r",
    "cross join": f"{ROWS.format(3000)} SELECT count(*) FROM r a, r b, r c WHERE a.x + b.x = c.x",
    "json_patch": f"{ROWS.format(30000)} SELECT length(json_patch(v, v)) FROM (SELECT json_group_object('k' || x, x) v FROM r)",
    "json_set": f"{ROWS.format(9000)} SELECT length(json_set(v, {','.join(f'$.z{n}' .join(chr(39) * 2) + ',1' for n in range(45))})) FROM (SELECT json_group_object('k' || x, x) v FROM r)",
    "joins": f"WITH t(a) AS (VALUES (1), (2)) SELECT count(*) FROM {','.join(f't t{n}' for n in range(60))}",
    "names that double": f"WITH a0 AS (SELECT 1 AS x), {DOUBLED} SELECT * FROM a29",
    "names that double, quoted": f'WITH "a0" AS (SELECT 1 AS x), {DOUBLED} SELECT * FROM [a29]',
    "sort": f"{ROWS.format(3000000)} SELECT * FROM r ORDER BY random() LIMIT 1",
    "strftime": "SELECT length(strftime(replace(hex(zeroblob(1000000)), '00', '%J'), 'now'))",
    "brackets": f"SELECT {'(' * 200000}1{')' * 200000}",
}  # fmt: skip
SAME = {
    "printf('%5.2f|%-4d|%s|%,d|%%', 3.14159, 7, 'x', 1234567)": " 3.14|7   |x|1,234,567|%",
    "printf('%*d|%.*f', 5, 42, 2, 1.0)": "   42|1.00",
    "printf(NULL)": None,
    "replace('aXbXc', 'X', '--')": "a--b--c",
    "replace(1213, 1, 9)": "9293",
    "replace('abc', '', 'x')": "abc",
    "replace(NULL, 'a', 'b')": None,
    "instr('größe', 'ß')": 4,
    "instr('abc', '')": 1,
    "instr(x'010203', x'03')": 3,
    "instr(12345, 34)": 3,
    "instr(NULL, 'a')": None,
    "trim('xxaxx', 'x')": "a",
    "ltrim('abcab', 'ab')": "cab",
    "rtrim('abcab', 'ba')": "abc",
    "trim('  a ')": "a",
    "trim('a', '')": "a",
    "trim(1121, 1)": "2",
    "json_patch('{\"a\":1}', '{\"b\":2}')": '{"a":1,"b":2}',
    "'größe' LIKE 'GR_ßE%'": 1,
}


@each("name", HOLD)
def test_a_statement_ends_soon_after_it_is_given_up(name: str) -> None:
    database = Database()
    timer = Timer(0.05, database.give_up, ["the time is up"])
    timer.start()
    begin = time.thread_time()
    try:
        database.run_foreign(HOLD[name])
    except ProcessError:
        pass
    finally:
        timer.cancel()
        database.close()
    assert time.thread_time() - begin < 2


def test_without_the_bounds_one_of_them_would_hold() -> None:
    plain = sqlite3.connect(":memory:")
    plain.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 64 << 20)
    begin = time.thread_time()
    plain.execute("SELECT printf('%.*c', 200000000, 'x')").fetchall()
    assert time.thread_time() - begin > 0.1


@each("expression", SAME)
def test_functions_give_what_sqlite_gives(expression: str) -> None:
    database = Database()
    (row,) = database.run_foreign(f"SELECT {expression} AS v")
    plain = sqlite3.connect(":memory:").execute(f"SELECT {expression}").fetchone()[0]
    assert row["v"] == plain == SAME[expression]
    database.run_foreign("CREATE TABLE t (a TEXT)")
    database.run_foreign("CREATE INDEX i ON t (replace(a, 'x', 'y'), trim(a, '-'))")


def test_the_next_test_runs_within_the_time(app: MakeApplication) -> None:
    script = f"""
    declare const Query: any;
    export function TestWide(t: any) {{ new Query().Get({{ sql: {{ stmt: {json.dumps(HOLD["upper, endless"])} }} }}); }}
    export function TestNext(t: any) {{ t.assert.Equal(1, 1); }}
    """
    here = app({**MODEL, "a_test.ts": script})
    results = here.results("-i", "scripts.demo.a", "-q", "--timeout", "500ms")
    assert "timeout" in results["TestWide"]["error"], results
    assert results["TestNext"]["status"] == "passed"


def test_ctrl_c_ends_a_statement(app: MakeApplication) -> None:
    stmt = json.dumps(HOLD["upper, endless"])
    here = app(
        {
            **MODEL,
            "a_test.ts": f"declare const Query: any;\ndeclare const FS: any;\nexport function TestWide(t: any) {{ {BEGUN} new Query().Get({{ sql: {{ stmt: {stmt} }} }}); }}",
        }
    )
    with here.start("-i", "scripts.demo.a", "-q") as process:
        eventually((here.root / "data/begun.txt").exists, "the test begins")
        time.sleep(0.2)  # the statement runs then, and would for 10 s
        process.send_signal(signal.SIGINT)
        begin = time.monotonic()
        run = here.finish(process)
    assert run.code == 130, run
    assert time.monotonic() - begin < 5


TRIGGERS = {
    "the schema": "INSERT INTO loot SELECT sql FROM sqlite_master",
    "a long value": "INSERT INTO loot SELECT printf('%.*c', 2000000000, 'x')",
    "an extension": "INSERT INTO loot SELECT load_extension('x')",
}


@pytest.mark.parametrize("what", TRIGGERS)
def test_a_trigger_may_do_what_a_statement_may(what: str) -> None:
    database = Database()
    database.write("CREATE TABLE m (a TEXT)")
    database.run_foreign("CREATE TABLE loot (x TEXT)")
    database.run_foreign("CREATE TRIGGER fine AFTER UPDATE ON m BEGIN INSERT INTO loot SELECT upper(new.a); END")
    database.run_foreign(f"CREATE TRIGGER t AFTER INSERT ON m BEGIN {TRIGGERS[what]}; END")
    copy = Database()
    copy.load(database.dump())
    for one in (database, copy):
        for run in (one.write, one.run_foreign):
            with pytest.raises(ProcessError, match=r"not allowed here|too big"):
                run("INSERT INTO m VALUES ('x')")
        one.run_foreign("DROP TRIGGER t")
        one.write("INSERT INTO m VALUES ('x')")
        one.write("UPDATE m SET a = 'y'")
        assert one.run_foreign("SELECT x FROM loot") == [{"x": "Y"}]


def test_a_write_of_the_host_ends_with_the_test_whatever_a_trigger_does(app: MakeApplication) -> None:
    script = f"""
    declare const Query: any, Process: any;
    export function TestLoop(t: any) {{
      const run = (stmt: string) => new Query().Get({{ sql: {{ stmt }} }});
      run("CREATE TABLE loot (x TEXT)");
      run("CREATE TRIGGER t AFTER INSERT ON m BEGIN INSERT INTO loot {ENDLESS.format("''")}; END");
      Process("models.m.Create", {{ a: "x" }});
    }}
    """
    run = app({"a_test.ts": script, **MODEL}).run("-i", "scripts.demo.a", "--timeout", "500ms")
    assert run.code == 1
    assert "timeout after 0.5s" in run.stdout, run
    assert "the statement took" not in run.stdout


def test_a_view_does_not_stand_in_for_the_table_of_a_model(app: MakeApplication) -> None:
    script = """
    declare const Query: any, Process: any;
    const run = (stmt: string) => new Query().Get({ sql: { stmt } });
    export function TestView(t: any) {
      Process("models.m.Create", { a: "x" });
      run("CREATE VIEW seen AS SELECT a FROM m");
      t.assert.Equal(run("SELECT * FROM seen"), [{ a: "x" }]);
      t.assert.Equal(Process("models.m.Get", {}).length, 1);
      run("ALTER TABLE m RENAME TO old");
      run("CREATE VIEW m AS SELECT 7 AS id, 'planted' AS a");
      try { Process("models.m.Get", {}); } catch (error: any) { t.log("refused: " + error.message); return; }
      t.fail("the view was read");
    }
    """
    result = app({**MODEL, "a_test.ts": script}).results("-i", "scripts.demo.a", "-q")["TestView"]
    assert result["status"] == "passed", result
    assert "the view m in place of a table is not allowed here" in json.dumps(result)


def test_views_that_double_are_refused_whatever_came_first() -> None:
    database = Database()
    database.write("CREATE TABLE base (x)")
    for number in range(25, 0, -1):
        database.run_foreign(f"CREATE VIEW v{number} AS SELECT 1 AS x FROM v{number - 1} a, v{number - 1} b")
    database.run_foreign("CREATE VIEW v0 AS SELECT x FROM base")
    assert database.run_foreign("SELECT count(*) AS n FROM v3") == [{"n": 0}]
    with pytest.raises(ProcessError, match="more than 20000 times"):
        database.run_foreign("SELECT * FROM v25")
