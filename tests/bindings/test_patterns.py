"""Go's regular expressions: what they match, what they refuse, and that a search ends."""

from __future__ import annotations

import string

import pytest
from table_tests import each

from bindings.patterns import MAX_LENGTH, Pattern, PatternError, compile, search

MATCHES = [
    # unanchored, as in go test -run
    ("", "", True),
    ("", "anything", True),
    ("b", "abc", True),
    ("^b", "abc", False),
    ("Test(One|Two)$", "TestTwo", True),
    ("Test(One|Two)$", "TestTwoMore", False),
    # ends of text and lines
    ("a$", "a\n", False),
    (r"a\z", "a\n", False),
    ("(?m)a$", "a\nb", True),
    ("(?m)^b", "a\nb", True),
    ("(?m)^$", "a\n", True),
    ("^b", "a\nb", False),
    (r"\Ab", "a\nb", False),
    (r"(?m)\Ab", "a\nb", False),
    (r"\Aa", "ab", True),
    (r"b\z", "ab", True),
    # dot
    ("a.b", "a\nb", False),
    ("(?s)a.b", "a\nb", True),
    ("(?s:a.)b.", "a\nb\n", False),
    ("(?s)(?-s)a.b", "a\nb", False),
    ("a.b", "a\rb", True),
    ("^.$", "\u2028", True),
    # case
    ("(?i)hello", "HeLLo", True),
    ("hello", "HELLO", False),
    ("(?i:h)ello", "Hello", True),
    ("(?i:h)ello", "HELLO", False),
    ("a(?i)b|c", "C", True),
    ("a(?i)b|c", "A", False),
    ("(a(?i)b)c", "aBC", False),
    ("(a(?i)b)c", "aBc", True),
    ("(?i)(?-i)a", "A", False),
    ("(?i)ÄÖ", "äö", True),
    ("(?i)[a-z]+$", "ABC", True),
    ("(?i)[^a-z]", "B", False),
    (r"(?i)\W", "s", False),
    (r"(?i)[\W]", "s", False),
    (r"(?i)[\W]", "k", False),
    (r"(?i)[[:^lower:]]", "A", False),
    (r"(?i)k", "\u212a", True),
    # classes are ASCII, unless they say Unicode
    (r"^\d$", "5", True),
    (r"\d", "\u0665", False),
    (r"\w", "é", False),
    (r"\W", "é", True),
    (r"\s", "\u00a0", False),
    (r"\s", "\v", False),
    (r"\s", "\f", True),
    (r"[\s]", "\v", False),
    (r"[\S]", "\v", True),
    (r"[[:space:]]", "\v", True),
    (r"é\b", "é", False),
    (r"\bfoo\b", "a foo b", True),
    (r"\bfoo\b", "foobar", False),
    (r"o\Bo", "foo", True),
    (r"\Bf", "foo", False),
    ("[[:alpha:]]+$", "abc", True),
    ("^[[:alpha:]]$", "5", False),
    ("^[[:^alpha:]]$", "5", True),
    ("^[[:word:]-]+$", "a_1-", True),
    ("^[[:xdigit:]]+$", "aF09", True),
    ("^[[:punct:]]$", "~", True),
    ("^[[:upper:][:digit:]]+$", "A1", True),
    (r"^\pL$", "é", True),
    (r"^\PL$", "é", False),
    (r"^\p{Greek}$", "ω", True),
    (r"^\p{Greek}$", "w", False),
    (r"^\p{^Greek}$", "w", True),
    (r"^[\p{Lu}\d]+$", "É5", True),
    (r"^[^\pL]$", "5", True),
    (r"^\p{Han}+$", "漢字", True),
    # brackets
    ("^[]a]+$", "]a", True),
    ("^[^]a]$", "]", False),
    ("^[a-]+$", "a-", True),
    ("^[-a]+$", "-a", True),
    ("^[a-c-e]+$", "b-e", True),
    ("^[[]$", "[", True),
    ("^[a&&b]+$", "&a", True),
    ("^[^a]$", "\n", True),
    (r"^[\]\\]+$", r"\]", True),
    (r"^[\n-\r]$", "\v", True),
    ("^[a-a]$", "a", True),
    (r"^[\x{100}-\x{200}]$", "\u0150", True),
    # repetition
    ("^a{2}$", "aa", True),
    ("^a{2}$", "aaa", False),
    ("^a{2,}$", "aaaa", True),
    ("^a{1,2}$", "aaa", False),
    ("^a{,2}$", "a{,2}", True),
    ("^a{,2}$", "aa", False),
    ("^a{$", "a{", True),
    ("^a{01}$", "a{01}", True),
    ("^{1}$", "", True),
    ("^a{0}b{0,1}$", "b", True),
    ("^a{0}$", "a", False),
    ("^a*?$", "aaa", True),
    ("^(?U)a+?$", "aaa", True),
    ("^(ab)+$", "abab", True),
    ("^(?:a|b)*c$", "abbac", True),
    ("(?U)(?i)A", "a", True),
    # escapes
    (r"^\x41\x{263a}\101\07$", "A☺A\a", True),
    (r"^\1014$", "A4", True),
    ("^\uffff\U00010000$", "\uffff\U00010000", True),
    (r"^\x{10000}$", "\U00010000", True),
    (r"^\a\f\n\r\t\v$", "\a\f\n\r\t\v", True),
    (r"^\.\*\_\-\/$", ".*_-/", True),
    (r"^\Qa.b*\E$", "a.b*", True),
    (r"^\Qa.b", "axb", False),
    (r"^\Qab\E+$", "abbb", True),
    (r"^a\Q\E+$", "aaa", True),
    (r"^\Q\\E$", "\\", True),
    # groups
    ("(?P<year>[0-9]+)-(?<month>[0-9]+)", "2026-11", True),
    ("^(|a)$", "", True),
    ("^()$", "", True),
    ("#a b", "#a b", True),
    ("^\U0001f600$", "\U0001f600", True),
]


