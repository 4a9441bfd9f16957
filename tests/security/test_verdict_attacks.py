"""Attempts to change a verdict, to learn of the environment, to start processes, and to use up the machine: each an
attack by a script test, through the real command."""

from __future__ import annotations

import pytest
from attacks import MARK, attacked, held
from command import Application, MakeApplication, Record, given_time
from table_tests import each

FAIL = "t.assert.Equal(1, 2, 'must be told');"

VERDICTS = {
    "status of the result": "(t as any).status = 'passed'; " + FAIL,
    "getter for failed": "Object.defineProperty(t, 'failed', { get: () => false }); " + FAIL,
    "assertions replaced": "const real = t.assert.Equal; for (const k of Object.keys(t.assert)) (t.assert as any)[k] = () => true; real(1, 2, 'must be told');",
    "members of testing.T replaced": "const p = Object.getPrototypeOf(t); for (const k of ['fail', 'error', 'fatal', 'outcome', 'skip']) try { p[k] = () => {}; } catch {} "
    + FAIL,
    "another T": "const T = t.constructor; const other = new T('other'); " + FAIL + " return other;",
    "a guessed key": f"{FAIL} try {{ t.outcome({{}}).failures.length = 0; }} catch {{}} try {{ t.outcome().failures = []; }} catch {{}}",
    "skip after a failure": FAIL + " t.skip('never mind');",
    "skip before the end": f"t.cleanup(() => t.skip('x')); {FAIL}",
    "stop while failing": f"{FAIL} throw Object.create(null);",
    "a result that is returned": FAIL + " return { status: 'passed', failures: [] } as any;",
    "a promise that lies": FAIL + " return { then(done: any) { done({ status: 'passed' }); done(); } } as any;",
    "a promise that is settled twice": "return { then(done: any, failed: any) { failed(new Error('must be told')); done(); } } as any;",
    "setter on the first index": "Object.defineProperty(Array.prototype, 0, { set() {}, get: () => undefined, configurable: true }); "
    + FAIL,
    "setters on many indexes": "for (let i = 0; i < 50; i++) Object.defineProperty(Array.prototype, i, { set() {}, configurable: true }); "
    + FAIL,
    "setters on Object.prototype": "for (const k of ['kind', 'message', 'failures', 'status', 'stack', 'length', 'skipped']) Object.defineProperty(Object.prototype, k, { set() {}, get: () => 0, configurable: true }); "
    + FAIL,
    "Object.prototype as a Proxy": "try { Object.setPrototypeOf(Array.prototype, new Proxy({}, { get: () => 0, set: () => true, has: () => true, defineProperty: () => false })); } catch {} "
    + FAIL,
    "toPrimitive": "const bomb: any = { [Symbol.toPrimitive]() { throw new Error('boom'); }, toJSON() { throw 1; } }; t.assert.Equal(bomb, 1, 'must be told');",
    "setters for the names of assertions": "for (const k of Object.keys(t.require)) Object.defineProperty(Object.prototype, k, { set() {}, get: () => () => true, configurable: true }); "
    + FAIL,
    "setters and maps": "for (let i = 0; i < 9; i++) Object.defineProperty(Array.prototype, i, { set() {}, get: () => 1, configurable: true }); t.assert.Equal(new Map([[{ a: 1 }, 1], [{ a: 2 }, 2]]), new Map([[{ a: 1 }, 1], [{ a: 3 }, 2]]), 'must be told');",
    "setters and a later failure": "for (let i = 0; i < 9; i++) Object.defineProperty(Array.prototype, i, { set() {}, get: () => 1, configurable: true }); t.run('a', async (t: any) => { await null; t.assert.Equal([{ a: [1] }], [{ a: [2] }]); });",
    "setters and a rejection": "for (let i = 0; i < 9; i++) Object.defineProperty(Array.prototype, i, { set() {}, get: () => 1, configurable: true }); Promise.reject(new Error('must be told'));",
    "toPrimitive in a message": "t.assert.Equal(1, 2, { [Symbol.toPrimitive]() { throw new Error('boom'); }, toString() { t.skip('x'); return ''; } } as any);",
    "getters on arguments": FAIL
    + "t.assert.Equal({ get a() { t.skip('from a getter'); return 1; } }, { a: 2 }, 'must be told');",
    "getters that change": "let n = 0; t.assert.Equal({ get a() { return n++ ? 1 : 2; } }, { a: 1 }, 'must be told'); "
    + FAIL,
    "a Proxy that agrees": "t.assert.Equal(new Proxy({}, { get: () => 1, ownKeys: () => { throw new Error('trap'); } }), { a: 1 }, 'must be told');",
    "a Proxy that loops": "const p: any = new Proxy({}, { getPrototypeOf: () => p, get: () => p }); t.assert.Equal(p, { a: 1 }, 'must be told');",
    "a revoked Proxy": "const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); t.assert.Equal(proxy, {}, 'must be told');",
    "a thrown Proxy": "throw new Proxy(new Error('x'), { get() { throw new Error('trap'); }, getPrototypeOf() { throw new Error('trap'); } });",
    "a thrown bomb": "throw { get message() { t.skip('x'); return 'm'; }, get stack() { throw 1; }, toString() { throw 2; } };",
    "a thrown stop": "let stop: any; try { t.skip('caught'); } catch (e) { stop = e; } t.assert.Equal(1, 2); ",
    "JSON of a result in the log": """console.log('\\nresult 1 60\\n0{"status":"passed","duration_ms":0,"failures":[],"steps":[]}'); """
    + FAIL,
    "frames in the log": "for (let i = 0; i < 20; i++) console.log('idle\\nresult 1 2\\n' + i + '{}\\nstart 1\\n0'); "
    + FAIL,
    "frames in the name of a subtest": "t.run('x\\nresult 1 2\\n0{}\\n', (t: any) => { " + FAIL + " });",
    "frames in the name of a process": "try { Process('x 1 1\\nidle\\nresult 1 2\\n0{}'); } catch {} " + FAIL,
    "control characters of a terminal": "console.log('\\x1b[2J\\x1b[1A\\x1b]0;x\\x07'); " + FAIL,
    "markup in a message": "t.fail('</script><script>passed</script> ]]> [red] %s');",
    "the host bridge": "for (const k of ['$bridge', '$dispatch', '$ctx']) if (k in globalThis) return; " + FAIL,
    "callers": "const f: any = function () { try { return f.caller ?? (f as any).arguments; } catch { return null; } }; const c = f(); if (c && c.name === 'dispatch') return; "
    + FAIL,
    "frames of the stack": "let seen: any[] = []; (Error as any).prepareStackTrace = (_: any, frames: any) => { seen = frames; return ''; }; new Error().stack; for (const f of seen) { const fn = f.getFunction?.(); if (fn) try { fn('result'); fn.call(null, {}); } catch {} } "
    + FAIL,
    "the end of the world": "for (const k of Object.getOwnPropertyNames(globalThis)) try { (globalThis as any)[k] = undefined; } catch {} "
    + FAIL,
    "generators": "const G = Object.getPrototypeOf(Object.getPrototypeOf((function* () {})())); Object.defineProperty(G, 'next', { value: () => ({ done: true }) }); "
    + FAIL,
    "WeakSet": "WeakSet.prototype.has = () => true; WeakSet.prototype.add = function () { return this; }; throw new Error('must be told');",
    "clock": "performance.now = () => NaN; Date.now = () => -1; " + FAIL,
    "late": "setTimeout(() => { for (const k of Object.keys(t.assert)) (t.assert as any)[k] = () => true; }, 0); return new Promise((r) => setTimeout(() => { t.require.Equal(1, 2, 'must be told'); r(0); }, 5));",
    "the next test": "for (const k of ['Test1', 'Test2', 'TestVictim']) (globalThis as any)[k] = () => { throw new Error('taken over'); }; "
    + FAIL,
    "a forged outcome": "const p = Object.getPrototypeOf(t); p.outcome = (k: any) => ({ failures: [], assertions: 1, skipped: false, steps: [] }); "
    + FAIL,
    "the key of outcomes": "const p = Object.getPrototypeOf(t); let key: any; const real = p.outcome; p.outcome = function (k: any) { key = k; return real.call(this, k); }; "
    + FAIL
    + " t.log(Object.keys(key||{}).join()); if (key) key.outcomeOf = () => ({ failures: [], assertions: 1, skipped: false, steps: [] });",
    "toJSON that forges arguments of the host": "(Array.prototype as any).toJSON = () => ['a', 'a']; t.assert.Match('abc', '^zzz$', 'must be told');",
    "a forged answer of the host": "(Object.prototype as any).bytes = 'AAAA'; t.assert.NotMatch('abc', 'b', 'must be told');",
    "another forged answer of the host": "(Object.prototype as any).ok = true; t.assert.Match('abc', '^zzz$', 'must be told');",
    "a forged judgement": "t.mock.agent('v', { passed: false, reason: 'no' }); (Object.prototype as any).passed = true; t.assert.Agent('x', 'v', { criteria: 'c' }, 'must be told');",
    "a forged snapshot": "(Array.prototype as any).toJSON = () => ['x', 'y']; (Object.prototype as any).passed = true; t.snapshot({ a: 1 }, 'must'); "
    + FAIL,
    "a promise that is none": "const P: any = (0, eval)('(async () => {})()').constructor; Object.defineProperty(P, Symbol.hasInstance, { value: () => false }); t.assert.NoPanic(async () => { throw new Error('must be told'); });",
    "everything is a promise": "const P: any = (0, eval)('(async () => {})()').constructor; Object.defineProperty(P, Symbol.hasInstance, { value: () => true }); "
    + FAIL,
    "species of promises": "const P: any = (0, eval)('(async () => {})()').constructor; Object.defineProperty(P, Symbol.species, { get: () => function (f: any) { f(() => 0, () => 0); } }); Object.defineProperty(P.prototype, 'constructor', { get: () => { throw 1; } }); t.assert.NoPanic(async () => { throw new Error('must be told'); });",
    "another parent of promises": "Object.setPrototypeOf(Promise, function (this: any, f: any) { f(() => 0, () => 0); }); Promise.reject(new Error('must be told')); await null; "
    + FAIL,
    "a then that swallows": "Promise.prototype.then = function () { return this; } as any; await new Promise((_, no) => no(new Error('must be told'))); ",
    "a then that lies in a subtest": "t.run('a', async (t: any) => { await null; Promise.prototype.then = function (a: any) { a(true); return this; } as any; throw new Error('must be told'); });",
    "a forged outcome in a cleanup": 't.cleanup(() => { Object.getPrototypeOf(t).outcome = () => ({ failures: [], assertions: 0, skipped: false, steps: [] }); JSON.stringify = () => \'{"status":"passed"}\'; }); '
    + FAIL,
    "a forged outcome in a timer": FAIL
    + "setTimeout(() => { Object.getPrototypeOf(t).outcome = () => ({ failures: [] }); }, 0);",
    "a forged outcome after the end": FAIL
    + "Promise.resolve().then(function again(): any { Object.getPrototypeOf(t).outcome = () => ({ failures: [], steps: [], assertions: 0, skipped: false }); return 1; });",
    "a forged outcome in a mock": "t.mock.process('x.y', () => { const p = Object.getPrototypeOf(t); p.outcome = () => ({ failures: [], steps: [], assertions: 0, skipped: false }); throw 1; }); "
    + FAIL
    + " try { Process('x.y'); } catch {}",
    "getters of an error": "const e: any = new Error('must be told'); Object.defineProperty(e, 'stack', { get() { t.skip('x'); return ''; } }); Object.defineProperty(e, 'message', { get() { t.skip('y'); } }); throw e;",
    "an error that is its own cause": "const e: any = new Error('must be told'); e.cause = e; throw e;",
    "causes without end": "const make = (): any => ({ message: 'must be told', stack: '', get cause() { return make(); } }); throw make();",
    "traps on stacks": "(Error as any).captureStackTrace = () => { throw 1; }; Object.defineProperty(Error.prototype, 'stack', { get() { throw 1; }, set() { throw 2; }, configurable: true }); "
    + FAIL,
    "a setter for stacks": "Object.defineProperty(Error.prototype, 'stack', { get: () => '', set() { t.skip('x'); }, configurable: true }); throw new Error('must be told');",
    "errors that are none": "Object.defineProperty(Error, Symbol.hasInstance, { value: () => false }); throw new Error('must be told');",
    "a Map that is none": "t.assert.Equal({ [Symbol.toStringTag]: 'Map', size: 0 } as any, new Map([[1, 2]]), 'must be told');",
    "a Date that is none": "class A { get [Symbol.toStringTag]() { return 'Date'; } } t.assert.Equal(new A() as any, new Date(0), 'must be told');",
    "raw JSON": "const r = (JSON as any).rawJSON; if (r) t.assert.Equal({ a: r('1e999') }, 1, 'must be told'); " + FAIL,
    "deep values": "let s: any = 0; for (let i = 0; i < 3000; i++) s = [s]; t.assert.Equal(s, 1, 'must be told');",
    "a huge number": "t.assert.Equal({ toJSON: () => 1 } as any, 10n ** 5000n, 'must be told');",
    "half characters": "t.fail('\\ud800 must be told'); t.run('\\udfff', (t: any) => t.fail('\\ud800')); console.log('\\ud800\\0');",
    "getters on the context": "for (const k of Reflect.ownKeys(ctx)) try { Object.defineProperty(ctx, k, { get() { t.skip('x'); } }); } catch {} Object.setPrototypeOf(ctx, null); "
    + FAIL,
    "a frozen context": "Object.freeze(ctx); Object.preventExtensions(ctx); " + FAIL,
    "patterns that always match": "RegExp.prototype.exec = () => ['x'] as any; (RegExp.prototype as any)[Symbol.match] = () => true; t.assert.Match('abc', /^zzz$/, 'must be told');",
    "a pattern of another class": "class R extends RegExp { get source() { return ''; } get flags() { return ''; } exec(): any { return ['x']; } } t.assert.Match('abc', new R('^zzz$'), 'must be told');",
    "iterators of arguments": "Array.prototype[Symbol.iterator] = function* () { yield t; yield 'x'; } as any; t.fail('must be told');",
    "then as a bomb": "return { get then() { throw new Error('must be told'); } } as any;",
    "then without an end": "return { then() {} } as any;",
    "everything can be awaited": FAIL + "(Object.prototype as any).then = function (d: any) { d(); };",
    "everything is a generator": "(Object.prototype as any).next = () => ({ done: true }); " + FAIL,
    "valueOf of arguments": "t.assert.Greater({ valueOf() { t.skip('x'); return 9; } } as any, 1); " + FAIL,
    "getters in a mock": "t.mock.process('a.b', { get x() { t.skip('s'); return 1; } }); try { Process('a.b'); } catch {} "
    + FAIL,
    "getters on a recorder": "const r = t.mock.process('a.b', 1); Object.defineProperty(r, 'calls', { get() { t.skip('x'); } }); "
    + FAIL,
}
"""Each has to fail, whatever it does."""

