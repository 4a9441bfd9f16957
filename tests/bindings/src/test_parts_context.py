"""The members of `ctx`."""

# A row of a table is one line.

from __future__ import annotations

from parts_realm import evaluate
from table_tests import each

SETUP = """
    const data = { chat_id: "chat-1", authorized: { user_id: "u1", team_id: "t.1" } };
    const ctx = new Proxy(data, { get: (target, name) => (name in target ? target[name] : part("context").member(target, name)) });
    const answer = (name, reply) => (processes[name] = typeof reply === "function" ? reply : () => reply);
"""


def check(body: str) -> object:
    return evaluate(f"(() => {{ {SETUP} {body} }})()")


SENT = [
    ("a text", "const id = ctx.Send('hi'); return [id, ctx.sent]", ["M1", [{"type": "text", "props": {"content": "hi"}, "message_id": "M1"}]]),
    ("a message", "ctx.Send({type: 'image', props: {url: 'x'}, metadata: {a: 1}}); return ctx.sent", [{"type": "image", "props": {"url": "x"}, "metadata": {"a": 1}, "message_id": "M1"}]),
    ("no props", "ctx.Send({type: 'ping'}); return ctx.sent", [{"type": "ping", "props": {}, "message_id": "M1"}]),
    ("own id", "const id = ctx.Send({type: 'a', message_id: 'mine'}); return [id, ctx.Send('b')]", ["mine", "M1"]),
    ("block", "ctx.Send('a', ctx.BlockID()); ctx.Send({type: 'text', block_id: 'B9'}, 'B1'); return ctx.sent.map((m) => m.block_id)", ["B1", "B9"]),
    ("thread", "ctx.Send({type: 'text', thread_id: ctx.ThreadID()}); return [ctx.sent[0].thread_id, ctx.ThreadID()]", ["T1", "T2"]),
    ("ids", "return [ctx.MessageID(), ctx.Send('a'), ctx.MessageID(), ctx.BlockID(), ctx.BlockID(), ctx.EndBlock('B1') === undefined]", ["M1", "M2", "M3", "B1", "B2", True]),
    ("stream", "const id = ctx.SendStream('a'); ctx.Append(id, 'b'); ctx.End(id); return ctx.sent", [{"type": "text", "props": {"content": "ab"}, "message_id": "M1", "done": True}]),
    ("open stream", "ctx.SendStream('a'); return ctx.sent[0].done", False),
    ("streams interleave", "const a = ctx.SendStream('a'), b = ctx.SendStream('b'); ctx.Append(a, '1'); ctx.Append(b, '2'); ctx.End(b, '!'); return ctx.sent.map((m) => [m.props.content, m.done])", [["a1", False], ["b2!", True]]),
    ("results are ids", "const id = ctx.SendStream('a'); return [ctx.Append(id, ''), ctx.Replace(id, 'x'), ctx.Merge(id, {}), ctx.Set(id, 1, 'props.a'), ctx.End(id)]", ["M1"] * 5),
    ("append to a path", "const id = ctx.SendStream({type: 'log', props: {lines: ['a']}}); ctx.Append(id, 'b', 'props.lines'); ctx.Append(id, 'x', 'props.title'); return ctx.sent[0].props", {"lines": ["a", "b"], "title": "x"}),
    ("append a message", "const id = ctx.SendStream('a'); ctx.Append(id, {type: 'text', props: {content: 'b'}}); return ctx.sent[0].props", {"content": "ab"}),
    ("replace", "const id = ctx.SendStream({type: 'loading', props: {message: '...'}}, 'B1'); ctx.Replace(id, {type: 'text', props: {content: 'done'}, message_id: 'other'}); return ctx.sent", [{"type": "text", "props": {"content": "done"}, "message_id": "M1", "block_id": "B1", "done": False}]),
    ("replace by a text", "const id = ctx.SendStream('a'); ctx.Replace(id, 'b'); return ctx.sent[0].props", {"content": "b"}),
    ("merge into props", "const id = ctx.SendStream({type: 's', props: {a: 1, m: {x: 1}}}); ctx.Merge(id, {b: 2, m: {y: 2}}, 'props'); return ctx.sent[0].props", {"a": 1, "b": 2, "m": {"x": 1, "y": 2}}),
    ("merge without a path", "const id = ctx.SendStream({type: 's', props: {a: 1}}); ctx.Merge(id, {b: 2}); ctx.Merge(id, {props: {c: 3}}); return ctx.sent[0].props", {"a": 1, "b": 2, "c": 3}),
    ("merge into content", "const id = ctx.SendStream({type: 's', props: {content: {a: 1}}}); ctx.Merge(id, {b: 2}); return ctx.sent[0].props.content", {"a": 1, "b": 2}),
    ("set", "const id = ctx.SendStream('a'); ctx.Set(id, {x: 1}, 'props.meta.deep'); ctx.Set(id, 'q', 'props.items[0].name'); return ctx.sent[0].props", {"content": "a", "meta": {"deep": {"x": 1}}, "items": {"0": {"name": "q"}}}),
    ("set into a list", "const id = ctx.SendStream({type: 'a', props: {items: [{}, {}]}}); ctx.Set(id, 5, 'props.items.1.n'); return ctx.sent[0].props", {"items": [{}, {"n": 5}]}),
    ("set of a prototype", "const id = ctx.SendStream('a'); ctx.Set(id, 1, 'props.__proto__.bad'); return ({}).bad === undefined", True),
    ("an unknown message", "ctx.Append('M7', 'x'); return ctx.sent", [{"type": "text", "props": {"content": "x"}, "message_id": "M7", "done": False}]),
    ("what is sent is a copy", "const m = {type: 'a', props: {x: 1}}; ctx.Send(m); m.props.x = 2; return [ctx.sent[0].props.x, 'message_id' in m]", [1, False]),
    ("the last message of an id is changed", "ctx.Send({type: 'a', message_id: 'x'}); ctx.SendStream({type: 'b', message_id: 'x'}); ctx.End('x', 'end'); return ctx.sent.map((m) => m.props)", [{}, {"content": "end"}]),
    ("cycles are kept", "const m = {type: 'a', props: {list: []}}; m.props.list.push(m.props.list); ctx.Send(m); const { list } = ctx.sent[0].props; return list[0] === list && list !== m.props.list", True),
    ("the list is live", "const s = ctx.sent; ctx.Send('a'); return s.length", 1),
    ("no message", "return ctx.Send()", "Exception|400: Send requires a message argument"),
    ("null", "return ctx.SendStream(null)", "Exception|400: SendStream requires a message argument"),
    ("no type", "return ctx.Send({props: {}})", "Exception|400: Send: the message needs a type"),
    ("no id", "return ctx.Append(5, 'x')", "Exception|400: Append requires the message id as its first argument"),
    ("no path", "return ctx.Set(ctx.SendStream('a'), 1)", "Exception|400: Set requires the path as its third argument"),
    ("merge of a text", "return ctx.Merge(ctx.SendStream('a'), 'x')", "Exception|400: Merge requires an object as its second argument"),
]  # fmt: skip


