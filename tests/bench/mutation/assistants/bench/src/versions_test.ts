import { best, bump, compare, format, parse, satisfies, sorted } from "./versions";

const order = (a: string, b: string) => compare(parse(a), parse(b));

export function TestParses(t: testing.T) { t.assert.Equal(parse("1.2.3"), { major: 1, minor: 2, patch: 3, pre: [], build: "" }); }
export function TestParsesPre(t: testing.T) { t.assert.Equal(parse("1.0.0-beta.2").pre, ["beta", 2]); }
export function TestParsesBuild(t: testing.T) { t.assert.Equal(parse("1.0.0+7f.2").build, "7f.2"); }
export function TestParsesAll(t: testing.T) { t.assert.Equal(parse("1.0.0-rc-1.x+b").pre, ["rc-1", "x"]); }
export function TestLeadingV(t: testing.T) { t.assert.Equal(parse(" v10.0.0 ").major, 10); }
export function TestLeadingZero(t: testing.T) { t.assert.Panic(() => parse("01.0.0")); }
export function TestTooShort(t: testing.T) { t.assert.Panic(() => parse("1.0")); }
export function TestTooLong(t: testing.T) { t.assert.Panic(() => parse("1.0.0.0")); }
export function TestNoVersion(t: testing.T) { t.assert.Panic(() => parse("one")); }
export function TestEmptyPre(t: testing.T) { t.assert.Panic(() => parse("1.0.0-")); }
export function TestFormats(t: testing.T) { t.assert.Equal(["1.2.3", "1.0.0-a.1", "1.0.0-a+b", "1.0.0+b"].map((text) => format(parse(text))), ["1.2.3", "1.0.0-a.1", "1.0.0-a+b", "1.0.0+b"]); }
export function TestSameVersions(t: testing.T) { t.assert.Equal(order("1.2.3", "1.2.3"), 0); }
export function TestMajorFirst(t: testing.T) { t.assert.Equal([order("2.0.0", "1.9.9"), order("1.9.9", "2.0.0")], [1, -1]); }
export function TestMinorSecond(t: testing.T) { t.assert.Equal(order("1.3.0", "1.2.9"), 1); }
export function TestPatchLast(t: testing.T) { t.assert.Less(order("1.2.3", "1.2.4"), 0); }
export function TestBigNumbers(t: testing.T) { t.assert.Greater(order("1.10.0", "1.9.0"), 0); }
export function TestPreIsBefore(t: testing.T) { t.assert.Equal([order("1.0.0-a", "1.0.0"), order("1.0.0", "1.0.0-a")], [-1, 1]); }
export function TestPreNumbers(t: testing.T) { t.assert.Equal(order("1.0.0-a.10", "1.0.0-a.9"), 1); }
export function TestPreTexts(t: testing.T) { t.assert.Equal(order("1.0.0-alpha", "1.0.0-beta"), -1); }
export function TestPreNumbersBeforeTexts(t: testing.T) { t.assert.Equal([order("1.0.0-1", "1.0.0-a"), order("1.0.0-a", "1.0.0-1")], [-1, 1]); }
export function TestPreShorterFirst(t: testing.T) { t.assert.Equal([order("1.0.0-a", "1.0.0-a.1"), order("1.0.0-a.1", "1.0.0-a")], [-1, 1]); }
export function TestBuildIsNothing(t: testing.T) { t.assert.Equal(order("1.0.0+a", "1.0.0+b"), 0); }
export function TestSorts(t: testing.T) { t.assert.Equal(sorted(["1.0.0", "1.0.0-rc", "0.9.0"]), ["0.9.0", "1.0.0-rc", "1.0.0"]); }
export function TestBumpsMajor(t: testing.T) { t.assert.Equal(bump("1.2.3", "major"), "2.0.0"); }
export function TestBumpsMinor(t: testing.T) { t.assert.Equal(bump("1.2.3", "minor"), "1.3.0"); }
export function TestBumpsPatch(t: testing.T) { t.assert.Equal(bump("1.2.3", "patch"), "1.2.4"); }
export function TestBumpsPatchOfPre(t: testing.T) { t.assert.Equal(bump("1.2.3-rc.1", "patch"), "1.2.3"); }
export function TestBumpsPre(t: testing.T) { t.assert.Equal(bump("1.2.3-rc.1+b", "pre"), "1.2.3-rc.2"); }
export function TestBumpsPreWithoutNumber(t: testing.T) { t.assert.Equal(bump("1.2.3-rc", "pre"), "1.2.3-rc.0"); }
export function TestBumpsToPre(t: testing.T) { t.assert.Contains(bump("1.2.3", "pre"), "-0"); }
export function TestExact(t: testing.T) { t.assert.Equal([satisfies("1.2.3", "1.2.3"), satisfies("1.2.4", "1.2.3")], [true, false]); }
export function TestAnyVersion(t: testing.T) { t.assert.True(satisfies("9.9.9", "*")); }
export function TestWildPatch(t: testing.T) { t.assert.Equal(["1.2.0", "1.2.9", "1.3.0"].map((one) => satisfies(one, "1.2.x")), [true, true, false]); }
export function TestWildMinor(t: testing.T) { t.assert.Equal(["1.0.0", "1.9.0", "2.0.0"].map((one) => satisfies(one, "1")), [true, true, false]); }
export function TestAtLeast(t: testing.T) { t.assert.Equal([satisfies("1.2.3", ">=1.2.3"), satisfies("1.2.2", ">=1.2.3")], [true, false]); }
export function TestAbove(t: testing.T) { t.assert.Equal([satisfies("1.2.3", ">1.2.3"), satisfies("1.2.4", ">1.2.3")], [false, true]); }
export function TestAboveAWildOne(t: testing.T) { t.assert.Equal([satisfies("1.2.3", ">1.2"), satisfies("1.3.0", ">1.2")], [false, true]); }
export function TestBelow(t: testing.T) { t.assert.Equal([satisfies("1.2.2", "<1.2.3"), satisfies("1.2.3", "<1.2.3")], [true, false]); }
export function TestAtMost(t: testing.T) { t.assert.True(satisfies("1.2.3", "<=1.2.3")); }
export function TestAtMostAWildOne(t: testing.T) { t.assert.Equal([satisfies("1.2.9", "<=1.2"), satisfies("1.3.0", "<=1.2")], [true, false]); }
export function TestTilde(t: testing.T) { t.assert.Equal(["1.2.3", "1.2.9", "1.3.0", "1.2.2"].map((one) => satisfies(one, "~1.2.3")), [true, true, false, false]); }
export function TestCaret(t: testing.T) { t.assert.Equal(["1.2.3", "1.9.0", "2.0.0"].map((one) => satisfies(one, "^1.2.3")), [true, true, false]); }
export function TestCaretBelowOne(t: testing.T) { t.assert.Equal([satisfies("0.2.9", "^0.2.3"), satisfies("0.3.0", "^0.2.3"), satisfies("0.0.4", "^0.0.3")], [true, false, false]); }
export function TestSeveralRanges(t: testing.T) { t.assert.Equal(["1.5.0", "2.5.0", "3.1.0"].map((one) => satisfies(one, ">=1.0.0 <2.0.0 || ^3.0.0")), [true, false, true]); }
export function TestBest(t: testing.T) { t.assert.Equal([best(["1.0.0", "1.4.0", "2.0.0"], "^1.0.0"), best(["1.0.0"], "2")], ["1.4.0", null]); }