INNOCENT = "t.assert.Equal([1, { a: 'x' }], [1, { a: 'x' }]); t.assert.Equal(JSON.stringify([1]), '[1]'); t.assert.Equal(Object.keys({ a: 1 }), ['a']);"
"""A test that has to pass after every attack."""

SECRETIVE = {
    "process.env": "refused(t, () => process.env.PARENT_VARIABLE);",
    "a variable by name": "t.assert.Equal(Process('utils.env.Get', 'PARENT_VARIABLE'), '');",
    "several variables": "t.assert.Equal(Process('utils.env.GetMany', 'PARENT_VARIABLE', 'HOME', 'PATH').HOME, '');",
    "a variable that is named in other letters": "for (const n of ['parent_variable', 'PARENT_VARIABLE\\0', ' PARENT_VARIABLE', '*']) t.assert.Equal(Process('utils.env.Get', n), '');",
    "the search path": "t.assert.Equal(Process('utils.env.Get', 'PATH'), '');",
    "as a connector": "try { Process('llm.ChatCompletions', '$ENV.PARENT_VARIABLE', [{ role: 'user', content: 'x' }]); } catch (e: any) { t.assert.NotContains(e.message, 'OUTSIDE'); t.log(e.message); }",
    "as a connector of an agent": "try { Process('agents.demo.Stream', 'x', { connector: '$ENV.PARENT_VARIABLE' }); } catch (e: any) { t.assert.NotContains(e.message, 'OUTSIDE'); t.log(e.message); }",
    "in a message": "try { t.log(JSON.stringify(Process('llm.ChatCompletions', 'scripted', [{ role: 'system', content: '$ENV.PARENT_VARIABLE {{ $ENV.PARENT_VARIABLE }}' }]))); } catch (e: any) { t.log(e.message); }",
    "of another test": "Process('utils.env.Set', 'LEFT_BEHIND', 'x');",
    "from another test": "t.assert.Equal(Process('utils.env.Get', 'LEFT_BEHIND'), '');",
    "a variable that the application names": "t.assert.Equal(Process('utils.env.Get', 'NAMED'), 'by the application');",
    "places of the machine in a stack": "try { null!.x; } catch (e: any) { t.assert.NotContains(String(e.stack), 'site-packages'); t.assert.NotContains(String(e.stack), '/home'); }",
}
PROCESSES = {
    "child_process": "refused(t, () => (globalThis as any).require('child_process').execSync('id').toString());",
    "os.exec": "refused(t, () => os.exec(['id']));",
    "std.popen": "refused(t, () => std.popen('id', 'r').readAsString());",
    "a process of Yao": "for (const n of ['cmd.exec', 'utils.sys.Exec', 'plugins.x.Exec', 'os.Exec', 'ssh.Exec', 'shell']) refused(t, () => Process(n, 'id'));",
    "a constructor of Python": "refused(t, () => Process('__class__.__init__'));",
    "a name with dots": "for (const n of ['fs.data.__init__', 'fs.__globals__', '..', '.', '', 'http.__call__', 'utils.__import__']) refused(t, () => Process(n, 'os'));",
    "a worker": "for (const n of ['Worker', 'SharedWorker', 'Deno', 'Bun', 'WebAssembly']) t.assert.Equal(typeof (globalThis as any)[n], 'undefined');",
    "an MCP server of its own": "refused(t, () => Process('mcp.tools.call', { command: 'id', transport: 'stdio' }, 'x'));",
}
ENDLESS = {
    "a loop": "for (;;) {}",
    "a loop of promises": "const spin = (): any => Promise.resolve().then(spin); await spin();",
    "a loop of timers": "const again = () => setTimeout(again, 0); again(); await new Promise(() => {});",
    "stack in JSON": "let o: any = {}; for (let i = 0; i < 1e6; i++) o = { o }; JSON.stringify(o);",
    "stack in a comparison": "let a: any = [], b: any = []; for (let i = 0; i < 1e6; i++) { a = [a]; b = [b]; } t.assert.Equal(a, b); t.fail('told');",
    "a pattern": "/^(a+)+$/.test('a'.repeat(40) + 'b'); t.fail('told');",
    "timers": "for (let i = 0; i < 300000; i++) setTimeout(() => 0, 1e9); t.fail('told');",
    "cleanups": "const again = () => { t.cleanup(again); }; again();",
    "a pattern of files": "const fs = new FS('data'); fs.MkdirAll('g' + '/a'.repeat(60)); try { t.log(String(fs.Glob('**/a/'.repeat(25) + 'nope').length)); } catch (e: any) { t.log(e.message); } fs.RemoveAll('g'); t.fail('told');",
}
"""Each takes all the time that it gets."""
RESOURCES = {
    "results without end": "for (let i = 0; i < 4000; i++) t.run('s' + i, (t: any) => { for (let k = 0; k < 3; k++) t.fail('x'.repeat(60000)); });",
    "memory in lists": "const all: any[] = []; for (;;) all.push(new Array(10000).fill(1));",
    "memory in strings": "const all: string[] = []; for (let i = 0; ; i++) all.push(('x' + i).repeat(100000));",
    "memory in closures": "let f: any = () => 0; for (;;) { const g = f; const big = new Array(1000).fill(g); f = () => big; }",
    "output": "for (let i = 0; i < 30000; i++) console.log('x'.repeat(100)); t.fail('told');",
    "one huge line": "console.log('x'.repeat(1 << 25)); t.fail('told');",
    "subtests": "for (let i = 0; i < 12000; i++) t.run('s', () => {}); t.fail('told');",
    "a huge argument": "try { Process('utils.str.Concat', 'x'.repeat(1 << 25), 'x'); } catch {} t.fail('told');",
    "values of a session": "const big = 'x'.repeat(1 << 21); for (let i = 0; i < 40; i++) Process('session.Set', 'k' + i, big); t.fail('told');",
    "aliases of YAML": "let y = 'a0: &a0 [x,x,x,x,x,x,x,x,x,x]\\n'; for (let i = 1; i < 12; i++) y += `a${i}: &a${i} [${Array(10).fill('*a' + (i - 1)).join()}]\\n`; try { Process('encoding.yaml.Decode', y); } catch (e: any) { t.log(e.message); } t.fail('told');",
    "memory in buffers": "const all: any[] = []; for (;;) all.push(new ArrayBuffer(1 << 24));",
    "one huge buffer": "new ArrayBuffer(2 ** 40);",
    "one huge string": "'x'.repeat(2 ** 30);",
    "stack": "const f = (): any => f() + 1; f();",
    "stack in a getter": "const o: any = { get a() { return this.a; } }; t.assert.Equal(o, { a: 1 });",
    "a Go pattern": "t.assert.Match('a'.repeat(40) + 'b', '^(a+)+$');",
    "realms within realms": "Process('scripts.deep.Fn', 1); t.fail('told');",
    "a huge sleep": "try { Process('utils.time.Sleep', 1e12); } catch {} t.fail('told');",
    "a pattern in a schema": "try { Process('utils.jsonschema.Validate', 'a'.repeat(60) + 'b', '{\"type\": \"string\", \"pattern\": \"^(a+)+$\"}'); } catch {} t.fail('told');",
    "a schema that doubles": "const defs: any = {}; for (let i = 0; i < 40; i++) defs['d' + i] = { allOf: [{ $ref: '#/$defs/d' + (i + 1) }, { $ref: '#/$defs/d' + (i + 1) }] }; defs.d40 = {}; try { Process('utils.jsonschema.Validate', 1, { $defs: defs, $ref: '#/$defs/d0' }); } catch (e: any) { t.log(e.message); } t.fail('told');",
    "entities of XML": "let x = '<!DOCTYPE l [<!ENTITY a0 \"lol\">'; for (let i = 1; i < 12; i++) x += `<!ENTITY a${i} \"${('&a' + (i-1) + ';').repeat(10)}\">`; x += ']><l>&a11;</l>'; try { t.log(JSON.stringify(Process('encoding.xml.Decode', x)).length); } catch (e: any) { t.log(e.message); } t.fail('told');",
    "many arguments": "try { Process('utils.str.Concat', ...Array(200000).fill('x')); } catch (e: any) { t.log(e.message); } t.fail('told');",
    "deep arguments": "let a: any = 1; for (let i = 0; i < 5000; i++) a = [a]; try { Process('utils.arr.Get', a, 0); } catch (e: any) { t.log(e.message); } t.fail('told');",
    "odd file names": "const fs = new FS('data'); for (const n of ['a\\nb', '\\x1b[2J', 'a\\0b', '\\ud800', 'x'.repeat(300), 'CON', ' ', '...', '-rf']) { try { fs.WriteFile(n, 'x'); } catch (e: any) { t.log(e.message); } } t.log(JSON.stringify(fs.ReadDir('/'))); fs.RemoveAll('a\\nb'); t.fail('told');",
    "odd process names": "for (const n of ['scripts.' + 'a.'.repeat(400) + 'b', 'FS.DATA.READFILE', 'fs.data.readfile ', 'fs..ReadFile', '__proto__', 'constructor', 'http.__proto__']) try { Process(n, 'x'); } catch (e: any) { t.log(e.message); } t.fail('told');",
    "stacks of blank lines": "for (let i = 0; i < 12; i++) t.run('s' + i, () => { const e = new Error('told'); e.stack = '\\n'.repeat(63000); throw e; });",
    "failures": "for (let i = 0; i < 20000; i++) t.fail('x'.repeat(1000));",
}
"""Each ends by itself and fails, and nothing else does."""


