"""`FS`, `http` and the smaller globals of Yao."""

# A row of a table is one line.

from __future__ import annotations

from parts_realm import evaluate
from table_tests import each

SETUP = "const answer = (name, reply) => (processes[name] = typeof reply === 'function' ? reply : () => reply);"

YAO = [
    ("Authorized", "return Authorized()", {"user_id": "u1", "team_id": "t.1"}),
    ("Authorized is a copy", "Authorized().user_id = 'x'; return Authorized().user_id", "u1"),
    ("Authorized without anything", "kernel.context.authorized = {sub: ''}; return Authorized()", None),
    ("$L", "answer('locale.Translate', (key) => key === 'Hi' ? 'Salut' : key); return [$L('::Hi'), $L('Hi'), $L('other')]", ["Salut", "Salut", "other"]),
    ("$L without translations", "return $L('::Hi')", "Hi"),
    ("$L asks past mocks", "part('mock').process('*', 'no'); return $L('Hi')", "Hi"),
    ("time.Sleep", "return [time.Sleep(5), time.Sleep('x'), slept]", [None, None, [5, 0]]),
    ("time.Sleep of nothing", "return time.Sleep()", "Exception|400: time.Sleep takes milliseconds"),
    ("time.After", "answer('a.b', 1); return [time.After(7, 'a.b', 'x'), slept, calls]", [None, [7], [["a.b", ["x"]]]]),
    ("time.After logs a failure", "time.After(1, 'a.b'); return lines", ["error time.After: a.b: a.b is not available"]),
    ("Eval", "return [Eval('function f(a, b) { return a + b }', 1, 2), Eval('(x) => x * 2;', 4)]", [3, 8]),
    ("Eval of no function", "return Eval('1')", "Exception|400: Eval takes the source of a function"),
    ("Eval of a broken text", "try { Eval('(x') } catch (e) { return e.name }", "SyntaxError"),
    ("Use", "let out = []; class R { constructor(...a) { this.a = a } __release() { out.push('released') } } return [Use(R, 1, 2, (r) => { out.push(...r.a); return 'v' }), out]", ["v", [1, 2, "released"]]),
    ("Use releases after a throw", "let out = 0; class R { __release() { out++ } } try { Use(R, () => { throw 1 }) } catch {} return out", 1),
    ("Use releases when a promise has settled", "const out = []; class R { __release() { out.push('released') } } Use(R, () => ({then: (done) => { out.push('waiting'); out.push(done(5)) }})); return out", ["waiting", "released", 5]),
    ("Use without a callback", "return Use(class {})", "Exception|400: Use takes a class, its arguments and a callback"),
    ("All", "answer('a', (x) => x); return All([{process: 'a', args: [1]}, {process: 'b'}, {process: 'a'}])", [{"index": 0, "data": 1}, {"index": 1, "data": None, "error": "b is not available"}, {"index": 2, "data": None}]),
    ("Any", "answer('a', 1); return [Any([{process: 'b'}, {process: 'a'}, {process: 'a'}]), calls.length]", [[{"index": 0, "data": None, "error": "b is not available"}, {"index": 1, "data": 1}, {"index": 2, "data": None}], 3]),
    ("Race", "answer('a', 1); return [Race([{process: 'b'}, {process: 'a'}]).map((r) => r.error ?? r.data), calls.length]", [["b is not available", None], 2]),
    ("All of no list", "return All({})", "Exception|400: All takes a list of tasks"),
    ("All of a task without a process", "return All([{process: 'a'}, {}])", "Exception|400: All: task 1 needs the name of a process"),
    ("MCP", "answer('mcp.CallTool', (id, name, args) => ({content: [{type: 'text', text: id + name}], isError: false})); const m = new MCP('c'); return [m.id, m.CallTool('t', {}), m.CallTools([{name: 'x'}])]", ["c", {"content": [{"type": "text", "text": "ct"}], "isError": False}, {"results": [{"content": [{"type": "text", "text": "cx"}], "isError": False}]}]),
    ("MCP lists", "answer('mcp.ListTools', (...a) => a); return new MCP('c').ListTools('cursor')", ["c", "cursor"]),
    ("MCP without an id", "return new MCP()", "Exception|400: MCP takes a client id"),
    ("Query asks a process", "answer('query.default.Get', [{id: 1}]); return [new Query().Get({select: ['id']}), calls[0]]", [[{"id": 1}], ["query.default.Get", [{"select": ["id"]}]]]),
    ("Query without a database", "return new Query('xiang')", "Exception|404: query.xiang.Open is not available"),
    ("WebSocket asks a process", "answer('websocket.Push', (...a) => a); return new WebSocket('ws://h', 'p').push('x')", ["ws://h", "x", "p"]),
    ("Job", "answer('a', (x) => x + 1); let called = 0; const j = new Job('a', 1); j.Pending(() => called++); return [j.Data(), called, j.Cancel() === undefined]", [2, 0, True]),
    ("a failed Job", "const j = new Job('a'); return [j.Data(), lines]", [None, ["warn Job a failed: a is not available"]]),
    ("Trace", "return new Trace().Info('x').records.length", 1),
    ("class names", "return [Store, Query, WebSocket, MCP, Job, Plan, Trace].map((c) => c.name)", ["Store", "Query", "WebSocket", "MCP", "Job", "Plan", "Trace"]),
]  # fmt: skip


