"""One test file for each id, one file for each spelling, and which files are tests at all."""

from __future__ import annotations

import pytest
from agent_files import agent
from command import Application, MakeApplication
from pytest_command import run

TEST = "export function TestA() {}\n"
AGENT = {"/assistants/demo/package.yao": '{"connector": "scripted"}'}
TWINS = {
    "two endings": ("assistants/demo/src/p_test.js", "assistants/demo/src/p_test.ts", "demo.p"),
    "other endings": ("assistants/demo/src/p_test.cts", "assistants/demo/src/p_test.mts", "demo.p"),
    "a dot": ("assistants/demo/src/foo.bar_test.ts", "assistants/demo/src/foo_bar_test.ts", "demo.foo_bar"),
    "a dot in a folder": ("assistants/demo/src/a.b/m_test.ts", "assistants/demo/src/a_b/m_test.ts", "demo.a_b.m"),
    "two agents": ("assistants/demo/e/src/m_test.ts", "assistants/demo/src/e/m_test.ts", "demo.e.m"),
    "a dot in an agent": ("assistants/x.y/src/m_test.ts", "assistants/x_y/src/m_test.ts", "x_y.m"),
    "a dot in two agents": ("assistants/demo/e.f/src/m_test.ts", "assistants/demo/src/e_f/m_test.tsx", "demo.e_f.m"),
}


def with_twins(app: MakeApplication, name: str) -> Application:
    first, second, _ = TWINS[name]
    agents = {f"/{path.partition('/src/')[0]}/package.yao": "{}" for path in (first, second)}
    return app({**AGENT, **agents, f"/{first}": TEST, f"/{second}": TEST, "/assistants/other/package.yao": "{}",
                "/assistants/other/src/o_test.ts": TEST})  # fmt: skip


@pytest.mark.parametrize("name", TWINS)
def test_two_test_files_of_one_id_are_an_error_that_names_both(app: MakeApplication, name: str) -> None:
    """The controls are runs of other tests, which warn at most."""
    first, second, id = TWINS[name]
    here = with_twins(app, name)
    said = f"{first} and {second} both have the id scripts.{id}"
    agent_id = id.rpartition(".")[0].removesuffix(".e").removesuffix(".e_f").removesuffix(".a_b")
    for inputs in (
        [], ["-i", f"scripts.{id}"], ["-i", f"scripts.{agent_id}"], ["-i", "scripts.*"], ["-i", first], ["-i", second],
        ["-i", "assistants"], ["-i", "scripts.other.o", "-i", first],
    ):  # fmt: skip
        run = here.run(*inputs, "--dry-run")
        assert run.code == 2, (inputs, run)
        assert f"Error: Cannot run these tests: {said}\n" in run.stderr, inputs
    elsewhere = here.run("-i", "assistants/other", "--dry-run")
    assert elsewhere.code == 0, elsewhere
    assert f"Warning: Cannot be run: {said}. Rename one of them, or delete it\n" in elsewhere.stdout + elsewhere.stderr
    assert here.run("-i", "scripts.other.o").code == 0


def test_pytest_says_the_same(app: MakeApplication) -> None:
    here = with_twins(app, "two endings")
    here.write(
        {"dist/old_test.ts": TEST, "types/old_test.ts": TEST, "__snapshots__/old_test.ts": TEST, "x_test.mts": TEST}
    )
    code, output = run(here, "assistants")
    assert code == 2, output
    assert "p_test.js and assistants/demo/src/p_test.ts both have the id scripts.demo.p" in output
    (here.source / "p_test.js").unlink()
    code, output = run(here, "assistants")
    assert (code, "3 passed" in output) == (0, True), output


def test_two_names_of_one_file_are_no_twins(app: MakeApplication) -> None:
    here = app({**AGENT, "foo_bar_test.ts": TEST})
    (here.source / "foo.bar_test.ts").symlink_to("foo_bar_test.ts")
    assert here.run("-i", "assistants").code == 0


def test_three_names_that_differ_in_case_are_three_files(app: MakeApplication) -> None:
    names = ("Abc", "abc", "ABC", "aBc")
    here = app(
        {
            **{f"{name}.ts": f"export const name = '{name}';" for name in names},
            "three_test.ts": "".join(f"import {{ name as {name}_ }} from './{name}';\n" for name in names)
            + f"export function TestA(t) {{ t.assert.Equal([{', '.join(f'{name}_' for name in names)}], {list(names)}); }}",
        }
    )
    assert [record["status"] for record in here.results("-i", "scripts.demo.three").values()] == ["passed"]