def with_innocent_ones(app: Application, attacks: dict[str, str], seconds: float, parallel: int) -> dict[str, Record]:
    """The results of the attacks, and after each one of a test that must pass."""
    tests = {
        name: text for attack, code in attacks.items() for name, text in ((attack, code), (f"after {attack}", INNOCENT))
    }

    def run(timeout: str) -> dict[str, Record]:
        return attacked(app, tests, "--timeout", timeout, "--parallel", str(parallel))

    return given_time(run, seconds, *(f"after {attack}" for attack in attacks))


@pytest.fixture(scope="module")
def verdicts(shared_app: MakeApplication) -> dict[str, Record]:
    return with_innocent_ones(shared_app({}), VERDICTS, 0.2, parallel=1)


@each("attack", VERDICTS)
def test_a_failure_stays_a_failure(verdicts: dict[str, Record], attack: str) -> None:
    assert verdicts[attack]["status"] == "failed", verdicts[attack]
    assert verdicts[attack]["error"]


@each("attack", VERDICTS)
def test_the_test_after_an_attack_is_not_touched(verdicts: dict[str, Record], attack: str) -> None:
    assert verdicts[f"after {attack}"]["status"] == "passed", verdicts[f"after {attack}"]


@pytest.fixture(scope="module")
def secretive(shared_app: MakeApplication) -> dict[str, Record]:
    app = shared_app(
        {"/.env": "NAMED=by the application\n", "/assistants/demo/prompts.yml": "- { role: system, content: x }"}
    )
    replies = "- reply: { json: { system: '{{ system }}', said: '{{ messages.0.content }}' } }\n"
    app.write({"/assistants/demo/replies.yml": replies, "/replies.yml": replies})
    app.__class__ = WithVariable
    return attacked(app, {**SECRETIVE, **PROCESSES}, "--parallel", "1")


class WithVariable(Application):
    """An application whose commands inherit a variable."""

    apart = True

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, "PARENT_VARIABLE": MARK}


@each("attack", SECRETIVE)
def test_a_script_sees_only_variables_that_the_application_names(secretive: dict[str, Record], attack: str) -> None:
    assert held(secretive[attack]), secretive[attack]


@each("attack", PROCESSES)
def test_a_script_starts_no_process(secretive: dict[str, Record], attack: str) -> None:
    assert held(secretive[attack]), secretive[attack]


@pytest.fixture(scope="module")
def resources(shared_app: MakeApplication) -> dict[str, Record]:
    deep = "export function Fn(n: number) { return Process('scripts.deep.Fn', n + 1); }"
    app = shared_app({"/scripts/deep.ts": deep})
    found = with_innocent_ones(app, RESOURCES, 1, parallel=2)
    return found | with_innocent_ones(app, ENDLESS, 0.15, parallel=4)


@each("attack", {**RESOURCES, **ENDLESS})
def test_who_uses_up_the_machine_fails_alone(resources: dict[str, Record], attack: str) -> None:
    assert resources[attack]["status"] == "failed", resources[attack]
    assert resources[f"after {attack}"]["status"] == "passed", resources[f"after {attack}"]
