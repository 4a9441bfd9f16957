"""Local times are the instants that ECMA-262 says, in zones other than UTC; compared with Python's `zoneinfo`."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from command import MakeApplication, Record

ZONES = (
    "America/New_York",
    "Pacific/Auckland",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Asia/Kathmandu",
    "Africa/Casablanca",
    "Europe/London",
    "UTC",
)
FIRST, LAST = datetime(1972, 2, 1, tzinfo=UTC).timestamp(), datetime(2037, 1, 1, tzinfo=UTC).timestamp()
WEEK = 7 * 86_400
AROUND = (-50_000, -3_600, -1_800, -1, 0, 1_800, 3_600, 5_400, 50_000)
"""Seconds from a change of the clocks."""
CHANGES = 12

TESTS = """
const times: [number[], string, number][] = TIMES;
const wrong = (instant: (fields: number[], text: string, right: number) => number) =>
  times.filter(([fields, text, right]) => instant(fields, text, right) !== right).map(([, text]) => text);
export function TestConstructor(t) { t.assert.Equal(wrong(([y, m, ...rest]) => new Date(y, m, ...rest).getTime()), []); }
export function TestText(t) { t.assert.Equal(wrong((_, text) => new Date(text).getTime()), []); }
export function TestParse(t) { t.assert.Equal(wrong((_, text) => Date.parse(text.replace("T", " "))), []); }
export function TestSetters(t) {
  t.assert.Equal(wrong(([y, m, d, h, min, s], _, right) => {
    const date = new Date(right - 40 * 86_400_000);
    date.setHours(12);
    date.setFullYear(y, m, d);
    return date.setHours(h, min, s);
  }), []);
  t.assert.Equal(wrong(([y, m, d, h, min, s], _, right) => {
    const date = new Date(0);
    date.setFullYear(y, m, 1);
    date.setDate(d);
    date.setMinutes(h * 60 + min, s);
    return date.getHours() === h && date.getMinutes() === min ? date.setSeconds(s) && right : right;
  }), []);
}
export function TestKept(t) {
  class Day extends Date { hour() { return this.getHours(); } }
  const day = new Day(2024, 2, 10, 5);
  t.assert.Equal([day.hour(), day instanceof Date, day.constructor.name, new Date(day).getTime() === day.getTime()], [5, true, "Day", true]);
  t.assert.Equal([new Date().constructor === Date, Date.name, Date.length, Date.prototype.setHours.length, typeof Date()], [true, "Date", 7, 4, "string"]);
  t.assert.Equal([new Date(NaN).setHours(1), new Date(NaN).setFullYear(2024, 0, 1) > 0, Date.parse("no"), new Date(2024, NaN).getTime()], [NaN, true, NaN, NaN]);
  t.assert.Equal([new Date("2024-03-10").getTime(), new Date("2024-03-10T05:00Z").getTime(), Date.UTC(2024, 2, 10)], [1710028800000, 1710046800000, 1710028800000]);
  t.assert.Equal(new Date({ [Symbol.toPrimitive]: () => "2024-03-10T05:00Z" } as any).getTime(), 1710046800000);
}
export function TestClock(t) {
  t.mock.now(new Date(2024, 2, 10, 5));
  t.assert.Equal([new Date().getHours(), Date.now() === new Date().getTime(), new Date(2024, 10, 3, 4).getHours()], [5, true, 4]);
}
"""


def offset(time: float, zone: ZoneInfo) -> float:
    difference = datetime.fromtimestamp(time, zone).utcoffset()
    assert difference is not None
    return difference.total_seconds()


def changes(zone: ZoneInfo) -> list[int]:
    """Times at which the clocks of a zone change."""
    found = []
    for week in range(int(FIRST), int(LAST), WEEK):
        before, after = week, week + WEEK
        if offset(before, zone) != offset(after, zone):
            while after - before > 1:
                middle = (before + after) // 2
                before, after = (middle, after) if offset(middle, zone) == offset(week, zone) else (before, middle)
            found.append(after)
    return found


def times(name: str) -> list[tuple[list[int], str, int]]:
    """Local times as fields and as texts, with their instants in milliseconds."""
    zone, chance = ZoneInfo(name), random.Random(name)
    found = changes(zone)
    near = [change + seconds for change in chance.sample(found, min(CHANGES, len(found))) for seconds in AROUND]
    made = []
    for instant in [*near, *(chance.randrange(int(FIRST), int(LAST)) for _ in range(20))]:
        for later in (0, 1_800):  # which may be in a gap
            local = datetime.fromtimestamp(instant, zone).replace(tzinfo=None, fold=0) + timedelta(seconds=later)
            right = int(local.replace(tzinfo=zone).timestamp()) * 1000
            fields = [local.year, local.month - 1, local.day, local.hour, local.minute, local.second]
            made.append((fields, local.isoformat(), right))
    return made


def results(app: MakeApplication, zone: str) -> dict[str, Record]:
    here = app({"time_test.ts": TESTS.replace("TIMES", json.dumps(times(zone)))})
    here.fork("-i", "scripts.demo.time", "-o", "r.json", env={**here.environment, "TZ": zone})
    report = json.loads((here.root / "r.json").read_text("utf-8"))
    return {record["name"]: record for record in report["results"]}


@pytest.mark.parametrize("zone", ZONES)
def test_local_times_are_right(app: MakeApplication, zone: str) -> None:
    records = results(app, zone)
    assert {name: record.get("error") for name, record in records.items()} == dict.fromkeys(records)
    assert len(records) == 6