@each(("body", "expected"), [row[1:] for row in SENT], ids=[row[0] for row in SENT])
def test_messages(body: str, expected: object) -> None:
    assert check(body) == expected


MEMORY = [
    ("missing key", "return [ctx.memory.user.Get('k'), ctx.memory.user.GetDel('k'), ctx.memory.user.Pop('k'), ctx.memory.user.ArrayGet('k', 0)].map((value) => value === null)", [True] * 4),
    ("set and get", "const { user } = ctx.memory; user.Set('k', {a: 1}); return [user.Get('k'), user.Has('k'), user.Keys(), user.Len()]", [{"a": 1}, True, ["k"], 1]),
    ("spaces are apart", "ctx.memory.user.Set('k', 1); return ['team', 'chat', 'context'].map((s) => ctx.memory[s].Has('k'))", [False] * 3),
    ("id and space", "return ['user', 'team', 'chat', 'context'].map((s) => [ctx.memory[s].space, ctx.memory[s].id])", [["user", "u1"], ["team", "t.1"], ["chat", "chat-1"], ["context", "chat-1"]]),
    ("missing without an id", "data.authorized = null; return [ctx.memory.user === undefined, ctx.memory.team === undefined, ctx.memory.chat !== undefined]", [True] * 3),
    ("follows the user", "ctx.memory.user.Set('k', 1); data.authorized.user_id = 'u2'; const other = ctx.memory.user.Has('k'); data.authorized.user_id = 'u1'; return [other, ctx.memory.user.Has('k')]", [False, True]),
    ("time to live is in seconds", "ctx.memory.chat.Set('k', 1, 60); clock.now += 59e3; const before = ctx.memory.chat.Get('k'); clock.now += 1e3; return [before, ctx.memory.chat.Get('k')]", [1, None]),
    ("wildcard", "const { chat } = ctx.memory; chat.Set('a:1', 1); chat.Set('b', 1); chat.Del('a:*'); return chat.Keys()", ["b"]),
    ("counters", "const { team } = ctx.memory; return [team.Incr('n'), team.Incr('n', 4), team.Decr('n', 2)]", [1, 5, 3]),
    ("push takes a list", "const { chat } = ctx.memory; return [chat.Push('l', [1, 2]), chat.Push('l', 3), chat.ArrayAll('l')]", [2, 3, [1, 2, 3]]),
    ("pop", "const { chat } = ctx.memory; chat.Push('l', [1, 2]); return [chat.Pop('l'), chat.ArrayAll('l')]", [2, [1]]),
    ("pull gives the last ones", "const { chat } = ctx.memory; chat.Push('l', [1, 2, 3]); return [chat.Pull('l', 2), chat.ArrayAll('l')]", [[2, 3], [1]]),
    ("pull all", "const { chat } = ctx.memory; chat.Push('l', [1, 2]); return [chat.PullAll('l'), chat.Has('l')]", [[1, 2], False]),
    ("add to set", "const { chat } = ctx.memory; return [chat.AddToSet('s', ['a', 'b']), chat.AddToSet('s', ['b', 'c'])]", [2, 3]),
    ("array access", "const { chat } = ctx.memory; chat.Push('l', [1, 2, 3, 4]); chat.ArraySet('l', 0, 9); return [chat.ArrayLen('l'), chat.ArrayGet('l', 0), chat.ArrayGet('l', -1), chat.ArrayPage('l', 2, 2)]", [4, 9, 4, [3, 4]]),
    ("array slice", "const { chat } = ctx.memory; chat.Push('l', [1, 2, 3, 4]); return [chat.ArraySlice('l', 1, 3), chat.ArraySlice('l', -2, -1), chat.ArraySlice('l', 2)]", [[2, 3], [3, 4], [3, 4]]),
    ("release clears the context space only", "ctx.memory.context.Set('k', 1); ctx.memory.chat.Set('k', 1); ctx.Release(); return [ctx.memory.context.Has('k'), ctx.memory.chat.Has('k'), ctx.__release() === undefined]", [False, True, True]),
    ("a test may put its own in", "ctx.memory.user = {Get: () => 'mine'}; return ctx.memory.user.Get('k')", "mine"),
]  # fmt: skip