@each(("body", "expected"), [row[1:] for row in YAO], ids=[row[0] for row in YAO])
def test_globals(body: str, expected: object) -> None:
    assert evaluate(f"(() => {{ {SETUP} {body} }})()", "yao") == expected


PLAN = [
    ("order", "p.Add('b', 2, see('b')); p.Add('a', 1, see('a')); p.Add('c', 2, see('c')); p.Run(); return seen", ["a", "b", "c"]),
    ("arguments of a function", "p.Add('a', 1, (...args) => seen.push(args), 'x'); p.Run(); return seen", [["plan-1", "a", "x"]]),
    ("a process", "answer('x.y', (n) => n * 2); p.Add('a', 1, 'x.y', 4); p.Run(); return [p.TaskData('a'), p.Results()]", [8, {"a": 8}]),
    ("status", "p.Add('a', 1, () => 1); const before = p.Status(); p.Run(); return [before, p.Status(), p.TaskStatus('a')]", [{"plan": "created", "tasks": {"a": "created"}}, {"plan": "completed", "tasks": {"a": "completed"}}, "completed"]),
    ("a failure ends after its group", "p.Add('a', 1, () => { throw new Error('bad') }); p.Add('b', 1, see('b')); p.Add('c', 2, see('c')); try { p.Run() } catch (e) { seen.push(e.message) } return [seen, p.Status(), p.TaskData('a')]", [["b", "bad"], {"plan": "failed", "tasks": {"a": "failed", "b": "completed", "c": "created"}}, "bad"]),
    ("shared values", "p.Set('k', {a: 1}); p.Get('k').a = 2; return [p.Get('k'), new Plan('plan-1').Get('k')]", [{"a": 1}, {"a": 1}]),
    ("a missing value", "return p.Get('k')", 'Exception|404: The plan has no key "k"'),
    ("a reserved key", "return p.Set('TaskError', 1)", 'Exception|400: The key "TaskError" is reserved'),
    ("subscribe", "p.Subscribe('k', (...args) => seen.push(args), 'x'); p.Set('k', 1); p.Del('k'); return seen", [["plan-1", "k", 1, "x"], ["plan-1", "k", None, "x"]]),
    ("task events", "for (const e of ['TaskStarted', 'TaskCompleted', 'TaskError']) p.Subscribe(e, (id, key, value) => seen.push(key, value)); p.Add('a', 1, () => 5); p.Run(); return seen", ["TaskStarted", {"task": "a"}, "TaskCompleted", {"task": "a", "result": 5}]),
    ("release", "p.Set('k', 1); p.Release(); return new Plan('plan-1').Status()", {"plan": "created", "tasks": {}}),
    ("an unknown task", "return p.TaskStatus('z')", 'Exception|404: The plan has no task "z"'),
    ("a task twice", "p.Add('a', 1, () => 1); return p.Add('a', 1, () => 1)", 'Exception|400: The plan has a task "a" already'),
]  # fmt: skip


@each(("body", "expected"), [row[1:] for row in PLAN], ids=[row[0] for row in PLAN])
def test_plan(body: str, expected: object) -> None:
    setup = f"{SETUP} const p = new Plan('plan-1'); const seen = []; const see = (name) => () => {{ seen.push(name) }};"
    assert evaluate(f"(() => {{ {setup} {body} }})()", "yao") == expected


