"""TypeScript in, the same with counters out: esbuild takes the types off and lowers nothing, counters are put into what
is left, and a source map in the text leads esbuild, which then bundles it, back to the original.

What is given back is TypeScript for esbuild: as JavaScript, the export of a name that was a type would break a build.
"""

from __future__ import annotations

import json
import re
import select
from base64 import b64encode
from collections.abc import Sequence
from functools import partial
from typing import Any

from scripttest.compile.esbuild import Service, ServiceEndedError
from scripttest.coverage.hints import FILE, hints_in
from scripttest.coverage.places import Places
from scripttest.coverage.points import Point, UnreadableError, counted
from scripttest.values import Value

LOADERS = {
    ".ts": "ts",
    ".mts": "ts",
    ".cts": "ts",
    ".tsx": "tsx",
    ".js": "js",
    ".mjs": "js",
    ".cjs": "js",
    ".jsx": "jsx",
}
"""Extensions of scripts → esbuild's loader."""
SECONDS = 30.0
"""That esbuild may take for one file."""
_FLAGS = [
    "--target=esnext",
    "--sourcemap=external",
    "--sources-content=false",
    "--jsx=preserve",
    "--log-level=silent",
    "--log-limit=0",
]
_OPTIONS = (
    '{"compilerOptions":{"verbatimModuleSyntax":true}}',
    '{"compilerOptions":{"verbatimModuleSyntax":true,"experimentalDecorators":true}}',
)
"""The second for what the first refuses, such as decorators of parameters."""
_MODULE_SYNTAX = rb"^\s*(?:import|export)\b"


class Instrumented(Value):
    """A file with counters."""

    code: bytes
    loader: str
    table: Table


class Table(Value):
    """What is counted of a file, in the shapes of Istanbul, and the numbers of its counters."""

    statement_map: dict[str, Any]
    fn_map: dict[str, Any]
    branch_map: dict[str, Any]
    statements: dict[str, int]
    functions: dict[str, int]
    branches: dict[str, list[int]]
    counters: int
    """How many there are."""


class Instrumenter:
    """Belongs to one thread at a time; blocks while esbuild works. To be closed."""

    def __init__(self) -> None:
        """Starts esbuild. Raises HostError."""
        self._service: Service | None = Service([])

    def close(self) -> None:
        """Ends esbuild."""
        if self._service is not None:
            self._service.child.end()
            self._service = None

    def instrument(self, name: str, suffix: str, source: bytes, base: int) -> Instrumented | None:
        """A file with counters from number `base` on; None when nothing is to be counted. Raises UnreadableError when
        it cannot be read, of which a build has more to say."""
        loader = LOADERS[suffix]
        text = source.decode("utf-8-sig", "replace")
        hints = list(hints_in(text))
        if any(hint.kind == FILE for hint in hints):
            return None
        answers = (self._transform(source, loader, options) for options in _OPTIONS)
        answer = next((answer for answer in answers if not answer["errors"]), None)
        if answer is None:
            raise UnreadableError
        code = _with_own_names(answer["code"], answer["map"], text).encode()
        places = Places(code, answer["map"], text)
        left_out = filter(None, map(places.left_out, hints))
        found = counted(code, base, places.original, list(left_out))
        if not found.points:
            return None
        parts, at = [], 0
        for insertion in found.insertions:
            parts += [code[at : insertion.at], insertion.text.encode()]
            at = insertion.at
        source_map = b64encode(places.shifted(found.insertions, name).encode()).decode()
        parts.append(code[at:])
        if _has_module_syntax(source) and not _has_module_syntax(code):
            parts.append(b"export {};\n")
        parts.append(f"//# sourceMappingURL=data:application/json;base64,{source_map}\n".encode())
        return Instrumented(code=b"".join(parts), loader=loader, table=_table(found.points, places, base))

    def _transform(self, source: bytes, loader: str, options: str) -> dict[str, Any]:
        service = self._service
        if service is None:
            raise UnreadableError
        request = {
            "command": "transform",
            "flags": [*_FLAGS, f"--loader={loader}", f"--tsconfig-raw={options}"],
            "inputFS": False,
            "input": source,
        }
        wanted = service.request(request)
        output = select.poll()
        output.register(service.child.stdout, select.POLLIN)
        try:
            while output.poll(SECONDS * 1000):
                for packet in service.read():
                    if packet.id == wanted and not packet.is_request:
                        answer: dict[str, Any] = packet.value
                        return answer
        except ServiceEndedError:
            pass
        self.close()
        raise UnreadableError


def _as_long(name: str, match: re.Match[str]) -> str:
    return name.ljust(len(match[0]))


def _with_own_names(code: str, source_map: str, original: str) -> str:
    """The code with the names of the original where esbuild has put a number behind one that shadows another. A blank
    takes the place of each digit, so that no column changes. What it has made of namespaces and of functions in blocks
    stays, where one name stands for two things."""
    for name in json.loads(source_map)["names"]:
        numbered = set(re.findall(rf"(?<![\w$]){re.escape(name)}\d+(?![\w$])", code))
        for made in numbered:
            is_made_up = f"(({made}) => {{" in code or f"var {name} = {made};" in code
            if made not in original and not is_made_up:
                code = re.sub(rf"(?<![\w$]){re.escape(made)}(?![\w$])", partial(_as_long, name), code)
    return code


def _has_module_syntax(code: bytes) -> bool:
    return re.search(_MODULE_SYNTAX, code, re.MULTILINE) is not None


def _table(points: Sequence[Point], places: Places, base: int) -> Table:
    statement_map: dict[str, Any] = {}
    fn_map: dict[str, Any] = {}
    branch_map: dict[str, Any] = {}
    statements: dict[str, int] = {}
    functions: dict[str, int] = {}
    branches: dict[str, list[int]] = {}
    numbered, number = [], base
    for point in points:
        where = places.range(point.span)
        numbered.append((where["start"]["line"], where["start"]["column"], number, where, point))
        number += point.counters
    for _, _, first, where, point in sorted(numbered, key=lambda item: item[:3]):
        if point.kind == "statement":
            key = str(len(statement_map))
            statement_map[key], statements[key] = where, first
        elif point.kind == "function":
            key = str(len(fn_map))
            head = places.range(point.head or point.span)
            name = point.name or f"(anonymous_{key})"
            fn_map[key] = {"name": name, "decl": head, "loc": where, "line": head["start"]["line"]}
            functions[key] = first
        else:
            key = str(len(branch_map))
            nowhere: dict[str, Any] = {"start": {}, "end": {}}
            locations = [places.range(arm) if arm is not None else nowhere for arm in point.arms]
            line = where["start"]["line"]
            branch_map[key] = {"loc": where, "type": point.kind, "locations": locations, "line": line}
            branches[key] = list(range(first, first + len(locations)))
    return Table(
        statement_map=statement_map,
        fn_map=fn_map,
        branch_map=branch_map,
        statements=statements,
        functions=functions,
        branches=branches,
        counters=number - base,
    )
