"""Requests of a replay that were not recorded, recordings that cannot be used, and those that nobody asked for."""

from __future__ import annotations

import pytest
from recorded import CASE, FILE, OTHER, Recorded, Session

from runner.connectors.base import ConnectorError, Origin


def test_a_miss_shows_the_nearest_request_of_the_case(recorded: Recorded) -> None:
    recorded.record("Write a poem", "How much was the taxi?")

    assert recorded.fails("How much was the bus?") == (
        'No recorded response for call 1 of "case", in which a script calls test: no recording in rec/suite/case.json matches. '
        "--record-missing rec calls the model and adds its response\n"
        "The closest recording is its call 2 (- recorded, + requested):\n"
        " model: m\n"
        "-user: How much was the taxi?\n"
        "+user: How much was the bus?"
    )


def test_a_miss_without_a_recording_of_the_case_looks_at_others(recorded: Recorded) -> None:
    recorded.record("How much was the taxi?", origin=OTHER)

    assert recorded.fails("How much was the taxi?") == (
        'No recorded response for call 1 of "case", in which a script calls test: there is no rec/suite/case.json. '
        "--record-missing rec calls the model and adds its response\n"
        "This exact request is in call 1 of suite/other.json: was the case renamed, or recorded with fewer --runs?"
    )


def test_a_miss_where_nothing_is_recorded_says_so(recorded: Recorded) -> None:
    recorded.folder.mkdir()

    assert recorded.fails("hi") == (
        'No recorded response for call 1 of "case", in which a script calls test: there is no rec/suite/case.json. '
        "--record-missing rec calls the model and adds its response"
    )


def test_answers_of_another_model_are_a_miss(recorded: Recorded) -> None:
    recorded.record("hi")

    assert recorded.fails("hi", options={"model": "m-2"}).endswith(
        "\n connector: test\n-model: m\n+model: m-2\n user: hi"
    )


def test_a_recording_that_is_broken_fails_the_case_that_asks_for_it(recorded: Recorded) -> None:
    recorded.record("hi")
    recorded.record("else", origin=OTHER)
    (recorded.folder / FILE).write_text("{\n  broken")

    assert recorded.fails("hi") == (
        f"Cannot read recording {recorded.folder / FILE}:2:3: Expecting property name enclosed in double quotes. "
        "Record it again with --record, or remove the file"
    )
    assert recorded.record("else", origin=OTHER, mode="replay") == ["echo: else"]


def test_a_broken_recording_is_not_written_over_by_what_is_missing(recorded: Recorded) -> None:
    recorded.record("hi")
    (recorded.folder / FILE).write_text("{\n  broken")

    async def work(session: Session) -> None:
        with pytest.raises(ConnectorError, match="Cannot read recording"):
            await session.ask("hi")
        session.end()

    recorded.run("missing", work)

    assert (recorded.folder / FILE).read_text() == "{\n  broken"


def test_recordings_that_nobody_asked_for_are_listed(recorded: Recorded) -> None:
    recorded.record("one", "two", "three")
    recorded.record("else", origin=OTHER)
    recorded.record("gone", origin=Origin(suite="suite", case="gone"))
    recorded.record("far", origin=Origin(suite="another", case="case"))

    async def work(session: Session, whole: bool) -> str | None:
        await session.ask("two")
        session.end()
        session.end(OTHER, "failed")
        session.end(Origin(suite="suite", case="new"))
        return session.recording.finish(whole)

    said = 'Unused recordings in rec: "case" in suite (2 of 3), "other" in suite (all 1)'
    assert recorded.run("replay", lambda session: work(session, False)) == said
    assert recorded.run("replay", lambda session: work(session, True)) == f"{said}, suite/gone.json (of no case)"


def test_the_list_of_unused_recordings_is_bounded(recorded: Recorded) -> None:
    for number in range(25):
        recorded.record("x", origin=Origin(suite="suite", case=f"gone-{number:02}"))

    async def work(session: Session) -> str | None:
        session.end(CASE)
        return session.recording.finish(True)

    said = recorded.run("replay", work) or ""
    assert said.endswith("suite/gone-19.json (of no case), and 5 more")


def test_skipped_cases_leave_nothing_unused(recorded: Recorded) -> None:
    recorded.record("one")

    async def work(session: Session) -> str | None:
        session.end(CASE, "skipped")
        return session.recording.finish(True)

    assert recorded.run("replay", work) is None
