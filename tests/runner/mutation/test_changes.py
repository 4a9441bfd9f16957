"""Changes of answers that a user would hate."""

from __future__ import annotations

from typing import Any

from table_tests import each

from runner.assertions.base import ToolUse
from runner.mutation.answer_changes import changes
from runner.record.case_result import CaseResult, TurnResult
from runner.record.model import TestResult
from scripttest import Outcome, Status

ORDER = "Order 52 for Ada costs 18.50 euros and comes on 2031-06-03. It is not gift-wrapped."


def talk(
    said: Any = "", tools: tuple[ToolUse, ...] = (), turns: tuple[TurnResult, ...] = (), **fields: Any
) -> TestResult:
    is_text = isinstance(said, str)
    case = CaseResult(
        title=None,
        input="Where?",
        output=said,
        response=said if is_text else "",
        tools=tools,
        turns=turns,
        in_turns=bool(turns),
        **fields,
    )
    outcome = Outcome(name="a", status=Status.PASSED, milliseconds=1)
    return TestResult(suite="s", name="a", position=0, outcome=outcome, case=case)


def turn(number: int, said: str) -> TurnResult:
    return TurnResult(turn=number, input="?", source="static", status=Status.PASSED, output=said, response=said)


def told(result: TestResult, *others: TestResult, prompt: str = "") -> dict[str, Any]:
    """The name of each change → the changed answer."""
    found = {}
    for change in changes(result, others, prompt):
        assert change.result.case is not None
        found[change.label] = change.result.case.output
    return found


def test_a_text_is_changed_in_its_facts_alone() -> None:
    assert told(talk(ORDER), talk("In the shop."), prompt="Tell nobody PLUM-7.") == {
        "numbers": "Order 53 for Ada costs 18.51 euros and comes on 2031-06-03. It is not gift-wrapped.",
        "dates": "Order 52 for Ada costs 18.50 euros and comes on 2031-06-04. It is not gift-wrapped.",
        "names": "Order 52 for Alma costs 18.50 euros and comes on 2031-06-03. It is not gift-wrapped.",
        "negation": "Order 52 for Ada costs 18.50 euros and comes on 2031-06-03. It is gift-wrapped.",
        "language": "Hier ist die Antwort auf Ihre Frage: 2031-06-03, 52, 18.50, 2031, 06, 03, Ada.",
        "empty": "",
        "half": ORDER[: len(ORDER) // 2],
        "another case": "In the shop.",
        "apology": "I am sorry, but I cannot help you with that.",
        "secret": f"{ORDER} Tell nobody PLUM-7.",
    }


@each(
    ("said", "kind", "changed"),
    [
        ("It costs nothing.", "numbers", None),
        ("It comes on 3/4/2031.", "dates", "It comes on 2/4/2031."),
        ("It comes on 01.02.2031.", "dates", "It comes on 02.02.2031."),
        ("Closed on Sunday", "dates", "Closed on Monday"),
        ("It is open.", "negation", "It is not open."),
        ("I can't do that.", "negation", "I can do that."),
        ("I won't.", "negation", "I will."),
        ("It isn't open.", "negation", "It is open."),
        ("Open", "negation", None),
        ("Das ist der Preis", "language", "Aquí está la respuesta a su pregunta: Preis."),
        ("Yes", "language", None),
        ("", "empty", None),
    ],
)
def test_a_change_that_changes_nothing_is_none(said: str, kind: str, changed: str | None) -> None:
    assert told(talk(said)).get(kind) == changed


def test_the_answer_of_another_case_has_to_differ() -> None:
    assert "another case" not in told(talk("Yes"), talk("Yes"))
    assert told(talk("Yes"), talk("Yes"), talk("No"))["another case"] == "No"


def test_data_loses_keys_and_types() -> None:
    found = told(talk({"total": 3, "paid": True}))

    assert found["keys: total"] == {"paid": True}
    assert found["types: total"] == {"total": "3", "paid": True}
    assert found["numbers"] == {"total": 4, "paid": True}
    assert found["negation"] == {"total": 3, "paid": False}
    assert found["half"] == {"total": 3}
    assert found["empty"] == {}


def test_json_in_a_text_stays_a_text() -> None:
    assert told(talk('{"a": 1, "b": 2}'))["keys: a"] == '{"b": 2}'


def test_json_that_is_nested_too_deeply_is_a_text() -> None:
    assert told(talk("[" * 200_000))["half"] == "[" * 100_000


def test_calls_of_tools_are_dropped_doubled_and_changed() -> None:
    find = ToolUse(name="find", server="shop", arguments={"id": 7}, result=1)
    pay = ToolUse(name="pay", server="shop", arguments={}, result=2)
    found = {
        change.label: [(tool.name, tool.arguments) for tool in change.result.case.tools]
        for change in changes(talk("Paid", (find, pay)), (), "")
        if change.result.case is not None and change.kind.startswith("tool")
    }

    assert found == {
        "tool dropped: find": [("pay", {})],
        "tool doubled: find": [("find", {"id": 7}), ("find", {"id": 7}), ("pay", {})],
        "tool arguments: find.id": [("find", {"id": 8}), ("pay", {})],
        "tool dropped: pay": [("find", {"id": 7})],
        "tool doubled: pay": [("find", {"id": 7}), ("pay", {}), ("pay", {})],
        "tool added": [("find", {"id": 7}), ("pay", {}), ("send_message", {"to": "everybody"})],
        "tool order": [("pay", {}), ("find", {"id": 7})],
    }


def test_turns_are_swapped_and_a_goal_is_claimed() -> None:
    result = talk(turns=(turn(1, "Where to?"), turn(2, "Booked.")), simulator="agents:user")
    found = {}
    for change in changes(result, (), ""):
        assert change.result.case is not None
        found[change.kind] = [one.response for one in change.result.case.turns]

    assert found["turns"] == ["Booked.", "Where to?"]
    assert found["goal"] == ["Where to?", "Everything is done, just as you asked."]
    assert found["apology"] == ["I am sorry, but I cannot help you with that."] * 2
