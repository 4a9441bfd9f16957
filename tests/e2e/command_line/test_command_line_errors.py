"""What a user can get wrong on the command line and in files: one clear error, the right exit code, no traceback."""

from __future__ import annotations

import pytest
from command import Application, MakeApplication
from table_tests import each

from runner.reporters import EXTENSIONS

PASSING = "export function TestPasses(t) { t.assert.True(true); }\n"


@pytest.fixture(scope="module")
def small(shared_app: MakeApplication) -> Application:
    return shared_app(
        {
            "setup_test.ts": PASSING,
            "tools_test.ts": PASSING,
            "none_test.ts": "export const answer = 42;\n",
            "lower_test.ts": "export function testLower(t) {}\n",
            "/notes.txt": "not a test",
            "/assistants/bare/package.yao": "{}",
            "/assistants/bare/prompts.yml": "[]",
            "/folder/empty.txt": "",
            "/assistants/demo/tests/stray_test.ts": PASSING,
        }
    )


FLAGS_LISTED = "Hint: See yao-test --help"
MODULE_NAMES = "Hint: Test modules are named scripts.<agent>.<module>, such as scripts.expense.setup"
DURATION = "Hint: Write it as 500ms, 30s, 1m30s or 2h"
S = ("-i", "scripts.demo.setup")

