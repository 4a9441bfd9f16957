"""Which messages stop the work of a worker, of those that say that its time is up."""

from __future__ import annotations

from scripttest.realm.realm import Alarm


def heard(alarm: Alarm, *messages: str) -> bool:
    """Whether the alarm rang at one of some messages; the work goes on then, as when it cleans up."""
    for message in messages:
        alarm.ring(message)
    rang = alarm.rang
    alarm.silence()
    return rang


def test_the_copy_of_a_message_stops_nothing_when_the_same_work_has_begun_once_more() -> None:
    alarm = Alarm()
    alarm.begin("0")
    assert heard(alarm, "0/1")
    alarm.begin("0")
    assert not heard(alarm, "0/1")
    assert heard(alarm, "0/2")


def test_the_copy_of_a_message_stops_no_cleaning_up_and_the_next_message_does() -> None:
    alarm = Alarm()
    alarm.begin("0")
    assert heard(alarm, "0/1", "0/1")
    assert not heard(alarm, "0/1")
    assert heard(alarm, "0/2")


def test_a_message_for_work_that_has_ended_stops_nothing_also_where_its_copy_comes_later() -> None:
    alarm = Alarm()
    alarm.begin("0")
    alarm.begin("1")
    assert not heard(alarm, "0/1")
    alarm.begin("0")
    assert not heard(alarm, "0/1")
