import { FILTERS, lookup, parse, render } from "./render";

export function TestPlainText(t: testing.T) { t.assert.Equal(render("Hello", {}), "Hello"); }
export function TestNothingToWrite(t: testing.T) { t.assert.Equal(render("", {}), ""); }
export function TestValueOfAName(t: testing.T) { t.assert.Equal(render("Hello {{name}}!", { name: "Eva" }), "Hello Eva!"); }
export function TestValueWithBlanks(t: testing.T) { t.assert.Equal(render("{{ name }}", { name: "Eva" }), "Eva"); }
export function TestValueOfAPath(t: testing.T) { t.assert.Equal(render("{{a.b.c}}", { a: { b: { c: 7 } } }), "7"); }
export function TestMissingValue(t: testing.T) { t.assert.Equal(render("[{{a.b}}]", {}), "[]"); }
export function TestNullValue(t: testing.T) { t.assert.Equal(render("[{{a}}]", { a: null }), "[]"); }
export function TestZero(t: testing.T) { t.assert.Equal(render("{{n}}", { n: 0 }), "0"); }
export function TestEscapes(t: testing.T) { t.assert.Equal(render("{{a}}", { a: '<b class="x">&' }), "&lt;b class=&quot;x&quot;&gt;&amp;"); }
export function TestRawValue(t: testing.T) { t.assert.Equal(render("{{{a}}}", { a: "<b>" }), "<b>"); }
export function TestTwoValues(t: testing.T) { t.assert.Equal(render("{{a}}-{{b}}", { a: 1, b: 2 }), "1-2"); }
export function TestIfTrue(t: testing.T) { t.assert.Equal(render("{{#if a}}yes{{/if}}", { a: true }), "yes"); }
export function TestIfFalse(t: testing.T) { t.assert.Equal(render("{{#if a}}yes{{/if}}", { a: false }), ""); }
export function TestIfElse(t: testing.T) { t.assert.Equal([true, false].map((a) => render("{{#if a}}yes{{else}}no{{/if}}", { a })), ["yes", "no"]); }
export function TestIfEmptyList(t: testing.T) { t.assert.Equal(render("{{#if a}}yes{{else}}no{{/if}}", { a: [] }), "no"); }
export function TestIfFilledList(t: testing.T) { t.assert.Equal(render("{{#if a}}yes{{/if}}", { a: [0] }), "yes"); }
export function TestUnless(t: testing.T) { t.assert.Equal([true, false].map((a) => render("{{#unless a}}no{{/unless}}", { a })), ["", "no"]); }
export function TestIfWithin(t: testing.T) { t.assert.Equal(render("{{#if a}}{{#if b}}both{{else}}one{{/if}}{{/if}}", { a: 1, b: 0 }), "one"); }
export function TestTextBehindIf(t: testing.T) { t.assert.Equal(render("{{#if a}}x{{/if}} end", { a: 0 }), " end"); }
export function TestEach(t: testing.T) { t.assert.Equal(render("{{#each list}}<{{this}}>{{/each}}", { list: [1, 2] }), "<1><2>"); }
export function TestEachAs(t: testing.T) { t.assert.Equal(render("{{#each list as one}}{{one.n}};{{/each}}", { list: [{ n: 1 }, { n: 2 }] }), "1;2;"); }
export function TestEachIndex(t: testing.T) { t.assert.Equal(render("{{#each list}}{{index}}{{/each}}", { list: ["a", "b"] }), "01"); }
export function TestEachIsLast(t: testing.T) { t.assert.Equal(render("{{#each list}}{{this}}{{#unless isLast}},{{/unless}}{{/each}}", { list: [1, 2, 3] }), "1,2,3"); }
export function TestEachOfNone(t: testing.T) { t.assert.Equal(render("{{#each list}}x{{else}}none{{/each}}", { list: [] }), "none"); }
export function TestEachOfNoList(t: testing.T) { t.assert.Equal(render("{{#each list}}x{{else}}none{{/each}}", { list: 3 }), "none"); }
export function TestEachSeesTheOutside(t: testing.T) { t.assert.Contains(render("{{#each list}}{{unit}}{{/each}}", { list: [1], unit: "kg" }), "kg"); }
export function TestNotClosed(t: testing.T) { t.assert.Panic(() => parse("{{#if a}}")); }
export function TestWronglyClosed(t: testing.T) { t.assert.Panic(() => parse("{{#if a}}{{/each}}")); }
export function TestClosesNothing(t: testing.T) { t.assert.Panic(() => parse("{{/if}}")); }
export function TestUnknownFilter(t: testing.T) { t.assert.Panic(() => render("{{a | nope}}", { a: 1 })); }
export function TestUpper(t: testing.T) { t.assert.Equal(render("{{a | upper}}", { a: "x" }), "X"); }
export function TestLowerAndTrim(t: testing.T) { t.assert.Equal(render("[{{a | trim | lower}}]", { a: " X " }), "[x]"); }
export function TestFirstAndLast(t: testing.T) { t.assert.Equal([FILTERS.first([1, 2]), FILTERS.last([1, 2]), FILTERS.first("ab"), FILTERS.last("ab")], [1, 2, "a", "b"]); }
export function TestSize(t: testing.T) { t.assert.Equal([FILTERS.size([1, 2]), FILTERS.size("abc"), FILTERS.size({ a: 1 }), FILTERS.size(null)], [2, 3, 1, 0]); }
export function TestJoin(t: testing.T) { t.assert.Equal(render("{{a | join}}/{{a | join:-}}", { a: [1, 2] }), "1, 2/1-2"); }
export function TestOr(t: testing.T) { t.assert.Equal(render("{{a | or:none}}{{b | or:none}}", { a: "", b: 0 }), "none0"); }
export function TestCut(t: testing.T) { t.assert.Equal(render("{{a | cut:4}}", { a: "abcdef" }), "abc…"); }
export function TestCutNothing(t: testing.T) { t.assert.Equal(render("{{a | cut:4}}", { a: "abcd" }), "abcd"); }
export function TestCutLong(t: testing.T) { t.assert.Len(String(FILTERS.cut("a".repeat(30))), 20); }
export function TestFixed(t: testing.T) { t.assert.Equal(render("{{a | fixed}} {{a | fixed:0}}", { a: 1.5 }), "1.50 2"); }
export function TestInclude(t: testing.T) { t.assert.Equal(render("{{> sign}}", { name: "Eva" }, { sign: "Yours, {{name}}" }), "Yours, Eva"); }
export function TestIncludeNothing(t: testing.T) { t.assert.Equal(render("[{{> sign}}]", {}), "[]"); }
export function TestIncludesWithoutEnd(t: testing.T) { t.assert.Panic(() => render("{{> a}}", {}, { a: "{{> a}}" })); }
export function TestLookupOfItself(t: testing.T) { t.assert.Equal([lookup(5, "."), lookup(5, "")], [5, 5]); }
export function TestParsesKinds(t: testing.T) { t.assert.Equal(parse("a{{b}}{{> c}}").map(({ kind }) => kind), ["text", "value", "include"]); }
