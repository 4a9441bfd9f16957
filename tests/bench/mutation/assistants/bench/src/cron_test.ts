import { field, fits, next, parse, several } from "./cron";

const list = (text: string, low: number, high: number, names?: string[]) => [...field(text, low, high, names)];
const at = (text: string) => new Date(`${text}Z`);

export function TestAnyValue(t: testing.T) { t.assert.Equal(list("*", 0, 3), [0, 1, 2, 3]); }
export function TestOneValue(t: testing.T) { t.assert.Equal(list("5", 0, 59), [5]); }
export function TestSomeValues(t: testing.T) { t.assert.Equal(list("5,7", 0, 59), [5, 7]); }
export function TestRangeOfValues(t: testing.T) { t.assert.Equal(list("3-6", 0, 59), [3, 4, 5, 6]); }
export function TestStepOfAll(t: testing.T) { t.assert.Equal(list("*/20", 0, 59), [0, 20, 40]); }
export function TestStepOfARange(t: testing.T) { t.assert.Equal(list("10-20/5", 0, 59), [10, 15, 20]); }
export function TestStepFromAValue(t: testing.T) { t.assert.Equal(list("50/5", 0, 59), [50, 55]); }
export function TestRangesAndValues(t: testing.T) { t.assert.Len(list("1-3,10,20-21", 0, 59), 6); }
export function TestFromTheLow(t: testing.T) { t.assert.Equal(list("1-2", 1, 12), [1, 2]); }
export function TestToTheHigh(t: testing.T) { t.assert.Equal(list("11-12", 1, 12), [11, 12]); }
export function TestBelowTheLow(t: testing.T) { t.assert.Panic(() => list("0", 1, 12)); }
export function TestAboveTheHigh(t: testing.T) { t.assert.Panic(() => list("60", 0, 59)); }
export function TestBackwardsRange(t: testing.T) { t.assert.Panic(() => list("5-3", 0, 59)); }
export function TestNoNumber(t: testing.T) { t.assert.Panic(() => list("a", 0, 59)); }
export function TestNegativeNumber(t: testing.T) { t.assert.Panic(() => list("-1", 0, 59)); }
export function TestNoStep(t: testing.T) { t.assert.Panic(() => list("*/0", 0, 59)); }
export function TestBrokenStep(t: testing.T) { t.assert.Panic(() => list("*/1.5", 0, 59)); }
export function TestNamedValue(t: testing.T) { t.assert.Equal(list("tue", 0, 6, ["sun", "mon", "tue"]), [2]); }
export function TestNamesFromOne(t: testing.T) { t.assert.Equal(list("Feb", 1, 12, ["jan", "feb"]), [2]); }
export function TestNamedRange(t: testing.T) { t.assert.Equal(list("mon-tue", 0, 6, ["sun", "mon", "tue"]), [1, 2]); }
export function TestFiveFields(t: testing.T) { t.assert.Panic(() => parse("* * * *")); }
export function TestSixFields(t: testing.T) { t.assert.Panic(() => parse("* * * * * *")); }
export function TestBlanksBetween(t: testing.T) { t.assert.Equal([...parse("  5   4 * * * ").minutes], [5]); }
export function TestSunday(t: testing.T) { t.assert.Equal([...parse("* * * * 7").weekdays], [0]); }
export function TestSundayTwice(t: testing.T) { t.assert.Len([...parse("* * * * 0,7").weekdays], 1); }
export function TestWeekdays(t: testing.T) { t.assert.Equal([...parse("* * * * mon-fri").weekdays], [1, 2, 3, 4, 5]); }
export function TestMonths(t: testing.T) { t.assert.Equal([...parse("* * * jan,dec *").months], [1, 12]); }
export function TestAnyDayIsKnown(t: testing.T) { t.assert.Equal([parse("* * * * 1").anyDay, parse("* * 1 * *").anyDay], [true, false]); }
export function TestDaily(t: testing.T) { t.assert.Equal([...parse("@daily").hours], [0]); }
export function TestHourly(t: testing.T) { t.assert.Len([...parse("@hourly").hours], 24); }
export function TestMonthly(t: testing.T) { t.assert.Equal(next("@monthly", "2031-05-02T00:00Z"), "2031-06-01T00:00"); }
export function TestWeekly(t: testing.T) { t.assert.Equal(next("@weekly", "2031-05-02T00:00Z"), "2031-05-04T00:00"); }
export function TestFits(t: testing.T) { t.assert.True(fits(parse("30 12 * * *"), at("2031-05-02T12:30"))); }
export function TestFitsNotTheMinute(t: testing.T) { t.assert.False(fits(parse("30 12 * * *"), at("2031-05-02T12:31"))); }
export function TestFitsNotTheHour(t: testing.T) { t.assert.False(fits(parse("30 12 * * *"), at("2031-05-02T13:30"))); }
export function TestFitsNotTheMonth(t: testing.T) { t.assert.False(fits(parse("* * * 6 *"), at("2031-05-02T13:30"))); }
export function TestEitherDay(t: testing.T) { t.assert.Equal(["2031-05-13", "2031-05-16", "2031-05-14"].map((day) => fits(parse("0 0 13 * fri"), at(`${day}T00:00`))), [true, true, false]); }
export function TestNextMinute(t: testing.T) { t.assert.Equal(next("* * * * *", "2031-05-02T12:30:20Z"), "2031-05-02T12:31"); }
export function TestNextHour(t: testing.T) { t.assert.Equal(next("0 * * * *", "2031-05-02T12:30Z"), "2031-05-02T13:00"); }
export function TestNextDay(t: testing.T) { t.assert.Equal(next("15 6 * * *", "2031-05-02T06:15Z"), "2031-05-03T06:15"); }
export function TestNextYear(t: testing.T) { t.assert.Equal(next("0 0 1 1 *", "2031-05-02T06:15Z"), "2032-01-01T00:00"); }
export function TestLeapDay(t: testing.T) { t.assert.Equal(next("0 0 29 2 *", "2029-03-01T00:00Z"), "2032-02-29T00:00"); }
export function TestNeverComes(t: testing.T) { t.assert.Nil(next("0 0 30 2 *", "2031-01-01T00:00Z")); }
export function TestSeveral(t: testing.T) { t.assert.Equal(several("0 */12 * * *", "2031-05-02T06:15Z", 2), ["2031-05-02T12:00", "2031-05-03T00:00"]); }
export function TestSeveralOfNone(t: testing.T) { t.assert.Len(several("0 0 30 2 *", "2031-01-01T00:00Z", 3), 0); }
