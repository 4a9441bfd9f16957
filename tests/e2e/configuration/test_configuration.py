"""`yao-test.toml`: flags of an application, of profiles and of agents; `yao-test config`; its schema."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import jsonschema
import pytest
from command import Application, MakeApplication
from model_server import ModelServer
from table_tests import each

PACKAGE = {"/package.yao": '{"connector": "scripted"}', "/prompts.yml": "- {role: system, content: Hi}\n"}
SHOWS = """\
export function TestShows(t, ctx) { t.log(`${ctx.authorized.user_id} ${ctx.authorized.team_id} ${ctx.locale}`); }
export async function TestWaits(t) { await new Promise((done) => setTimeout(done, 1500)); }
"""


def agent(id: str) -> dict[str, str]:
    return {
        **{f"/assistants/{id}{name}": text for name, text in PACKAGE.items()},
        f"/assistants/{id}/replies.yml": f"- reply: {id} says {{{{ model }}}}\n",
        f"/assistants/{id}/src/shows_test.ts": SHOWS,
        f"/assistants/{id}/tests/c.jsonl": '{"id": "asks", "input": "Hi", "assert": {"type": "contains", "value": "e"}}\n',
    }


FILE = """\
# what all have
user = "base-user"
team = "base-team"
ctx = "conf/ctx.json"
strictDatabase = true
tag = []  # replaced below

[profile.ci]
user = "ci-user"
fail-fast = true

[agent.one]
team = "one-team"
user = "one-user"

[agent."group.two"]
timeout = "100ms"

[prices."openai.gpt4"]
input = 2.5
output = 10.0
"""


@pytest.fixture(scope="module")
def here(shared_app: MakeApplication) -> Application:
    return shared_app(
        {
            **agent("one"),
            **agent("group/two"),
            "/conf/ctx.json": '{"theme": "dark"}',
            "/yao-test.toml": FILE.replace("tag = []  # replaced below\n", 'parallel = "2"\n'),
        }
    )


def shown(here: Application, *words: str, directory: str = "") -> dict[str, str]:
    """Module → what its test has logged."""
    path = here.home / "shown.json"
    run = here.run("--run", "TestShows", "-o", str(path), *words, directory=directory)
    assert run.code == 0, run
    report = json.loads(path.read_text())
    parts = report.get("reports", [report])
    return {part["script"].split(".")[-2]: part["results"][0]["logs"][0] for part in parts if part["results"]}


ORDERS = {
    "the file": ([], {"one": "one-user one-team en-us", "two": "base-user base-team en-us"}),
    "a profile before an agent": (
        ["--profile", "ci"],
        {"one": "ci-user one-team en-us", "two": "ci-user base-team en-us"},
    ),
    "the command line before all": (
        ["--profile", "ci", "-u", "me", "-t", "mine"],
        {"one": "me mine en-us", "two": "me mine en-us"},
    ),
}


@each("directory", ["", "assistants"])
@each("name", ORDERS)
def test_the_order_of_what_is_said(here: Application, name: str, directory: str) -> None:
    words, expected = ORDERS[name]
    assert shown(here, *words, directory=directory) == expected


def test_an_agent_has_a_time_of_its_own_and_what_runs_a_test_again_says_nothing_of_the_file(here: Application) -> None:
    run = here.run("--run", "TestWaits", "--json")
    document = json.loads(run.stdout)

    assert run.code == 1
    (failure,) = document["failures"]
    assert (failure["suite"], failure["cause"]) == ("scripts.group.two.shows", "timeout")
    assert failure["run_again"] == "yao-test -i scripts.group.two.shows --run '^TestWaits$'"
    again = here.run("--run", "TestWaits", "--profile", "ci", "--timeout", "60s")
    assert again.code == 0, again
    failed = json.loads(here.run("--run", "TestWaits", "--profile", "ci", "--json").stdout)["failures"]
    assert failed[0]["run_again"].endswith("--profile ci")


def test_a_profile_that_is_not_there(here: Application, app: MakeApplication) -> None:
    run = here.run("--profile", "cii")
    assert (run.code, run.stdout) == (2, "")
    assert run.stderr == (
        'Error: Cannot use --profile cii: <app>/yao-test.toml has no such profile\nHint: Did you mean "ci"?\n'
    )
    without = app(agent("one")).run("--profile", "ci")
    assert without.stderr == "Error: Cannot use --profile ci: there is no <app>/yao-test.toml\n"


def test_what_is_set_and_from_where(here: Application, app: MakeApplication) -> None:
    run = here.run("config", "--profile", "ci")
    assert run.code == 0
    lines = {line[2:].partition("  ")[0]: line.rpartition("  ")[2] for line in run.stdout.splitlines()}
    assert lines == {
        'user = "ci-user"': "yao-test.toml:9 [profile.ci]",
        "fail-fast = true": "yao-test.toml:10 [profile.ci]",
        'team = "base-team"': "yao-test.toml:3",
        'ctx = "conf/ctx.json"': "yao-test.toml:4",
        "strict-db = true": "yao-test.toml:5",
        'parallel = "2"': "yao-test.toml:6",
        'one: team = "one-team"': "yao-test.toml:13 [agent.one]",
        'group.two: timeout = "100ms"': "yao-test.toml:17 [agent.group.two]",
        "price of openai.gpt4: input 2.5, output 10": "yao-test.toml:19",
    }
    found = json.loads(here.run("config", "--json").stdout)
    assert {"flag": "user", "value": "base-user", "line": 2} in found["settings"]
    assert found["agents"]["one"][0]["table"] == "agent.one"
    bare = app(agent("one"))
    assert bare.run("config").stdout == "There is no <app>/yao-test.toml\n"
    run = bare.run("config", "--profile", "night")
    assert (run.code, run.stderr) == (2, "Error: Cannot use --profile night: there is no <app>/yao-test.toml\n")


WRONG = """\
paralel = 4
user = 3.5
allow-net = ["x.test"]
dry-run = true
trust-from = "main"
timeout = "soon"
strict = "yes"
fail-fast = true
max-failures = 3

