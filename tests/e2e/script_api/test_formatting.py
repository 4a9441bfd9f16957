"""`Intl`, `toLocaleString` and the like, beside what ICU says: `tests/bindings/intl/values.json`, made by the script beside it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from command import PATIENCE, MakeApplication

VALUES = Path(__file__).parents[2] / "bindings/intl/values.json"
DIFFERENT = re.compile(
    r"""^new\ Intl\.DateTimeFormat\("ar(-..)?",\ .*formatRange  # two digits in ranges of Arabic dates
    | "ru",\ \{\ year:\ "numeric",\ month:\ "long"\ \}       # ноября for ноябрь
    | ^\(-?\d.*"fr-CH"                                         # an apostrophe between groups
    | timeZoneName:\ "longOffset"                             # GMT-5 for GMT-05:00
    | "UTC",\ timeZoneName:\ "shortOffset"                    # GMT for GMT+0
    | "de",\ \{\ hour12:\ true                                # 12:00:00 AM for 0:00:00 AM
    | "en",\ \{\ hour12:\ false                               # 00:00:00 for 24:00:00
    | [漢日京].*Collator\("ko"\)\.compare                            # Chinese characters by code points
    | 重庆.*Collator\("zh"\)                               # by the first reading
    """,
    re.VERBOSE,
)
"""Expressions that differ, as `docs/formatting.md` says."""


def test_values_are_those_of_icu(app: MakeApplication) -> None:
    values = json.loads(VALUES.read_text("utf-8"))["values"]
    asked = "".join(
        f"  try {{ found.push(String({expression})); }} catch (error) {{ found.push('throws ' + error.name); }}\n"
        for expression, _ in values
    )
    code = f"// @ts-nocheck\nexport function TestValues(t) {{\n  const found = [];\n{asked}  console.log(JSON.stringify(found));\n}}\n"
    result = app({"values_test.ts": code}).results(
        "-i", "assistants/demo/src/values_test.ts", "--timeout", f"{PATIENCE}s", code=0
    )
    (line,) = [json.loads(log) for log in result["TestValues"]["logs"]]
    compared = [(expression, wanted, found) for (expression, wanted), found in zip(values, line, strict=True)]
    assert [one for one in compared if one[1] != one[2] and not DIFFERENT.search(one[0])] == []


OTHERS = r"""// @ts-nocheck
const thrown = (call) => { try { return call(); } catch (error) { return error.name + ": " + error.message; } };
export function TestUnderstood({ assert }) {
  assert.Equal((1234.5).toLocaleString("en-us"), "1,234.5");
  assert.Equal((1234.5).toLocaleString("de_DE"), "1.234,5");
  assert.Equal(new Intl.NumberFormat("zh_CN").resolvedOptions().locale, "zh-CN");
  assert.Equal(new Intl.NumberFormat(["xx", "zh_tw"]).resolvedOptions().locale, "zh-TW");
}
export function TestZones({ assert }) {
  const at = (timeZone) => new Date("2025-07-05T03:00:00Z").toLocaleString("en", { timeZone, hour: "numeric", timeZoneName: "short" });
  const zones = ["Etc/UTC", "gmt0", "Zulu", "Etc/GMT+5", "Etc/GMT-14", "EST5EDT", "pst8pdt", "Africa/Abidjan", "Iceland", "US/Pacific", "CET"];
  assert.Equal(zones.map(at), ["3 AM UTC", "3 AM UTC", "3 AM UTC", "10 PM GMT-5", "5 PM GMT+14", "11 PM EDT", "8 PM PDT", "3 AM GMT", "3 AM GMT", "8 PM PDT", "5 AM GMT+2"]);
  for (const zone of ["Mars/Phobos", "Etc/GMT+13", "Etc/GMT-15"]) assert.Match(thrown(() => at(zone)), "^RangeError");
}
export function TestOneFieldAlone({ assert }) {
  const at = new Date("2025-07-05T03:05:07Z");
  for (const locale of ["en", "de", "fr", "es", "pt", "ja", "zh", "ko", "ru", "hi"]) {
    for (const length of ["numeric", "2-digit"]) {
      assert.Equal(at.toLocaleTimeString(locale, { minute: length, timeZone: "UTC" }), "5", locale);
      assert.Equal(at.toLocaleString(locale, { second: length, timeZone: "UTC" }), "7", locale);
    }
  }
}
export function TestMissing({ assert }) {
  for (const make of [() => (1).toLocaleString("sv"), () => new Date().toLocaleDateString("tr-TR"), () => new Intl.ListFormat(["xx", "it"]), () => "i".toLocaleUpperCase("tr"), () => "a".localeCompare("b", "sv")]) {
    assert.Match(thrown(make), "The locale (sv|tr-TR|it|tr) is not available here");
  }
  for (const name of ["Segmenter", "DurationFormat", "supportedValuesOf"]) assert.Contains(thrown(() => Intl[name]), "Intl." + name + " is not available here");
  assert.Contains(thrown(() => new Date().toLocaleDateString("ja-JP-u-ca-japanese")), "The calendar japanese is not available here");
  assert.Contains(thrown(() => (1).toLocaleString("no such")), "RangeError: Incorrect locale information provided");
}
export function TestClock(t) {
  t.mock.now("2026-11-03T15:04:05Z");
  const options = { timeZone: "Asia/Tokyo" };
  t.assert.Equal(new Date().toLocaleString("ja", options), "2026/11/4 0:04:05");
  t.assert.Equal(new Intl.DateTimeFormat("en-US", options).format(), "11/4/2026");
  t.assert.Equal(Intl.DateTimeFormat("en-US", options).formatToParts().length, 5);
}
export function TestOptionsAreReadOnce({ assert }) {
  const read = [];
  const options = { get minimumFractionDigits() { read.push(1); return "2"; }, style: undefined, useGrouping: 0 };
  assert.Equal(new Intl.NumberFormat("de", options).format(1234), "1234,00");
  assert.Equal(read, [1]);
}
export function TestMethodsAreBuiltIns({ assert }) {
  assert.Equal(Object.keys(Number.prototype), []);
  assert.Contains(thrown(() => Number.prototype.toLocaleString.call("1")), "TypeError");
  assert.Contains(thrown(() => Intl.NumberFormat.prototype.resolvedOptions.call({})), "TypeError");
  assert.Equal([1234.5, [null, 2]].toLocaleString("de"), "1.234,5,,2");
}
export function TestOverwritten({ assert }) {
  JSON.parse = JSON.stringify = () => { throw new Error("mine"); };
  Number.prototype.toLocaleString = () => "mine";
  assert.Equal((5).toLocaleString("de"), "mine");
  assert.Equal(1, 2);
}
"""


def test_locales_the_clock_and_what_scripts_replace(app: MakeApplication) -> None:
    results = app({"others_test.ts": OTHERS}).results("-i", "assistants/demo/src/others_test.ts", code=1)
    failed = {name: result["error"] for name, result in results.items() if result["status"] != "passed"}
    assert list(failed) == ["TestOverwritten"], failed
    assert failed["TestOverwritten"] == "assertion failed: Not equal"


def test_hooks_and_scripts_that_tests_call_format_and_sort_alike(app: MakeApplication) -> None:
    files = {
        "called_test.ts": 'export function TestCalled(t) { t.mock.now("2026-11-03T00:00:00Z"); t.assert.Equal(Process("scripts.demo.price.Price"), "1.234,50 € 3.11.2026"); t.assert.Equal([[5, 1].sort((a, b) => a > b), Process("scripts.demo.price.Sorted")], [[5, 1], [5, 1]]); }',
        "price.ts": 'export function Price() { return (1234.5).toLocaleString("de", { style: "currency", currency: "EUR" }).replace("\\u00a0", " ") + " " + new Date().toLocaleDateString("de", { timeZone: "UTC" }); } export function Sorted() { return [5, 1].toSorted((a, b) => a > b); }',
    }
    assert app(files).run("-i", "assistants/demo/src/called_test.ts").code == 0


NAMED = """\
export function TestDates({ assert, mock }) {
  const winter = new Date(0), summer = new Date(1e12);
  console.log(String(winter) + ", " + summer.toTimeString());
  assert.Equal([`${new Date(NaN)}`, new Date(NaN).toTimeString()], ["Invalid Date", "Invalid Date"]);
  assert.Equal(new Date(winter.toString()), winter);
  assert.Panic(() => Date.prototype.toString.call({}));
  mock.now("2026-01-01T00:00:00Z");
  assert.Match(`${new Date()}`, /\\)$/);
}
"""


@pytest.mark.parametrize(
    ("zone", "said"),
    [
        (
            "UTC",
            "Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time), 01:46:40 GMT+0000 (Coordinated Universal Time)",
        ),
        (
            "Europe/Berlin",
            "Thu Jan 01 1970 01:00:00 GMT+0100 (Central European Standard Time), 03:46:40 GMT+0200 (Central European Summer Time)",
        ),
        ("Etc/GMT+5", "Wed Dec 31 1969 19:00:00 GMT-0500 (GMT-05:00), 20:46:40 GMT-0500 (GMT-05:00)"),
    ],
)
def test_texts_of_dates_end_with_the_name_of_the_zone(app: MakeApplication, zone: str, said: str) -> None:
    application = app({"dates_test.ts": NAMED})
    process = application.start("-i", "scripts.demo.dates", "-o", "r.json", env={**application.environment, "TZ": zone})
    output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, (output, errors)
    (record,) = json.loads((application.root / "r.json").read_text())["results"]
    assert record["logs"] == [said]
