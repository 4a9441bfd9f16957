"""Attempts to reach hosts: each an attack by a script test, through the real command, with a server that counts."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from attacks import MARK, attacked, held
from command import Application, MakeApplication, Record
from table_tests import each


class Handler(BaseHTTPRequestHandler):
    """Answers with what nobody may see; `/to?<address>` redirects."""

    def do_GET(self) -> None:
        self.server.seen.append(self.path)  # type: ignore[attr-defined]
        path, _, target = self.path.partition("?")
        self.send_response(302 if path == "/to" else 200)
        if path == "/to":
            self.send_header("Location", target)
        body = b"" if path == "/to" else MARK.encode()
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_PUT = do_DELETE = do_PATCH = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def servers() -> Iterator[list[ThreadingHTTPServer]]:
    """One that may be asked when a run allows its port, and one that may not."""
    made = [ThreadingHTTPServer(("127.0.0.1", 0), Handler) for _ in range(2)]
    for server in made:
        server.seen = []  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield made
    for server in made:
        server.shutdown()
        server.server_close()


NONE = "scripts have no network"
OTHER = "not allowed"
PRIVATE = "not public"

WITHOUT = {
    "get": f'refused(t, () => http.Get("http://127.0.0.1:PORT/"), "{NONE}");',
    "post": f'refused(t, () => http.Post("http://127.0.0.1:PORT/", {{}}), "{NONE}");',
    "put": f'refused(t, () => http.Put("http://127.0.0.1:PORT/", {{}}), "{NONE}");',
    "send": f'refused(t, () => http.Send("GET", "http://127.0.0.1:PORT/"), "{NONE}");',
    "stream": f'refused(t, () => http.Stream("GET", "http://127.0.0.1:PORT/", () => 1), "{NONE}");',
    "process": f'refused(t, () => Process("http.Get", "http://127.0.0.1:PORT/"), "{NONE}");',
    "process by another spelling": 'refused(t, () => Process("HTTP.GET", "http://127.0.0.1:PORT/"));',
    "localhost": f'refused(t, () => http.Get("http://localhost:PORT/"), "{NONE}");',
    "beside a mock": 't.mock.http("http://127.0.0.1:PORT/*", { status: 200 }); http.Get("http://127.0.0.1:PORT/x"); refused(t, () => http.Get("http://localhost:PORT/x"));',
    "interfaces of browsers": 'for (const name of ["fetch", "XMLHttpRequest", "EventSource", "Worker"]) t.assert.Equal(typeof (globalThis as any)[name], "undefined");',
    "a web socket": 'try { const w: any = new (globalThis as any).WebSocket("ws://127.0.0.1:PORT/"); for (const k in w) try { w[k]("x"); } catch {} w.Push?.("x"); w.send?.("x"); } catch {}',
    "interfaces of Node": 'for (const name of ["net", "http2", "dgram", "tls", "dns"]) refused(t, () => (globalThis as any).require(name));',
    "a file address": 'refused(t, () => http.Get("file:///etc/passwd"), "http:// and https://");',
    "another protocol": 'for (const s of ["ftp", "gopher", "ws", "unix", "data"]) refused(t, () => http.Get(s + "://127.0.0.1:PORT/"), "http:// and https://");',
}
EVERY = {
    "loopback": f'refused(t, () => http.Get("http://127.0.0.1:PORT/"), "{PRIVATE}");',
    "loopback, short": f'refused(t, () => http.Get("http://127.1:PORT/"), "{PRIVATE}");',
    "loopback, as a number": f'refused(t, () => http.Get("http://2130706433:PORT/"), "{PRIVATE}");',
    "loopback, hexadecimal": f'refused(t, () => http.Get("http://0x7f000001:PORT/"), "{PRIVATE}");',
    "loopback, octal": f'refused(t, () => http.Get("http://0177.0.0.1:PORT/"), "{PRIVATE}");',
    "this host": f'refused(t, () => http.Get("http://0.0.0.0:PORT/"), "{PRIVATE}");',
    "a name of this machine": f'refused(t, () => http.Get("http://localhost:PORT/"), "{PRIVATE}");',
    "a name with a dot": f'refused(t, () => http.Get("http://localhost.:PORT/"), "{PRIVATE}");',
    "IPv6": f'refused(t, () => http.Get("http://[::1]:PORT/"), "{PRIVATE}");',
    "IPv4 in IPv6": f'refused(t, () => http.Get("http://[::ffff:127.0.0.1]:PORT/"), "{PRIVATE}");',
    "loopback, hexadecimal and short": f'refused(t, () => http.Get("http://0x7f.1:PORT/"), "{PRIVATE}");',
    "loopback, octal and short": f'refused(t, () => http.Get("http://017700000001:PORT/"), "{PRIVATE}");',
    "IPv4 in IPv6, hexadecimal": f'refused(t, () => http.Get("http://[::ffff:7f00:1]:PORT/"), "{PRIVATE}");',
    "IPv4 translated into IPv6": f'refused(t, () => http.Get("http://[::ffff:0:7f00:1]:PORT/"), "{PRIVATE}");',
    "IPv4 as the end of IPv6": f'refused(t, () => http.Get("http://[::7f00:1]:PORT/"), "{PRIVATE}");',
    "NAT64": f'refused(t, () => http.Get("http://[64:ff9b::7f00:1]:PORT/"), "{PRIVATE}");',
    "IPv6, long": f'refused(t, () => http.Get("http://[0:0:0:0:0:0:0:1]:PORT/"), "{PRIVATE}");',
    "IPv6 with a zone": 'refused(t, () => http.Get("http://[fe80::1%25lo]:PORT/"));',
    "escaped dots": 'refused(t, () => http.Get("http://127%2e0%2e0%2e1:PORT/"));',
    "dots of Chinese": 'refused(t, () => http.Get("http://127。0。0。1:PORT/"));',
    "wide digits": 'refused(t, () => http.Get("http://１２７.0.0.1:PORT/"));',
    "a name within localhost": 'refused(t, () => http.Get("http://x.localhost:PORT/"));',
    "a NUL": 'refused(t, () => http.Get("http://127.0.0.1\\0.example.com:PORT/"));',
    "a tab in the protocol": 'refused(t, () => http.Get("ht\\ttp://127.0.0.1:PORT/"));',
    "other letters": 'refused(t, () => http.Get("http://①②⑦.0.0.1:PORT/"));',
    "metadata of clouds": f'refused(t, () => http.Get("http://169.254.169.254/latest/meta-data/"), "{PRIVATE}");',
    "private network": f'refused(t, () => http.Get("http://10.0.0.1/"), "{PRIVATE}");',
    "a line break": 'refused(t, () => http.Get("http://127.0.0.1:PORT/\\r\\nHost: x"));',
    "a blank": 'refused(t, () => http.Get(" http://127.0.0.1:PORT/"));',
    "a backslash": 'refused(t, () => http.Get("http://example.com\\\\@127.0.0.1:PORT/"));',
}
ONE = {
    "another port": f'refused(t, () => http.Get("http://127.0.0.1:OTHER/"), "{OTHER}");',
    "another name of the same": f'refused(t, () => http.Get("http://localhost:PORT/"), "{OTHER}");',
    "the host as a user": f'refused(t, () => http.Get("http://127.0.0.1:PORT@localhost:OTHER/"), "{OTHER}");',
    "the host as a fragment": f'refused(t, () => http.Get("http://localhost:OTHER#@127.0.0.1:PORT/"), "{OTHER}");',
    "a redirect": f'refused(t, () => http.Get("http://127.0.0.1:PORT/to?http://127.0.0.1:OTHER/"), "{OTHER}");',
    "two redirects": f'refused(t, () => http.Get("http://127.0.0.1:PORT/to?/to?http://127.0.0.1:OTHER/"), "{OTHER}");',
    "a redirect of a post": f'refused(t, () => http.Post("http://127.0.0.1:PORT/to?http://127.0.0.1:OTHER/", {{}}), "{OTHER}");',
    "a redirect of a stream": f'refused(t, () => http.Stream("GET", "http://127.0.0.1:PORT/to?http://localhost:OTHER/", () => 1), "{OTHER}");',
    "a redirect to a file": 'refused(t, () => { const r: any = http.Get("http://127.0.0.1:PORT/to?file:///etc/passwd"); if (r.status) return r; throw new Error(r.message); });',
    "a redirect without a protocol": f'refused(t, () => http.Get("http://127.0.0.1:PORT/to?//localhost:OTHER/"), "{OTHER}");',
    "endless redirects": 'const r: any = http.Get("http://127.0.0.1:PORT/to?/to?/to?/to?/to?/to?/to?/to?/to?/to?/to?/to?/to?/to?x"); t.assert.Contains(r.message, "redirects");',
    "another host in a header": 'const r: any = http.Get("http://127.0.0.1:PORT/to?/to?/to?/to?/to?/to?/to?/to?/to?/to?/to?/to?/to?/to?x", {}, { Host: "localhost:OTHER" }); t.assert.NotContains(JSON.stringify(r), "OUTSIDE");',
}
RUNS: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
    "no network": (WITHOUT, ()),
    "every host": (EVERY, ("--allow-net",)),
    "one host": (ONE, ("--allow-net=127.0.0.1:PORT",)),
}
RUNS["every host and one"] = (
    {
        "a redirect to this machine": f'refused(t, () => http.Get("http://127.0.0.1:PORT/to?http://127.0.0.1:OTHER/"), "{PRIVATE}");',
        "a redirect to its other name": f'refused(t, () => http.Get("http://127.0.0.1:PORT/to?http://[::ffff:7f00:1]:OTHER/"), "{PRIVATE}");',
        "a redirect to a number": f'refused(t, () => http.Get("http://127.0.0.1:PORT/to?http://2130706433:OTHER/"), "{PRIVATE}");',
    },
    ("--allow-net=*,127.0.0.1:PORT",),
)
ATTACKS = [(run, attack) for run, (attacks, _) in RUNS.items() for attack in attacks]


@pytest.fixture(scope="module")
def results(shared_app: MakeApplication, servers: list[ThreadingHTTPServer]) -> dict[str, dict[str, Record]]:
    app: Application = shared_app({})
    ports = {"PORT": str(servers[0].server_port), "OTHER": str(servers[1].server_port)}

    def placed(text: str) -> str:
        return re.sub(r"(?<=:)(PORT|OTHER)\b", lambda match: ports[match[1]], text)

    found = {}
    for run, (attacks, arguments) in RUNS.items():
        code = {name: placed(code) for name, code in attacks.items()}
        found[run] = attacked(app, code, *map(placed, arguments), "--timeout", "20s")
        if not arguments or arguments == ("--allow-net",):
            assert servers[0].seen == []  # type: ignore[attr-defined]
    return found


@each(("run", "attack"), ATTACKS, ids=[f"{run}: {attack}" for run, attack in ATTACKS])
def test_a_script_reaches_no_host_that_is_not_allowed(
    results: dict[str, dict[str, Record]], servers: list[ThreadingHTTPServer], run: str, attack: str
) -> None:
    assert held(results[run][attack]), results[run][attack]
    assert servers[1].seen == []  # type: ignore[attr-defined]


def test_an_allowed_host_is_reached(app: MakeApplication, servers: list[ThreadingHTTPServer]) -> None:
    place = f"127.0.0.1:{servers[0].server_port}"
    code = f'export function TestA(t) {{ t.assert.Equal(http.Get("http://{place}/").status, 200); }}'
    made = app({"a_test.ts": code})
    assert made.run("-i", "scripts.demo.a", f"--allow-net=a.example,{place}").code == 0
    assert made.run("-i", "scripts.demo.a", "--allow-net", "--allow-net", place).code == 0
