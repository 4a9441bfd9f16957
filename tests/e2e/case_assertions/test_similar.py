"""`similar`: by embeddings of the connector that the assertion, a flag or the agent's connector names, else by n-grams."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from agent_files import agent, case_file, run_cases
from command import Application, MakeApplication, Record
from model_server import Behaviour, Exchange, ModelServer, says, status

TRIP = "The trip costs 38 francs."
NGRAMS = "character n-grams (no model)"


def similar(value: Any = TRIP, **more: Any) -> Record:
    return {"type": "similar", "value": value, **more}


def offline(app: MakeApplication, reply: str, **assertion: Any) -> Record:
    cases = [{"id": "a", "input": "x", "assert": similar(**assertion)}]
    result = run_cases(app(agent(replies=json.dumps([{"reply": reply}], ensure_ascii=False), cases=cases)))["a"]
    [check] = result["assertions"]
    return {**check, "status": result["status"]}


SIMILARITIES: list[tuple[str, Any, float, str]] = [
    (TRIP, TRIP, 1, "passed"),
    ("the  TRIP\ncosts 38 francs.", TRIP, 1, "passed"),
    ("Ｔｈｅ ｔｒｉｐ costs 38 francs.", TRIP, 1, "passed"),
    ("une cafe\u0301", "UNE CAF\u00c9", 1, "passed"),
    ("我们明天去苏黎世", "我们明天去苏黎世", 1, "passed"),
    ("🎉🎉", "🎉🎉", 1, "passed"),
    ("a", "a", 1, "passed"),
    ("The trip costs 39 francs.", TRIP, 1, "failed"),
    ("Cats sleep all day", TRIP, 0.5, "failed"),
    ("", "x", 0.1, "failed"),
    (" \n", "x", 0.1, "failed"),
    ("", "x", 0, "passed"),
    (TRIP, ["Cats", TRIP], 1, "passed"),
    ('{"cost": "38 francs"}', '{"cost": "38 francs"}', 1, "passed"),
]


@pytest.mark.parametrize(("reply", "value", "threshold", "verdict"), SIMILARITIES)
def test_without_a_connector_n_grams_measure_and_say_so(
    app: MakeApplication, reply: str, value: Any, threshold: float, verdict: str
) -> None:
    check = offline(app, reply, value=value, threshold=threshold)
    assert (check["status"], check["measured_by"]) == (verdict, NGRAMS)
    assert (check["similarity"] >= threshold) is (verdict == "passed")
    assert f"by {NGRAMS}" in check["message"]


def test_the_threshold_is_the_least_similarity_that_holds(app: MakeApplication) -> None:
    found = offline(app, "The trip costs 39 francs.")["similarity"]
    assert 0.75 < found < 1
    assert offline(app, "The trip costs 39 francs.", threshold=found)["status"] == "passed"
    failed = offline(app, "The trip costs 39 francs.", threshold=round(found + 0.0001, 4))
    assert failed["status"] == "failed"
    assert failed["message"] == (
        f'Expected the output to be at least {found + 0.0001:g} similar to "{TRIP}", found {found:g} by {NGRAMS}: '
        '"The trip costs 39 francs."'
    )


def test_its_negation_holds_below_the_threshold(app: MakeApplication) -> None:
    assert offline(app, "Cats sleep all day", negate=True)["status"] == "passed"
    failed = offline(app, TRIP, negate=True)
    assert failed["status"] == "failed" and "Expected the output not to be at least" in failed["message"]


def test_data_is_compared_as_its_json(app: MakeApplication) -> None:
    hook = "export function Next() { return { data: { cost: 38, of: ['trip'] } }; }"
    cases = [{"id": "a", "input": "x", "assert": similar('{"cost":38,"of":["trip"]}', threshold=1)}]
    assert run_cases(app(agent(hooks=hook, cases=cases)), code=0)["a"]["assertions"][0]["similarity"] == 1


def test_it_counts_as_a_criterion_by_its_own_threshold(app: MakeApplication) -> None:
    turn = {"input": "x", "assertions": [similar("The trip costs 39 francs", threshold=0.6)]}
    cases = [{"id": "talk", "mode": "conversation", "turns": [turn]}]
    result = run_cases(app(agent(replies=json.dumps([{"reply": TRIP}]), cases=cases)), code=0)["talk"]
    [criterion] = result["scores"][0]["assertions"]
    assert (result["score"], criterion["score"], criterion["measured_by"]) == (1, 1, NGRAMS)
    assert criterion["similarity"] < 0.9


WRONG: dict[str, tuple[Record, str]] = {
    "number": (similar(5), '"similar" needs a "value" that is a non-empty string or a list of them'),
    "empty": (similar(" "), '"similar" needs a "value" that is a non-empty string'),
    "no value": ({"type": "similar"}, '"similar" needs a "value" that is a non-empty string'),
    "no texts": (similar([]), '"similar" needs a "value" that is a non-empty string'),
    "mixed": (similar(["a", 3]), '"similar" needs a "value" that is a non-empty string'),
    "text": (similar(threshold="high"), '"assert.threshold" must be a number, not a string'),
    "too much": (similar(threshold=1.5), '"assert.threshold" must be at most 1, not 1.5'),
    "metadata": (similar(options={"metadata": {"a": 1}}), '"similar" accepts only "connector" in "options"'),
    "nobody": (similar(options={"connector": "nobody"}), 'Cannot find connector "nobody"'),
    "other type": (similar(options={"connector": "claude"}), "connectors of type anthropic have none"),
    "elsewhere": ({"type": "contains", "value": "a", "threshold": 1}, '"contains" does not accept "threshold"'),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_field_is_an_error_of_the_case_file(app: MakeApplication, what: str) -> None:
    assertion, said = WRONG[what]
    files = agent(cases=[{"id": "a", "input": "x"}, {"id": "b", "input": "x", "assert": assertion}])
    claude = {"type": "anthropic", "options": {"model": "m", "key": "k"}}
    run = app({**files, "/connectors/claude.conn.yao": json.dumps(claude)}).run("-i", case_file())
    assert run.code == 2 and f"{case_file()}:2" in run.stderr and said in run.stderr


def embeddings(*vectors: list[float], tokens: int = 1000) -> Behaviour:
    """Answers with these vectors, the last one first."""

    async def answer(exchange: Exchange) -> None:
        data = [{"object": "embedding", "index": index, "embedding": one} for index, one in enumerate(vectors)]
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        value = {"object": "list", "model": "small-2", "data": data[::-1], "usage": usage}
        await exchange.respond(200, json.dumps(value).encode())

    return answer


CLOSE = embeddings([1.0, 0.0, 0.2], [0.9, 0.1, 0.2])
APART = embeddings([1.0, 0.0], [0.0, 1.0])


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(CLOSE) as running:
        yield running


def online(
    app: MakeApplication, server: ModelServer, *assertions: Record, package: str = "scripted", **chat: Any
) -> Application:
    """An application whose agent answers with `TRIP`, and the connectors `embed` and `chat`."""
    cases = [{"id": "a", "input": "x", "assert": [*assertions]}]
    own = {"type": "openai", "options": {"host": server.url, "key": "k", "retries": 0}}
    files = agent(package={"connector": package}, replies=json.dumps([{"reply": TRIP}]), cases=cases)
    for name, more in (("embed", {"price": {"input": 20}}), ("chat", chat)):
        options = {**own["options"], "model": name, **more}  # type: ignore[dict-item]
        files[f"/connectors/{name}.conn.yao"] = json.dumps({**own, "options": options})
    return app(files)


NAMED: dict[str, tuple[Record, tuple[str, ...], str, str]] = {
    "assertion": (similar(options={"connector": "embed"}), (), "", ""),
    "flag": (similar(), ("--embedding-connector", "embed"), "", ""),
    "configuration": (similar(), (), 'embedding-connector = "embed"\n', ""),
    "configuration of the agent": (similar(), (), '[agent.demo]\nembedding-connector = "embed"\n', ""),
    "the agent's connector": (similar(), (), "", "embed"),
}


@pytest.mark.parametrize("by", NAMED)
def test_embeddings_come_from_the_connector_that_is_named(app: MakeApplication, server: ModelServer, by: str) -> None:
    assertion, flags, configuration, embedding = NAMED[by]
    package, chat = ("chat", {"embedding": embedding}) if embedding else ("scripted", {})
    here = online(app, server, assertion, package=package, **chat)
    here.write({"/yao-test.toml": configuration})
    if embedding:
        server.plan(says(TRIP), CLOSE)
    result = run_cases(here, *flags, code=0)["a"]
    [check] = result["assertions"]
    assert (check["similarity"], check["measured_by"]) == (0.9939, "embed (small-2)")
    asked = server.requests[-1]
    assert (asked.path, asked.body["model"], asked.body["input"]) == ("/v1/embeddings", "embed", [TRIP, TRIP])
    assert result["usage"]["cost"] == 0.02 and result["trace"]["totals"]["embedding"]["input_tokens"] == 1000


def test_the_assertion_goes_before_the_flag_and_a_scripted_connector_before_the_agents(
    app: MakeApplication, server: ModelServer
) -> None:
    here = online(app, server, similar(options={"connector": "scripted"}), package="chat", embedding="embed")
    server.plan(says(TRIP))
    assert run_cases(here, "--embedding-connector", "embed", code=0)["a"]["assertions"][0]["measured_by"] == NGRAMS
    assert run_cases(here, "-c", "scripted", code=0)["a"]["assertions"][0]["measured_by"] == NGRAMS
    assert len(server.requests) == 1


def test_texts_that_point_elsewhere_are_not_similar(app: MakeApplication, server: ModelServer) -> None:
    server.plan(APART)
    [check] = run_cases(online(app, server, similar(options={"connector": "embed"})), code=1)["a"]["assertions"]
    assert check["message"].endswith(f'", found 0 by embed (small-2): "{TRIP}"')


FAULTS: dict[str, tuple[Behaviour, str]] = {
    "an error of the host": (status(500, "down"), "answered 500"),
    "one vector of two": (embeddings([1.0]), "embed returned 1 embeddings for 2 texts"),
    "other lengths": (embeddings([1.0], [1.0, 0.0]), "the embeddings have 1 and 2 numbers"),
    "nothing but zeros": (embeddings([0.0], [1.0]), "an embedding is all zeros"),
    "no vectors": (says("hello"), "the response has no embedding"),
}


@pytest.mark.parametrize("what", FAULTS)
def test_embeddings_that_cannot_be_had_are_nobodys_failure(
    app: MakeApplication, server: ModelServer, what: str
) -> None:
    answer, said = FAULTS[what]
    server.plan(answer)
    result = run_cases(online(app, server, similar(options={"connector": "embed"}, negate=True)), code=1)["a"]
    assert (result["status"], result["cause"]) == ("failed", "infrastructure")
    assert said in result["assertions"][0]["message"]


def test_embeddings_are_recorded_and_replayed(app: MakeApplication, server: ModelServer) -> None:
    here = online(app, server, similar(options={"connector": "embed"}))
    recorded = run_cases(here, "--record", "rec", code=0)["a"]["assertions"]
    replayed = run_cases(here, "--replay", "rec", code=0)["a"]["assertions"]
    assert recorded == replayed and len(server.requests) == 1
    file = here.root / case_file()
    file.write_text(file.read_text().replace(f'"{TRIP}"', '"Something else"'))
    missed = run_cases(here, "--replay", "rec", code=1)["a"]
    assert "agent demo calls embed" in missed["assertions"][0]["message"]
    assert "+input: Something else" in missed["assertions"][0]["message"]


def test_what_was_answered_before_a_case_broke_is_not_asked_again(app: MakeApplication, server: ModelServer) -> None:
    named = {"connector": "embed"}
    here = online(app, server, {"type": "all_of", "value": [similar(options=named), similar("other", options=named)]})
    server.plan(CLOSE, status(500, "down"))
    run_cases(here, "-o", "r.jsonl", code=1)
    server.requests.clear()
    again = here.run("--resume", "r.jsonl")
    assert again.code == 0, again
    assert [request.body["input"] for request in server.requests] == [[TRIP, "other"]]


def test_they_count_for_the_budget(app: MakeApplication, server: ModelServer) -> None:
    here = online(app, server, similar(options={"connector": "embed"}))
    file = here.root / case_file()
    file.write_text(file.read_text() + file.read_text().replace('"a"', '"b"', 1))
    run = here.run("-i", case_file(), "--max-cost", "0.01")
    assert "--max-cost 0.01 is used up" in run.stdout and "1 not run" in run.stdout and len(server.requests) == 1


def test_a_connector_that_cannot_be_used_is_said_before_anything_runs(
    app: MakeApplication, server: ModelServer
) -> None:
    here = online(app, server, similar())
    here.write({"/connectors/claude.conn.yao": '{"type": "anthropic", "options": {"model": "m", "key": "k"}}'})
    for name, said in (
        ("nobody", 'Cannot find connector "nobody"'),
        ("claude", "connectors of type anthropic have none"),
    ):
        run = here.run("-i", case_file(), "--embedding-connector", name)
        assert run.code == 2 and said in run.stderr
