"""A client for esbuild's service mode: one process does many builds, over its standard streams; the flags of a build;
and what this version of esbuild puts around code, as realms have it.

The protocol is the one that esbuild's JavaScript API uses with its binary (`cmd/esbuild/stdio_protocol.go`). It belongs
to one version of esbuild, so the binary is part of this package. The first packet is the version that the binary has. A
packet has a 32-bit little-endian length, a 32-bit id (shifted left by one; bit 0 is set in responses), and a value: a
tag byte (0 null, 1 boolean, 2 int32, 3 string, 4 bytes, 5 list, 6 object) and its contents."""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

from scripttest.compile.configuration import FOLDERS
from scripttest.process import Child, spawn
from scripttest.results import HostError
from scripttest.walls.confinement import confine_compiler

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Value = Any
    """None, bool, int, str, bytes, list or dict of these."""

VERSION = "0.28.2"
ENVIRONMENT = {"GOGC": "800"}
"""It collects garbage half as often as it would: an eighth less time for some MB more."""
ADDRESS_SPACE = 4 << 30
"""Bytes that it may map: it maps 1.3 GB when it has nothing to do."""
PROCESSOR_SECONDS = 600
"""Seconds of the processor that it may use until another one takes its place."""
BINARY = Path(__file__).parent / "bin" / "esbuild"
BUNDLE_FLAGS = ["--bundle", "--format=esm"]
PLAIN_FLAGS = ["--supported:template-literal=false"]
"""Of what becomes no bundle: without template literals, whatever begins a line begins a statement."""
KEEP_NAMES = "--keep-names"
EXTENSIONS = (".tsx", ".ts", ".jsx", ".js", ".mts", ".cts", ".css", ".json")
"""What an import may leave out; the first that is there is meant."""
FLAGS = [
    "--tree-shaking=false",
    "--sourcemap=external",
    "--sources-content=false",
    "--metafile",
    "--target=es2023",
    "--platform=neutral",
    "--main-fields=module,main",
    f"--resolve-extensions={','.join(EXTENSIONS)}",
    "--supported:async-await=false",
    "--supported:top-level-await=false",
    "--supported:import-meta=false",
    "--legal-comments=none",
    "--log-level=silent",
    "--log-limit=0",
]
RUNTIME_MODULES = r"^@(yao|yaoapp|yaoapps|gou)(/|$)|/(yao|gou)(\.ts)?$"
"""Import paths whose names are globals of every script (Go syntax)."""
RUNTIME_SOURCE = "module.exports = Object.create(globalThis)"
_PLUGIN: dict[str, Any] = {
    "name": "yao",
    "onStart": False,
    "onEnd": False,
    "onResolve": [
        {"id": 0, "filter": RUNTIME_MODULES, "namespace": ""},
        {"id": 3, "filter": FOLDERS, "namespace": "file"},
    ],
    "onLoad": [
        {"id": 1, "filter": ".*", "namespace": "yao-runtime"},
        {"id": 2, "filter": ".*", "namespace": "file"},
    ],
}
"""The plugin that we are to esbuild; the ids come back with its questions."""


class ServiceEndedError(Exception):
    """The service has ended, and nothing more comes from it."""