REFUSED = {
    "unknown agent": (
        ("-i", "scripts.other.setup"),
        "Error: Cannot resolve scripts.other.setup: no agent other (no <app>/assistants/other/package.yao); there are bare, demo",
    ),
    "agent with a typo": (
        ("-i", "scripts.dmeo.setup"),
        "Error: Cannot resolve scripts.dmeo.setup: no agent dmeo (no <app>/assistants/dmeo/package.yao); there are bare, demo\n"
        'Hint: Did you mean "demo"?',
    ),
    "module with a typo": (
        ("-i", "scripts.demo.setpu"),
        "Error: Cannot resolve scripts.demo.setpu: agent demo has no test file <app>/assistants/demo/src/setpu_test.ts\n"
        'Hint: Did you mean "scripts.demo.setup"?',
    ),
    "unknown module": (
        ("-i", "scripts.demo.zzz"),
        "Error: Cannot resolve scripts.demo.zzz: agent demo has no test file <app>/assistants/demo/src/zzz_test.ts\n"
        "Hint: Its test modules are scripts.demo.lower, scripts.demo.none, scripts.demo.setup, scripts.demo.tools",
    ),
    "no agent named": (
        ("-i", "scripts."),
        'Error: Cannot resolve "scripts.": the agent is missing\nHint: Write it as scripts.<agent>.<module>',
    ),
    "agent without tests": (
        ("-i", "scripts.bare"),
        "Error: Agent bare has no tests: there is no *_test.ts below <app>/assistants/bare/src",
    ),
    "glob that matches nothing": (("-i", "scripts.*.zzz"), "Error: No test module matches scripts.*.zzz"),
    "folder without tests": (
        ("-i", "folder"),
        "Error: Nothing to test below <app>/folder: no agent there has a src/**/*_test.ts, or cases in tests/*.jsonl\n"
        "Hint: yao-test init creates an agent with a test and a case",
    ),
    "test file outside src": (
        ("-i", "assistants/demo/tests/stray_test.ts"),
        "Error: Cannot run <app>/assistants/demo/tests/stray_test.ts: "
        "it is not below the src/ folder of an agent (a folder with package.yao)",
    ),
    "a file that is no test": (
        ("-i", "notes.txt"),
        "Error: Cannot find the agent for case file <app>/notes.txt: no folder from <app>/notes.txt upward contains package.yao\n"
        "Hint: Set the agent with -n",
    ),
    "missing case file": (
        ("-i", "folder/cases.jsonl"),
        "Error: Cannot read case file <app>/folder/cases.jsonl: there is no such file",
    ),
    "missing folder of a case file": (
        ("-i", "gone/cases.jsonl"),
        "Error: Cannot read case file <app>/gone/cases.jsonl: there is no such file\n"
        "Hint: There is no folder <app>/gone",
    ),
    "package as a case file": (
        ("-i", "assistants/demo/package.yao"),
        "Error: Cannot use -i assistants/demo/package.yao: it is a file of the application, not a case file\n"
        "Hint: Case files are in the tests/ folders of agents; -i FOLDER runs all tests below a folder",
    ),
    "missing test file": (
        ("-i", "gone_test.ts"),
        "Error: Cannot use -i gone_test.ts: there is no such file or folder\nHint: There are assistants, folder",
    ),
    "place in a test file": (
        ("-n", "demo", "-i", "assistants/demo/src/setup_test.ts:12:5"),
        "Error: Cannot use -i assistants/demo/src/setup_test.ts:12:5: there is no such file or folder\n"
        'Hint: Did you mean "assistants/demo/src/setup_test.ts"?',
    ),
    "test in a file as pytest names it": (
        ("-n", "demo", "-i", "assistants/demo/src/setup_test.ts::TestA"),
        "Error: Cannot use -i assistants/demo/src/setup_test.ts::TestA: there is no such file or folder\n"
        "Hint: Type: yao-test assistants/demo/src/setup_test.ts --run 'TestA'",
    ),
    "application that is no folder": ((*S, "-a", "notes.txt"), "Error: Cannot use --app notes.txt: it is not a folder"),
    "application without agents": (
        (*S, "--app", "folder"),
        "Error: Cannot resolve scripts.demo.setup: there is no folder <app>/folder/assistants\nHint: Pass the application with --app",
    ),
    "unknown flag": (
        (*S, "--verbos"),
        "Error: Unknown flag --verbos\nHint: Did you mean --verbose?",
    ),
    "unknown letter": ((*S, "-z"), f"Error: Unknown flag -z\n{FLAGS_LISTED}"),
    "misspelt command": (
        ("difff", "a.jsonl", "b.jsonl"),
        'Error: Cannot run "difff": no command, agent, file or folder has that name\nHint: Did you mean "diff"?',
    ),
    "unknown word": (
        ("setup",),
        'Error: Cannot run "setup": no command, agent, file or folder has that name\n'
        'Hint: Did you mean "scripts.demo.setup"?',
    ),
    "name of a test": (
        ("TestTotal",),
        'Error: Cannot run "TestTotal": no command, agent, file or folder has that name\n'
        "Hint: Type: yao-test --run TestTotal",
    ),
    "folder without what is above it": (
        ("demo/src",),
        'Error: Cannot run "demo/src": there is no such file or folder\nHint: Did you mean "assistants/demo/src"?',
    ),
    "message without quotes": (
        ("demo", "Taxi", "38", "euros", "-v"),
        "Error: Cannot run demo Taxi 38 euros: quote messages that contain spaces\nHint: Type: yao-test demo 'Taxi 38 euros' -v",
    ),
    "unknown word behind flags": (
        (*S, "xyzzy"),
        'Error: Cannot run "xyzzy": no command, agent, file or folder has that name\n'
        "Hint: Pass a file, a folder, an agent or scripts.<agent>.<module>; yao-test --help lists the commands",
    ),
    "flag without its value": ((*S, "--timeout"), "Error: --timeout needs a value\nHint: Type: --timeout DURATION"),
    "input without its value": (("-i",), "Error: -i needs a value\nHint: Type: -i TESTS"),
    "switch with a value": ((*S, "--quiet=yes"), "Error: --quiet takes no value\nHint: Type: --quiet, or leave it out"),
    "quiet and verbose": ((*S, "-q", "-v"), "Error: --quiet and --verbose cannot be used together"),
    "reporter agent that is unknown": (
        (*S, "-r", "my.reporter", "-o", "out.html"),
        'Error: Cannot find agent "my.reporter": there is no <app>/assistants/my/reporter/package.yao\n'
        "Hint: There are bare, demo, workers.test.generator, workers.test.user-simulator, workers.test.validator",
    ),
    "timeout that is no duration": (
        (*S, "--timeout", "abc"),
        f'Error: Cannot read --timeout "abc": not a duration\n{DURATION}',
    ),
    "timeout without a unit": (
        (*S, "--timeout=30"),
        'Error: Cannot read --timeout "30": not a duration\nHint: Write it as 30s or 30ms',
    ),
    "timeout below nothing": ((*S, "--timeout=-5s"), f'Error: Cannot read --timeout "-5s": not a duration\n{DURATION}'),
    "timeout of nothing": ((*S, "--timeout", "0s"), 'Error: Cannot use --timeout "0s": it must be longer than 0'),
    "no workers": (
        (*S, "--parallel", "0"),
        'Error: Cannot read --parallel "0": it must be a whole number of at least 1',
    ),
    "half a worker": (
        (*S, "--parallel", "1.5"),
        'Error: Cannot read --parallel "1.5": it must be a whole number of at least 1',
    ),
    "a word of workers": (
        (*S, "--parallel", "many"),
        'Error: Cannot read --parallel "many": it must be a whole number of at least 1',
    ),
    "unclosed group in --run": (
        (*S, "--run", "Test(A"),
        'Error: Cannot read --run "Test(A": Cannot use pattern `Test(A`: missing `)` for the group at position 4\n'
        "Hint: It is a Go (RE2) regular expression",
    ),
    "look-ahead in --run": (
        (*S, "--run", "Test(?=A)"),
        'Error: Cannot read --run "Test(?=A)": Cannot use pattern `Test(?=A)`: look-ahead `(?=` is not supported at position 4\n'
        "Hint: It is a Go (RE2) regular expression",
    ),
    "doubled star in --run": (
        (*S, "--run", "a**"),
        'Error: Cannot read --run "a**": Cannot use pattern `a**`: a nested repetition `**` is not supported at position 1\n'
        "Hint: It is a Go (RE2) regular expression",
    ),
    "invalid subtest pattern in --run": (
        (*S, "--run", "TestA/[b"),
        'Error: Cannot read --run "[b": Cannot use pattern `[b`: missing `]` for the character class at position 0\n'
        "Hint: It is a Go (RE2) regular expression",
    ),
    "report format that is unknown": (
        (*S, "-o", "out.pdf"),
        'Error: Cannot write a report to <app>/out.pdf: unknown extension ".pdf"\n'
        f"Hint: The extensions are {', '.join(EXTENSIONS)}",
    ),
    "report format with a typo": (
        (*S, "-o", "out.jsnl"),
        'Error: Cannot write a report to <app>/out.jsnl: unknown extension ".jsnl"\nHint: Did you mean ".jsonl"?',
    ),
    "report path without extension": (
        (*S, "-o", "out"),
        'Error: Cannot write a report to <app>/out: unknown extension ""\n'
        f"Hint: The extensions are {', '.join(EXTENSIONS)}",
    ),
    "report below a file": (
        (*S, "-o", "notes.txt/out.json"),
        "Error: Cannot write a report to <app>/notes.txt/out.json: <app>/notes.txt is not a folder",
    ),
    "report where nothing can be made": (
        (*S, "-o", "/proc/none/out.json"),
        "Error: Cannot write a report to /proc/none/out.json: No such file or directory",
    ),
    "report reporter that is unknown": (
        (*S, "-o", "out.json", "-r", "report.jsn"),
        'Error: Cannot use --reporter "report.jsn": there is no such reporter\nHint: Did you mean "report.json"?',
    ),
}


