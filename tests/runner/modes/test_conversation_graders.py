"""What graders of conversations get, when they are asked, and what happens if they fail."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from agent_files import agent
from case_runs import one_result
from command import PATIENCE, Application, MakeApplication, Record
from model_server import Exchange, ModelServer, Request, body, says, status


class Asked(NamedTuple):
    """One request to a model."""

    model: str
    payload: Any
    """Of a grader: what it is asked about. Of the agent: what the user said last."""

    @property
    def name(self) -> str:
        """`agent: Tea`, `judge: Is polite`."""
        return f"{self.model}: {self.payload['criteria'] if self.model == 'judge' else self.payload}"


def asked(request: Request) -> Asked:
    model, text = request.body["model"], request.last_text
    return Asked(model=model, payload=json.loads(text) if model == "judge" else text)


class Models:
    """A server with a model for the agent and one for its judges."""

    def __init__(self, server: ModelServer) -> None:
        self.server = server
        self.verdicts: dict[str, Any] = {}
        """Criterion → what the judge says, a behaviour or JSON; it passes otherwise."""
        self.before: Callable[[Asked], Any] | None = None
        """Is awaited before a request is answered."""
        server.default = self._answer

    async def _answer(self, exchange: Exchange) -> None:
        request = asked(exchange.request)
        if self.before is not None:
            await self.before(request)
        if request.model == "agent":
            return await says(f"About {request.payload}.")(exchange)
        verdict = self.verdicts.get(request.payload["criteria"], {"passed": True, "reason": "fine"})
        await (verdict if callable(verdict) else says(json.dumps(verdict)))(exchange)

    @property
    def asked(self) -> list[Asked]:
        """All requests, in order."""
        return [asked(request) for request in self.server.requests]

    def payloads(self) -> dict[str, Record]:
        """What judges were asked, by criterion, without the frame around the output."""
        payloads = [request.payload for request in self.asked if request.model == "judge"]
        assert all(payload.pop("output_begins") == payload.pop("output_ends") for payload in payloads)
        return {payload["criteria"]: payload for payload in payloads}

    def application(self, app: MakeApplication) -> Application:
        """An application with both."""
        options = {"host": self.server.url, "key": "k"}
        connectors = {
            f"/connectors/{id}.conn.yao": json.dumps({"type": "openai", "options": {**options, "model": id}})
            for id in ("agent", "judge")
        }
        return app(
            {
                **agent(package={"connector": "agent"}, replies=None),
                **agent("workers.test.validator", package={"connector": "judge"}, replies=None),
                **connectors,
            }
        )


@pytest.fixture
def models() -> Iterator[Models]:
    with ModelServer() as server:
        yield Models(server)


def conversation(*turns: Record, **more: Any) -> Record:
    return {"id": "talk", "mode": "conversation", "turns": list(turns), **more}


def turn(input: str, *assertions: Any, **more: Any) -> Record:
    return {"input": input, "assertions": list(assertions), **more}


def user(text: str) -> Record:
    return {"role": "user", "content": text}


def assistant(text: str) -> Record:
    return {"role": "assistant", "content": text}


SYSTEM = {"role": "system", "content": "Be kind."}


def transcript(*said: str, before: tuple[Record, ...] = ()) -> Record:
    """What graders see when the user has said this, without any tool."""
    messages = [{**message, "turn": 0} for message in before]
    turns = []
    for number, text in enumerate(said, 1):
        messages += [{**user(text), "turn": number}, {**assistant(f"About {text}."), "turn": number}]
        turns.append({"turn": number, "input": text, "output": f"About {text}."})
    return {"messages": messages, "tools": [], "turns": turns}


def test_a_validator_gets_the_answer_the_conversation_and_one_criterion(app: MakeApplication, models: Models) -> None:
    case = conversation(
        turn("One", "A"),
        turn("Two", "B", expected_output="Second"),
        input=[SYSTEM],
        criteria="Counts",
        assertions=["C"],
    )

    one_result(models.application(app), case)

    first = [SYSTEM, user("One")]
    second = [*first, assistant("About One."), user("Two")]
    shared = {"test_id": "talk", "background": "Counts"}
    whole = {**shared, **transcript("One", "Two", before=(SYSTEM,))}
    shared |= transcript("One", before=(SYSTEM,))
    assert models.payloads() == {
        "A": {"output": "About One.", "input": first, "criteria": "A", **shared},
        "B": {"output": "About Two.", "input": second, "criteria": "B", **whole},
        "Means the same as expected_output": {
            "output": "About Two.",
            "input": second,
            "criteria": "Means the same as expected_output",
            "expected_output": "Second",
            **whole,
        },
        "C": {"output": "About Two.", "input": [*second, assistant("About Two.")], "criteria": "C", **whole},
    }


def test_the_expected_output_is_never_said_to_the_agent(app: MakeApplication, models: Models) -> None:
    one_result(models.application(app), conversation(turn("One", expected_output="Secret"), turn("Two")))

    to_agent = [request.body["messages"] for request in models.server.requests if request.body["model"] == "agent"]
    prompt = {"role": "system", "content": "Be brief."}
    assert to_agent == [
        [prompt, user("One")],
        [prompt, user("One"), assistant("About One."), user("Two")],
    ]


WINDOWS: dict[str, tuple[int | None, list[Record]]] = {
    "all": (None, [SYSTEM, user("Zero"), user("One"), assistant("About One."), user("Two"), assistant("About Two.")]),
    "more than there are": (
        9,
        [SYSTEM, user("Zero"), user("One"), assistant("About One."), user("Two"), assistant("About Two.")],
    ),
    "two": (2, [SYSTEM, user("Two"), assistant("About Two.")]),
    "one": (1, [SYSTEM]),
}


@pytest.mark.parametrize(("size", "before"), WINDOWS.values(), ids=WINDOWS)
def test_a_window_bounds_what_graders_of_a_turn_see(
    app: MakeApplication, models: Models, size: int | None, before: list[Record]
) -> None:
    case = conversation(
        turn("One"), turn("Two"), turn("Three", "A"), input=[SYSTEM, user("Zero")], window_size=size, assertions=["All"]
    )

    _, result = one_result(models.application(app), case)

    assert models.payloads()["A"]["input"] == [*before, user("Three")]
    assert models.payloads()["All"]["input"] == list(result.transcript)
    seen = [(message["role"], message["content"]) for message in models.payloads()["A"]["messages"]]
    said = [*before, user("Three"), assistant("About Three.")]
    assert seen == [(message["role"], message["content"]) for message in said]
    assert len(models.payloads()["A"]["turns"]) == min(size or 3, 3)
    assert [message["turn"] for message in models.payloads()["All"]["messages"]] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert len(result.transcript) == 8


def test_graders_see_that_there_was_a_file_and_not_its_content(app: MakeApplication, models: Models) -> None:
    files = models.application(app)
    files.write({"/photo.png": b"\x89PNG"})
    case = conversation(turn("Look", "A", attachments=[{"type": "image", "source": "file://photo.png"}]))

    one_result(files, case)

    said = [{"role": "user", "content": [{"type": "text", "text": "Look"}, {"type": "image_url"}]}]
    assert models.payloads()["A"]["input"] == said


def test_a_rubric_may_say_more_to_its_validator(app: MakeApplication, models: Models) -> None:
    rubric = {"type": "rubrics", "criteria": ["A"], "options": {"metadata": {"tone": "formal"}}}

    one_result(models.application(app), conversation(turn("One", rubric)))

    assert models.payloads()["A"] == {
        "output": "About One.",
        "input": [user("One")],
        "criteria": "A",
        "test_id": "talk",
        "tone": "formal",
        **transcript("One"),
    }


def test_a_case_may_name_another_grader(app: MakeApplication, models: Models) -> None:
    files = models.application(app)
    files.write(agent("strict", replies="- reply: { json: { passed: false, reason: never } }"))

    _, case = one_result(files, conversation(turn("One", "A"), grader="agents:strict"))

    assert [item.reason for item in case.scores[0].assertions] == ["never"]


SCORES: dict[str, tuple[Any, float, bool]] = {
    "passed": ({"passed": True}, 1, True),
    "not passed": ({"passed": False}, 0, False),
    "a score": ({"passed": True, "score": 0.9}, 0.9, True),
    "a score below": ({"passed": False, "score": 0.4}, 0.4, False),
    "a score that is no share": ({"passed": False, "score": 7}, 0, False),
    "a no with a full score": ({"passed": False, "score": 1}, 0, False),
    "a no with a score that reaches the threshold": ({"passed": False, "score": 0.8}, 0, False),
}


@pytest.mark.parametrize(("verdict", "score", "passed"), SCORES.values(), ids=SCORES)
def test_the_score_of_a_judge_counts(
    app: MakeApplication, models: Models, verdict: Record, score: float, passed: bool
) -> None:
    models.verdicts["A"] = verdict

    _, case = one_result(models.application(app), conversation(turn("One", "A")))

    ((item,),) = [entry.assertions for entry in case.scores]
    assert (item.score, item.passed, case.score) == (score, passed, score)


def test_a_no_whose_score_reaches_the_threshold_fails_the_case(app: MakeApplication, models: Models) -> None:
    models.verdicts["A"] = {"passed": False, "reason": "too short", "score": 1}
    asks = {"type": "agent", "use": "agents:workers.test.validator", "value": "A"}

    result, case = one_result(models.application(app), conversation(turn("One", "A"), turn("Two", asks)))

    said = "too short (the verdict is no, so the score 1 does not count)"
    assert [(item.score, item.reason) for entry in case.scores for item in entry.assertions] == [
        (0, said),
        (0, f'Expected the output to meet "A", but workers.test.validator says: {said}'),
    ]
    assert [failure.cause for failure in result.outcome.failures] == ["assertion"]


def test_the_score_of_an_agent_assertion_counts_unless_it_is_negated(app: MakeApplication, models: Models) -> None:
    models.verdicts["A"] = {"passed": False, "score": 0.4}
    asks = {"type": "agent", "use": "agents:workers.test.validator", "value": "A"}

    _, case = one_result(
        models.application(app), conversation(turn("One", asks), turn("Two", {**asks, "negate": True}))
    )

    assert [[(item.text, item.score) for item in entry.assertions] for entry in case.scores] == [
        [('agent "A"', 0.4)],
        [('not agent "A"', 1)],
    ]


BROKEN: dict[str, tuple[Any, str]] = {
    "down": (status(400, "no such model"), "judge ({host}) answered 400: no such model"),
    "no verdict": (
        says("I would say so."),
        'validator workers.test.validator did not return a verdict: "I would say so.". It must return {"passed": '
        'true or false, "reason": "..."}',
    ),
    "no JSON": (body(200, "<html>"), "judge ({host}) returned invalid JSON: <html>"),
}


@pytest.mark.parametrize(("behaviour", "why"), BROKEN.values(), ids=BROKEN)
def test_a_criterion_that_cannot_be_graded_fails_the_case(
    app: MakeApplication, models: Models, behaviour: Any, why: str
) -> None:
    models.verdicts["B"] = behaviour

    result, case = one_result(
        models.application(app), conversation(turn("One", "A", "B", "C", "D", "E"), turn("Two", "F"))
    )

    errors = {item.text: (item.passed, item.score, item.error) for item in case.scores[0].assertions}
    assert errors == {"B": (False, 0, True), **dict.fromkeys("ACDE", (True, 1, False))}
    assert (case.score, case.scores[0].verdict) == (pytest.approx(0.9), "pass")
    (failure,) = result.outcome.failures
    host = models.server.url.removeprefix("http://")
    assert failure.cause == "infrastructure"
    assert failure.message.startswith('turn-1: cannot grade "B": ' + why.replace("{host}", host))


def test_a_missing_grader_fails_the_case(app: MakeApplication, models: Models) -> None:
    result, _ = one_result(models.application(app), conversation(turn("One", "A"), grader="nobody"))

    assert [failure.cause for failure in result.outcome.failures] == ["error", "assertion"]
    assert "nobody" in result.outcome.failures[0].message


def test_graders_of_a_turn_are_asked_together_and_while_the_next_turn_is_asked(
    app: MakeApplication, models: Models
) -> None:
    seen: set[str] = set()
    changed = asyncio.Event()

    async def until(names: set[str]) -> None:
        while not names <= seen:
            changed.clear()
            await asyncio.wait_for(changed.wait(), PATIENCE)

    async def before(request: Asked) -> None:
        seen.add(request.name)
        changed.set()
        if request.model == "judge" and request.payload["criteria"] in "ABC":
            await until({"judge: A", "judge: B", "judge: C", "agent: Two"})
        if request.model == "judge" and request.payload["criteria"] in "DE":
            await until({"judge: D", "judge: E"})

    models.before = before
    case = conversation(turn("One", "A", "B", "C"), turn("Two", "D"), assertions=["E"])

    result, _ = one_result(models.application(app), case)

    assert result.outcome.status == "passed", result.outcome.failures


def test_what_graders_ask_models_counts_for_the_case_and_for_no_turn(app: MakeApplication, models: Models) -> None:
    one_call = 11 + 7
    within = {"type": "tokens", "value": one_call}
    case = conversation(
        turn("One", "A", "B", within), turn("Two", "C", within), assertions=[{**within, "value": 2 * one_call}]
    )

    result, found = one_result(models.application(app), case)

    assert (result.outcome.status, found.model_calls, found.input_tokens) == ("passed", 5, 5 * 11)


def test_the_validator_uses_the_model_of_the_agent_when_it_has_none(app: MakeApplication, models: Models) -> None:
    files = models.application(app)
    files.write({"/assistants/workers/test/validator/package.yao": "{}"})
    models.server.default = says('{"passed": true}')

    result, _ = one_result(files, conversation(turn("One", "A")))

    assert result.outcome.status == "passed"
    assert [request.body["model"] for request in models.server.requests] == ["agent", "agent"]
