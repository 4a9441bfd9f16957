"""What cases and flags name is looked for before the first model call; what is wrong in an agent's own files makes its
cases broken, and no other."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agent_files import agent, case_file, lines, run_cases
from command import Application, MakeApplication, Record

ENVIRONMENT = "export function Before() { return 1; }\nexport function After() {}\n"
JUDGES = "export function Polite() { return true; }\n"


def with_cases(app: MakeApplication, *cases: Record, **more: str) -> Application:
    """An application whose model fails every case that it is asked in."""
    files = {"env_test.ts": ENVIRONMENT, "/scripts/judges.ts": JUDGES, "/scripts/tests/office.ts": "function Help() {}"}
    return app({**agent(replies="- reply: {error: {status: 500, message: asked}}", cases=list(cases)), **files, **more})


def judged(**assertion: Any) -> Record:
    return {"id": "a", "input": "Hi", "assert": assertion}


def talk(**fields: Any) -> Record:
    return {"id": "a", "turns": [{"input": "Hi"}], **fields}


VALIDATOR = {"type": "agent", "use": "agents:workers.test.validater", "criteria": "polite"}
CONVERSATION: Record = {"id": "a", "mode": "conversation", "turns": [{"input": "Hi", "assertions": ["Is polite"]}]}
AGENT = 'Cannot find agent "{}": there is no <app>/assistants/'
WRONG: dict[str, tuple[Record, str, str]] = {
    "a validator": (judged(**VALIDATOR), "workers.test.validater", 'Did you mean "workers.test.validator"?'),
    "a validator in a composition": (
        judged(type="all_of", value=[{"type": "any_of", "value": [VALIDATOR, {"type": "contains", "value": "a"}]}]),
        "workers.test.validater",
        'Did you mean "workers.test.validator"?',
    ),
    "an agent of the application": (judged(type="agent", use="agents:dmeo", criteria="a"), "dmeo", 'Did you mean "demo"?'),
    "the connector of a judge": (
        judged(type="agent", use="agents:demo", criteria="a", options={"connector": "scriptd"}),
        'Cannot find connector "scriptd"',
        'Did you mean "scripted"?',
    ),
    "a script": (judged(type="script", script="scripts.jugdes.Polite"), "scripts.jugdes.Polite", 'Did you mean "judges"?'),
    "a function": (judged(type="script", use="scripts:judges.Polit"), "has none named Polit", 'Did you mean "Polite"?'),
    "a role": (judged(type="script", use="scripts:tests.office"), "has no Validate or Assert", "It has Help"),
    "a hyphenated function": (judged(type="script", use="scripts:judges.is-kind"), "has none named is-kind", "It has Polite"),
    "a hook": ({"id": "a", "input": "Hi", "before": "env_test.Befor"}, "has none named Befor", 'Did you mean "Before"?'),
    "a hook after": ({"id": "a", "input": "Hi", "after": "evn_test.After"}, "evn_test.After", 'Did you mean "env_test"?'),
    "a script that is like none": ({"id": "a", "input": "Hi", "before": "zzz.Before"}, "zzz.Before", "There are env_test, judges, tests.office"),
    "a connector": ({"id": "a", "input": "Hi", "options": {"connector": "modl"}}, 'Cannot find connector "modl"', "There are: scripted"),
    "a connector of a variable": ({"id": "a", "input": "Hi", "options": {"connector": "$ENV.WHICH"}}, "variable WHICH is not set", "Set WHICH"),
    "the connector of a turn": (talk(turns=[{"input": "Hi", "options": {"connector": "scriptd"}}]), "scriptd", "scripted"),
    "a judge of a turn": (talk(turns=[{"input": "Hi", "assert": VALIDATOR}]), "workers.test.validater", "workers.test.validator"),
    "a judge at the end": (talk(final_assertions=[VALIDATOR]), "workers.test.validater", "workers.test.validator"),
    "a simulator": (talk(simulator={"use": "workers.test.user-simulater"}), "workers.test.user-simulater", 'Did you mean "workers.test.user-simulator"?'),
    "a simulator with a prefix": (talk(simulator={"use": "agents:workers.test.user-simulater"}), "user-simulater", 'Did you mean "workers.test.user-simulator"?'),
    "a script as a simulator": (talk(simulator={"use": "scripts:judges"}), "has no Simulate", "It has Polite"),
    "the connector of a simulator": (talk(simulator={"use": "demo", "options": {"connector": "x"}}), 'connector "x"', "scripted"),
    "a judge of a checkpoint": ({"id": "a", "simulator": {"use": "demo"}, "checkpoints": [{"id": "c", "assertion": VALIDATOR}]}, "workers.test.validater", "workers.test.validator"),
    "a grader": ({**CONVERSATION, "grader": "workers.test.validater"}, "workers.test.validater", 'Did you mean "workers.test.validator"?'),
    "an assertion of a conversation": ({**CONVERSATION, "assertions": [VALIDATOR]}, "workers.test.validater", "workers.test.validator"),
    "the connector of rubrics": ({**CONVERSATION, "assertions": [{"type": "rubrics", "criteria": ["a"], "options": {"connector": "scriptd"}}]}, "scriptd", "scripted"),
}  # fmt: skip


@pytest.mark.parametrize("dry", [(), ("--dry-run",)], ids=["run", "dry run"])
@pytest.mark.parametrize(("case", "said", "hint"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_reference_is_an_error_before_anything_runs(
    app: MakeApplication, case: Record, said: str, hint: str, dry: tuple[str, ...]
) -> None:
    application = with_cases(app, {"id": "fine", "input": "Hi"}, case)
    before = application.listing()
    run = application.run("-i", case_file(), *dry)

    assert (run.code, run.stdout) == (2, ""), run
    assert run.stderr.startswith(f'Error: Cannot use {case_file()}:2: case "a": Cannot ')
    message, _, rest = run.stderr.partition("\nHint: ")
    assert said in message
    assert hint in rest
    assert application.listing() == before


def test_all_are_told_at_once_each_once_with_its_places(app: MakeApplication) -> None:
    application = with_cases(
        app,
        judged(**VALIDATOR),
        {"id": "b", "input": "Hi", "before": "env_test.Befor", "options": {"connector": "modl"}},
        {**judged(**VALIDATOR), "id": "c"},
    )
    run = application.run("-i", case_file(), "--after", "env_test.Aftr", "--simulator", "simulater", "-c", "scripted")
    first, *told, last = run.stderr.splitlines()

    assert run.code == 2
    assert (first, last) == ("Error: Cannot run the cases: 4 references cannot be resolved", "Hint: Nothing ran")
    assert [line.split(": ")[0].strip() for line in told] == [
        "--simulator simulater",
        "--after env_test.Aftr",
        f"{case_file()}:1",
        f"{case_file()}:2",
    ]
    assert told[2].endswith(f'Did you mean "workers.test.validator"? (also {case_file()}:3: case "c")')


def test_many_places_of_one_mistake_do_not_hide_another(app: MakeApplication) -> None:
    cases = [{**judged(**VALIDATOR), "id": f"case-{number}"} for number in range(50)]
    run = with_cases(app, *cases, {"id": "last", "input": "Hi", "before": "env_test.Befor"}).run("-i", case_file())
    assert "2 references cannot be resolved" in run.stderr
    assert f'{case_file()}:51: case "last": Cannot find the function of "env_test.Befor"' in run.stderr
    assert "29 more)" in run.stderr


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--before", "env_test.Befor"), 'Error: Cannot use --before env_test.Befor: Cannot find the function'),
        (("--after", "nowhere.After"), 'Error: Cannot use --after nowhere.After: Cannot find the script'),
        (("--simulator", "nobody"), 'Error: Cannot use --simulator nobody: Cannot find agent "nobody"'),
        (("--simulator", "scripts:nobody"), "Error: Cannot use --simulator scripts:nobody: Cannot find the script"),
        (("-c", "scriptd"), 'Error: Cannot use -c scriptd: Cannot find connector "scriptd"'),
    ],
)  # fmt: skip
@pytest.mark.parametrize("dry", [(), ("--dry-run",)], ids=["run", "dry run"])
def test_flags_are_looked_at_as_well(
    app: MakeApplication, flags: tuple[str, ...], said: str, dry: tuple[str, ...]
) -> None:
    run = with_cases(app, {"id": "a", "input": "Hi"}).run("-i", case_file(), *flags, *dry)
    assert (run.code, run.stdout) == (2, "")
    assert run.stderr.startswith(said)


def test_flags_of_a_message_are_looked_at(app: MakeApplication) -> None:
    run = with_cases(app).run("-i", "Hello there", "-n", "demo", "--before", "env_test.Befor")
    assert run.code == 2
    assert run.stderr.startswith("Error: Cannot use --before env_test.Befor")


FILE = {"id": "a", "input": "Look", "attachments": [{"type": "image", "source": "file://./none.png"}]}


@pytest.mark.parametrize("dry", [(), ("--dry-run",)], ids=["run", "dry run"])
@pytest.mark.parametrize(
    "cases",
    [
        [{**FILE, "id": "fine"}],
        [{"id": "fine", "input": "x", "depends_on": ["a"]}, FILE],
        [{"id": "fine", "turns": [{"input": "x", "attachments": FILE["attachments"]}]}],
    ],
    ids=["its own", "of a case that it needs", "of a turn"],
)
def test_a_file_that_is_not_there_is_an_error(app: MakeApplication, cases: list[Record], dry: tuple[str, ...]) -> None:
    run = with_cases(app, *cases).run("-i", case_file(), "--run", "^fine$", *dry)
    assert (run.code, run.stdout) == (2, "")
    assert 'the file "file://./none.png" does not exist: <app>/assistants/demo/tests/none.png' in run.stderr


def test_files_that_are_not_there_are_told_with_all_that_leads_nowhere(app: MakeApplication) -> None:
    cases = [
        {**FILE, "assert": {"type": "agent", "use": "agents:nobody", "value": "polite"}},
        {"id": "fine", "input": "x"},
    ]
    demo = with_cases(app, *cases)
    for flags in ((), ("--dry-run",)):
        run = demo.run("-i", case_file(), "-c", "none", *flags)
        assert (run.code, run.stdout) == (2, "")
        told = ("3 references", "none.png", "-c none: Cannot find connector", 'Cannot find agent "nobody"')
        assert [text for text in told if text not in run.stderr] == []
    nothing = demo.run("-i", case_file(), "--run", "zzz")
    assert (nothing.code, nothing.stderr.partition("\n")[0]) == (2, "Error: No test or case matches --run zzz")


LEFT_OUT: dict[str, tuple[Record, tuple[str, ...]]] = {
    "skipped": ({**judged(**VALIDATOR), "skip": "not yet"}, ()),
    "skipped, without its file": ({**FILE, "skip": True}, ()),
    "not chosen, without its file": (FILE, ("--run", "^fine$")),
    "not chosen": (judged(**VALIDATOR), ("--run", "^fine$")),
    "another shard": (judged(**VALIDATOR), ("--shard", "1/2")),
}


@pytest.mark.parametrize(("case", "flags"), LEFT_OUT.values(), ids=LEFT_OUT.keys())
def test_cases_that_do_not_run_may_name_what_is_not_there(
    app: MakeApplication, case: Record, flags: tuple[str, ...]
) -> None:
    application = app(agent(replies="- reply: Hello", cases=[{"id": "fine", "input": "Hi"}, case]))
    codes = [application.run("-i", case_file(), *flags).code]
    if "--shard" in flags:
        codes.append(application.run("-i", case_file(), "--shard", "2/2").code)
    assert sorted(codes) == ([0, 2] if "--shard" in flags else [0])


def test_a_case_that_is_needed_is_looked_at(app: MakeApplication) -> None:
    first = {**judged(**VALIDATOR), "id": "first"}
    run = with_cases(app, first, {"id": "second", "input": "Hi", "depends_on": ["first"]}).run(
        "-i", case_file(), "--run", "second"
    )
    assert run.code == 2
    assert f'{case_file()}:1: case "first"' in run.stderr


def test_a_connector_that_a_flag_replaces_need_not_be_there(app: MakeApplication) -> None:
    case = {"id": "a", "input": "Hi", "options": {"connector": "openai-gpt4"}}
    application = app(agent(replies="- reply: Hello", cases=[case]))
    assert application.run("-i", case_file(), "-c", "scripted").code == 0
    assert application.run("-i", case_file()).code == 2


def test_what_generators_are_beside_is_looked_at_before_they_are_asked(app: MakeApplication) -> None:
    application = app(
        {
            **agent(replies="- reply: Hello", cases=[judged(**VALIDATOR)]),
            **agent("maker", replies="- reply: {error: {status: 500, message: asked}}"),
        }
    )
    run = application.run("-i", "agents:maker", "-i", case_file(), "-n", "demo")
    assert run.code == 2
    assert "workers.test.validater" in run.stderr
    assert "asked" not in run.stdout + run.stderr


def test_what_a_hook_names_while_it_runs_fails_its_case_alone(app: MakeApplication) -> None:
    hooks = (
        "function Create(ctx, messages) {\n  const said = messages[messages.length - 1].content;\n"
        "  if (said === 'delegate') return { delegate: { agent_id: 'nobody' } };\n"
        "  if (said === 'connect') return { connector: 'nowhere' };\n  return {};\n}\n"
    )
    cases = [{"id": id, "input": id} for id in ("delegate", "connect", "fine")]
    records = run_cases(app(agent(replies="- reply: Hello", hooks=hooks, cases=cases)), code=1)
    found = {id: (record["status"], record.get("cause")) for id, record in records.items()}
    assert found == {"delegate": ("failed", "error"), "connect": ("failed", "error"), "fine": ("passed", None)}


# An agent's own files

KEYLESS = '{"type": "openai", "options": {"model": "m", "host": "https://model.example", "key": "$ENV.NO_SUCH_KEY"}}'
OWN: dict[str, tuple[dict[str, str], str]] = {
    "a connector that is not there": ({"package.yao": '{"connector": "nowhere"}'}, 'Cannot find connector "nowhere"'),
    "a variable that is not set": ({"package.yao": '{"connector": "$ENV.WHICH"}'}, "variable WHICH is not set"),
    "a key that is not set": ({"package.yao": '{"connector": "keyless"}'}, "NO_SUCH_KEY"),
    "no connector": ({"package.yao": "{}"}, 'Cannot resolve the connector of role "default"'),
    "servers that are no list": ({"package.yao": '{"connector": "scripted", "mcp": {"servers": "nowhere"}}'}, '"mcp.servers" must be a list'),
    "a package that is not JSON": ({"package.yao": '{\n  "name": "Bad",\n  "connector" "x"\n}'}, "bad/package.yao:3:15: Expecting ':' delimiter"),
    "a package that is a list": ({"package.yao": "[]"}, "bad/package.yao: it must contain an object"),
    "a wrong type in the package": ({"package.yao": '{"options": []}'}, 'package.yao: "options" must be an object'),
    "hooks in the package": ({"package.yao": '{"script": "function Create() {}"}'}, '"script" contains code, and code in package.yao does not run here. Move hooks to src/index.ts'),
    "wrong options of servers": ({"package.yao": '{"mcp": {"options": [1]}}'}, '"mcp.options" must be an object'),
    "a key twice in the package": ({"package.yao": '{"name": "a", "name": "b"}'}, '"name" is set twice'),
    "an empty prompt": ({"prompts.yml": ""}, "bad/prompts.yml: the file is empty"),
    "an empty list of prompts": ({"prompts.yml": "[]\n"}, "bad/prompts.yml: the file is empty"),
    "a prompt without a word": ({"prompts.yml": '- role: system\n  content: "  "\n'}, "bad/prompts.yml: the file is empty"),
    "prompts that are no YAML": ({"prompts.yml": "- role: system\n  content: 'x\n"}, "bad/prompts.yml:3:1: "),
    "prompts that are no list": ({"prompts.yml": "content: x\n"}, "bad/prompts.yml: it must be a list of {role, content}"),
    "a prompt whose role is no text": ({"prompts.yml": "- role: 5\n  content: x\n"}, "bad/prompts.yml: entry 1 needs a role and a content, both strings"),
    "a prompt without content": ({"prompts.yml": "- content: x\n- role: user\n"}, "bad/prompts.yml: entry 2 needs"),
    "a handler that does not compile": ({"src/index.ts": "export function Create( {"}, "the script of bad cannot be loaded"),
    "a handler that throws while it loads": ({"src/index.ts": "export function Create() {}\nthrow new Error('no limits set');"}, "Create of bad: the script cannot be loaded: no limits set"),
    "a handler that reads what is not there": ({"src/index.ts": "const limits: any = undefined;\nconst least = limits.least;\nexport function Next() { return least; }"}, "Next of bad: the script cannot be loaded: "),
    "a handler without hooks that throws while it loads": ({"src/index.ts": "export function Help() {}\nthrow new Error('no limits set');"}, "bad: the script cannot be loaded: no limits set"),
    "a handler whose import throws": ({"src/index.ts": "import './limits';\nexport function Create() {}", "src/limits.ts": "throw 'none';"}, "the script cannot be loaded: thrown, not an Error: \"none\""),
    "a hook that throws while it loads": ({"src/env_test.ts": "export function Before() {}\nthrow new Error('no limits set');"}, "env_test.Before: the script cannot be loaded: no limits set"),
    "replies that are no rules": ({"replies.yml": "nonsense"}, "replies.yml"),
    "a hook that does not compile": ({"src/env_test.ts": "export function Before( {"}, "Cannot load the script"),
}  # fmt: skip


@pytest.mark.parametrize(("files", "said"), OWN.values(), ids=OWN.keys())
def test_what_is_wrong_in_an_agents_files_breaks_its_cases_and_no_other(
    app: MakeApplication, files: dict[str, str], said: str
) -> None:
    more = {"before": "env_test.Before"} if "src/env_test.ts" in files else {}
    bad = [
        {"id": "bad 1", "input": "Hi", **more},
        {"id": "bad 2", "input": "Hi", **more},
        {"id": "bad 3", "input": "Hi", "skip": True},
    ]
    application = app(
        {
            "/connectors/keyless.conn.yao": KEYLESS,
            **agent(replies="- reply: Hello", cases=[{"id": "good", "input": "Hi"}]),
            **agent("bad", replies="- reply: Hello", cases=bad),
            **{f"/assistants/bad/{name}": text for name, text in files.items()},
        }
    )
    path = application.home / "report.json"
    run = application.run("-i", "assistants/bad/tests", "-i", "assistants/demo/tests", "-o", str(path))
    report = json.loads(application.anonymous(path.read_bytes()))
    records = {record["id"]: record for part in report["reports"] for record in part["results"]}

    assert run.code == 1
    assert {id: (record["status"], record.get("cause")) for id, record in records.items()} == {
        "bad 1": ("failed", "infrastructure"),
        "bad 2": ("failed", "infrastructure"),
        "bad 3": ("skipped", None),
        "good": ("passed", None),
    }
    assert said in records["bad 1"]["error"]
    assert (report["summary"]["errors"], report["summary"]["failed"], report["summary"]["passed"]) == (2, 0, 1)
    assert "Traceback" not in run.stdout + run.stderr


@pytest.mark.parametrize(
    ("files", "flags", "status"),
    [
        ({"package.yao": '{"connector": "keyless"}'}, ("-c", "scripted"), "passed"),
        ({"package.yao": '{"connector": "nowhere"}'}, ("-c", "scripted"), "passed"),
        ({"package.yao": '{"connector": "keyless"}', "src/index.ts": "function Create() { return {connector: 'scripted'}; }"}, (), "passed"),
    ],
)  # fmt: skip
def test_a_connector_that_the_run_does_not_ask_may_be_unusable(
    app: MakeApplication, files: dict[str, str], flags: tuple[str, ...], status: str
) -> None:
    own = {f"/assistants/demo/{name}": text for name, text in files.items()}
    files = {
        **agent(replies="- reply: Hello", cases=[{"id": "a", "input": "Hi"}]),
        "/connectors/keyless.conn.yao": KEYLESS,
        **own,
    }
    assert run_cases(app(files), *flags)["a"]["status"] == status


def test_an_agent_without_prompts_asks_no_model_and_needs_no_key(app: MakeApplication) -> None:
    package = {"connector": "keyless"}
    files = agent(package=package, prompts=None, replies=None, cases=[{"id": "a", "input": "Hi"}])
    assert run_cases(app({**files, "/connectors/keyless.conn.yao": KEYLESS}))["a"]["status"] == "passed"


@pytest.mark.parametrize("text", ["[]", '{"connector": "keyless"}'])
def test_a_validator_that_cannot_be_used_breaks_what_it_judges(app: MakeApplication, text: str) -> None:
    cases = [judged(type="agent", use="agents:judge", criteria="a"), {"id": "b", "input": "Hi"}]
    files = {**agent(replies="- reply: Hello", cases=cases), **agent("judge"), "/connectors/keyless.conn.yao": KEYLESS}
    records = run_cases(app({**files, "/assistants/judge/package.yao": text}), code=1)
    assert {id: (record["status"], record.get("cause")) for id, record in records.items()} == {
        "a": ("failed", "infrastructure"),
        "b": ("passed", None),
    }


def test_a_dry_run_says_that_an_agent_cannot_be_used(app: MakeApplication) -> None:
    run = app({**agent(cases=[{"id": "a", "input": "Hi"}]), "/assistants/demo/package.yao": "[]"}).run(
        "-i", case_file(), "--dry-run"
    )
    assert "the cases of demo cannot run: Cannot use <app>/assistants/demo/package.yao" in run.stdout + run.stderr


def test_a_resumed_run_looks_at_what_is_left(app: MakeApplication) -> None:
    application = app(agent(replies="- reply: Hello", cases=[{"id": "fine", "input": "Hi"}]))
    path = application.home / "report.jsonl"
    assert application.run("-i", case_file(), "-o", str(path)).code == 0
    application.write({f"/{case_file()}": lines({"id": "fine", "input": "Hi"}, judged(**VALIDATOR))})
    run = application.run("--resume", str(path))
    assert run.code == 2
    assert "workers.test.validater" in run.stderr