@each(("arguments", "error"), REFUSED.values(), ids=REFUSED)
def test_a_mistake_on_the_command_line_is_said_and_nothing_runs(
    small: Application, arguments: tuple[str, ...], error: str
) -> None:
    run = small.run(*arguments)
    assert run.stderr.splitlines() == error.splitlines()
    assert run.stdout == ""
    assert run.code == 2


def test_outside_of_any_application_the_error_says_where_it_looked(small: Application) -> None:
    run = small.run("-i", "scripts.demo.setup", directory="../home")
    assert run.stderr == (
        "Error: Cannot find the application: no folder from <home> upward contains app.yao or assistants/\nHint: Pass it with --app\n"
    )
    assert run.code == 2


def test_a_report_that_cannot_be_written_is_said_before_any_test_runs(app: MakeApplication) -> None:
    here = app(
        {
            "/data/.keep": "",
            "setup_test.ts": 'export function TestA(t) { Process("fs.data.WriteFile", "ran", "yes"); }\n',
        }
    )
    run = here.run(*S, "-o", "/proc/none/out.json")
    assert run.code == 2
    assert not (here.root / "data/ran").exists()
    assert here.run(*S).code == 0
    assert (here.root / "data/ran").exists()


def test_a_refused_run_leaves_no_report_behind(small: Application) -> None:
    run = small.run(*S, "-o", "first.json", "-o", "second.pdf")
    assert run.code == 2
    assert not (small.root / "first.json").exists()