class Service:
    """A running esbuild. Reading is left to the caller, who waits for `child.stdout` to have data."""

    def __init__(self, paths: Sequence[str]) -> None:
        """Starts it. Raises HostError when the binary is missing or cannot run. `paths`: absolute, of the folders
        and files that it may read, where the system can close the rest."""
        program = str(BINARY)
        try:
            self.child: Child = spawn(
                [program, f"--service={VERSION}"],
                ENVIRONMENT,
                confine=lambda: confine_compiler(program, paths),
                address_space=ADDRESS_SPACE,
                processor_seconds=PROCESSOR_SECONDS,
            )
        except OSError as error:
            raise HostError(
                f"Cannot start the TypeScript compiler {BINARY}: {error.strerror}",
                hint="Install yao-test again: its wheel carries the compiler for this platform",
            ) from error
        self._buffer = bytearray()
        self._greeted = False
        self.next_id = 0
        """The id that the next request will carry."""

    def request(self, value: dict[str, Value]) -> int:
        """Sends a request; the id that its response will carry."""
        id = self.next_id
        self.next_id += 1
        self._write(_packet(id << 1, value))
        return id

    def javascript(self, typescript: str) -> str:
        """Translates one script; blocks. Raises ServiceEndedError, and HostError when it is of another version."""
        self.request({"command": "transform", "flags": ["--loader=ts"], "input": typescript.encode(), "inputFS": False})
        while not (packets := [*self.read()]):
            pass
        return str(packets[0][2]["code"])

    def respond(self, answers: list[tuple[int, dict[str, Value]]]) -> None:
        """Answers requests of the service, by their ids."""
        self._write(b"".join([_packet(id << 1 | 1, value) for id, value in answers]))

    def read(self) -> Iterator[tuple[int, bool, Value]]:
        """Reads what has arrived and yields the complete requests and responses: the id, whether it is a request, and
        the value. Raises ServiceEndedError when it has ended, and
        HostError when it is of another version."""
        data = os.read(self.child.stdout, 1 << 16)
        if not data:
            raise ServiceEndedError
        buffer = self._buffer
        buffer += data
        while len(buffer) >= 4:
            (size,) = struct.unpack_from("<I", buffer)
            if len(buffer) < size + 4:
                return
            packet = bytes(buffer[4 : size + 4])
            del buffer[: size + 4]
            if not self._greeted:
                self._greeted = True
                if packet != VERSION.encode():
                    raise HostError(
                        f"The TypeScript compiler is version {packet.decode()}, this package needs {VERSION}"
                    )
                continue
            (id,) = struct.unpack_from("<I", packet)
            yield id >> 1, id & 1 == 0, _decode(packet, 4)[0]

    def _write(self, packets: bytes) -> None:
        data = memoryview(packets)
        try:
            while data:
                data = data[os.write(self.child.stdin, data) :]
        except BrokenPipeError:
            return  # noticed when its output ends


_SIZE = struct.Struct("<I").unpack_from


def _packet(id: int, value: Value) -> bytes:
    chunks: list[bytes] = [struct.pack("<I", id)]
    _encode(value, chunks)
    body = b"".join(chunks)
    return struct.pack("<I", len(body)) + body


def _encode(value: Value, out: list[bytes]) -> None:
    if value is None:
        out.append(b"\0")
    elif isinstance(value, bool):
        out.append(b"\1\1" if value else b"\1\0")
    elif isinstance(value, int):
        out.append(struct.pack("<Bi", 2, value))
    elif isinstance(value, str):
        text = value.encode()
        out.append(struct.pack("<BI", 3, len(text)) + text)
    elif isinstance(value, bytes):
        out.append(struct.pack("<BI", 4, len(value)) + value)
    elif isinstance(value, list):
        out.append(struct.pack("<BI", 5, len(value)))
        for item in value:
            _encode(item, out)
    else:
        out.append(struct.pack("<BI", 6, len(value)))
        for key, item in value.items():
            text = key.encode()
            out.append(struct.pack("<I", len(text)) + text)
            _encode(item, out)


def _decode(data: bytes, at: int) -> tuple[Value, int]:
    tag = data[at]
    at += 1
    if tag == 0:
        return None, at
    if tag == 1:
        return data[at] != 0, at + 1
    (size,) = _SIZE(data, at)
    at += 4
    if tag == 3:
        return data[at : at + size].decode(), at + size
    if tag == 2:
        return (size ^ 1 << 31) - (1 << 31), at
    if tag == 4:
        return data[at : at + size], at + size
    if tag == 5:
        items = []
        for _ in range(size):
            item, at = _decode(data, at)
            items.append(item)
        return items, at
    fields = {}
    for _ in range(size):
        (length,) = _SIZE(data, at)
        end = at + 4 + length
        key = data[at + 4 : end].decode()
        fields[key], at = _decode(data, end)
    return fields, at


