"""The server of `yao-test view`, on the loopback address: its addresses, and their answers.

| address | answer |
| --- | --- |
| `/`, `/run`, `/tests`, `/test`, `/compare` | the page; its script shows what the path names |
| `/view.js`, `/view.css`, `/icon.svg` | files of the page |
| `GET /api/runs` | `StoredRuns.newest` |
| `GET /api/runs/ID/index`, `block-N`, `variants` | a run, in the format of the HTML report |
| `GET /api/runs/ID/events` | changes of a run, as server-sent events |
| `GET /api/events` | an event whenever something in the store changes |
| `GET /api/runs/ID/picture` | an attachment |
| `GET`, `PUT /api/runs/ID/labels`, `GET /api/runs/ID/labels.jsonl` | labels of people |
| `POST /api/runs/ID/again/plan`, `POST /api/runs/ID/again` | a command line; starting it |
| `GET`, `DELETE /api/again` | the run that was started; ending it |
| `GET /api/compare`, `/api/history`, `/api/tests` | runs side by side, a test over time, all tests |

Only this module uses Starlette and uvicorn."""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from inspect import isawaitable
from pathlib import Path
from threading import Event
from typing import Any
from urllib.parse import unquote

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from runner.errors import ConfigurationError, MissingError, RunnerError
from runner.record.writing import json_line, plain, utf8
from runner.reporters.html import GREEN_ICON, web_app
from runner.view.page_actions import PageActions
from scripttest.typing_names import Record

Answer = Callable[[Request], Awaitable[Response]]

ADDRESS = "127.0.0.1"
GRACE = 1
"""Seconds that running requests have when the server ends."""
LOOK = 0.25
"""Seconds between two checks of the store for changes."""
RESPITE = 3
"""Times as long as an answer took, until the next look."""
BEAT = 60
"""After this many checks without a change, a stream sends a sign of life."""
LARGEST = 1_000_000
"""Most bytes of the body of a request."""
MOST = 5000
"""Runs of one list."""
TOKEN_HEADER = b"x-yao-test-token"
SAFE_METHODS = ("GET", "HEAD")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]
REFUSED = "Open the link that yao-test view printed: it has the token that this page needs.\n"
PAGES = ("/", "/run", "/tests", "/test", "/compare")