CONTEXTS = {
    "missing": (None, "Error: Cannot read context file <app>/ctx.json: there is no such file"),
    "no JSON": (
        '{"locale": "en-us",\n "metadata": {]}',
        "Error: Cannot read context file <app>/ctx.json:2:15: Expecting property name enclosed in double quotes\n"
        "Hint: It must be JSON; comments and trailing commas are fine",
    ),
    "empty": (
        "",
        "Error: Cannot read context file <app>/ctx.json:1:1: Expecting value\nHint: It must be JSON; comments and trailing commas are fine",
    ),
    "nested too deeply": (
        '{"metadata": ' + "[" * 100_000,
        "Error: Cannot read context file <app>/ctx.json: it is nested too deeply",
    ),
    "no text": (b"\xff\xfe\x00", "Error: Cannot read context file <app>/ctx.json: it is not UTF-8 text"),
    "no number": (
        '{"metadata": {"of": "NaN",\n "x": NaN}}',
        "Error: Cannot read context file <app>/ctx.json:2:7: NaN is not a JSON value\nHint: It can be a string",
    ),
    "infinite": (
        '{"metadata": {"x": -1e999}}',
        "Error: Cannot read context file <app>/ctx.json:1:20: -1e999 is too large for a number\nHint: It can be a string",
    ),
    "many digits": (
        f'{{"metadata": {{"x": {"9" * 5000}}}}}',
        f"Error: Cannot read context file <app>/ctx.json:1:20: {'9' * 40}... is too large for a number\n"
        "Hint: It can be a string",
    ),
    "a list": ("[]", "Error: Cannot use context file <app>/ctx.json: it must contain an object"),
    "unknown keys": (
        '{"locale": "de", "metadta": {}, "color": 1}',
        'Error: Cannot use context file <app>/ctx.json: unknown keys "metadta", "color"\nHint: Did you mean "metadata"?',
    ),
    "unknown key in a block": (
        '{"authorized": {"userid": "u"}}',
        'Error: Cannot use context file <app>/ctx.json: unknown key "authorized.userid"\nHint: Did you mean "user_id"?',
    ),
    "unknown key in the client": (
        '{"client": {"zzz": "u"}}',
        'Error: Cannot use context file <app>/ctx.json: unknown key "client.zzz"\nHint: The keys are type, user_agent, ip',
    ),
    "unknown constraint": (
        '{"authorized": {"constraints": {"team": true}}}',
        'Error: Cannot use context file <app>/ctx.json: unknown key "authorized.constraints.team"\nHint: Did you mean "team_only"?',
    ),
    "block of the wrong kind": (
        '{"authorized": "me"}',
        "Error: Cannot use context file <app>/ctx.json: authorized must be an object",
    ),
    "metadata of the wrong kind": (
        '{"metadata": [1]}',
        "Error: Cannot use context file <app>/ctx.json: metadata must be an object",
    ),
    "id of the wrong kind": (
        '{"authorized": {"user_id": 42}}',
        "Error: Cannot use context file <app>/ctx.json: authorized.user_id must be a string",
    ),
    "id that is null": (
        '{"authorized": {"team_id": null}}',
        "Error: Cannot use context file <app>/ctx.json: authorized.team_id must be a string",
    ),
    "constraint of the wrong kind": (
        '{"authorized": {"constraints": {"owner_only": "no"}}}',
        "Error: Cannot use context file <app>/ctx.json: authorized.constraints.owner_only must be true or false",
    ),
    "client of the wrong kind": (
        '{"client": {"ip": ["127.0.0.1"]}}',
        "Error: Cannot use context file <app>/ctx.json: client.ip must be a string",
    ),
    "text of the wrong kind": (
        '{"locale": 7}',
        "Error: Cannot use context file <app>/ctx.json: locale must be a string",
    ),
}


