"""`t.mock` and the search for the mock that answers."""

# A row of a table is one line.

from __future__ import annotations

from parts_realm import evaluate
from table_tests import each

SETUP = """
    const mock = part("mock");
    const Process = (name, ...args) => kernel.call(name, args);
    processes["host.Real"] = () => "real";
"""


def check(body: str, *globals_of: str) -> object:
    return evaluate(f"(() => {{ {SETUP} {body} }})()", *globals_of)


PATTERNS = [
    ("a.b", "a.b", True),
    ("A.B", "a.b", True),
    ("a.b", "A.b", True),
    ("a.b", "a.bc", False),
    ("a.*", "a.b.c", True),
    ("a.*", "a.", True),
    ("*", "x", True),
    ("*.Find", "models.user.Find", True),
    ("*.Find", "models.user.Finds", False),
    ("a*b*c", "aXbYbZc", True),
    ("a*b*c", "aXbY", False),
    ("a**", "a", True),
    ("a.b", "aXb", False),
    ("a+(", "a+(", True),
    ("", "x", None),
]


@each(("pattern", "name", "matches"), PATTERNS, ids=lambda value: str(value))
def test_pattern(pattern: str, name: str, matches: bool | None) -> None:
    expected = {
        True: "mocked",
        False: f"Exception|404: {name} is not available",
        None: "TypeError: t.mock.process takes a name or a pattern as its first argument, not an empty text",
    }
    assert check(f"mock.process({pattern!r}, 'mocked'); return Process({name!r})") == expected[matches]


def test_a_pattern_of_many_stars_is_matched_in_time() -> None:
    assert (
        check("mock.process('*a'.repeat(40) + 'b', 1); return Process('a'.repeat(3000))")
        == f"Exception|404: {'a' * 3000} is not available"
    )


PROCESS = [
    ("a value", "mock.process('a', {x: 1}); return Process('a')", {"x": 1}),
    ("each call gets a copy", "const v = {x: [1]}; mock.process('a', v); Process('a').x.push(2); v.x.push(3); return Process('a')", {"x": [1, 3]}),
    ("a function", "mock.process('a', (x, y) => x + y); return Process('a', 1, 2)", 3),
    ("undefined is null", "mock.process('a', () => {}); mock.process('b'); return [Process('a'), Process('b')]", [None, None]),
    ("an exception", "mock.process('a', () => { throw new Exception('gone', 410) }); try { Process('a') } catch (e) { return [e.message, e.code] }", ["gone", 410]),
    ("newest wins", "mock.process('a.*', 1); mock.process('a.b', 2); mock.process('*', 3); return Process('a.b')", 3),
    ("others go on", "mock.process('a', 1); return Process('host.Real')", "real"),
    ("restore", "const m = mock.process('host.Real', 1); const before = Process('host.Real'); m.restore(); m.restore(); return [before, Process('host.Real')]", [1, "real"]),
    ("restore uncovers the older one", "mock.process('a', 1); const m = mock.process('a', 2); m.restore(); return Process('a')", 1),
    ("restore all", "mock.process('host.Real', 1); mock.agent('a', 'x'); mock.http('*', 1); mock.now(5); mock.restore(); return [Process('host.Real'), kernel.mocks, Date.now() > 1e12]", ["real", {"process": [], "agent": [], "http": [], "exec": []}, True]),
    ("records", "const m = mock.process('a.*', (x) => x * 2); Process('a.B', 4); return [m.calls, m.count, m.last]", [[{"name": "a.B", "args": [4], "result": 8}], 1, {"name": "a.B", "args": [4], "result": 8}]),
    ("no record yet", "const m = mock.process('a'); return [m.calls, m.count, m.last === undefined]", [[], 0, True]),
    ("a record is a copy", "const m = mock.process('a', () => ({y: 1})); const arg = {x: 1}; Process('a', arg).y = 2; arg.x = 2; return [m.last.args, m.last.result]", [[{"x": 1}], {"y": 1}]),
    ("records of a failure", "const m = mock.process('a', () => { throw new Exception('no', 403) }); try { Process('a') } catch {} return [m.last.error.message, m.last.error.code, 'result' in m.last]", ["no", 403, False]),
    ("reset", "const m = mock.process('a'); Process('a'); m.reset(); Process('a', 1); return m.calls.map((c) => c.args)", [[1]]),
    ("a mock may call on", "mock.process('a', () => Process('host.Real') + '!'); return Process('a')", "real!"),
    ("a mock that calls itself", "mock.process('a', () => Process('a')); return Process('a')", 'Exception|500: RangeError: the reply of t.mock.process("a") calls what it answers, and so itself, more than 50 deep'),
    ("odd arguments", "const m = mock.process('a', 1); Process('a', undefined, null, () => 1, Symbol.iterator, 5n, new Map()); return m.count", 1),
    ("no pattern", "return mock.process()", "TypeError: t.mock.process takes a name or a pattern as its first argument, not undefined"),
    ("stores too", "mock.process('stores.*.Get', 7); return new Store('s').Get('k')", 7),
]  # fmt: skip