def build_request(
    key: int, entries: list[Any], flags: list[str], root: Path, asks_of_all: bool = False
) -> dict[str, Any]:
    """The request of one build; `key` is that of its questions. `asks_of_all`: we are asked about every import."""
    plugin = _PLUGIN
    if asks_of_all:
        runtime, _ = plugin["onResolve"]
        plugin = {**plugin, "onResolve": [runtime, {"id": 3, "filter": ".*", "namespace": "file"}]}
    return {
        "command": "build",
        "key": key,
        "entries": entries,
        "flags": flags,
        "write": False,
        "stdinContents": None,
        "stdinResolveDir": None,
        "absWorkingDir": str(root),
        "nodePaths": [],
        "context": False,
        "plugins": [plugin],
    }


_EXPORT_CLAUSE = "\nexport {\n"
_ASYNC = r"^var __async = \(__this, __arguments, \w+\) => \{\n  return new Promise\("
"""How esbuild's helper for `async` functions begins; it ends with the first line that begins with a bracket. The names
of its variables have a number where the script has the same at its top."""
_OWN_ASYNC = "(self, args, body) => __yaoAsync(self, args, body)"
"""The same by the bindings, which know who calls it and what has not ended."""
_GENERATORS = r"^var __(?:asyncGenerator|forAwait) = .*?;\n(?=\S)(?!\};)"
"""esbuild's helpers for asynchronous generators and `for await`."""
_REQUIRE = r"^var __require = .*?\n\}\);$"
"""esbuild's helper for a `require` whose file it does not know."""
_REQUIRED = r"(?<![\w$\"'`.])__require(?![\w$\"'`])"
_ESCAPE = r"\\u(?:\{(0*(?:10|[0-9A-Fa-f])?[0-9A-Fa-f]{1,4})\}|([0-9A-Fa-f]{4}))"
_COMMONJS = r"^export default (require_\w+)\(\);\s*\Z"


def with_own_async(code: str) -> str:
    """A bundle whose `async` functions are those of the bindings; its lines stay where they are."""
    if "\nvar __forAwait = " in code or "\nvar __asyncGenerator = " in code:
        code = re.sub(_GENERATORS, _own_generators, code, flags=re.MULTILINE | re.DOTALL)
    match = re.search(_ASYNC, code, re.MULTILINE) if "__async = " in code else None
    end = code.find("\n};", match.end()) if match else -1
    if match is None or end < 0:
        return code
    lines = "\n" * code.count("\n", match.start(), end + 1)
    return f"{code[: match.start()]}var __async = {_OWN_ASYNC};{lines}{code[end + 3 :]}"


def with_plain_require(code: str) -> str:
    """A bundle in which `require` is not defined, as in Yao, where esbuild has a helper for it; all stays in place."""
    if "var __require = " not in code:
        return code
    code = re.sub(_REQUIRE, lambda helper: "\n" * helper[0].count("\n"), code, flags=re.MULTILINE | re.DOTALL)
    return re.sub(_REQUIRED, "require  ", code)


def _own_generators(helper: re.Match[str]) -> str:
    text = helper[0].replace("Promise.resolve(", "__yaoAsync.wait(")
    if text.startswith("var __forAwait"):
        return text
    text = text.replace("new Promise(", "__yaoAsync.next(")
    return re.sub(r"\b(it\d*) = \{\};", r"\1 = __yaoAsync.iterator();", text)


def without_exports(code: str) -> tuple[str, dict[str, str]]:
    """A flat bundle as a script, and its exports. What a CommonJS entry point exports becomes global."""
    start = code.rfind(_EXPORT_CLAUSE)
    end = code.find("\n};", start)
    if start >= 0 and not code[end + 3 :].strip():
        exports = {}
        for clause in code[start + len(_EXPORT_CLAUSE) : end].split(",\n"):
            local, _, name = clause.strip().partition(" as ")
            exports[plain(name or local)] = plain(local)
        return code[: start + 1], exports
    if match := re.search(_COMMONJS, code, re.MULTILINE):
        return f"{code[: match.start()]}Object.assign(globalThis, {match[1]}());\n", {}
    return code, {}


def plain(identifier: str) -> str:
    """An identifier, or code, without the escapes that esbuild writes for characters outside ASCII."""
    if "\\" not in identifier:
        return identifier
    return re.sub(_ESCAPE, lambda match: chr(int(match[1] or match[2], 16)), identifier)
