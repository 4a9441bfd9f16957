"""`http.*`: requests to hosts that the policy allows.

Results are `{status, code, data, headers: {Name: [values]}, message}`. JSON is parsed; any other body is base64. If a
request gets no answer, status and code are 0 and `message` says why; it does not throw. A host that is not allowed
throws an Exception with code 403, also when a redirect leads there. A name is resolved once for each request and
redirect, and the connection uses the address that was checked.

Queries and headers are an object, a text `a=1&b=2`, or an array of these. Post, Put, Patch and Delete send JSON unless
a `Content-Type` header says otherwise; Send sends text. Files are paths in the volume `data` (Post), or `{name, path,
data}` with data in base64 (Send).

`Stream(method, url, payload?, query?, headers?)` collects the lines of the answer: `{lines, response}`. The script half
passes them to the callback.

Differences from Yao: certificates are checked. Proxies and `.netrc` of the machine are not used, because scripts must
not reach what is behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

from bindings.errors import ProcessError
from bindings.policy import HostCall
from bindings.processes.arguments import Arguments, Row, display, host_functions
from scripttest.typing_names import Json

if TYPE_CHECKING:
    import ssl

    import httpx

MAX_BODY = 10 * 1024 * 1024
"""Longest body that is received, in bytes, unpacked."""
MAX_REDIRECTS = 10
SECRET_HEADERS = ("authorization", "proxy-authorization", "x-api-key", "api-key", "cookie")
"""Headers whose values no report may show."""
SECONDS = 30.0
"""Longest wait for a connection, and for each piece of an answer."""
TOTAL_SECONDS = 300.0
"""Longest time for a whole answer."""

Pairs = list[tuple[str, str]]
Permitted = TypeVar("Permitted")


class _NoAnswerError(Exception):
    """The request got no answer; the message is for the script."""


def _failure(message: str, status: int = 0) -> dict[str, Json]:
    return {"status": status, "code": status, "data": None, "headers": {}, "message": message}


def _on_url(method: str, payload: int, files: int, query: int) -> Row:
    """One method of the object; positions are those of its arguments, 0 where it has none. Headers follow the query."""

    def run(given: Arguments, call: HostCall, url: str) -> Json:
        headers = _pairs(given, query + 1)
        if method != "HEAD" and not _header(headers, "content-type"):
            headers.append(("Content-Type", "application/json; charset=utf-8"))
        body = given.optional(payload) if payload else None
        named = given.record(files, {}) if files else {}
        parts = [(name, *_file(given, call, path)) for name, path in named.items()]
        if files and isinstance(body, str) and _header(headers, "content-type").startswith("multipart/form-data"):
            parts, body = [*parts, ("file", *_file(given, call, body))], None
        return _reply(given, call, method, _with_query(url, _pairs(given, query)), body, headers, parts)

    return "given call string", run


def _send(given: Arguments, call: HostCall, method: str, url: str, *, is_stream: bool = False) -> Json:
    method, headers = method.upper(), _pairs(given, 5)
    if not method.isascii() or not method.isalpha():
        raise given.error("argument 1 must be the name of a method")
    if method not in ("GET", "HEAD") and not _header(headers, "content-type"):
        headers.append(("Content-Type", "application/json; charset=utf-8" if is_stream else "text/plain"))
    files = [] if is_stream else _sent_files(given, 6)
    url = _with_query(url, _pairs(given, 4))
    return _reply(given, call, method, url, given.optional(3), headers, files, is_stream=is_stream)


def _reply(
    given: Arguments,
    call: HostCall,
    method: str,
    url: str,
    payload: Json,
    headers: Pairs,
    files: list[Any],
    *,
    is_stream: bool = False,
) -> Json:
    from bindings.processes.encoding import encode_base64
    from bindings.processes.formats import decode_json

    try:
        with _answer(given, call, method, url, payload, headers, files) as answer:
            body = _body(answer)
            result = _failure("", answer.status_code) | {"headers": _headers(answer)}
            kind = answer.headers.get("content-type", "")
    except _NoAnswerError as error:
        return _failure(str(error))
    if is_stream:
        return {"lines": [line.decode(errors="replace") for line in body.splitlines()], "response": result}
    if not body:
        return result
    if not kind.startswith("application/json"):
        return result | {"data": encode_base64(body)}
    try:
        data = decode_json(body.decode())
    except ValueError as error:
        return _failure(f"the answer is not JSON: {error}")
    message = data.get("message") if isinstance(data, dict) else None
    return result | {"data": data, "message": message if isinstance(message, str) else ""}


@contextmanager
def _answer(
    given: Arguments, call: HostCall, method: str, url: str, payload: Json, headers: Pairs, files: list[Any]
) -> Iterator[httpx.Response]:
    """Sends a request and follows redirects, asking the policy before each step. The body is still to be read."""
    _permitted(given, call, url, call.policy.check_host)
    for name in SECRET_HEADERS:
        if value := _header(headers, name):
            call.policy.keep_secret(name, value)
    import httpx

    content, sent = _content(given, payload, headers, files)
    try:
        transport = checked_transport(lambda url: _permitted(given, call, url, call.policy.addresses))
        with httpx.Client(transport=transport, timeout=SECONDS, trust_env=False) as client:
            named = [(name.encode(), value.encode()) for name, value in sent]
            request = client.build_request(method, url, headers=named, **content)
            for _ in range(MAX_REDIRECTS + 1):
                _permitted(given, call, str(request.url), call.policy.check_host)
                answer = client.send(request, stream=True)
                try:
                    if answer.next_request is None:
                        yield answer
                        return
                    request = _redirected(request, answer.next_request)
                finally:
                    answer.close()
            raise _NoAnswerError(f"stopped after {MAX_REDIRECTS} redirects")
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
        raise _NoAnswerError(str(error) or type(error).__name__) from error


def _redirected(first: httpx.Request, following: httpx.Request) -> httpx.Request:
    """The request to which a redirect leads: without what authenticates at the host that gave the redirect, when it
    leads to another origin."""
    before, after = first.url, following.url
    if (before.scheme, before.host, before.port) != (after.scheme, after.host, after.port):
        for name in SECRET_HEADERS:
            following.headers.pop(name, None)
    return following


def _permitted(given: Arguments, call: HostCall, url: str, ask: Callable[[str], Permitted]) -> Permitted:
    """What the policy answers for an address. Where it refuses it, the error says how a mock answers instead."""
    try:
        return ask(url)
    except ProcessError as error:
        mock = f", or answer it with {call.world.mock('http', url.partition('?')[0])}" if error.missing else ""
        refused = given.error(error.message + mock, error.code)
        refused.missing = error.missing
        raise refused from error
    except OSError as error:
        raise _NoAnswerError(f"the name cannot be resolved: {error.strerror or error}") from error


def checked_transport(addresses: Callable[[str], list[str]]) -> httpx.BaseTransport:
    """Connects to what `addresses` allows for a URL, in its order, and to nothing else: the name is resolved once."""
    import httpx

    class Checked(httpx.BaseTransport):
        def __init__(self) -> None:
            self._inner = httpx.HTTPTransport(verify=trusted_authorities(), trust_env=False)

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            host = request.url.raw_host.decode("ascii")
            error: httpx.TransportError | None = None
            for address in addresses(str(request.url)):
                sent = httpx.Request(
                    request.method,
                    request.url.copy_with(host=address),
                    headers=request.headers,
                    stream=request.stream,
                    extensions={**request.extensions, "sni_hostname": host.strip("[]")},
                )
                try:
                    return self._inner.handle_request(sent)
                except (httpx.ConnectError, httpx.ConnectTimeout) as problem:
                    error = problem
            raise error or httpx.ConnectError("there is no address")

        def close(self) -> None:
            self._inner.close()

    return Checked()


@cache
def trusted_authorities() -> ssl.SSLContext:
    """The trusted certificates: the usual authorities, those of the system, and those of `SSL_CERT_FILE`.

    Made once: reading the certificates takes longer than a request."""
    import httpx

    context = httpx.create_ssl_context(trust_env=False)
    context.load_default_certs()
    return context


def _content(given: Arguments, payload: Json, headers: Pairs, files: list[Any]) -> tuple[dict[str, Any], Pairs]:
    """The body as keyword arguments of httpx, and the headers that fit it."""
    from urllib.parse import urlencode

    from bindings.processes.formats import encode_json

    kind = _header(headers, "content-type").lower()
    if files or kind.startswith("multipart/form-data"):
        others = [(name, value) for name, value in headers if name.lower() != "content-type"]
        fields = {name: display(value) for name, value in payload.items()} if isinstance(payload, dict) else {}
        if isinstance(payload, bytes):
            fields["data"] = payload.decode(errors="replace")
        parts = [(name, (file, data)) for name, file, data in files]
        # httpx writes multipart only when there is a file; a part without a file name is a field
        return {"files": [*((name, (None, value)) for name, value in fields.items()), *parts]}, others
    if payload is None:
        return {}, headers
    if isinstance(payload, bytes):
        return {"content": payload}, headers
    if kind.startswith("application/x-www-form-urlencoded") and isinstance(payload, dict):
        return {"content": urlencode([(name, display(value)) for name, value in payload.items()])}, headers
    if isinstance(payload, str) and not kind.startswith("application/json"):
        return {"content": payload.encode()}, headers
    return {"content": encode_json(payload).encode()}, headers


def _body(answer: httpx.Response) -> bytes:
    from time import monotonic

    end = monotonic() + TOTAL_SECONDS
    body = bytearray()
    for piece in answer.iter_bytes():
        body += piece
        if len(body) > MAX_BODY:
            raise _NoAnswerError(f"the answer is longer than {MAX_BODY} bytes")
        if monotonic() > end:
            raise _NoAnswerError(f"the answer takes longer than {TOTAL_SECONDS:g} s")
    return bytes(body)


def _headers(answer: httpx.Response) -> dict[str, list[str]]:
    named: dict[str, list[str]] = {}
    for name, value in answer.headers.multi_items():
        named.setdefault("-".join(part.capitalize() for part in name.split("-")), []).append(value)
    return named


def _header(headers: Pairs, name: str) -> str:
    return next((value for key, value in headers if key.lower() == name), "")


def _with_query(url: str, pairs: Pairs) -> str:
    from urllib.parse import urlencode

    url = url.partition("#")[0]
    if not pairs:
        return url
    return f"{url}{'&' if '?' in url else '?'}{urlencode(pairs)}"


def _pairs(given: Arguments, position: int, part: Json = None) -> Pairs:
    """Names and values of a query or of headers, in every form that Yao takes; `part`: of an item of an array."""
    from urllib.parse import parse_qsl

    value = given.optional(position) if part is None else part
    if value is None:
        return []
    if isinstance(value, str):
        return parse_qsl(value.removeprefix("?"), keep_blank_values=True)
    if isinstance(value, dict):
        listed = {name: items if isinstance(items, list) else [items] for name, items in value.items()}
        return [(name, display(item)) for name, items in listed.items() for item in items]
    if isinstance(value, list):
        return [pair for item in value for pair in _pairs(given, position, item)]
    raise given.wrong(position, "an object, a string like a=1&b=2, or an array of these")


def _file(given: Arguments, call: HostCall, path: Json) -> tuple[str, bytes]:
    """Name and content of a file in the volume `data`."""
    from bindings.processes import fs
    from bindings.processes.arguments import base_name

    if not isinstance(path, str):
        raise given.error("a file is the path of one in the volume data")
    data: bytes = fs.FUNCTIONS["data.ReadFileBuffer"]([path], call)
    return base_name(path), data


def _sent_files(given: Arguments, position: int) -> list[Any]:
    from bindings.processes.encoding import decode_base64

    if not given.has(position):
        return []
    files = []
    for entry in given.records(position):
        name, path, data = entry.get("name"), entry.get("path", ""), entry.get("data")
        if not isinstance(name, str) or not isinstance(path, str) or not isinstance(data, str):
            raise given.error(f"argument {position} must be {{name, path, data}} with strings")
        with given.naming(f'argument {position}: the data of "{name}" is '):
            files.append((name, path.rpartition("/")[2] or name, decode_base64(data)))
    return files


FUNCTIONS = host_functions(
    "http",
    {
        "Get": _on_url("GET", payload=0, files=0, query=2),
        "Post": _on_url("POST", payload=2, files=3, query=4),
        "Put": _on_url("PUT", payload=2, files=0, query=3),
        "Patch": _on_url("PATCH", payload=2, files=0, query=3),
        "Delete": _on_url("DELETE", payload=2, files=0, query=3),
        "Head": _on_url("HEAD", payload=0, files=0, query=3),
        "Send": ("given call string string", _send),
        "Stream": ("given call string string", partial(_send, is_stream=True)),
    },
)
