import { fill, initials, mask, plural, shorten, slug, wrap } from "./text";

export function TestSlug(t: testing.T) {
  t.assert.Equal(slug("  Crème brûlée, 2 ways! "), "creme-brulee-2-ways");
}

export function TestSlugOfNothing(t: testing.T) {
  t.assert.Equal(slug("!?"), "");
}

export function TestShortTextsStay(t: testing.T) {
  t.assert.Equal(shorten("abc", 3), "abc");
}

export function TestShortenAtAWord(t: testing.T) {
  t.assert.Equal(shorten("the quick brown fox", 12), "the quick…");
}

export function TestShortenALongWord(t: testing.T) {
  t.assert.Len(shorten("abcdefghijklmnop", 8), 8);
}

export function TestFill(t: testing.T) {
  t.assert.Equal(fill("Dear {name|upper}, {x}{y|lower}", { name: "Eva", y: "OK" }), "Dear EVA, {x}ok");
}

export function TestFillNull(t: testing.T) {
  t.assert.Equal(fill("[{a}]", { a: null }), "[]");
}

export function TestMaskMail(t: testing.T) {
  t.assert.Equal(mask("to eva@example.com"), "to e***@example.com");
}

export function TestMaskCard(t: testing.T) {
  t.assert.NotContains(mask("card 4111 1111 1111 1234 ok"), "4111");
}

export function TestPlural(t: testing.T) {
  t.assert.Equal([plural(1, "day"), plural(2, "day"), plural(0, "child", "children")], ["1 day", "2 days", "0 children"]);
}

export function TestInitials(t: testing.T) {
  t.assert.Equal(initials("ada lovelace"), "AL");
  t.assert.Equal(initials("Ada Byron King"), "AK");
  t.assert.Equal(initials("  "), "?");
}

export function TestWrap(t: testing.T) {
  t.assert.Equal(wrap("aa bb cc", 5), ["aa bb", "cc"]);
}

export function TestWrapLongWords(t: testing.T) {
  t.assert.Equal(wrap("abcdefgh i", 4).length, 2);
}
