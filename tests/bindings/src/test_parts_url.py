"""`URL` and `URLSearchParams`."""

# A row of a table is one line.

from __future__ import annotations

from parts_realm import evaluate
from table_tests import each

PARSED = [
    # input, base, href
    ("http://example.com", None, "http://example.com/"),
    ("HTTP://User:pw@EXAMPLE.com:80/a/./b/../c?q=1#f", None, "http://User:pw@example.com/a/c?q=1#f"),
    ("https://a:443/b", None, "https://a/b"),
    ("https://a:8443/b", None, "https://a:8443/b"),
    ("ws://h:80", None, "ws://h/"),
    ("wss://h:443/x", None, "wss://h/x"),
    ("  ht\ntp://a/b\tc ", None, "http://a/bc"),
    ("http:\\\\a\\b", None, "http://a/b"),
    ("http:a", None, "http://a/"),
    ("http://h:", None, "http://h/"),
    ("http://h:00080", None, "http://h/"),
    ("http://a/%2e%2E/x", None, "http://a/x"),
    ("http://a/b/%2e", None, "http://a/b/"),
    ("http://a//b//../c", None, "http://a//b/c"),
    ('http://a/ <>"`{}^|', None, "http://a/%20%3C%3E%22%60%7B%7D%5E|"),
    ("http://a/é?é#é", None, "http://a/%C3%A9?%C3%A9#%C3%A9"),
    ("http://a/\ud83d#\ude00", None, "http://a/%EF%BF%BD#%EF%BF%BD"),
    ("http://a/?x'y", None, "http://a/?x%27y"),
    ("foo://a/?x'y", None, "foo://a/?x'y"),
    ("http://a#b?c", None, "http://a/#b?c"),
    ("http://a?b/c", None, "http://a/?b/c"),
    ("http://us er:p@s@h/", None, "http://us%20er:p%40s@h/"),
    ("http://:p@h", None, "http://:p@h/"),
    # hosts
    ("http://0x7f.1", None, "http://127.0.0.1/"),
    ("http://2130706433", None, "http://127.0.0.1/"),
    ("http://0300.0250.01", None, "http://192.168.0.1/"),
    ("http://1.2.3.4./", None, "http://1.2.3.4/"),
    ("http://[2001:DB8:0:0:1:0:0:1]", None, "http://[2001:db8::1:0:0:1]/"),
    ("http://[::ffff:1.2.3.4]", None, "http://[::ffff:102:304]/"),
    ("http://[0:0:0:0:0:0:0:0]", None, "http://[::]/"),
    ("http://[1:0:2:3:4:5:6:7]", None, "http://[1:0:2:3:4:5:6:7]/"),
    ("http://a%41.com", None, "http://aa.com/"),
    ("http://bücher.de", None, "http://xn--bcher-kva.de/"),
    ("http://ÉCOLE.fr", None, "http://xn--cole-9oa.fr/"),
    ("http://日本語。jp", None, "http://xn--wgv71a119e.jp/"),
    ("http://пример.рф", None, "http://xn--e1afmkfd.xn--p1ai/"),
    ("foo://ÉX", None, "foo://%C3%89X"),
    ("foo://h:80/", None, "foo://h:80/"),
    # no host
    ("mailto:me@x.com", None, "mailto:me@x.com"),
    ("data:text/plain,hé<>", None, "data:text/plain,h%C3%A9<>"),
    ("javascript:a?b#c", None, "javascript:a?b#c"),
    ("foo:/..//x", None, "foo:/.//x"),
    ("foo:///..", None, "foo:///"),
    # files
    ("file:", None, "file:///"),
    ("file://localhost/a", None, "file:///a"),
    ("file:c:/x", None, "file:///c:/x"),
    ("file:///c|/x/../..", None, "file:///c:/"),
    ("file://h/a", None, "file://h/a"),
    ("/y", "file:///C:/a", "file:///C:/y"),
    ("..", "file:///C:/a", "file:///C:/"),
    ("D:/z", "file:///C:/a", "d:/z"),
    # bases
    ("../x?y=1#z", "http://h/a/b/c", "http://h/a/x?y=1#z"),
    ("/abs", "https://u:p@h:8443/a", "https://u:p@h:8443/abs"),
    ("//other/x", "https://h/a", "https://other/x"),
    ("?q2", "http://h/a/b?q#f", "http://h/a/b?q2"),
    ("#f2", "http://h/a/b?q#f", "http://h/a/b?q#f2"),
    ("", "http://h/a/b?q#f", "http://h/a/b?q"),
    ("http:x", "http://h/a/b", "http://h/a/x"),
    ("https:x", "http://h/a/b", "https://x/"),
    ("\\x", "http://h/a/b", "http://h/x"),
    ("\\x", "foo://h/a/b", "foo://h/a/\\x"),
    ("#x", "mailto:a", "mailto:a#x"),
    ("http://a/", "about:blank", "http://a/"),
]

