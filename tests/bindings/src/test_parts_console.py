"""`console` and `log`; the stub prints a value as `<json>`."""

# A row of a table is one line.

from __future__ import annotations

from parts_realm import evaluate
from table_tests import each

FORMAT = [
    ("nothing", "[]", ""),
    ("text", "['a']", "a"),
    ("texts and values", "['a', 1, {b: 2}, null]", 'a <1> <{"b":2}> <null>'),
    ("a value first", "[{a: 1}, 'b %s']", '<{"a":1}> b %s'),
    ("a lone percent text stays", "['100%% %s']", "100%% %s"),
    ("%s", "['%s|%s|%s|%s', 'x', -0, 5n, null]", "x|-0|5n|null"),
    ("%s of objects", "['%s %s', {a: 1}, {toString: () => 'own'}]", '<{"a":1}> own'),
    ("%s of a symbol", "['%s', Symbol('q')]", "Symbol(q)"),
    ("%d", "['%d %d %d %d', '42', 1.5, 3n, {}]", "42 1.5 3n NaN"),
    ("%i and %f", "['%i %f', 42.9, '1.5x']", "42 1.5"),
    ("%j", "['%j %j', {a: 1}, undefined]", '{"a":1} undefined'),
    ("%o and %O", "['%o %O', {a: 1}, 'x']", '<{"a":1}> "x"'),
    ("%c takes a value and prints nothing", "['%cred', 'color: red']", "red"),
    ("%%", "['%d%%', 50]", "50%"),
    ("too few values", "['%s %s', 1]", "1 %s"),
    ("too many values", "['%s', 'a', 'b', 3]", "a b <3>"),
    ("an unknown specifier", "['%x', 1]", "%x <1>"),
]


@each(("args", "text"), [row[1:] for row in FORMAT], ids=[row[0] for row in FORMAT])
def test_format(args: str, text: str) -> None:
    assert evaluate(f"part('console').format({args})") == text


PRINTF = [
    ("['plain']", "plain"),
    ("['100%']", "100%"),
    ("['50%% done']", "50% done"),
    ("['%s and %s', 'a', 'b']", "a and b"),
    ("['%d|%5d|%-5d|%05d|%+d', 42, 42, 42, 42, 42]", "42|   42|42   |00042|+42"),
    ("['%d', -7]", "-7"),
    ("['%05d', -42]", "-0042"),
    ("['%d', 5n]", "5"),
    ("['%d', 1.5]", "%!d(float64=1.5)"),
    ("['%d', 'x']", "%!d(string=x)"),
    ("['%v %v %v %v', 1, 'a', true, null]", "1 a <true> <nil>"),
    ("['%v', {a: 1}]", '<{"a":1}>'),
    ("['%+v', {a: 1}]", '<{"a":1}>'),
    ("['%#v', 'a']", '"a"'),
    ("['%v %v', 1e21, 0.00001]", "1e+21 1e-05"),
    ("['%f %.2f %.0f', 1.5, 3.14159, 2.6]", "1.500000 3.14 3"),
    ("['%.2f', 3]", "3.00"),
    ("['%8.2f|%-8.2f|%08.2f', 3.14159, 3.14159, -3.14159]", "    3.14|3.14    |-0003.14"),
    ("['%e %E', 1234.5, 0.001]", "1.234500e+03 1.000000E-03"),
    ("['%g %g %.3g', 0.5, 1e21, 1234.5]", "0.5 1e+21 1.23e+03"),
    ("['%f', NaN]", "NaN"),
    ("['%t %t', true, false]", "true false"),
    ("['%t', 1]", "%!t(int=1)"),
    ("['%q', 'a\"b']", '"a\\"b"'),
    ("['%q %c %U', 65, 97, 0x20ac]", "'A' a U+20AC"),
    ("['%x %X %#x', 255, 255, 255]", "ff FF 0xff"),
    ("['%x % x', 'hi', 'hé']", "6869 68 c3 a9"),
    ("['%b %o %O', 5, 8, 8]", "101 10 0o10"),
    (
        "['%T %T %T %T %T %T %T', 1, 1.5, 'a', true, null, [1], {}]",
        "int float64 string bool <nil> []interface {} map[string]interface {}",
    ),
    ("['%5s|%-5s|%.2s', 'ab', 'ab', 'abc']", "   ab|ab   |ab"),
    ("['%*d', 5, 42]", "   42"),
    ("['%.*f', 1, 2.55]", "2.5"),
    ("['%s', 5]", "%!s(int=5)"),
    ("['%s', [1]]", "<[1]>"),
    ("['%d']", "%d"),
    ("['%d %d', 1]", "1 %!d(MISSING)"),
    ("['a', 'b', 2]", "a b 2"),
    ("['%z', 1]", "%!z(int=1)"),
    ("['x%', 1]", "x%!(NOVERB) 1"),
    ("['%d%%', 50]", "50%"),
    ("[{a: 1}, 'b']", '<{"a":1}> b'),
    ("['%999999999d', 1].map((x) => x) && ['%3d', 1]", "  1"),
]


