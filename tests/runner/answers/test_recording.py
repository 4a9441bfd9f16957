"""Recording and replaying model calls, with a connector that asks a real server."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest
from connector_bench import KEY, asks
from model_server import Exchange, says, status
from recorded import CASE, FILE, OTHER, Recorded, Session, state_of

from runner.answers.recording import Mode, check_folder
from runner.connectors.base import Completion, ConnectorError, ModelRequest, Origin
from runner.errors import ConfigurationError


def test_a_replay_answers_what_was_recorded_without_asking(recorded: Recorded) -> None:
    recorded.bench.server.plan(says("4", reasoning="2 and 2", tool_calls=[("id1", "add", '{"a": 2}')]))

    async def work(session: Session) -> Completion:
        answer = await session.ask("2+2")
        session.end()
        return answer

    first, asked = recorded.run("record", work), len(recorded.bench.server.requests)

    assert first.content == "4"
    assert recorded.run("replay", work) == first
    assert len(recorded.bench.server.requests) == asked == 1


def test_a_replay_needs_no_variable_of_the_connector(recorded: Recorded) -> None:
    async def work(session: Session) -> str:
        answer = await session.ask("hi")
        session.end()
        return answer.content

    given = {"MODEL": "m-7", "HOST": recorded.bench.server.url}
    options = {"model": "$ENV.MODEL", "host": "$ENV.HOST"}
    recorded.run("record", work, options=options, variables=given)

    assert recorded.content()["calls"][0]["request"]["model"] == "m-7"
    assert recorded.run("replay", work, options=options, variables={"KEY": ""}) == "echo: hi"


def test_whoever_listens_hears_the_pieces_again(recorded: Recorded) -> None:
    async def work(session: Session) -> list[str]:
        heard: list[str] = []
        await session.ask(asks("hello", on_chunk=heard.append))
        session.end()
        return heard

    assert recorded.run("record", work) == recorded.run("replay", work) == ["echo: ", "hello"]


def test_pieces_are_kept_when_nobody_listened(recorded: Recorded) -> None:
    recorded.record("hello")

    async def work(session: Session) -> list[str]:
        heard: list[str] = []
        await session.ask(asks("hello", on_chunk=heard.append))
        return heard

    assert recorded.run("replay", work) == ["echo: ", "hello"]


def test_the_nth_time_that_the_same_is_asked_gets_the_nth_answer(recorded: Recorded) -> None:
    recorded.bench.server.plan(says("heads"), says("other"), says("tails"))
    recorded.record("toss", "else", "toss")

    assert recorded.record("else", "toss", "toss", mode="replay") == ["other", "heads", "tails"]
    assert [call.get("repeat") for call in recorded.content()["calls"]] == [None, None, 2]


def test_one_time_more_than_recorded_is_a_miss(recorded: Recorded) -> None:
    recorded.record("toss")

    async def work(session: Session) -> str:
        await session.ask("toss")
        with pytest.raises(ConnectorError) as caught:
            await session.ask("toss")
        return caught.value.message

    assert recorded.run("replay", work) == (
        'No recorded response for call 2 of "case", in which a script calls test: rec/suite/case.json has 1 for this '
        "exact request, and this is one call more. --record-missing rec calls the model and adds its response"
    )


def test_requests_that_differ_in_a_date_keep_their_answers(recorded: Recorded) -> None:
    recorded.record("due 2024-01-01?", "due 2024-01-02?")

    assert recorded.record("due 2024-01-02?", "due 2024-01-01?", mode="replay") == [
        "echo: due 2024-01-02?",
        "echo: due 2024-01-01?",
    ]
    assert recorded.record("due 2025-01-02?", "due 2025-01-01?", mode="replay") == [
        "echo: due 2024-01-01?",
        "echo: due 2024-01-02?",
    ]


def test_cases_at_the_same_time_do_not_disturb_each_other(recorded: Recorded) -> None:
    async def work(session: Session) -> list[list[str]]:
        async def case(number: int) -> list[str]:
            origin = Origin(suite="suite", case=f"case-{number}")
            answers = [(await session.ask(f"{step} of {number % 3}", origin)).content for step in range(3)]
            session.end(origin)
            return answers

        return list(await asyncio.gather(*map(case, order)))

    order = list(range(12))
    first = recorded.run("record", work)
    order.reverse()

    assert recorded.run("replay", work) == first[::-1]
    assert len(recorded.files) == 12


def test_calls_side_by_side_are_recorded_in_the_order_of_asking(recorded: Recorded) -> None:
    arrived = asyncio.Event()

    async def slow_first(exchange: Exchange) -> None:
        if exchange.request.last_text == "slow":
            await arrived.wait()
            await says("after fast")(exchange)
        else:
            await says("fast")(exchange)
            arrived.set()

    recorded.bench.server.default = slow_first

    async def work(session: Session) -> list[str]:
        answers = await asyncio.gather(session.ask("slow"), session.ask("fast"))
        session.end()
        return [answer.content for answer in answers]

    assert recorded.run("record", work) == ["after fast", "fast"]
    assert recorded.answers() == ["after fast", "fast"]


def test_a_call_that_failed_is_not_recorded(recorded: Recorded) -> None:
    recorded.bench.server.plan(says("one"), status(400, "too long"), says("three"))

    async def work(session: Session) -> None:
        await session.ask("1")
        with pytest.raises(ConnectorError, match="too long"):
            await session.ask("2")
        await session.ask("3")
        session.end()

    recorded.run("record", work)

    assert recorded.answers() == ["one", "three"]


def test_what_was_retried_is_recorded_once(recorded: Recorded) -> None:
    recorded.bench.server.plan(status(429), status(503), says("at last"))
    recorded.record("hi")

    assert recorded.answers() == ["at last"]


def test_a_new_recording_replaces_the_case_and_leaves_others(recorded: Recorded) -> None:
    recorded.record("one", "two")
    recorded.record("else", origin=OTHER)
    recorded.record("three")

    assert recorded.answers() == ["echo: three"]
    assert recorded.answers("suite/other.json") == ["echo: else"]


def test_a_case_that_got_no_answer_keeps_its_recording(recorded: Recorded) -> None:
    recorded.record("one")
    recorded.bench.server.default = status(400)

    async def work(session: Session) -> None:
        with pytest.raises(ConnectorError):
            await session.ask("one")
        session.end(CASE, "failed")

    recorded.run("record", work)

    assert recorded.answers() == ["echo: one"]


@pytest.mark.parametrize(("status", "left"), [("passed", []), ("failed", [FILE]), ("skipped", [FILE])])
def test_only_a_case_that_passed_without_asking_loses_its_recording(
    recorded: Recorded, status: str, left: list[str]
) -> None:
    recorded.record("one")

    async def work(session: Session) -> None:
        session.end(CASE, status)

    recorded.run("record", work)

    assert recorded.files == left


def test_a_case_that_was_given_up_keeps_its_recording(recorded: Recorded) -> None:
    recorded.record("one", "two")

    async def work(session: Session) -> None:
        await session.ask("one")
        session.recording.finish(False)

    recorded.run("record", work)

    assert recorded.answers() == ["echo: one", "echo: two"]


def test_what_belongs_to_a_whole_suite_is_recorded_at_the_end(recorded: Recorded) -> None:
    hooks = Origin(suite="suite", case="@hooks", of_suite=True)

    async def work(session: Session) -> str | None:
        await session.ask("before", hooks)
        return session.recording.finish(True)

    assert recorded.run("record", work) is None
    assert recorded.files == ["suite/@hooks.json"]
    assert recorded.run("replay", work) is None


def test_a_case_whose_id_begins_with_an_at_sign_is_a_case(recorded: Recorded) -> None:
    """Given up, it has no recording: half of one would replay as if it were whole."""

    async def work(session: Session) -> None:
        await session.ask("one", Origin(suite="suite", case="@admin"))
        session.recording.finish(False)

    recorded.run("record", work)

    assert recorded.files == []


def test_what_a_reporter_asks_is_answered_whatever_it_says(recorded: Recorded) -> None:
    async def work(session: Session, text: str) -> str:
        session.recording.finish(True)
        answer = await session.ask(text, Origin())
        session.recording.close()
        return answer.content

    recorded.run("record", lambda session: work(session, "It took 12 ms"))

    assert recorded.files == ["@run/@report.json"]
    assert recorded.run("replay", lambda session: work(session, "It took 7 ms")) == "echo: It took 12 ms"


def test_missing_recordings_are_added(recorded: Recorded) -> None:
    recorded.record("one", "two")
    recorded.bench.server.default = says("new")

    assert recorded.record("one", "three", "two", "one", mode="missing") == ["echo: one", "new", "echo: two", "new"]
    assert recorded.answers() == ["echo: one", "echo: two", "new", "new"]
    assert recorded.record("three", "one", "one", mode="replay") == ["new", "echo: one", "new"]


def test_with_nothing_missing_nothing_is_asked_or_written(recorded: Recorded) -> None:
    recorded.record("one")
    before = state_of(recorded.folder / FILE)

    assert recorded.record("one", mode="missing") == ["echo: one"]
    assert len(recorded.bench.server.requests) == 1
    assert state_of(recorded.folder / FILE) == before


def test_what_is_missing_is_also_added_of_a_case_that_was_given_up(recorded: Recorded) -> None:
    async def work(session: Session) -> None:
        await session.ask("one")
        session.recording.finish(False)

    recorded.run("missing", work)

    assert recorded.answers() == ["echo: one"]


def test_secrets_are_in_no_file_and_no_miss(recorded: Recorded) -> None:
    def redact(text: str) -> str:
        return text.replace(KEY, "***")

    async def work(session: Session) -> list[str]:
        answers = [(await session.ask(f"my key is {KEY}, {more}")).content for more in ("one", "two")]
        session.end()
        return answers

    recorded.run("record", work, redact)
    text = (recorded.folder / FILE).read_text()

    assert KEY not in text
    assert "my key is ***, one" in text
    assert recorded.run("replay", work, redact) == ["echo: my key is ***, one", "echo: my key is ***, two"]
    miss = recorded.fails(f"my key is {KEY}, three", redact=redact)
    assert "+user: my key is ***, three" in miss
    assert KEY not in miss


def test_the_place_of_the_application_does_not_count(recorded: Recorded, tmp_path: Path) -> None:
    recorded.record(f"Cannot read {recorded.bench.root}/data/x")

    assert recorded.content()["calls"][0]["request"]["messages"][0]["content"] == "Cannot read <app>/data/x"
    assert recorded.record(f"Cannot read {recorded.bench.root}/data/x", mode="replay") == [
        f"echo: Cannot read {recorded.bench.root}/data/x"
    ]


def test_an_image_is_recorded_by_its_digest(recorded: Recorded) -> None:
    def image(data: str) -> ModelRequest:
        url = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
        return ModelRequest(messages=[{"role": "user", "content": [{"type": "text", "text": "what is it?"}, url]}])

    recorded.record(image("A" * 5000))

    assert len((recorded.folder / FILE).read_text()) < 2000
    assert recorded.record(image("A" * 5000), mode="replay") == ["echo: what is it?"]
    assert "No recorded response" in recorded.fails(image("B" * 5000))


def test_the_time_of_a_case_is_that_of_its_recording(recorded: Recorded) -> None:
    then, later = datetime(2024, 1, 31, 12, 0, 7, tzinfo=UTC), datetime(2025, 5, 5, tzinfo=UTC)

    async def work(session: Session, now: datetime) -> datetime:
        moment = session.recording.time(CASE, lambda: now)
        await session.ask("hi")
        session.end()
        return moment

    assert recorded.run("record", lambda session: work(session, then)) == then
    assert recorded.run("replay", lambda session: work(session, later)) == then
    assert recorded.run("missing", lambda session: work(session, later)) == then
    assert recorded.run("record", lambda session: work(session, later)) == later


def test_runs_of_one_case_are_apart(recorded: Recorded) -> None:
    recorded.bench.server.plan(says("first"), says("second"))

    async def work(session: Session) -> list[str]:
        answers = [(await session.ask("hi", CASE.replace(run=run))).content for run in (1, 2)]
        session.end()
        return answers

    assert recorded.run("record", work) == ["first", "second"]
    assert recorded.files == [FILE, "suite/case~2.json"]
    assert recorded.run("replay", work) == ["first", "second"]


def test_a_disk_that_is_full_is_an_error_of_writing(recorded: Recorded) -> None:
    recorded.folder.mkdir()
    (recorded.folder / "suite").write_text("in the way")

    async def work(session: Session) -> None:
        await session.ask("hi")
        with pytest.raises(OSError):
            session.end()

    recorded.run("record", work)


PLACES: dict[str, tuple[Mode, str, str]] = {
    "nothing there": ("replay", "nowhere", "Cannot use --replay x: there is no such folder"),
    "a file to replay": ("replay", "file", "Cannot use --replay x: it is a file"),
    "a file to record to": ("record", "file", "Cannot use --record x: it is a file"),
    "a file on the way": ("missing", "file/below", "Cannot use --record-missing x: Not a directory"),
    "a folder that cannot be made": ("record", "/proc/recordings", "Cannot use --record x: No such file or directory"),
}


@pytest.mark.parametrize(("mode", "place", "said"), PLACES.values(), ids=PLACES)
def test_a_folder_that_cannot_be_used_is_said_at_once(tmp_path: Path, mode: Mode, place: str, said: str) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(ConfigurationError) as caught:
        check_folder("x", tmp_path / place, mode)

    assert caught.value.message == said
    assert caught.value.hint


def test_a_folder_to_record_to_is_made(tmp_path: Path) -> None:
    check_folder("x", tmp_path / "a/b", "record")

    assert list((tmp_path / "a/b").iterdir()) == []
