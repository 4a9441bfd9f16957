"""`t.snapshot.inline(value)`: the run writes the value into the test file, and compares with it from then on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command import Application, Run, make_application

from bindings import InlineSnapshots, SnapshotError, Snapshots
from scripttest import Inlined, Location


@pytest.fixture
def app(tmp_path: Path) -> Application:
    return make_application(tmp_path, {})


def run(app: Application, source: str, *arguments: str, ci: bool = False, name: str = "a_test.ts") -> tuple[Run, str]:
    """Runs a test file. Returns the run, and the content of the file afterwards."""
    app.write({name: source})
    variables = {**app.environment, **({"CI": "true"} if ci else {})}
    done = app.run("-i", "scripts.demo.a", *arguments, env=variables)
    return done, (app.source / name).read_bytes().decode()


FIRST = """\
import { same } from "./same";
export function TestValues(t: testing.T) {
  t.snapshot.inline("one"); t.snapshot.inline(`a${1 + 1}b`, ); // a comment
  t.run("sub", (t) => {
\tt.snapshot.inline({ a: [1, 2], s: "back`tick ${x} \\\\ \\n new é😀" });
  });
  for (const v of [1, 1]) t.snapshot.inline(same<string, number>(v) as any);
}

const TestLater = async (t: testing.T) => {
  await Promise.resolve();
  "é😀"; t.snapshot.inline(
    [same("😀"), /re\\/`\\(/.test("x")].map((v) => ({ v })) // why
  );
  const { inline } = t.snapshot;
  inline(`${same(`${1}`)}`);
};
"""
SAME = "export const same = <A, B = A>(value: A) => value;\n"
FILLED = """\
import { same } from "./same";
export function TestValues(t: testing.T) {
  t.snapshot.inline("one", `"one"`); t.snapshot.inline(`a${1 + 1}b`, `"a2b"` ); // a comment
  t.run("sub", (t) => {
\tt.snapshot.inline({ a: [1, 2], s: "back`tick ${x} \\\\ \\n new é😀" }, `
\t\t{
\t\t  a: [1, 2],
\t\t  s: \"""
\t\t  back\\`tick \\${x} \\\\\\\\\\\\u0020
\t\t   new é😀
\t\t  \""",
\t\t}
\t`);
  });
  for (const v of [1, 1]) t.snapshot.inline(same<string, number>(v) as any, `1`);
}

const TestLater = async (t: testing.T) => {
  await Promise.resolve();
  "é😀"; t.snapshot.inline(
    [same("😀"), /re\\/`\\(/.test("x")].map((v) => ({ v })), `[{v: "😀"}, {v: false}]` // why
  );
  const { inline } = t.snapshot;
  inline(`${same(`${1}`)}`, `"1"`);
};
"""


def test_a_run_fills_them_in_and_the_next_one_compares(app: Application) -> None:
    app.write({"same.ts": SAME})
    first, filled = run(app, FIRST)

    assert (first.code, filled) == (0, FILLED)
    assert first.stdout.endswith("\n  6 snapshots written\n")
    second, again = run(app, filled)
    assert (second.code, again) == (0, filled)
    assert "snapshot" not in second.stdout


SPELLINGS = [
    ("t.snapshot.inline<string>(V)", "t.snapshot.inline<string>(V, T)"),
    (
        "t.snapshot.inline<Map<string, () => Array<Array<number>>>>(V, )",
        "t.snapshot.inline<Map<string, () => Array<Array<number>>>>(V, T )",
    ),
    (
        "t.snapshot.inline<{ a: string; b(x: number): void }>(V)",
        "t.snapshot.inline<{ a: string; b(x: number): void }>(V, T)",
    ),
    ('t.snapshot["inline"](V)', 't.snapshot["inline"](V, T)'),
    ("t.snapshot['inline']<string>(V)", "t.snapshot['inline']<string>(V, T)"),
    ("t.snapshot[`inline`](V)", "t.snapshot[`inline`](V, T)"),
    ('t["snapshot"]?.["inline"]?.(V)', 't["snapshot"]?.["inline"]?.(V, T)'),
    ("t!.snapshot!.inline!(V)", "t!.snapshot!.inline!(V, T)"),
    ("t.snapshot.inline /* c */ <string> (V)", "t.snapshot.inline /* c */ <string> (V, T)"),
    ("t.snapshot.inline(V, ``)", "t.snapshot.inline(V, T)"),
    ('t.snapshot.inline(V, "")', "t.snapshot.inline(V, T)"),
    ("t.snapshot.inline(V, `\n    `)", "t.snapshot.inline(V, T)"),
    ("1 < 2 && 2 > (1) && t.snapshot.inline(V)", "1 < 2 && 2 > (1) && t.snapshot.inline(V, T)"),
]


def test_every_spelling_of_the_call_is_filled_in(app: Application) -> None:
    """Also type arguments and brackets; an empty text is a place for one."""
    before, after = (
        "".join(
            f"export function TestCall{number}(t: testing.T) {{\n  {row[side].replace('V', f'[{number}]').replace('T', f'`[{number}]`')};\n}}\n"
            for number, row in enumerate(SPELLINGS)
        )
        for side in (0, 1)
    )
    done, written = run(app, before)
    assert done.code == 0, done
    assert written == after
    assert f"{len(SPELLINGS)} snapshots written" in done.stdout
    assert run(app, written)[1] == after


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("name", ["a_test.ts", "a_test.js"])
def test_whatever_a_value_holds_it_agrees_with_what_was_written(app: Application, name: str, end: str) -> None:
    values = [
        "'\\r\\n \\t'",
        "'`${`\\\\`'",
        "'\\u2028\\ud83d'",
        "'  a\\n  b'",
        "' \\n\\n '",
        "['\\n', { '${': '\\\\' }]",
    ]
    values += ["''", "'\\0\\x1b[1m'", "{ toString() {} }", "'$\\n{'", "'\\n'", "new Map([['\\ufeff`', 1]])"]
    calls = [f"\tt.snapshot.inline({value});" for value in values]
    source = "\ufeff" + end.join(["function TestA(t) {", *calls, "}", ""])
    first, filled = run(app, source, name=name)

    assert f"\n  {len(values)} snapshots written\n" in first.stdout, first.stdout
    second, again = run(app, filled, name=name)
    assert (second.code, again) == (0, filled), second.stdout
    assert filled.count("\n") == filled.count(end) > source.count(end)


def test_another_value_fails_and_is_replaced_where_that_is_asked_for(app: Application) -> None:
    source = "function TestA(t) {\n  t.snapshot.inline({ a: 2 }, '{a: 1}');\n  t.snapshot.inline(1, `\n  1\n`);\n}\n"
    failed, kept = run(app, source)

    assert (failed.code, kept) == (1, source)
    difference = "Not equal to the snapshot\n       - expected + actual\n       - {a: 1}\n       + {a: 2}\n"
    assert difference in failed.stdout
    assert "at assistants/demo/src/a_test.ts:2:14" in failed.stdout
    updated, replaced = run(app, source, "--update-snapshots")
    assert (updated.code, replaced) == (0, source.replace("'{a: 1}'", "`{a: 2}`"))
    assert updated.stdout.endswith("\n  1 snapshot updated\n")


@pytest.mark.parametrize("flags", [(), ("--update-snapshots",)], ids=["plain", "update"])
def test_ci_writes_nothing(app: Application, flags: tuple[str, ...]) -> None:
    source = "function TestA(t) { t.snapshot.inline(1); }\nfunction TestB(t) { t.snapshot.inline(1, '2'); }\n"
    failed, kept = run(app, source, *flags, ci=True)

    assert (failed.code, kept) == (1, source)
    assert "There is no snapshot yet, and this run writes none into sources" in failed.stdout
    assert "0 passed, 2 failed" in failed.stdout


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("for (const v of [1, 2]) t.snapshot.inline(v);", "the same call had another value before; for several values"),
        ("outside(t);", "the call is not in the test file: move it there, or use t.snapshot(value, name)"),
        ("const f = t.snapshot.inline; f(1);", "its call cannot be found there: write it as t.snapshot.inline(value)"),
        ("t.snapshot.inline();", "t.snapshot.inline takes (value, text?)"),
        ("t.snapshot.inline(1, 1);", "t.snapshot.inline takes (value, text?)"),
    ],
    ids=["several values", "elsewhere", "renamed", "nothing", "no text"],
)
def test_what_cannot_be_written_fails_and_says_why(app: Application, body: str, said: str) -> None:
    app.write({"other.ts": "export function outside(t) { t.snapshot.inline(1); }\n"})
    source = f'import {{ outside }} from "./other";\nfunction TestA(t) {{ {body} }}\nfunction TestB(t) {{ outside; }}\n'
    failed, kept = run(app, source)

    assert (failed.code, kept) == (1, source)
    assert said in failed.stdout
    assert "1 passed, 1 failed" in failed.stdout
    assert "assistants/demo/src/" in failed.stdout
    assert "snapshot written" not in failed.stdout


def test_a_text_that_is_computed_is_not_replaced(app: Application) -> None:
    source = "function TestA(t) { const text = '1'; t.snapshot.inline(2, text); t.snapshot.inline(2, `${text}`); }\n"
    failed, kept = run(app, source, "--update-snapshots")

    assert (failed.code, kept) == (1, source)
    assert failed.stdout.count("its second argument is not a plain string: write a string") >= 2


def test_two_tests_with_values_of_their_own_in_one_call_are_told(app: Application) -> None:
    source = (
        "function check(t, value) { t.snapshot.inline(value); }\n"
        "function TestA(t) { check(t, 1); }\nfunction TestB(t) { check(t, 2); }\n"
    )
    failed, kept = run(app, source)

    assert (failed.code, kept) == (1, source)
    assert re.search("the same call, in Test[AB] had another value before", failed.stdout)


def test_many_tests_of_one_file_in_several_workers_lose_nothing(app: Application) -> None:
    source = "".join(f"function Test{n}(t) {{ t.snapshot.inline([{n}, 'x']); }}\n" for n in range(90))
    first, filled = run(app, source, "--parallel", "3")

    assert first.stdout.endswith("\n  90 snapshots written\n")
    assert filled == "".join(
        f"function Test{n}(t) {{ t.snapshot.inline([{n}, 'x'], `[{n}, \"x\"]`); }}\n" for n in range(90)
    )


def test_a_file_that_changed_since_it_was_compiled_is_left_alone(tmp_path: Path) -> None:
    path, source = tmp_path / "a_test.ts", b"function TestA(t) { t.snapshot.inline(1); }"
    snapshots = InlineSnapshots(Snapshots({"demo.a": path}, False, False, str))
    place = Location(file=str(path), line=1, column=25)
    snapshots.take("demo.a", "TestA", Inlined(text="1", given=None, location=place, source=source))
    path.write_bytes(b"// mine")

    with pytest.raises(SnapshotError) as error:
        snapshots.save()
    said = f"Cannot write inline snapshots into {path}: it changed after compilation; rerun the tests"
    assert (str(error.value), path.read_bytes()) == (said, b"// mine")
    assert list(tmp_path.iterdir()) == [path]
    path.write_bytes(source)
    snapshots.save()
    assert path.read_bytes() == source.replace(b"(1)", b"(1, `1`)")


def test_mode_and_neighbours_of_the_file_stay(app: Application) -> None:
    app.write({"a_test.ts": "function TestA(t) { t.snapshot.inline(1); }\n"})
    path = app.source / "a_test.ts"
    path.chmod(0o640)
    before = sorted(app.source.iterdir())

    assert app.run("-i", "scripts.demo.a").code == 0
    assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(app.source.iterdir()) == before


def test_what_belongs_to_a_secret_is_not_written(app: Application) -> None:
    app.write({"a_test.ts": "function TestA(t) { t.snapshot.inline(Process('utils.env.Get', 'API_KEY')); }\n"})
    app.run("-i", "scripts.demo.a", env={**app.environment, "API_KEY": "sk-1234567890abcdef"})

    assert "sk-1234567890abcdef" not in (app.source / "a_test.ts").read_text()


def test_what_cannot_be_written_is_not_counted_and_keeps_nothing_else(app: Application) -> None:
    code = "export function TestA(t) { t.snapshot.inline(1); t.snapshot('stored'); }\n"
    app.write({"/elsewhere/a.ts": code, "b_test.ts": code, "c_test.ts": code, "__snapshots__/.keep": ""})
    (app.source / "a_test.ts").symlink_to("../../../elsewhere/a.ts")
    (app.source / "__snapshots__/b_test.ts.snap").mkdir()
    done = app.run("-i", "scripts.demo")
    assert done.code == 3, done
    assert "a_test.ts: it is a link" in done.stdout
    assert "  4 snapshots written\n" in done.stdout
    assert (app.source / "a_test.ts").read_text() == code
    for name in ("b_test.ts", "c_test.ts"):
        assert "inline(1, `1`)" in (app.source / name).read_text()
    assert {path.name for path in (app.source / "__snapshots__").glob("[ac]*")} == {"a_test.ts.snap", "c_test.ts.snap"}