@each(("body", "expected"), [row[1:] for row in MEMORY], ids=[row[0] for row in MEMORY])
def test_memory(body: str, expected: object) -> None:
    assert check(body) == expected


TRACE = [
    ("changes nothing", "const t = ctx.trace; return [t.id, t.IsComplete(), t.MarkComplete() === undefined, t.IsComplete(), t.Info('a') === t]", ["trace-chat-1", False, True, False, True]),
    ("nodes chain", "const n = ctx.trace.Add({q: 1}, {label: 'x'}); return [n.id, n.Info('a').Debug('b').SetOutput(1).SetMetadata('k', 1).Complete().Fail('e') === n]", ["N1", True]),
    ("nodes and records", "const n = ctx.trace.Add({q: 1}, {label: 'x'}); n.Add(2); n.Warn('w'); return [ctx.trace.nodes, ctx.trace.records]", [[{"id": "N1", "input": {"q": 1}, "option": {"label": "x"}}, {"id": "N2", "input": 2}], [{"node": None, "method": "Add", "args": [{"q": 1}, {"label": "x"}]}, {"node": "N1", "method": "Add", "args": [2]}, {"node": "N1", "method": "Warn", "args": ["w"]}]]),
    ("parallel is a list and a node", "const p = ctx.trace.Parallel([{input: 1}, {input: 2}]); return [p.length, p[1].Info('x').id, p.Info('y') === p]", [2, "N2", True]),
    ("spaces", "const s = ctx.trace.CreateSpace({label: 'l'}); return [s.id, s.Get('k'), ctx.trace.GetSpace('z').Has('k')]", ["l", None, False]),
    ("new Trace", "const t = new (part('trace').Trace)({id: 'mine'}); t.Error('e'); return [t.id, t.records.length]", ["mine", 1]),
]  # fmt: skip