INVALID = [
    ("", None),
    ("x", None),
    ("//h", None),
    ("x", "mailto:a"),
    ("?x", "about:blank"),
    ("x", "nonsense"),
    ("http://", None),
    ("http://:80", None),
    ("http://u@", None),
    ("http://h:65536", None),
    ("http://h:8a", None),
    ("http://a b", None),
    ("http://a<b", None),
    ("http://a%00b", None),
    ("http://[::1", None),
    ("http://[g::1]", None),
    ("http://[1::2::3]", None),
    ("http://[1:2:3:4:5:6:7]", None),
    ("http://[::1.2.3.400]", None),
    ("http://256.1.1.1", None),
    ("http://1.2.3.4.5", None),
    ("http://foo.1", None),
    ("http://09.1", None),
    ("foo://a b", None),
    ("1http://a", None),
]


def construct(text: str, base: str | None) -> str:
    return f"new URL({text!a}, {'undefined' if base is None else repr(base)})"


@each(("text", "base", "href"), PARSED, ids=ascii)
def test_url_is_parsed_and_serialized(text: str, base: str | None, href: str) -> None:
    assert evaluate(f"{construct(text, base)}.href", "url") == href


@each(("text", "base"), INVALID, ids=ascii)
def test_invalid_url_throws_and_cannot_be_parsed(text: str, base: str | None) -> None:
    arguments = construct(text, base)[len("new URL(") : -1]
    result = evaluate(
        f"[(() => {{ try {{ new URL({arguments}) }} catch (e) {{ return e instanceof TypeError && e.message.startsWith('Invalid URL: ') }} }})(),"
        f" URL.canParse({arguments}), URL.parse({arguments})]",
        "url",
    )
    assert result == [True, False, None]


def test_parts_of_a_url() -> None:
    parts = "href origin protocol username password host hostname port pathname search hash".split()
    expression = f"((u) => {parts}.map((name) => u[name]))(new URL('https://u:p@h.com:81/a/b?x=1#y'))"
    expected = [
        "https://u:p@h.com:81/a/b?x=1#y",
        "https://h.com:81",
        "https:",
        "u",
        "p",
        "h.com:81",
        "h.com",
        "81",
        "/a/b",
        "?x=1",
        "#y",
    ]
    assert evaluate(expression, "url") == expected


SETTERS = [
    ("http://h/a", "protocol", "https", "https://h/a"),
    ("http://h:443/a", "protocol", "https", "https://h/a"),
    ("http://h/a", "protocol", "foo", "http://h/a"),
    ("http://h/a", "username", "a@b", "http://a%40b@h/a"),
    ("http://u:p@h/a", "password", "", "http://u@h/a"),
    ("file:///a", "username", "x", "file:///a"),
    ("http://h/a", "host", "b:9", "http://b:9/a"),
    ("http://h:1/a", "host", "b:9x", "http://b:9/a"),
    ("http://h:1/a", "host", "b/c", "http://b:1/a"),
    ("http://h/a", "host", "a b", "http://h/a"),
    ("http://h/a", "host", "", "http://h/a"),
    ("file:///a", "host", "b:9", "file:///a"),
    ("mailto:x", "host", "b", "mailto:x"),
    ("http://h/a", "hostname", "b:9", "http://h/a"),
    ("http://h:1/a", "hostname", "[::1]", "http://[::1]:1/a"),
    ("http://h/a", "port", "90x", "http://h:90/a"),
    ("http://h:90/a", "port", "80", "http://h/a"),
    ("http://h:90/a", "port", "", "http://h/a"),
    ("http://h:90/a", "port", "65536", "http://h:90/a"),
    ("http://h/a?b", "pathname", "x/../y?z", "http://h/y%3Fz?b"),
    ("foo:/x", "pathname", "", "foo:/"),
    ("http://h/a", "search", "x y", "http://h/a?x%20y"),
    ("http://h/a?b", "search", "", "http://h/a"),
    ("http://h/a", "hash", "#x`", "http://h/a#x%60"),
    ("http://h/a#b", "hash", "", "http://h/a"),
    ("http://h/a", "href", "https://z/?q", "https://z/?q"),
    ("http://h/a", "href", "z", 'TypeError: Invalid URL: "z"'),
]