@each(("body", "expected"), [row[1:] for row in PROCESS], ids=[row[0] for row in PROCESS])
def test_process_mock(body: str, expected: object) -> None:
    assert check(body, "yao") == expected


def response(content: object, **more: object) -> dict[str, object]:
    completion = {"role": "assistant", "content": content, "finish_reason": "stop"}
    ids = {"request_id": "mock", "context_id": "mock", "trace_id": "mock", "chat_id": "chat-1", "assistant_id": "a.b"}
    return {"agent_id": "a.b", "response": {**ids, "completion": completion, **more}, "content": content}


AGENT = [
    ("a text", "mock.agent('a.b', 'hi'); return Process('agent.Call', {assistant_id: 'a.b', messages: []})", response("hi")),
    ("an object with content", "mock.agent('a.b', {content: 'hi', next: {ok: 1}}); return Process('agent.Call', {assistant_id: 'a.b', messages: []})", response("hi", next={"ok": 1})),
    ("data is next", "mock.agent('a.b', {content: 'hi', data: 5}); return Process('agent.Call', {assistant_id: 'a.b', messages: []})", response("hi", next=5)),
    ("any other object is what it concludes", "mock.agent('a.b', {intent: 'x'}); return Process('agent.Call', {assistant_id: 'a.b', messages: []})", response('{"intent":"x"}', next={"intent": "x"})),
    ("tools", "mock.agent('a.b', {content: 'hi', tools: [{tool: 't'}]}); return Process('agent.Call', {assistant_id: 'a.b', messages: []}).response.tools", [{"tool": "t"}]),
    ("a whole response", "mock.agent('a.b', {response: {completion: {content: 'q'}, next: 1}}); return Process('agent.Call', {assistant_id: 'a.b', messages: []})", {"agent_id": "a.b", "response": {"completion": {"role": "assistant", "content": "q", "finish_reason": "stop"}, "next": 1}, "content": "q"}),
    ("an error", "mock.agent('a.b', {error: 'down'}); return Process('agent.Call', {assistant_id: 'a.b', messages: []})", "Exception|500: down"),
    ("the host reads the verdict of a validator", "processes['agent.Verdict'] = (id, said) => ({...said, id}); mock.agent('v', {passed: false, reason: 'r'}); return Process('agent.Validate', 'v', {output: 1})", {"passed": False, "reason": "r", "id": "v"}),
    ("a validator with a prefix", "processes['agent.Verdict'] = (id, said) => said; mock.agent('agents:v', {passed: true}); return Process('agent.Validate', 'v', {})", {"passed": True}),
    ("a function", "mock.agent('a.b', (messages, options) => messages[0].content + options.mode); return Process('agent.Call', {assistant_id: 'a.b', messages: [{content: 'q'}], mode: 'm'}).content", "qm"),
    ("records", "const m = mock.agent('a.*', 'hi'); Process('agent.Call', {assistant_id: 'a.b', messages: [1], connector: 'c'}); return m.last", {"name": "a.b", "args": [[1], {"connector": "c"}], "result": "hi"}),
    ("agents.<id>.Stream", "mock.agent('a.b', (m) => m[0]); return [Process('agents.a.b.Stream', ['q']).content, Process('agents.a.b.Call', ['r']).content]", ["q", "r"]),
    ("agents.<id>.Stream with ctx", "mock.agent('a.b', (m) => m[0]); return Process('agents.a.b.Stream', {chat_id: 'c'}, ['q']).content", "q"),
    ("ctx.agent.Call", "mock.agent('a.b', 'hi'); return part('context').member({}, 'agent').Call('a.b', []).content", "hi"),
    ("other agents go on", "mock.agent('a.b', 'hi'); return part('context').member({}, 'agent').Call('a.c', [])", {"agent_id": "a.c", "error": "agent.Call is not available"}),
    ("agent scripts go on", "mock.agent('*', 'hi'); return Process('agents.a.b.tools.Run')", "Exception|404: agents.a.b.tools.Run is not available"),
    ("a process mock comes first", "mock.process('agent.Call', 'p'); mock.agent('*', 'a'); return Process('agent.Call', {assistant_id: 'x'})", "p"),
    ("newest wins", "mock.agent('a.b', '1'); mock.agent('a.*', '2'); return Process('agent.Call', {assistant_id: 'a.b'}).content", "2"),
    ("an exception", "mock.agent('a.b', () => { throw new Exception('busy', 429) }); return Process('agent.Call', {assistant_id: 'a.b'})", "Exception|429: busy"),
]  # fmt: skip