@each(("pattern", "text", "expected"), MATCHES, ids=[repr(row[:2]) for row in MATCHES])
def test_search_answers_as_go(pattern: str, text: str, expected: bool) -> None:
    assert search(pattern, text) is expected


CLASSES = {
    "[[:alnum:]]": string.ascii_letters + string.digits,
    "[[:alpha:]]": string.ascii_letters,
    "[[:ascii:]]": "".join(map(chr, range(128))),
    "[[:blank:]]": " \t",
    "[[:cntrl:]]": "".join(map(chr, [*range(32), 127])),
    "[[:digit:]]": string.digits,
    "[[:graph:]]": string.ascii_letters + string.digits + string.punctuation,
    "[[:lower:]]": string.ascii_lowercase,
    "[[:print:]]": string.ascii_letters + string.digits + string.punctuation + " ",
    "[[:punct:]]": string.punctuation,
    "[[:space:]]": string.whitespace,
    "[[:upper:]]": string.ascii_uppercase,
    "[[:word:]]": string.ascii_letters + string.digits + "_",
    "[[:xdigit:]]": string.hexdigits,
    r"\d": string.digits,
    r"\w": string.ascii_letters + string.digits + "_",
    r"\s": " \t\n\f\r",
}


@each("pattern", CLASSES)
def test_a_class_and_its_negation_hold_these_characters(pattern: str) -> None:
    negation = pattern.upper() if pattern.startswith("\\") else pattern.replace("[[:", "[[:^")
    for code in range(256):
        inside = chr(code) in CLASSES[pattern]
        assert search(pattern, chr(code)) is inside, code
        assert search(negation, chr(code)) is not inside, code
        if pattern.startswith("\\"):
            assert search(f"[{negation}]", chr(code)) is not inside, code


REFUSED = [
    (r"(a)\1", r"back-reference `\1` is not supported", 3),
    (r"x\8", r"back-reference `\8` is not supported", 1),
    (r"\91", r"back-reference `\9` is not supported", 0),
    ("(?P<n>a)(?P=n)", "a back-reference `(?P=` is not supported", 8),
    ("a(?=b)", "look-ahead `(?=` is not supported", 1),
    ("a(?!b)", "look-ahead `(?!` is not supported", 1),
    ("(?<=a)b", "look-behind `(?<=` is not supported", 0),
    ("(?<!a)b", "look-behind `(?<!` is not supported", 0),
    ("(?>a)b", "an atomic group `(?>` is not supported", 0),
    ("(?#x)a", "a comment `(?#` is not supported", 0),
    ("(?(1)a|b)", "a conditional group `(?(` is not supported", 0),
    ("(?|a|b)", "a branch reset `(?|` is not supported", 0),
    ("(?R)", "recursion `(?R` is not supported", 0),
    ("(?P<n>a)(?P>n)", "recursion `(?P>` is not supported", 8),
    ("(?&n)", "recursion `(?&` is not supported", 0),
    ("ba++", "possessive repetition `++` is not supported", 2),
    ("a*+", "possessive repetition `*+` is not supported", 1),
    ("a**", "a nested repetition `**` is not supported", 1),
    ("a*?*", "a nested repetition `*?*` is not supported", 1),
    ("a{2}{3}", "a nested repetition `{2}{3}` is not supported", 1),
    ("*a", "nothing to repeat before `*`", 0),
    ("a|+", "nothing to repeat before `+`", 2),
    ("(?i)*", "nothing to repeat before `*`", 4),
    ("(?:{2})", "nothing to repeat before `{2}`", 3),
    ("a{1001}", "a repetition count over 1000, or an invalid one `{1001}`", 1),
    ("(a{50}){50}", "a repetition count over 1000, or an invalid one `{50}`", None),
    ("(a{600,}){2}", "a repetition count over 1000, or an invalid one `{2}`", 9),
    ("a{3,2}", "a repetition count over 1000, or an invalid one `{3,2}`", 1),
    ("a)", "unexpected `)`", 1),
    ("b(a", "missing `)` for the group", 1),
    ("(?", "unknown group or flag", 0),
    ("(?x)a", "unknown group or flag", 0),
    ("(?i-)a", "unknown group or flag", 0),
    ("(?)a", "missing flag", 0),
    ("(?P<n>a)(?P<n>b)", 'group name "n" is used twice', 8),
    ("(?P<a-b>a)", "invalid group name", 0),
    ("(?P<n", "invalid group name", 0),
    ("b[a", "missing `]` for the character class", 1),
    ("[a-", "missing `]` for the character class", 0),
    ("[]", "missing `]` for the character class", 0),
    ("[z-a]", "unknown character class or invalid range `z-a`", 1),
    (r"[a-\d]", r"unknown escape `\d`", 3),
    ("[[:foo:]]", "unknown character class or invalid range `[:foo:]`", 1),
    (r"\p{Foo}", r"unknown character class or invalid range `\p{Foo}`", 0),
    (r"\p{}", r"unknown character class or invalid range `\p{}`", 0),
    (r"\p", r"unknown character class or invalid range `\p`", 0),
    (r"a\Z", r"unknown escape `\Z`", 1),
    (r"a\C", r"unknown escape `\C`", 1),
    (r"\é", r"unknown escape `\é`", 0),
    ("a\\", r"a single `\` at the end", None),
    (r"\x{110000}", r"unknown escape `\x{110000`", 0),
    (r"\x4", r"unknown escape `\x4`", 0),
    (r"\x{41", r"unknown escape `\x{41`", 0),
    (r"\x{}", r"unknown escape `\x{}`", 0),
    (r"[\Qa\E]", r"unknown escape `\Q`", 1),
]