@each(("args", "text"), PRINTF, ids=[row[0] for row in PRINTF])
def test_printf(args: str, text: str) -> None:
    assert evaluate(f"part('console').printf({args})") == text


LINES = [
    ("levels", "console.log(1); console.info('a'); console.warn('b'); console.error('c'); console.debug('d'); console.trace('e')", ["info <1>", "info a", "warn b", "error c", "debug d", "trace Trace: e"]),
    ("an empty line", "console.log()", ["info "]),
    ("log levels", "log.Trace('a'); log.Debug('b'); log.Info('c %d', 1); log.Warn('d'); log.Error('e'); log.Fatal('f')", ["trace a", "debug b", "info c 1", "warn d", "error e", "error f"]),
    ("assert", "console.assert(1, 'no'); console.assert(0); console.assert(false, 'got %d', 5)", ["error Assertion failed", "error Assertion failed: got 5"]),
    ("dir", "console.dir({a: 1}); console.dir('x')", ['info <{"a":1}>', 'info "x"']),
    ("count", "console.count(); console.count('x'); console.count(); console.countReset(); console.count()", ["info default: 1", "info x: 1", "info default: 2", "info default: 1"]),
    ("group", "console.group('g'); console.log('a\\nb'); console.group(); console.warn('c'); console.groupEnd(); console.groupEnd(); console.groupEnd(); console.log('d')", ["info g", "info   a\n  b", "warn     c", "info d"]),
    ("time", "console.time('t'); clock.now += 12.3456; console.timeLog('t', 'x', 1); clock.now += 1; console.timeEnd('t'); console.timeEnd('t')", ["info t: 12.346ms x <1>", "info t: 13.346ms", 'warn console.timeEnd: no timer is named "t"']),
    ("time twice", "console.time(); console.time()", ['warn console.time: a timer named "default" is already running']),
    ("values that throw", "const bad = { toString() { throw 1 } }; console.log('%d %i %f', bad, bad, bad); console.count(Object.create(null)); console.table(Object.create(Map.prototype))", ["info NaN NaN NaN", "info <{}>: 1", "info <{}>"]),
    ("a label with percent", "console.time('%d'); console.timeEnd('%d')", ["info %d: 0ms"]),
    ("table", "console.table([{a: 1, b: 'x'}, {a: 22}])", ["info ┌─────────┬──────┬─────┐\n│ (index) │ a    │ b   │\n├─────────┼──────┼─────┤\n│ 0       │ <1>  │ \"x\" │\n│ 1       │ <22> │     │\n└─────────┴──────┴─────┘"]),
    ("table of values", "console.table(['q'])", ["info ┌─────────┬────────┐\n│ (index) │ Values │\n├─────────┼────────┤\n│ 0       │ \"q\"    │\n└─────────┴────────┘"]),
    ("table of chosen columns", "console.table({r: {a: 1, b: 2}}, ['b'])", ["info ┌─────────┬─────┐\n│ (index) │ b   │\n├─────────┼─────┤\n│ r       │ <2> │\n└─────────┴─────┘"]),
    ("table of nothing like it", "console.table(5)", ["info <5>"]),
    ("methods work alone", "const { log: print } = console; ['a'].forEach((x) => print(x))", ["info a"]),
]  # fmt: skip


@each(("body", "lines"), [row[1:] for row in LINES], ids=[row[0] for row in LINES])
def test_lines(body: str, lines: list[str]) -> None:
    assert evaluate(f"(() => {{ {body}; return lines }})()", "console") == lines


def test_console_returns_undefined_and_log_null() -> None:
    assert evaluate("[console.log('a') === undefined, log.Info('a')]", "console") == [True, None]


def test_panic_logs_and_throws() -> None:
    body = "(() => { try { log.Panic('bad %d', 7) } catch (e) { return [e.message, e.code, e instanceof Exception, lines] } })()"
    assert evaluate(body, "console") == ["bad 7", 500, True, ["error bad 7"]]