FILES = [
    ("methods are processes", "answer('fs.data.ReadFile', 'text'); return [new FS('data').ReadFile('/a'), calls]", ["text", [["fs.data.ReadFile", ["/a"]]]]),
    ("the system volume is the default", "answer('fs.system.Exists', true); return new FS().Exists('/a')", True),
    ("arguments", "answer('fs.data.WriteFile', (...a) => a); return new FS('data').WriteFile('/a', 'x', 420)", ["/a", "x", 420]),
    ("bytes", "answer('fs.data.ReadFileBuffer', new Uint8Array([1, 2])); return [...new FS('data').ReadFileBuffer('/a')]", [1, 2]),
    ("a failure throws", "return new FS('data').ReadDir('/x')", "Exception|404: fs.data.ReadDir is not available"),
    ("ReadCloser", "answer('fs.data.ReadFileBuffer', () => new Uint8Array([1, 2, 3])); const r = new FS('data').ReadCloser('/a'); return [[...r.read(2)], [...r.read(2)], r.read(), r.close()]", [[1, 2], [3], None, None]),
    ("a closed reader", "answer('fs.data.ReadFileBuffer', () => new Uint8Array([1])); const r = new FS('data').ReadCloser('/a'); r.close(); return r.read()", None),
    ("Download", "answer('fs.data.ReadFileBuffer', () => new Uint8Array([1])); answer('fs.data.MimeType', 'text/plain'); const d = new FS('data').Download('/a'); return [d.type, [...d.content.read()]]", ["text/plain", [1]]),
    ("name", "return [FS.name, new FS('app').name]", ["FS", "app"]),
]  # fmt: skip


@each(("body", "expected"), [row[1:] for row in FILES], ids=[row[0] for row in FILES])
def test_fs(body: str, expected: object) -> None:
    assert evaluate(f"(() => {{ {SETUP} {body} }})()", "fs") == expected


HTTP = [
    ("Get", "answer('http.Get', {status: 200}); return [http.Get('http://h', {a: 1}), calls]", [{"status": 200}, [["http.Get", ["http://h", {"a": 1}]]]]),
    ("inner gaps stay", "answer('http.Post', (...a) => a); return http.Post('http://h', undefined, undefined, {a: 1}, undefined)", ["http://h", None, None, {"a": 1}]),
    ("Send", "answer('http.Send', (...a) => a); return http.Send('PUT', 'http://h', 1)", ["PUT", "http://h", 1]),
    ("no URL", "return http.Get()", {"status": 400, "code": 400, "data": None, "headers": {}, "message": "http.Get: argument 1 must be a string"}),
    ("a failed connection does not throw", "answer('http.Delete', {status: 0, code: 0, message: 'refused'}); return http.Delete('http://h')", {"status": 0, "code": 0, "message": "refused"}),
    ("a host that is not allowed throws", "return http.Delete('http://h')", "Exception|404: http.Delete is not available"),
    ("Stream", "answer('http.Stream', {lines: ['a', 'b', 'c'], response: {status: 201}}); const seen = []; return [http.Stream('POST', 'http://h', (l) => { seen.push(l); return 1 }, {q: 1}), seen, calls[0][1]]", [{"status": 201}, ["a", "b", "c"], ["POST", "http://h", {"q": 1}]]),
    ("Stream stops", "answer('http.Stream', {lines: ['a', 'b']}); const seen = []; return [http.Stream('GET', 'http://h', (l) => { seen.push(l); return 0 }).status, seen]", [200, ["a"]]),
    ("Stream aborts", "answer('http.Stream', {lines: ['a', 'b']}); return http.Stream('GET', 'http://h', () => -1).message", "http.Stream: aborted by its callback"),
    ("Stream without a callback", "return http.Stream('GET', 'http://h').message", "http.Stream: argument 3 must be a function"),
    ("Stream that fails", "answer('http.Stream', {status: 0}); return http.Stream('GET', 'http://h', () => 1).status", 0),
    ("what a callback throws", "answer('http.Stream', {lines: ['a']}); return http.Stream('GET', 'http://h', () => { throw new RangeError('x') })", "RangeError: x"),
]  # fmt: skip


@each(("body", "expected"), [row[1:] for row in HTTP], ids=[row[0] for row in HTTP])
def test_http(body: str, expected: object) -> None:
    assert evaluate(f"(() => {{ {SETUP} {body} }})()", "http") == expected