[profile.ci]
min-pass-rate = "all"
inputs = ["x"]
input = ["x"]

[agent.oen]
user = "x"

[agent.one]
parallel = 3

[profiles.x]
user = "y"

[prices.gpt]
inputs = 3
output = "much"
"""


def test_all_mistakes_are_said_at_once_with_their_places(app: MakeApplication) -> None:
    here = app({**agent("one"), "/yao-test.toml": WRONG})
    for words in ([], ["config"], ["-i", "scripts.one.shows", "--dry-run"]):
        run = here.run(*words)
        assert (run.code, run.stdout) == (2, "")
        head, *lines = run.stderr.splitlines()
        places = [int(line.split(":")[1]) for line in lines if line.startswith("  <app>/yao-test.toml:")]
        assert head == f"Error: Cannot use <app>/yao-test.toml: {len(places)} problems"
        assert places == [1, 3, 4, 5, 6, 7, 9, 12, 13, 14, 16, 20, 22, 26, 27]
    assert 'there is no flag paralel. Did you mean "parallel"?' in run.stderr
    assert "allow-net cannot be set here: it weakens security" in run.stderr
    assert "dry-run cannot be set here: it applies to one run" in run.stderr
    assert 'there is no agent oen. Did you mean "one"?' in run.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = \n", "yao-test.toml:1:5: Invalid value"),
        ("user = 'x'\nuser = 'y'\n", "yao-test.toml:2:"),
        ("\xff", "yao-test.toml"),
        ("agent = 3\n", "yao-test.toml:1: agent must be a table of tables"),
        ("[agent]\none = 3\n", "yao-test.toml:2: agent.one must be a table"),
    ],
)
def test_a_file_that_is_no_toml(app: MakeApplication, text: str, said: str) -> None:
    run = app({**agent("one"), "/yao-test.toml": text.encode("latin-1")}).run()
    assert run.code == 2
    assert said in run.stderr
    assert "Traceback" not in run.stderr


def test_what_excludes_a_flag_of_the_command_line_gives_way(app: MakeApplication) -> None:
    here = app({**agent("one"), "/yao-test.toml": "verbose = true\nmax-failures = 3\n[profile.quiet]\nquiet = true\n"})

    assert "►" in here.run("--run", "TestShows").stdout
    assert "►" not in here.run("--run", "TestShows", "-q").stdout
    assert "►" not in here.run("--run", "TestShows", "--profile", "quiet").stdout
    assert here.run("--run", "TestShows", "--fail-fast").code == 0


def test_the_schema_takes_what_the_command_takes(here: Application) -> None:
    run = here.run("schema", "config")
    schema: Any = json.loads(run.stdout)
    jsonschema.Draft7Validator.check_schema(schema)
    check = jsonschema.Draft7Validator(schema)

    assert not [*check.iter_errors(tomllib.loads((here.root / "yao-test.toml").read_text()))]
    wrong = {error.json_path for error in check.iter_errors(tomllib.loads(WRONG))}
    assert {"$", "$.strict", "$.profile.ci", "$.agent.one"} <= wrong


def test_prices_count_where_a_connector_says_none(app: MakeApplication) -> None:
    with ModelServer() as server:
        definition = {"type": "openai", "options": {"host": server.url, "model": "m", "key": "sk-local"}}
        here = app(
            {
                **agent("one"),
                "/connectors/local.conn.yao": json.dumps(definition),
                "/yao-test.toml": 'connector = "local"\n[prices.local]\ninput = 1000000\noutput = 0\n',
            }
        )
        run = here.run("-i", "assistants/one/tests/c.jsonl", "--json")
        usage = json.loads(run.stdout)["summary"]["usage"]
        assert usage["cost"] == usage["input_tokens"] > 0


def plain(id: str) -> dict[str, str]:
    return {f"/assistants/{id}/replies.yml": "- reply: Hello\n"}


def test_results_hold_as_long_as_the_file_says_the_same_of_their_agent(app: MakeApplication) -> None:
    here = app({**agent("one"), **agent("two"), **plain("one"), **plain("two")})
    path = here.home / "r.jsonl"
    file = {"base": "base-user", "profile": "0.5", "one": "one-team", "two": "30s"}

    def write(**changes: str) -> None:
        said = {**file, **changes}
        here.write(
            {
                "/yao-test.toml": f'user = "{said["base"]}"\n[profile.ci]\nthreshold = {said["profile"]}\n'
                f'[agent.one]\nteam = "{said["one"]}"\n[agent.two]\ntimeout = "{said["two"]}"\n'
            }
        )

    def stale() -> set[str]:
        run = here.run("status", str(path))
        assert run.stderr == "", run
        lines = [line.strip().split(": ") for line in run.stdout.splitlines()[1:]]
        return {f"{place.split('/')[-3]} {reason}" for place, reason, _ in lines if place.endswith("c.jsonl")}

    write()
    assert here.run("--profile", "ci", "-o", str(path)).code == 0
    assert stale() == set()
    write(two="20s")
    assert stale() == set()
    write(base="x")
    assert stale() == {f"{name} re-run because context changed" for name in ("one", "two")}
    write(profile="0.6")
    assert stale() == {f"{name} re-run because --threshold changed" for name in ("one", "two")}
    write(one="other-team")
    assert stale() == {"one re-run because context changed"}

    run = here.run("--resume", str(path))
    assert run.code == 0, run
    assert "3 results of <home>/r.jsonl are kept" in run.stdout
    logged = [
        line["logs"][0] for line in map(json.loads, path.read_text().splitlines()) if line.get("id") == "TestShows"
    ]
    assert sorted(logged) == ["base-user other-team en-us", "base-user test-team en-us"]
    assert stale() == set()
    assert here.run("--resume", str(path), "--profile", "other").code == 2
    (here.root / "yao-test.toml").unlink()
    assert here.run("status", str(path)).code == 2


def test_what_the_command_line_said_holds_when_a_run_goes_on(app: MakeApplication) -> None:
    here = app({**agent("one"), **plain("one"), "/yao-test.toml": 'team = "a"\n[agent.one]\nuser = "file-user"\n'})
    path = here.home / "r.jsonl"
    assert here.run("-u", "me", "-o", str(path)).code == 0
    here.write({"/yao-test.toml": 'user = "base"\nteam = "a"\n[agent.one]\nuser = "another"\n'})
    assert here.run("status", str(path)).code == 0
    here.write({"/yao-test.toml": 'team = "b"\n'})
    assert here.run("--resume", str(path)).code == 0
    logged = [
        line["logs"][0] for line in map(json.loads, path.read_text().splitlines()) if line.get("id") == "TestShows"
    ]
    assert logged == ["me b en-us"]
    assert here.run("status", str(path)).code == 0


def test_the_user_and_the_team_of_an_agent_are_shown_with_its_tests(app: MakeApplication) -> None:
    files = {"/yao-test.toml": 'user = "base"\n[agent.one]\nteam = "one-team"\nuser = "one-user"\nlocale = "de"\n'}
    here = app({**agent("one"), **agent("two"), **files})
    shown = here.run("-v", "--run", "TestShows").stdout
    assert "User: one-user\n  Team: one-team\n" in shown.partition("scripts.two")[0]
    assert "User: base\n  Team: test-team\n" in shown.partition("scripts.two")[2]
    inputs = ("-i", "scripts.one", "--run", "TestShows", "-o", "r.json")
    assert here.run(*inputs).code == 0
    report = json.loads((here.root / "r.json").read_text())
    assert (
        report["environment"] | {"user_id": "one-user", "team_id": "one-team", "locale": "de"} == report["environment"]
    )
    assert "User: me\n  Team: one-team\n" in here.run(*inputs, "-u", "me").stdout