@each(("body", "expected"), [row[1:] for row in TRACE], ids=[row[0] for row in TRACE])
def test_trace(body: str, expected: object) -> None:
    assert check(body) == expected


SERVICES = [
    ("tool: one JSON text", "answer('mcp.CallTool', {content: [{type: 'text', text: '{\"a\":1}'}]}); return [ctx.mcp.CallTool('s', 't', {x: 1}), calls]", [{"a": 1}, [["mcp.CallTool", ["s", "t", {"x": 1}]]]]),
    ("tool: one text", "answer('mcp.CallTool', {content: [{type: 'text', text: 'hello'}]}); return ctx.mcp.CallTool('s', 't')", "hello"),
    ("tool: several contents", "answer('mcp.CallTool', {content: [{type: 'text', text: '1'}, {type: 'image', data: 'x'}]}); return ctx.mcp.CallTool('s', 't')", [1, {"type": "image", "data": "x"}]),
    ("tool: a plain answer of a mock", "answer('mcp.CallTool', {rows: 3}); return ctx.mcp.CallTool('s', 't')", {"rows": 3}),
    ("tool: unknown server", "return ctx.mcp.CallTool('s', 't')", "Exception|404: mcp.CallTool is not available"),
    ("tool: wrong arguments", "return ctx.mcp.CallTool('s')", "Exception|400: CallTool requires the server and the tool as strings"),
    ("tools in order", "answer('mcp.CallTool', (s, t, a) => ({content: [{type: 'text', text: t + a.n}]})); const list = [{name: 'a', arguments: {n: 1}}, {name: 'b', arguments: {n: 2}}]; return [ctx.mcp.CallTools('s', list), ctx.mcp.CallToolsParallel('s', list)]", [["a1", "b2"], ["a1", "b2"]]),
    ("mcp.All", "answer('mcp.CallTool', (s, t) => { if (t === 'bad') throw new Exception('no'); return t }); return ctx.mcp.All([{mcp: 's', tool: 'a'}, {mcp: 's', tool: 'bad'}, {nonsense: 1}])", [{"mcp": "s", "tool": "a", "result": "a"}, {"mcp": "s", "tool": "bad", "error": "no"}]),
    ("mcp.Any stops at a success", "answer('mcp.CallTool', (s, t) => { if (t === 'bad') throw new Exception('no'); return t }); return ctx.mcp.Any(['bad', 'a', 'b'].map((tool) => ({mcp: 's', tool})))", [{"mcp": "s", "tool": "bad", "error": "no"}, {"mcp": "s", "tool": "a", "result": "a"}, None]),
    ("mcp lists pass", "answer('mcp.ListTools', {tools: []}); answer('mcp.GetSample', (...a) => a); return [ctx.mcp.ListTools('s', 'c'), ctx.mcp.GetSample('s', 'tool', 'n', 0)]", [{"tools": []}, ["s", "tool", "n", 0]]),
    ("agent", "answer('agent.Call', {agent_id: 'a', response: {x: 1}, content: 'hi'}); return [ctx.agent.Call('a', [{role: 'user', content: 'q'}], {connector: 'c'}), calls[0][1]]", [{"agent_id": "a", "response": {"x": 1}, "content": "hi"}, [{"connector": "c", "assistant_id": "a", "messages": [{"role": "user", "content": "q"}]}]]),
    ("agent: an error is returned", "return ctx.agent.Call('a', [])", {"agent_id": "a", "error": "agent.Call is not available"}),
    ("agent: wrong id", "return ctx.agent.Call(5, [])", "Exception|400: Call: agentID must be a string"),
    ("agent: wrong messages", "return ctx.agent.Call('a', 'hi')", "Exception|400: Call: messages must be an array"),
    ("agent: chunks", "answer('agent.Call', {content: 'hi', chunks: ['h', {type: 'x'}]}); const seen = []; const r = ctx.agent.Call('a', [], {onChunk: (m) => { seen.push(m) }}); return [seen, r]", [[{"type": "text", "props": {"content": "h"}}, {"type": "x"}], {"agent_id": "a", "content": "hi"}]),
    ("agent: no chunks", "answer('agent.Call', {content: 'hi'}); const seen = []; ctx.agent.Call('a', [], {onChunk: (m) => seen.push(m)}); return [seen, 'onChunk' in calls[0][1][0]]", [[{"type": "text", "props": {"content": "hi"}}], False]),
    ("agent: chunks stop", "answer('agent.Call', {chunks: ['a', 'b', 'c']}); const seen = []; ctx.agent.Call('a', [], {onChunk: (m) => (seen.push(m.props.content), seen.length - 1)}); return seen", ["a", "b"]),
    ("agent.All", "answer('agent.Call', (r) => ({content: r.assistant_id})); const seen = []; return [ctx.agent.All([{agent: 'a', messages: []}, null, {agent: 'b', messages: []}], {onChunk: (id, i, m) => seen.push(id + i + m.props.content)}).map((r) => r.content), seen]", [["a", "b"], ["a0a", "b1b"]]),
    ("agent.Race", "answer('agent.Call', (r) => ({content: r.assistant_id})); return ctx.agent.Race([{agent: 'a'}, {agent: 'b'}]).map((r) => r && r.content)", ["a", None]),
    ("agent.All of no list", "return ctx.agent.All('x')", "Exception|400: All requires a list of requests"),
    ("llm", "answer('llm.Stream', {choices: [{message: {content: 'hi'}}]}); const r = ctx.llm.Stream('c', [], {temperature: 0}); return [r.connector, r.content, r.response.choices.length, calls[0][1]]", ["c", "hi", 1, ["c", [], {"temperature": 0}]]),
    ("llm: a text", "answer('llm.Stream', 'hi'); return ctx.llm.Stream('c', [])", {"connector": "c", "content": "hi"}),
    ("llm: an error", "return ctx.llm.Stream('c', [])", {"connector": "c", "error": "llm.Stream is not available"}),
    ("llm.Any", "answer('llm.Stream', (c) => { if (c === 'x') throw new Exception('down'); return c }); return ctx.llm.Any([{connector: 'x', messages: []}, {connector: 'y', messages: []}])", [{"connector": "x", "error": "down"}, {"connector": "y", "content": "y"}]),
    ("image", "answer('llm.ImageGeneration', {image: 'abc', format: 'png'}); return ctx.llm.GenerateImage('c', 'a cat')", {"connector": "c", "image": "abc", "format": "png"}),
    ("search", "answer('search.Web', {items: [{title: 'x'}], total: 9}); return ctx.search.Web('q', {limit: 1})", {"type": "web", "query": "q", "source": "hook", "items": [{"citation_id": "1", "type": "web", "source": "hook", "weight": 0.8, "title": "x"}], "total": 9, "duration_ms": 0}),
    ("search: items alone", "answer('search.KB', [1, 2]); return ctx.search.KB('q').total", 2),
    ("search: an error", "return ctx.search.DB('q')", {"type": "db", "query": "q", "source": "hook", "items": [], "total": 0, "duration_ms": 0, "error": "search.DB is not available"}),
    ("search.All", "answer('search.Web', []); answer('search.KB', []); ctx.search.All([{type: 'web', query: 'a', limit: 1}, {type: 'kb', query: 'b'}]); return calls", [["search.Web", ["a", {"limit": 1}]], ["search.KB", ["b", {}]]]),
    ("no sandbox", "return [ctx.computer === undefined, ctx.workspace === undefined, part('context').names.includes('Send')]", [True, True, True]),
    ("what is no Error passes", "answer('agent.Call', () => { throw 'stop' }); return ctx.agent.Call('a', [])", "undefined: stop"),
]  # fmt: skip


@each(("body", "expected"), [row[1:] for row in SERVICES], ids=[row[0] for row in SERVICES])
def test_services(body: str, expected: object) -> None:
    assert check(body) == expected