@pytest.mark.parametrize(("content", "error"), CONTEXTS.values(), ids=CONTEXTS)
def test_a_context_file_that_cannot_be_used_is_said_with_its_position(
    app: MakeApplication, content: str | bytes | None, error: str
) -> None:
    here = app({"setup_test.ts": PASSING, **({} if content is None else {"/ctx.json": content})})
    run = here.run(*S, "--ctx", "ctx.json")
    assert run.stderr.splitlines() == error.splitlines()
    assert run.stdout == ""
    assert run.code == 2


def test_a_missing_file_is_refused_with_those_that_are_there(app: MakeApplication) -> None:
    cases = "/assistants/demo/tests/"
    files = {"setup_test.ts": PASSING, "/context.json": "{}", f"{cases}talks.jsonl": "", f"{cases}a.yaml": ""}
    here = app({**files, f"{cases}output-20260101000000.jsonl": "", f"{cases}notes.md": ""})

    for words, hint in [
        ((*S, "--ctx", "contxt.json"), 'Did you mean "context.json"?'),
        ((*S, "--ctx", "zzzzzzzzzzz"), "There is context.json"),
        (("-i", "assistants/demo/tests/talk.jsonl"), 'Did you mean "assistants/demo/tests/talks.jsonl"?'),
        (("-i", "assistants/demo/tests/nothing-like-it.yml"), "There are a.yaml, talks.jsonl"),
    ]:
        run = here.run(*words)
        assert (run.code, run.stderr.splitlines()[1:]) == (2, [f"Hint: {hint}"])


def test_a_context_file_may_hold_comments_and_trailing_commas(app: MakeApplication) -> None:
    context = '{\n  // who\n  "authorized": {"user_id": "ann", /* team */ "team_id": "ops",},\n  "metadata": {"url": "http://x/,}"},\n}\n'
    code = """
        export function TestContext(t, ctx) {
          t.assert.Equal([ctx.User.ID, ctx.Team.ID, ctx.Metadata.url], ["ann", "ops", "http://x/,}"]);
        }
    """
    here = app({"setup_test.ts": code, "/ctx.json": context})
    assert here.run(*S, "--ctx", "ctx.json", "-u", "flag", "-t", "flag").code == 0


def test_comments_of_any_length_are_read_at_once(app: MakeApplication) -> None:
    comments = "/" * 200 + "\n" + "/* a */ // b\n" * 100
    here = app({"setup_test.ts": PASSING, "/ctx.json": f'{{"locale": "de",\n{comments}"theme": "x"}}'})
    assert here.run(*S, "--ctx", "ctx.json").code == 0


def test_a_module_without_tests_is_a_configuration_error(small: Application) -> None:
    run = small.run("-i", "scripts.demo.none")
    assert "  no tests to run in scripts.demo.none: the module has no Test* functions" in run.stdout.splitlines()
    assert (
        run.stderr
        == "Error: No tests to run\nHint: Tests are functions in *_test.ts files whose names start with Test\n"
    )
    assert run.code == 2


def test_the_name_of_a_test_starts_with_a_capital_letter(small: Application) -> None:
    assert small.run("-i", "scripts.demo.lower").code == 2


def test_a_module_without_tests_beside_others_is_named_and_does_no_harm(small: Application) -> None:
    run = small.run("-i", "scripts.demo.none", "-i", "scripts.demo.setup")
    assert run.stdout.splitlines()[0] == "○ scripts.demo.none  no tests"
    assert (run.stderr, run.code) == ("", 0)


def test_a_filter_that_leaves_nothing_is_an_error(small: Application) -> None:
    run = small.run(*S, "--run", "TestZzz")
    error, hint = run.stderr.splitlines()
    assert error == "Error: No test or case matches --run TestZzz"
    assert hint.startswith("Hint: ") and "There are: Test" in hint
    assert (run.code, run.stdout) == (2, "")


def test_a_filter_on_a_module_without_tests_is_still_an_error(small: Application) -> None:
    assert small.run("-i", "scripts.demo.none", "--run", "TestZzz").code == 2
