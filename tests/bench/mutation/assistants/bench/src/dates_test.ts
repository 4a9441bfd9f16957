import { addMonths, daysBetween, daysIn, isLeap, left, parse, weekday, workdays } from "./dates";

export function TestLeapYears(t: testing.T) {
  t.assert.Equal([2000, 1900, 2024, 2023].map(isLeap), [true, false, true, false]);
}

export function TestDaysOfMonths(t: testing.T) {
  t.assert.Equal([1, 2, 4, 12].map((month) => daysIn(2023, month)), [31, 28, 30, 31]);
  t.assert.Equal(daysIn(2024, 2), 29);
}

export function TestMonthsAreChecked(t: testing.T) {
  t.assert.Panic(() => daysIn(2023, 0));
  t.assert.Panic(() => daysIn(2023, 13));
}

export function TestParse(t: testing.T) {
  t.assert.Equal(parse("2031-06-03"), [2031, 6, 3]);
  t.assert.Equal(parse(" 2031-06-03 "), [2031, 6, 3]);
}

export function TestParseRefuses(t: testing.T) {
  for (const text of ["", "2031-6-3", "2031-13-01", "2031-02-29", "2031-00-10", "2031-01-00", "x2031-01-01"]) t.assert.Nil(parse(text));
}

export function TestAddMonths(t: testing.T) {
  t.assert.Equal(addMonths("2031-01-31", 1), "2031-02-28");
  t.assert.Equal(addMonths("2031-11-05", 2), "2032-01-05");
}

export function TestSubtractMonths(t: testing.T) {
  t.assert.Equal(addMonths("2031-03-10", -3), "2030-12-10");
}

export function TestAddMonthsToNoDate(t: testing.T) {
  t.assert.Panic(() => addMonths("soon", 1));
}

export function TestDaysBetween(t: testing.T) {
  t.assert.Equal(daysBetween("2031-01-01", "2031-03-01"), 59);
}

export function TestWeekdays(t: testing.T) {
  t.assert.Equal([weekday("2031-06-01"), weekday("2031-06-02")], [7, 1]);
}

export function TestWorkdays(t: testing.T) {
  t.assert.Equal(workdays("2031-06-02", "2031-06-09"), 5);
  t.assert.Less(workdays("2031-06-02", "2031-06-09", ["2031-06-03"]), 5);
}

export function TestLeft(t: testing.T) {
  t.assert.Equal(left("2031-01-01", "2031-01-02"), "over");
  t.assert.Equal(left("2031-01-02", "2031-01-02"), "today");
  t.assert.Contains(left("2031-01-09", "2031-01-02"), "7");
}
