"""Variants of an agent in one run: what each gets, in which order they run, and how they are compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agent_files import agent, case_file
from command import Application, MakeApplication, Record, Run
from model_server import Exchange, ModelServer, says

PROMPTS = "- { role: system, content: Be brief. $ENV.STYLE }"
REPLIES = """\
- when: { input: what }
  reply: "You are told: {{ system }}"
- when: { input: wobbly, metadata.run: 2 }
  reply: "No."
- reply: "Yes."
"""
FILES = {
    "/new.yml": "- { role: system, content: Be long. $ENV.STYLE }",
    "/assistants/demo/own.yml": "- { role: system, content: Be kind. }",
    "/.env": "STYLE=\n",
}
VARIANTS = ("--variant", "old=", "--variant", "new=prompts:new.yml,env:STYLE=terse, always")


def case(id: str, input: str, wanted: str = "Yes", **more: Any) -> Record:
    return {"id": id, "input": input, "assert": {"type": "contains", "value": wanted}, **more}


CASES = [case("told", "what", "brief"), case("easy", "easy"), case("wobbly", "wobbly"), case("left", "x", skip="later")]


def demo(app: MakeApplication, *cases: Record, **files: str) -> Application:
    return app({**agent(prompts=PROMPTS, replies=REPLIES, cases=list(cases or CASES)), **FILES, **files})


def lines_of(path: Path, kind: str = "result") -> list[Record]:
    return [line for line in map(json.loads, path.read_text().splitlines()) if line["type"] == kind]


def section(run: Run) -> list[str]:
    """The section of the console output about variants."""
    return run.stdout.partition("\n  Variants\n")[2].splitlines()[1:]


def test_each_variant_has_prompts_and_variables_of_its_own(app: MakeApplication) -> None:
    application = demo(app)

    report = application.report("-i", case_file(), *VARIANTS, "--variant", "kind=prompts:own.yml", code=1)

    told = {part["input"].partition("[")[2][:-1]: part["results"][0]["output"] for part in report["reports"]}
    assert told == {
        "old": "You are told: Be brief. ",
        "new": "You are told: Be long. terse, always",
        "kind": "You are told: Be kind.",
    }


def test_each_variant_has_its_connector_and_its_model(app: MakeApplication) -> None:
    with ModelServer() as server:
        options = {"host": server.url, "model": "$ENV.MODEL", "key": "k"}
        other = {"host": server.url, "model": "fixed", "key": "k"}
        application = demo(
            app,
            case("a", "hello", "hello"),
            **{
                "/connectors/one.conn.yao": json.dumps({"type": "openai", "options": options}),
                "/connectors/two.conn.yao": json.dumps({"type": "openai", "options": other}),
            },
        )
        run = application.run(
            *("-i", case_file(), "--variant", "small=connector:one,env:MODEL=s1"),
            *("--variant", "large=connector:one,env:MODEL=l1", "--variant", "two=connector:two", "-o", "r.jsonl"),
        )
        assert run.code == 0, run
        assert sorted(request.body["model"] for request in server.requests) == ["fixed", "l1", "s1"]

    suites = lines_of(application.root / "r.jsonl", "start")[0]["suites"]
    assert [(suite["variant"], suite["connector"]) for suite in suites] == [
        ("small", "one"),
        ("large", "one"),
        ("two", "two"),
    ]


def test_variants_take_turns_case_by_case_and_run_by_run(app: MakeApplication) -> None:
    application = demo(app)
    application.run("-i", case_file(), *VARIANTS, "--runs", "3", "-o", "r.jsonl")

    order = [(line["id"], line["run"]) for line in lines_of(application.root / "r.jsonl") if "run" in line]

    assert order == [(id, run) for id in ("told", "easy", "wobbly") for run in (1, 2, 3) for _ in range(2)]
    first = [line["suite"][-4:-1] for line in lines_of(application.root / "r.jsonl") if line.get("run") == 1]
    again = application.run("-i", case_file(), *VARIANTS, "--runs", "3", "-o", "again.jsonl")
    assert again.code == 1
    assert [
        line["suite"][-4:-1] for line in lines_of(application.root / "again.jsonl") if line.get("run") == 1
    ] == first


def test_the_console_has_a_matrix_the_answers_and_the_verdict(app: MakeApplication) -> None:
    application = demo(app)

    run = application.run("-i", case_file(), *VARIANTS, "--runs", "3", "-o", "r.jsonl")

    assert run.code == 1
    *shown, wrote = section(run)
    assert wrote == "Wrote r.jsonl"
    assert shown == [
        "new: 1 of 3 cases got worse. Too few runs to be sure.",
        "  To find out whether this case really got worse, run it 5 times on both sides: "
        "yao-test -i assistants/demo/tests/cases.jsonl --run '^told$' --variant old= --variant "
        "'new=prompts:new.yml,env:STYLE=terse, always' --runs 5 -o again.jsonl",
        "  1 case without a result on one side: left.",
        "  Not counted (skipped): 1 run in old, 1 in new.",
        "",
        "  Case    old   new",
        "  told    3/3   0/3",
        "  left    none  none",
        "  easy    3/3   3/3",
        "  wobbly  2/3   2/3",
        "",
        "  told",
        "    old  You are told: Be [brief].",
        "    new  You are told: Be [long]. [terse, always]",
        "",
        *shown[-3:],
    ]
    assert shown[-3].split("  ")[1] == "Variant" and shown[-3].endswith("Difference    Verdict")
    assert shown[-1].startswith("  new      55.6%") and shown[-1].endswith("-33.3 points  cannot tell")

    later = application.run("diff", "r.jsonl", "-o", "d.json", "-o", "d.md", "-o", "d.html")
    assert later.code == 0 and "\n".join(shown[6:11]) in later.stdout
    found = json.loads((application.root / "d.json").read_text())
    assert [(one["a"], one["b"], one["verdict"]) for one in found["verdicts"]] == [("old", "new", "cannot_tell")]
    assert (application.root / "d.md").read_text().startswith("# Variants\n\n| Variant | Case pass rate ")
    assert application.run("diff", "r.jsonl", "--fail-on", "unsure").code == 1
    assert application.run("show", "r.jsonl", "-o", "shown.html").code == 0
    assert 'id="variants"' in (application.root / "shown.html").read_text()


def test_variants_go_on_where_a_run_was_stopped(app: MakeApplication) -> None:
    application = demo(app)
    application.run("-i", case_file(), *VARIANTS, "-o", "r.jsonl")
    path = application.root / "r.jsonl"
    kept = path.read_text().splitlines()[:4]
    path.write_text("".join(f"{line}\n" for line in kept))

    run = application.run("--resume", "r.jsonl")

    assert "3 results of r.jsonl are kept" in run.stdout, run
    assert len(lines_of(path)) == 8
    (application.root / "new.yml").write_text("- { role: system, content: Be odd. }")
    changed = application.run("--resume", "r.jsonl")
    assert "[new]: re-run because variant changed: told, easy, wobbly, left" in changed.stdout
    assert "4 results of r.jsonl are kept" in changed.stdout


ROUNDS: dict[str, tuple[tuple[str, ...], int, str]] = {
    "worse at once": (("--variant", "a=connector:good", "--variant", "b=connector:bad"), 1, "regressed"),
    "the same, and too few cases to say so": (
        ("--variant", "a=connector:good", "--variant", "b=connector:good"),
        5,
        "cannot tell",
    ),
    "fewer rounds": (
        ("--variant", "a=connector:good", "--variant", "b=connector:good", "--runs", "2"),
        2,
        "cannot tell",
    ),
}


@pytest.mark.parametrize(("flags", "made", "word"), ROUNDS.values(), ids=ROUNDS)
def test_rounds_end_when_variants_are_told_apart(
    app: MakeApplication, flags: tuple[str, ...], made: int, word: str
) -> None:
    async def answer(exchange: Exchange) -> None:
        await says("no" if exchange.request.body["model"] == "bad" else "Yes.")(exchange)

    with ModelServer(answer) as server:
        files = agent(cases=[case(f"c{at}", "x", depends_on=["c0"] if at == 1 else []) for at in range(8)])
        for name in ("good", "bad"):
            options = {"host": server.url, "model": name, "key": "k"}
            files[f"/connectors/{name}.conn.yao"] = json.dumps({"type": "openai", "options": options})
        application = app(files)
        run = application.run("-i", case_file(), *flags, "--until-decided", "-o", "r.jsonl", "--parallel", "4")

    assert "Traceback" not in run.stderr, run
    summary = lines_of(application.root / "r.jsonl", "summary")[0]
    planned = 2 if "--runs" in flags else 5
    assert summary["rounds"] == {"made": made, "planned": planned}
    results = lines_of(application.root / "r.jsonl")
    assert max(line.get("run", 0) for line in results) == made
    waited = [line["skip_reason"] for line in results if line["id"] == "c1" and line["status"] == "skipped"]
    assert waited == (['depends on "c0", which failed'] if word == "regressed" else [])
    row = next(line for line in section(run) if line.startswith("  b "))
    assert row.endswith(word)
    if made < planned:
        assert any("(stopped after 1 of 5 rounds)" in line for line in section(run))
    again = application.run("diff", "r.jsonl")
    assert next(line for line in again.stdout.splitlines() if line.startswith("  b ")) == row


def test_rounds_of_a_configuration_file_go_on_where_they_were_stopped(app: MakeApplication) -> None:
    async def answer(exchange: Exchange) -> None:
        await says("no" if exchange.request.body["model"] == "bad" else "Yes.")(exchange)

    with ModelServer(answer) as server:
        files = agent(cases=[case(f"c{at}", "x") for at in range(3)])
        for name in ("good", "bad"):
            options = {"host": server.url, "model": name, "key": "k"}
            files[f"/connectors/{name}.conn.yao"] = json.dumps({"type": "openai", "options": options})
        settings = 'variant = ["a=connector:good", "b=connector:good"]\nuntil-decided = true\n'
        application = app({**files, "/yao-test.toml": settings})
        application.run("-i", case_file(), "-o", "r.jsonl")
        path = application.root / "r.jsonl"
        whole = path.read_text().splitlines(keepends=True)
        runs = [(line["suite"], line["id"], line["run"]) for line in lines_of(path)]
        assert (len(runs), len(set(runs)), len(server.requests)) == (30, 30, 30)
        assert lines_of(path, "summary")[0]["rounds"] == {"made": 5, "planned": 5}

        for kept in (4, 12, 28):  # in the first round, at the end of the second, in the last
            path.write_text("".join(whole[: kept + 1]))
            server.requests.clear()
            run = application.run("--resume", "r.jsonl")
            assert run.code == 0, run
            again = [(line["suite"], line["id"], line["run"]) for line in lines_of(path)]
            assert sorted(again) == sorted(runs), kept
            assert lines_of(path, "summary")[-1]["rounds"] == {"made": 5, "planned": 5}
            assert len(server.requests) < 30, kept

        settings = settings.replace("b=connector:good", "b=connector:bad")
        application.write({"/yao-test.toml": settings})
        told = application.run("-i", case_file(), "-o", "told.jsonl")
        assert (told.code, lines_of(application.root / "told.jsonl", "summary")[0]["rounds"]["planned"]) == (1, 5)
        lines = {line["suite"][-2] for line in lines_of(application.root / "told.jsonl")}
        assert lines == {"a", "b"}
        application.write({"/yao-test.toml": 'variant = ["a=connector:good"]\n'})
        alone = application.run("-i", case_file())
        assert (alone.code, "There is only one --variant" in alone.stderr) == (2, True)


SAME = 'variant = ["a=connector:good", "b=connector:good"]\n'
DIFFERENT = 'variant = ["a=connector:good", "b=connector:bad"]\n'


def two_models(app: MakeApplication, server: ModelServer, cases: int, settings: str) -> Application:
    files = agent(cases=[case(f"c{at}", "x") for at in range(cases)])
    for name in ("good", "bad"):
        options = {"host": server.url, "model": name, "key": "k"}
        files[f"/connectors/{name}.conn.yao"] = json.dumps({"type": "openai", "options": options})
    return app({**files, "/yao-test.toml": settings})


async def good_or_bad(exchange: Exchange) -> None:
    await says("no" if exchange.request.body["model"] == "bad" else "Yes.")(exchange)


def test_rounds_of_an_earlier_run_are_counted(app: MakeApplication) -> None:
    with ModelServer(good_or_bad) as server:
        application = two_models(app, server, 2, DIFFERENT)
        path = application.root / "r.jsonl"
        application.run("-i", case_file(), "--until-decided", "-o", "r.jsonl")
        whole = path.read_text().splitlines(keepends=True)
        made = lines_of(path, "summary")[0]["rounds"]["made"]
        assert 1 < made < 5

        for kept, asked in ((4 * made, 0), (4 * made - 1, 1), (4, 4 * made - 4)):
            path.write_text("".join(whole[: kept + 1]))
            server.requests.clear()
            application.run("--resume", "r.jsonl")

            assert lines_of(path, "summary")[-1]["rounds"] == {"made": made, "planned": 5}
            assert (len(server.requests), len(lines_of(path))) == (asked, 4 * made)
            assert application.run("status", "r.jsonl").code == 0

        first = whole[1]  # all runs of its case are missing
        path.write_text("".join(line for line in whole[:-1] if json.loads(line).get("id") != json.loads(first)["id"]))
        server.requests.clear()
        application.run("--resume", "r.jsonl")
        assert lines_of(path, "summary")[-1]["rounds"] == {"made": made, "planned": 5}
        assert (len(server.requests), len(lines_of(path))) == (2 * made, 4 * made)


def test_rounds_of_cases_that_are_all_skipped_are_over_when_they_go_on(app: MakeApplication) -> None:
    with ModelServer(good_or_bad) as server:
        application = two_models(app, server, 0, DIFFERENT)
        application.write({f"/{case_file()}": json.dumps(case("a", "hi", skip=True))})
        assert application.run("-i", case_file(), "--until-decided", "-o", "r.jsonl").code == 0
        again = application.run("--resume", "r.jsonl")

        assert (again.code, again.stderr) == (0, "")


def test_variants_and_rounds_may_be_said_in_different_places(app: MakeApplication) -> None:
    with ModelServer(good_or_bad) as server:
        application = two_models(app, server, 8, DIFFERENT)
        application.write({"/assistants/demo/src/a_test.ts": "function TestA(t) {}"})
        application.run("-i", "assistants", "--until-decided", "-o", "r.jsonl")
        assert lines_of(application.root / "r.jsonl", "summary")[0]["rounds"] == {"made": 1, "planned": 5}
        assert application.run("status", "r.jsonl").code == 0

        application.write({"/yao-test.toml": "until-decided = true\n"})
        flags = ("--variant", "a=connector:good", "--variant", "b=connector:bad")
        application.run("-i", case_file(), *flags, "-o", "s.jsonl")
        assert lines_of(application.root / "s.jsonl", "summary")[0]["rounds"] == {"made": 1, "planned": 5}

        alone = application.run("-i", case_file(), "-c", "good")
        assert alone.code == 0
        assert "yao-test.toml:1: until-decided has no effect without variant" in alone.stdout


REFUSED: dict[str, tuple[tuple[str, ...], str]] = {
    "one": (("--variant", "a=connector:x"), "There is only one --variant, so there is nothing to compare"),
    "no name": (("--variant", "connector:x"), 'Cannot read --variant "connector:x": it does not start with a name'),
    "unknown": (("--variant", "a=conector:x"), 'Cannot read --variant "a=conector:x": there is no "conector"'),
    "twice": (("--variant", "a", "--variant", "a="), 'Two variants have the name "a"'),
    "no value": (("--variant", "a=env:X", "--variant", "b="), "X has no value"),
    "no prompts": (("--variant", "a=", "--variant", "b=prompts:nowhere.yml"), "Cannot find the prompts of variant b: there is no"),
    "no connector": (("--variant", "a=", "--variant", "b=connector:nowhere"), 'Cannot find connector "nowhere"'),
    "too many rounds": ((*VARIANTS, "--until-decided", "--runs", "9"), "--until-decided makes at most 5 rounds, and --runs is 9"),
    "nothing to decide": (("--until-decided",), "--until-decided needs --variant"),
}  # fmt: skip


@pytest.mark.parametrize(("flags", "said"), REFUSED.values(), ids=REFUSED)
def test_variants_that_cannot_be_are_a_mistake(app: MakeApplication, flags: tuple[str, ...], said: str) -> None:
    run = demo(app).run("-i", case_file(), *flags)

    assert (run.code, run.stdout) == (2, "")
    assert said in run.stderr


def test_rounds_and_cases_that_say_how_often_they_run_exclude_each_other(app: MakeApplication) -> None:
    application = app(agent(cases=[case("a", "x"), case("often", "x", repeat="2 of 3")]))
    run = application.run("-i", case_file(), "--variant", "a=", "--variant", "b=env:X=1", "--until-decided")

    assert (run.code, run.stdout) == (2, "")
    assert f'Cannot run {case_file()} with --until-decided: case "often" sets its own number of runs' in run.stderr


def test_a_key_of_a_variant_stays_out_of_the_report(app: MakeApplication) -> None:
    application = demo(app)

    run = application.run(
        "-i", case_file(), "--variant", "a=", "--variant", "b=env:DESK_API_KEY=sk-abcdef0123456789", "-o", "r.jsonl"
    )

    assert "sk-abcdef0123456789" not in run.stdout + run.stderr + (application.root / "r.jsonl").read_text()


def test_script_tests_have_no_variants(app: MakeApplication) -> None:
    application = demo(app, **{"a_test.ts": "function TestA() {}"})

    assert "There are no cases for --variant" in application.run("-i", "scripts.demo", *VARIANTS).stderr
    both = application.run("-i", "scripts.demo", "-i", case_file(), *VARIANTS)
    assert "1 passed" in both.stdout and "[new]" in both.stdout
    assert application.run("diff", "nothing.jsonl").code == 2