@each(("body", "expected"), [row[1:] for row in AGENT], ids=[row[0] for row in AGENT])
def test_agent_mock(body: str, expected: object) -> None:
    assert check(body) == expected


HTTP = [
    ("a text", "mock.http('https://h/*', 'hi'); return http.Get('https://h/a')", {"status": 200, "code": 200, "data": "hi", "headers": {}, "message": ""}),
    ("a response", "mock.http('*', {status: 404, data: {e: 1}, headers: {'content-type': 'x', via: ['a', 'b']}, message: 'no'}); return http.Get('https://h')", {"status": 404, "code": 404, "data": {"e": 1}, "headers": {"Content-Type": ["x"], "Via": ["a", "b"]}, "message": "no"}),
    ("a list is the data", "mock.http('*', [1]); return http.Get('https://h').data", [1]),
    ("method", "mock.http('POST https://h/*', 'post'); mock.http('get https://h/*', 'get'); return [http.Post('https://h/a').data, http.Get('https://h/a').data, (() => { try { http.Put('https://h/a') } catch (e) { return e.code } })()]", ["post", "get", 404]),
    ("any method", "mock.http('* https://h/*', 1); return http.Patch('https://h/a').data", 1),
    ("query in the pattern", "mock.http('https://h/a?q=1', 1); return [http.Get('https://h/a', {q: 1}).data, (() => { try { http.Get('https://h/a', {q: 2}) } catch (e) { return e.code } })()]", [1, 404]),
    ("a pattern without query", "mock.http('https://h/a', 1); return http.Get('https://h/a?x=1', {q: 1}).data", 1),
    ("the request", "mock.http('*', (r) => ({data: r})); return http.Post('https://h/a', {b: 1}, null, 'x=1&y=a+b&x=2', [{K: 'v'}]).data", {"method": "POST", "url": "https://h/a?x=1&x=2&y=a%20b", "query": {"x": ["1", "2"], "y": "a b"}, "headers": {"K": "v"}, "data": {"b": 1}}),
    ("half of a surrogate pair in the query", "mock.http('*', (r) => ({data: r.url})); return http.Get('https://h', {q: '\\ud83d'}).data", "https://h?q=%EF%BF%BD"),
    ("Send", "mock.http('PURGE https://h', (r) => ({data: r.data})); return http.Send('purge', 'https://h', 5).data", 5),
    ("query as a list", "mock.http('*', (r) => ({data: r.query})); return http.Get('https://h', ['a=1', {b: 2}]).data", {"a": "1", "b": 2}),
    ("a broken connection", "mock.http('*', () => { throw new Error('refused') }); return http.Get('https://h')", {"status": 0, "code": 0, "data": None, "headers": {}, "message": "refused"}),
    ("a thrown text", "mock.http('*', () => { throw 'stop' }); return http.Get('https://h').message", 'thrown, not an Error: "stop"'),
    ("records", "const m = mock.http('*', 1); http.Delete('https://h/a'); return [m.last.name, m.last.args[0].method]", ["DELETE https://h/a", "DELETE"]),
    ("Stream", "mock.http('*', 'a\\nb\\n'); const seen = []; return [http.Stream('GET', 'https://h', (l) => { seen.push(l) }).status, seen]", [200, ["a", "b"]]),
    ("Stream of lines", "mock.http('*', {lines: ['x', 'y']}); const seen = []; http.Stream('GET', 'https://h', (l) => { seen.push(l) }); return seen", ["x", "y"]),
    ("processes too", "mock.http('*', 'hi'); return [Process('http.Get', 'https://h').data, Process('http.Head', 'https://h').data]", ["hi", "hi"]),
    ("newest wins", "mock.http('https://h/*', 1); mock.http('*', 2); return http.Get('https://h/a').data", 2),
    ("others go on", "mock.http('https://h/*', 1); return http.Get('https://z')", "Exception|404: http.Get is not available"),
]  # fmt: skip