def server_of(actions: PageActions, token: str, port: int, ending: Event) -> Guard:
    """The server as an ASGI application, for a port of this machine and a token. Raises ConfigurationError when the
    pages are not built. Its streams end when `ending` is set."""
    script, style = web_app("view")
    page = Path(__file__).with_name("page.html").read_text("utf-8")
    runs = actions.runs

    def fixed(text: str, kind: str) -> Answer:
        async def answer(request: Request) -> Response:
            return Response(text, media_type=kind)

        return answer

    def found(find: Callable[..., Any], *arguments: Callable[[Request], Any], kind: str = "application/json") -> Answer:
        """What is found for values of a request: a text as it is, anything else as JSON."""

        async def answer(request: Request) -> Response:
            values = [argument(request) for argument in arguments]
            values = [await value if isawaitable(value) else value for value in values]
            found = await run_in_threadpool(find, *values)
            return Response(utf8(found if isinstance(found, str) else json_line(found)), media_type=kind)

        return answer

    async def picture(request: Request) -> Response:
        source = request.query_params.get("source", "")
        found = await run_in_threadpool(actions.picture, request.path_params["id"], _number("at")(request), source)
        return Response(found[0], media_type=found[1]) if found else Response(status_code=204)

    async def events(request: Request) -> Response:
        """Changes of the store, or of the run that is named, since a revision of it."""
        id = request.path_params.get("id")
        after = 0 if id is None else _number("after")(request)
        if id is not None:
            await run_in_threadpool(runs.run, id)

        async def updates() -> AsyncIterator[str]:
            update: Record = {}
            revision = after
            async for has_changed in _changes(actions, ending):
                if id is not None:
                    update = await run_in_threadpool(runs.since, id, revision)
                    has_changed, revision = update["revision"] > revision, update["revision"]
                yield f"data: {json_line(update)}\n\n" if has_changed else ": still there\n\n"

        return StreamingResponse(updates(), media_type="text/event-stream")

    public = [
        *(Route(path, fixed(page, "text/html")) for path in PAGES),
        Route("/view.js", fixed(script, "text/javascript")),
        Route("/view.css", fixed(style, "text/css")),
        Route("/icon.svg", fixed(unquote(GREEN_ICON), "image/svg+xml")),
    ]
    of_one = "/api/runs/{id}"
    routes = [
        *public,
        Route("/api/runs", found(runs.newest, lambda request: max(1, min(MOST, _number("limit")(request))))),
        Route("/api/events", events),
        Route(f"{of_one}/index", found(runs.index, _run)),
        Route(f"{of_one}/block-{{number:int}}", found(runs.block, _run, lambda request: request.path_params["number"])),
        Route(f"{of_one}/variants", found(runs.variants, _run)),
        Route(f"{of_one}/events", events),
        Route(f"{of_one}/picture", picture),
        Route(f"{of_one}/labels", found(actions.labels.questions, _run, _number("at")), methods=["GET"]),
        Route(f"{of_one}/labels", found(actions.labels.put, _run, _body), methods=["PUT"]),
        Route(f"{of_one}/labels.jsonl", found(actions.labels.exported, _run, kind="application/jsonl")),
        Route(f"{of_one}/again/plan", found(actions.plan, _run, _keys), methods=["POST"]),
        Route(f"{of_one}/again", found(actions.start, _run, _keys), methods=["POST"]),
        Route("/api/again", found(actions.again.record), methods=["GET"]),
        Route("/api/again", found(actions.again.stop), methods=["DELETE"]),
        Route("/api/compare", found(actions.compare, lambda request: request.query_params.getlist("run"))),
        Route("/api/history", found(actions.over_time, _text("suite"), _text("test"))),
        Route("/api/tests", found(actions.tests)),
    ]
    answering = Starlette(routes=routes, exception_handlers={RunnerError: _refusal, Exception: _broke})
    return Guard(answering, token, port, [route.path for route in public])


async def _changes(actions: PageActions, ending: Event) -> AsyncIterator[bool]:
    """At once, and then whenever the store changes: true; false now and then while it does not. Who takes long over a
    change is left alone for longer, so that large runs do not keep the processor busy."""
    seen: object = None
    quiet = 0
    while not ending.is_set():
        now = await run_in_threadpool(actions.runs.change)
        quiet = 0 if now != seen else quiet + 1
        begun = time.monotonic()
        if now != seen or quiet % BEAT == 0:
            yield now != seen
        seen = now
        await asyncio.sleep(max(LOOK, RESPITE * (time.monotonic() - begun)))


async def _refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, RunnerError)
    status = 404 if isinstance(error, MissingError) else 400
    said = error.message if error.hint is None else f"{error.message}. {error.hint}"
    return JSONResponse({"error": said}, status)