@each(("pattern", "reason", "position"), REFUSED, ids=[row[0][:20] for row in REFUSED])
def test_what_go_refuses_is_refused_with_its_position(pattern: str, reason: str, position: int) -> None:
    with pytest.raises(PatternError) as caught:
        compile(pattern)
    assert (caught.value.reason, caught.value.position) == (reason, position)


def test_the_message_holds_pattern_reason_and_position() -> None:
    with pytest.raises(PatternError, match=r"^Cannot use pattern `a\(\?=b\)`: look-ahead .* at position 1$"):
        search("a(?=b)", "ab")


def test_a_very_long_pattern_is_refused_and_shortened_in_the_message() -> None:
    with pytest.raises(PatternError, match=f"longer than {MAX_LENGTH}") as caught:
        compile("a" * (MAX_LENGTH + 1))
    assert len(str(caught.value)) < 300
    assert "position" not in str(caught.value)


GROUPS: dict[str, tuple[str, str, dict[str, str | None] | None]] = {
    "the whole match": ("b+", "abbc", {"0": "bb"}),
    "numbered from the left": ("((a)(b))", "xab", {"0": "ab", "1": "ab", "2": "a", "3": "b"}),
    "named": ("(?P<x>a)(?<y>b)", "ab", {"0": "ab", "1": "a", "2": "b", "x": "a", "y": "b"}),
    "not capturing": ("(?:a)(?i)(b)(?i:c)", "aBC", {"0": "aBC", "1": "B"}),
    "without part": ("(a)|(b)", "b", {"0": "b", "1": None, "2": "b"}),
    "the last of several": ("(a|b)+", "ab", {"0": "ab", "1": "b"}),
    "no match": ("(a)", "b", None),
}


@each(("pattern", "text", "groups"), GROUPS.values(), ids=GROUPS)
def test_groups_are_given_by_number_and_name(pattern: str, text: str, groups: dict[str, str | None] | None) -> None:
    assert compile(pattern).groups(text) == groups


def test_groups_nest_to_the_bound() -> None:
    assert search("(" * 900 + "a" + ")" * 900, "a")


def test_a_pattern_is_compiled_once() -> None:
    assert isinstance(compile("x+"), Pattern)
    assert compile("x+") is compile("x+")
    assert compile("x+").source == "x+"


@each("pattern", ["(x+x+)+y", "(x|xx)+$y", "(x*)*y", "((x*)*)*y", "x{0,1000}x{0,1000}y", "(?i)(x|X|x)+y"])
def test_a_search_takes_no_more_than_its_text_is_long(pattern: str) -> None:
    assert not search(pattern, "x" * 6_000)


def test_half_a_pair_of_surrogates_is_a_replacement_character() -> None:
    assert search("^\ufffd\ud83d$", "\ud83d\ufffd")
    assert compile(".").groups("\ude00") == {"0": "\ufffd"}


def test_repetitions_that_make_a_pattern_too_large_are_refused() -> None:
    with pytest.raises(PatternError, match="too large"):
        compile(r"((\pL{100}){10}|(\pN{100}){10})" * 9)