@each(("body", "expected"), [row[1:] for row in HTTP], ids=[row[0] for row in HTTP])
def test_http_mock(body: str, expected: object) -> None:
    assert check(body, "http") == expected


NOW = [
    ("text", "mock.now('2024-01-02T03:04:05Z'); return [Date.now(), new Date().toISOString(), typeof Date()]", [1704164645000, "2024-01-02T03:04:05.000Z", "string"]),
    ("date and number", "mock.now(new Date(5)); const a = Date.now(); mock.now(6); return [a, Date.now()]", [5, 6]),
    ("advance", "const clock = mock.now(1000); clock.advance(500); clock.advance('1s'); return Date.now()", 2500),
    ("advance without now", "mock.advance(500); return Date.now()", 1000500),
    ("advance back", "mock.now(1000).advance(-1)", "TypeError: t.mock.advance moves the clock forward: time cannot be negative; use t.mock.now to set it back"),
    ("restore", "const clock = mock.now(5); const before = Date; clock.restore(); return [Date !== before, Date.now() > 1e12, new Date().constructor === Date]", [True] * 3),
    ("the newest one counts", "const a = mock.now(1); const b = mock.now(2); const both = Date.now(); b.restore(); const one = Date.now(); b.restore(); return [both, one]", [2, 1]),
    ("restored in another order", "const a = mock.now(1); const b = mock.now(2); a.restore(); const one = Date.now(); b.restore(); return [one, Date.now() > 1e12]", [2, True]),
    ("instanceof", "const old = new Date(); mock.now(5); return [old instanceof Date, new Date() instanceof Date, new Date().constructor === Date, Date.name, Date.length]", [True, True, True, "Date", 7]),
    ("statics", "mock.now(5); return [Date.parse('1970-01-01T00:00:01Z'), Date.UTC(1970, 0, 2)]", [1000, 86400000]),
    ("arguments", "mock.now(5); return [+new Date(7), +new Date(1970, 0, 1) === new Date(1970, 0, 1).getTime(), +new Date('1970-01-01')]", [7, True, 0]),
    ("subclass", "mock.now(5); class D extends Date { twice() { return this * 2 } } const d = new D(); return [d.twice(), d instanceof D, d instanceof Date]", [10, True, True]),
    ("the realm tells the same time", "mock.now(5); return kernel.now()", 5),
    ("the host is told", "mock.now(5); return told", '{"now":5}'),
    ("the host is told that it goes again", "mock.now(5).restore(); return told", ""),
    ("mocks are told", "mock.process('a.*', 1); mock.agent('b'); return told", '{"mocks":{"process":[["a.*",1]],"agent":[["b",2]]}}'),
    ("no argument freezes the time", "mock.now(); return Date.now()", 1000000),
    ("no time", "return mock.now('soon')", 'TypeError: t.mock.now takes an ISO time, a Date or milliseconds, not "soon"'),
    ("an invalid date", "return mock.now(new Date(NaN))", "TypeError: t.mock.now takes an ISO time, a Date or milliseconds, not null"),
    ("a recorder", "const clock = mock.now(5); return [clock.calls, clock.count]", [[], 0]),
]  # fmt: skip


@each(("body", "expected"), [row[1:] for row in NOW], ids=[row[0] for row in NOW])
def test_now(body: str, expected: object) -> None:
    assert check(body) == expected