async def _broke(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": f"Internal error of yao-test view: {type(error).__name__}: {error}"}, 500)


async def _body(request: Request) -> Record:
    content = b""
    async for piece in request.stream():
        content += piece
        if len(content) > LARGEST:
            raise ConfigurationError(f"Bad request: it has more than {LARGEST} bytes")
    try:
        value = plain(json.loads(content))
    except (ValueError, RecursionError) as error:
        raise ConfigurationError("Bad request: it is not JSON") from error
    if not isinstance(value, dict):
        raise ConfigurationError("Bad request: it is not a JSON object")
    return value


async def _keys(request: Request) -> list[str]:
    keys = (await _body(request)).get("keys")
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        raise ConfigurationError("Bad request: no results are named")
    return keys


def _run(request: Request) -> str:
    return str(request.path_params["id"])


def _text(name: str) -> Callable[[Request], str]:
    return lambda request: request.query_params.get(name, "")


def _number(name: str) -> Callable[[Request], int]:
    def number(request: Request) -> int:
        text = request.query_params.get(name, "")
        if not text.isdecimal() or len(text) > 9:
            raise ConfigurationError(f"Bad request: {name} is not a number")
        return int(text)

    return number


class Guard:
    """Passes on what may be asked, and gives every answer the headers that say what a browser may do with it.

    | request | refused with |
    | --- | --- |
    | to another host name than the loopback address, as after DNS rebinding | 421 |
    | for something of the store, without the token of the link or with a wrong one | 403 |
    | to change something, from a page of another origin | 403 |

    Pages, script and style are the same for everybody and contain nothing about a run. Everything else needs the token
    in a header, which no page of another origin can send."""

    def __init__(
        self,
        app: ASGIApp,
        token: str,
        port: int,
        public: Collection[str] = (),
        header: bytes = TOKEN_HEADER,
        said: str = REFUSED,
    ) -> None:
        """`public` are the paths that everybody gets, who may only read them; `header` has the token; `said` answers
        whoever has none."""
        self._header = header
        self._said = said
        self._app = app
        self._public = frozenset(public)
        self._token = token.encode()
        self._hosts = {f"{name}:{port}".encode() for name in ("127.0.0.1", "localhost")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            raise RuntimeError(f"{scope['type']} is not served")

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        refused = self._refused(scope)
        if refused is None:
            await self._app(scope, receive, with_headers)
        else:
            status, said = refused
            head = [(b"content-type", b"text/plain; charset=utf-8")]
            await with_headers({"type": "http.response.start", "status": status, "headers": head})
            await with_headers({"type": "http.response.body", "body": said.encode()})

    def _refused(self, scope: Scope) -> tuple[int, str] | None:
        """Status and words for a request that is refused; None when it may be answered."""
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name, []).append(value)
        hosts = headers.get(b"host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return 421, "This server answers for 127.0.0.1 only.\n"
        if scope["path"] not in self._public:
            given = headers.get(self._header, [])
            if len(given) != 1 or not hmac.compare_digest(given[0], self._token):
                return 403, self._said
        if scope["method"] not in SAFE_METHODS:
            origins = headers.get(b"origin", [])
            if any(origin not in {b"http://" + host for host in self._hosts} for origin in origins):
                return 403, "Requests from other origins are not allowed.\n"
        return None


class Serving:
    """A server that listens as soon as it is created."""

    def __init__(self, actions: PageActions, port: int) -> None:
        """`port` is 0 for any. Raises ConfigurationError when it is in use."""
        self._socket = listening(port)
        self.port = int(self._socket.getsockname()[1])
        token = secrets.token_urlsafe(32)
        self.link = f"http://{ADDRESS}:{self.port}/#token={token}"
        """The address of the first page. A browser does not send the part after `#`."""
        self._ending = Event()
        config = config_of(server_of(actions, token, self.port, self._ending))
        self._server = _Server(config, self._ending)

    def run(self) -> None:
        """Answers until it is ended. Raises KeyboardInterrupt for Ctrl-C, when it has ended."""
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._socket.close()

    def end(self) -> None:
        """Ends it soon; from any thread."""
        self._server.should_exit = True


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ending: Event) -> None:
        super().__init__(config)
        self._ending = ending

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Ends the streams, then the server."""
        self._ending.set()
        await super().shutdown(sockets)


def config_of(app: ASGIApp) -> uvicorn.Config:
    """How an application is served on this machine."""
    return uvicorn.Config(
        app,
        loop="asyncio",
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=GRACE,
    )


def listening(port: int) -> socket.socket:
    """A socket on the loopback address; 0: at any port. Raises ConfigurationError."""
    opened = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((ADDRESS, port))
        opened.listen()
    except OSError as error:
        opened.close()
        raise ConfigurationError(
            f"Cannot listen at {ADDRESS}:{port}: {error.strerror}", "Choose another port with --port, or leave it out"
        ) from error
    return opened
