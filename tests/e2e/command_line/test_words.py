"""Words of a command line that are no flags: paths, agents, messages, verbs, and what is near to one that names
nothing. Then the help."""

from __future__ import annotations

import pytest
from command import Application, MakeApplication
from table_tests import each

AGENT = {
    "package.yao": '{"connector": "scripted"}',
    "prompts.yml": "- {role: system, content: Hi}\n",
    "replies.yml": "- reply: 'You said {{ input }}'\n",
}
TEST = "export function TestOne(t) {}\n"


@pytest.fixture(scope="module")
def here(shared_app: MakeApplication) -> Application:
    agents = ("desk", "shops.bakery", "test", "store")
    files = {f"/assistants/{id.replace('.', '/')}/{name}": text for id in agents for name, text in AGENT.items()}
    return shared_app(
        {
            **files,
            "/assistants/desk/src/index_test.ts": TEST,
            "/assistants/desk/tests/orders.yaml": "- {id: bread, input: bread}\n",
            "/assistants/shops/bakery/src/price_test.ts": TEST,
            "/assistants/test/src/of_test_test.ts": TEST,
            "/assistants/store/src/of_store_test.ts": TEST,
            "/store/notes.txt": "a folder with the name of a command",
        }
    )


INDEX, ORDERS, PRICE = "scripts.desk.index", "assistants/desk/tests/orders.yaml", "scripts.shops.bakery.price"
RUN = {
    "a folder": ("assistants/desk", {INDEX, ORDERS}),
    "a folder of folders, as Go writes it": ("./assistants/shops/...", {PRICE}),
    "a case file": ("assistants/desk/tests/orders.yaml", {ORDERS}),
    "a test file behind a flag": ("-v assistants/desk/src/index_test.ts", {INDEX}),
    "a test file before a flag": ("assistants/desk/src/index_test.ts -v", {INDEX}),
    "a module": ("scripts.desk.index", {INDEX}),
    "a module and a folder": ("scripts.desk.index assistants/shops", {INDEX, PRICE}),
    "words and -i": ("scripts.desk.index -i scripts.shops.bakery.price", {INDEX, PRICE}),
    "an agent": ("desk", {INDEX, ORDERS}),
    "an agent in a folder": ("-v shops.bakery", {PRICE}),
    "an agent with its folder": ("assistants.shops.bakery", {PRICE}),
    "three agents": ("shops.bakery desk shops.bakery", {INDEX, ORDERS, PRICE}),
    "an agent and a file": ("desk assistants/desk/tests/orders.yaml", {ORDERS}),
    "run": ("run scripts.desk.index", {INDEX}),
    "a verb behind flags": ("-v test assistants/desk", {INDEX, ORDERS}),
    "eval": ("eval desk", {INDEX, ORDERS}),
    "watch, without a terminal": ("watch scripts.desk.index", {INDEX}),
    "an agent with the name of a verb": ("-n test", {"scripts.test.of_test"}),
    "a path with the name of a verb": ("./assistants/test", {"scripts.test.of_test"}),
    "the same behind a verb": ("run test", {"scripts.test.of_test"}),
    "an agent with the name of a command": ("run store", {"scripts.store.of_store"}),
    "behind a flag that may have a value": ("--shuffle scripts.desk.index", {INDEX}),
    "behind a flag that has one": ("--shuffle 7 scripts.desk.index", {INDEX}),
    "behind letters of flags": ("-vn desk scripts.desk.index", {INDEX}),
    "behind two dashes": ("-v -- assistants/shops", {PRICE}),
}


@each(("line", "tested"), RUN.values(), ids=RUN)
def test_words_are_what_the_flag_would_be(here: Application, line: str, tested: set[str]) -> None:
    run = here.run(*(["--dry-run"] if "watch" not in line else []), *line.split(" "))
    every = {INDEX, ORDERS, PRICE, "scripts.test.of_test", "scripts.store.of_store"}

    assert run.code == 0, run
    assert {one for one in every if one in run.stdout} == tested


ASKED = {
    "an agent": ("desk", "Hello you"),
    "its folder": ("assistants/desk", "Hello you"),
    "an agent in a folder": ("shops.bakery", "Hello"),
    "one word that is the name of an agent": ("desk", "shops.bakery"),
    "behind a verb and flags": ("-v", "run", "-u", "eva", "desk", "Hello you"),
    "an agent that a flag names": ("-n", "desk", "Hello"),
}


@each("words", ASKED.values(), ids=ASKED)
def test_an_agent_and_a_text_ask_it(here: Application, words: tuple[str, ...]) -> None:
    run = here.run(*words, "-v") if "-v" not in words else here.run(*words)

    assert (run.code, f"You said {words[-1]}" in run.stdout) == (0, True), run


def test_a_command_wins_over_an_agent_and_a_folder_of_its_name(here: Application) -> None:
    assert "Usage: yao-test store " in here.run("store", "--help").stdout
    assert here.run("--no-color", "help", "diff").stdout.startswith("Usage: yao-test diff ")


NEAR = {
    "a folder": ("assistants/dsek", "assistants/desk"),
    "several parts": ("asistants/desk/test/order.yml", "assistants/desk/tests/orders.yaml"),
    "upper case": ("ASSISTANTS/Desk", "assistants/desk"),
    "a path from another folder": ("desk/tests/orders.yaml", "assistants/desk/tests/orders.yaml"),
    "a place in a file": ("assistants/desk/src/index_test.ts:1:17", "assistants/desk/src/index_test.ts"),
    "an agent": ("dsek", "desk"),
    "an agent and a message": ("dsek|Hello", "desk"),
    "a verb": ("wacth", "watch"),
    "a command": ("histroy", "history"),
    "the last part of a module": ("price", PRICE),
    "a path after -i": ("-i|assistants/dsek", "assistants/desk"),
    "a case file after -i": ("-i|assistants/desk/tests/oders.yaml", "assistants/desk/tests/orders.yaml"),
}


@each(("line", "near"), NEAR.values(), ids=NEAR)
def test_what_is_not_there_names_what_is_near(here: Application, line: str, near: str) -> None:
    run = here.run(*line.split("|"))

    assert (run.code, run.stdout) == (2, "")
    assert run.stderr.splitlines()[1] == f'Hint: Did you mean "{near}"?'


def test_a_test_as_pytest_names_it_becomes_the_line_to_type(here: Application) -> None:
    run = here.run("assistants/desk/src/index_test.ts::TestOne")

    assert run.stderr.splitlines()[1] == "Hint: Type: yao-test assistants/desk/src/index_test.ts --run 'TestOne'"


def test_a_value_that_a_flag_cannot_have_is_told_as_such(here: Application) -> None:
    run = here.run("--shuffle", "much", "scripts.desk.index")

    assert (run.code, run.stderr.splitlines()[0]) == (
        2,
        'Error: Cannot read --shuffle "much": it must be a whole number of at least 1',
    )


@pytest.mark.parametrize("columns", [60, 80, 140])
def test_the_help_has_the_flags_of_every_day_and_fits(here: Application, columns: int) -> None:
    environment = {**here.environment, "COLUMNS": str(columns)}
    text = here.fork("--help", env=environment).stdout
    every = here.fork("--help", "all", env=environment).stdout

    assert len([line for line in text.splitlines() if line.startswith("  -")]) == 10
    assert "--help all" in text and "--judge-samples" not in text
    assert "--judge-samples" in every
    for one in (text, every):
        assert min(columns - 25, 90) < max(map(len, one.splitlines())) <= columns