@each(("text", "name", "value", "href"), SETTERS, ids=ascii)
def test_url_setter(text: str, name: str, value: str, href: str) -> None:
    assert evaluate(f"(() => {{ const u = new URL('{text}'); u.{name} = {value!r}; return u.href }})()", "url") == href


PARAMS = [
    ("text", "String(new URLSearchParams('?a=1&b=%C3%A9+x&&c'))", "a=1&b=%C3%A9+x&c="),
    ("object", "String(new URLSearchParams({a: 1, b: 'x y'}))", "a=1&b=x+y"),
    ("pairs", "String(new URLSearchParams([['a', '1'], new Set(['b', 2])]))", "a=1&b=2"),
    ("copy", "String(new URLSearchParams(new URLSearchParams('a=1&a=2')))", "a=1&a=2"),
    ("bad pair", "new URLSearchParams([['a']])", "TypeError: URLSearchParams takes pairs of a name and a value"),
    ("reserved characters", "String(new URLSearchParams({a: \"!'()~*-._&=\"}))", "a=%21%27%28%29%7E*-._%26%3D"),
    ("bad bytes", "[...new URLSearchParams('a=%ff%zz')]", [["a", "\ufffd%zz"]]),
    ("get", "((q) => [q.get('a'), q.get('z'), q.getAll('a'), q.has('a'), q.has('a', '3'), q.size])(new URLSearchParams('a=1&a=2'))", ["1", None, ["1", "2"], True, False, 2]),
    ("append", "((q) => { q.append('b', 3); return String(q) })(new URLSearchParams('a=1'))", "a=1&b=3"),
    ("set", "((q) => { q.set('a', 9); q.set('z', 0); return String(q) })(new URLSearchParams('a=1&b=2&a=3'))", "a=9&b=2&z=0"),
    ("delete", "((q) => { q.delete('a', '1'); q.delete('b'); return String(q) })(new URLSearchParams('a=1&a=2&b=3'))", "a=2"),
    ("sort is stable", "((q) => { q.sort(); return String(q) })(new URLSearchParams('z=1&a=2&z=0&b=3'))", "a=2&b=3&z=1&z=0"),
    ("iterators", "((q) => [[...q.keys()], [...q.values()], [...q]])(new URLSearchParams('a=1&b=2'))", [["a", "b"], ["1", "2"], [["a", "1"], ["b", "2"]]]),
    ("forEach", "((q, seen) => { q.forEach((v, k, all) => seen.push(k + v + (all === q))); return seen })(new URLSearchParams('a=1&b=2'), [])", ["a1true", "b2true"]),
    ("params change the URL", "((u) => { u.searchParams.append('b', 'x y'); return u.href })(new URL('http://h/?a=1'))", "http://h/?a=1&b=x+y"),
    ("the last param leaves no mark", "((u) => { u.searchParams.delete('a'); return u.href })(new URL('http://h/?a=1#f'))", "http://h/#f"),
    ("the URL changes its params", "((u, q) => { u.search = '?c=3'; return [String(q), q === u.searchParams] })(...((u) => [u, u.searchParams])(new URL('http://h/?a=1')))", ["c=3", True]),
    ("href changes the params", "((u, q) => { u.href = 'http://z/?d=4'; return q.get('d') })(...((u) => [u, u.searchParams])(new URL('http://h/?a=1')))", "4"),
]  # fmt: skip


@each(("expression", "expected"), [row[1:] for row in PARAMS], ids=[row[0] for row in PARAMS])
def test_search_params(expression: str, expected: object) -> None:
    assert evaluate(expression, "url") == expected


def test_url_shows_its_text_to_comparisons_and_json() -> None:
    assert evaluate(
        "[Object.keys(new URL('http://a')), JSON.stringify({u: new URL('http://a')}), URL.name, String(new URL('http://a'))]",
        "url",
    ) == [
        ["href"],
        '{"u":"http://a/"}',
        "URL",
        "http://a/",
    ]
    assert evaluate(
        "[new URLSearchParams('a=1').query, URLSearchParams.name, Object.prototype.toString.call(new URLSearchParams())]",
        "url",
    ) == [
        "a=1",
        "URLSearchParams",
        "[object URLSearchParams]",
    ]