def test_names_that_differ_in_case_are_different_files(app: MakeApplication) -> None:
    here = app({
        **AGENT,
        "/tsconfig.json": '{"compilerOptions": {"paths": {"@x/*": ["./assistants/demo/src/*"]}}}',
        "names.ts": "export const who = 'names'; export function Who() { return who; }",
        "Names.ts": "export const who = 'Names'; export function Who() { return who; }",
        "Lib/one.ts": "export const one = 'Lib';",
        "lib/one.ts": "export const one = 'lib';",
        "Sub/two.ts": "export const two = 'Sub';",
        "sub/two.ts": "export const other = 'sub';",
        "case_test.ts": """
            import { who as a } from "./Names";
            import { who as b } from "./names";
            import { who as c } from "./Names.ts";
            import { who as d } from "./names.js";
            import { who as e } from "@x/Names";
            import { who as f } from "@x/names";
            import { one as g } from "./Lib/one";
            import { one as h } from "./lib/one";
            import { two as i } from "./Sub/two";
            import { other as j } from "./sub/two";
            import { one as k } from "@x/lib/one";
            import { one as l } from "@x/Lib/one";
            export function TestImports(t) {
              t.assert.Equal([a, b, c, d, e, f, g, h, i, j, k, l].join(" "), "Names names Names names Names names Lib lib Sub sub lib Lib");
            }
            export function TestProcess(t) {
              t.assert.Equal(Process("agents.demo.Names.Who") + Process("agents.demo.names.Who"), "Namesnames");
            }
        """,
        "Case_test.ts": "export function TestUpper(t) { t.log('upper'); }",
    })  # fmt: skip
    assert set(here.results("-i", "scripts.demo.case", code=0)) == {"TestImports", "TestProcess"}
    assert set(here.results("-i", "scripts.demo.Case", code=0)) == {"TestUpper"}
    for flags in ((), ("--coverage",)):
        results = here.results("-i", "assistants", *flags, code=0)
        assert set(results) == {"case.TestImports", "case.TestProcess", "Case.TestUpper"}


def test_an_import_in_another_spelling_than_its_file_is_an_error(app: MakeApplication) -> None:
    here = app({**AGENT, "names.ts": "export const who = 1;",
                "a_test.ts": "import { who } from './NAMES';\nexport function TestA(t) { t.log(who); }"})  # fmt: skip
    run = here.run("-i", "scripts.demo.a")
    assert run.code == 1, run
    assert "upper and lower case count" in run.stdout
    assert "names.ts" in run.stdout


@pytest.mark.parametrize("ending", [".ts", ".tsx", ".mts", ".cts", ".js"])
def test_scripts_of_all_endings_run(app: MakeApplication, ending: str) -> None:
    plain = "" if ending == ".js" else ": string"
    here = app({
        **agent(cases=[{"id": "a", "input": "x"}]),
        f"index{ending}": "export function Create(ctx, messages) { ctx.memory.chat.Set('k', 1); return {}; }",
        f"tool{ending}": f"export function Who(){plain} {{ return 'tool'; }}",
        f"/scripts/deep/money{ending}": "export function Cents() { return 100; }",
        f"tool_test{ending}": """
            function TestPlain(t) { t.assert.Equal(Who(), "tool"); }
            function TestProcess(t) { t.assert.Equal(Process("agents.demo.tool.Who"), "tool"); }
            function TestScript(t) { t.assert.Equal(Process("scripts.deep.money.Cents"), 100); }
        """,
    })  # fmt: skip
    assert set(here.results("-i", "scripts.demo.tool", code=0)) == {"TestPlain", "TestProcess", "TestScript"}
    assert here.run("-i", f"assistants/demo/src/tool_test{ending}").code == 0
    assert here.run("-i", "assistants").code == 0
    doctor = here.run("doctor")
    assert doctor.code == 0, doctor


LOOKALIKES = (
    "a.test.ts",
    "b.spec.ts",
    "c_test.mjs",
    "d_test.cjs",
    "e_test.jsx",
    "F_TEST.ts",
    "g.test.mts",
    "h_spec.ts",
)


def test_files_that_look_like_tests_are_named_once(app: MakeApplication) -> None:
    files = dict.fromkeys(
        (*LOOKALIKES, "dist/k_test.ts", "types/k.test.ts", "latest.ts", "test.ts", "x_test.d.ts"), TEST
    )
    here = app({**AGENT, **files, "z_test.ts": TEST})
    for inputs in ([], ["-i", "assistants", "-i", "."], ["-i", "scripts.demo"]):
        run = here.run(*inputs)
        said = [line for line in (run.stdout + run.stderr).splitlines() if "Not collected" in line]
        assert len(said) == 1, run
        shown = sorted(said[0].partition(": ")[2].partition(". Names")[0].split(": ")[1].split(", "))
        assert shown == sorted(f"assistants/demo/src/{name}" for name in LOOKALIKES)
        assert (run.code, "1 passed" in run.stdout) == (0, True)


@pytest.mark.parametrize("name", LOOKALIKES)
def test_such_a_file_is_refused_by_its_name(app: MakeApplication, name: str) -> None:
    run = app({**AGENT, name: TEST}).run("-i", f"assistants/demo/src/{name}")
    assert run.code == 2, run
    assert "it is not a test file" in run.stderr
