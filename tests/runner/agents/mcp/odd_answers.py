"""Answers that no server should give."""

from __future__ import annotations

ANSWERS = {
    "prose": (b"200 OK", b"text/html", b"<p>Welcome</p>", "it answered text/html that is not part of the protocol: <p>Welcome</p>"),
    "broken JSON": (b"200 OK", b"application/json", b'{"id": 1', 'it answered application/json that is not part of the protocol: {"id": 1'),
    "no result": (b"200 OK", b"application/json", b'{"jsonrpc": "2.0", "id": 0, "result": null}', 'it answered application/json that is not part of the protocol: {"jsonrpc": "2.0", "id": 0, "result": null}'),
    "no error": (b"200 OK", b"application/json", b'{"jsonrpc": "2.0", "id": 0, "error": {"code": "x"}}', 'it answered application/json that is not part of the protocol: {"jsonrpc": "2.0", "id": 0, "error": {"code": "x"}}'),
    "another request": (b"200 OK", b"application/json", b'{"jsonrpc": "2.0", "id": 7, "result": {}}', 'it answered application/json that is not part of the protocol: {"jsonrpc": "2.0", "id": 7, "result": {}}'),
    "half a letter": (b"200 OK", b"application/json", b'{"jsonrpc": "2.0", "id": 0, "result": {"a": "\\ud800"}}', 'it answered application/json that is not part of the protocol: {"jsonrpc": "2.0", "id": 0, "result": {"a": "\\ud800"}}'),
    "a redirect to nowhere": (b"307 Temporary Redirect", b"", b"", "it answered HTTP 307 Temporary Redirect"),
    "no type": (b"200 OK", b"", b"", "it answered no content-type that is not part of the protocol: "),
    **{
        f"{name} as an event": (b"200 OK", b"text/event-stream", b"data: " + reply + b"\n\n", f"it sent text/event-stream that is not part of the protocol: {reply.decode()}")
        for name, reply in {
            "no result": b'{"jsonrpc": "2.0", "id": 0, "result": null}',
            "another request": b'{"jsonrpc": "2.0", "id": 7, "result": {}}',
            "no request": b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "Parse error"}}',
            "half a letter": b'{"jsonrpc": "2.0", "id": 0, "result": {"a": "\\ud800"}}',
        }.items()
    },
    "a greeting without a version": (b"200 OK", b"application/json", b'{"jsonrpc": "2.0", "id": 0, "result": {}}', "its response is invalid: protocolVersion is missing"),
    "events that break off": (b"200 OK", b"text/event-stream", b"event: message\ndata: {", "the server closed the response too early"),
    "a failure": (b"500 Oh", b"text/plain", b"no\n disk", "it answered HTTP 500 Oh: no disk"),
    "a bad gateway": (b"502 Bad Gateway", b"text/html", b"", "it answered HTTP 502 Bad Gateway"),
}  # fmt: skip
