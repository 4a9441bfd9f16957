"""A realm with single parts of the bindings and a fake kernel."""

from __future__ import annotations

import json
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import _quickjs

TESTS = Path(__file__).parent
BINDINGS = TESTS.parents[2] / "bindings"
ESBUILD = next((BINDINGS / "node_modules/@esbuild").glob("*/bin/esbuild"))
OPTIONS = (
    "--bundle --minify --format=iife --global-name=P --target=es2023 "
    "--supported:template-literal=false --log-level=error"
)
"""As `bindings/build.py` has them, but for the format."""

PARTS = (
    "bytes clock clone console context date encoding fs http memory messages mock mocked mocked-agent mocked-http plan printf "
    "random sandbox services sort store table timers trace url waiting world-state yao"
).split()


@cache
def bundles() -> dict[str, str]:
    """Minified source by part name, and the fake kernel as `fake_kernel`."""
    sources = [*(next(BINDINGS.glob(f"src/*/{name}.ts")) for name in PARTS), TESTS / "fake_kernel.ts"]
    with tempfile.TemporaryDirectory() as out:
        command = [str(ESBUILD), *map(str, sources), *OPTIONS.split(), f"--outdir={out}", "--entry-names=[name]"]
        subprocess.run(command, check=True)
        return {file.stem: file.read_text() for file in Path(out).glob("*.js")}


@cache
def prelude() -> str:
    texts = {name: f"(()=>{{{text};return P.default}})()" for name, text in bundles().items()}
    kernel = bundles()["fake_kernel"]
    return f"globalThis.$parts = {json.dumps(texts)};\n{kernel}"


class Realm:
    """One context; `run` evaluates the body of a function and gives what it returns, by way of JSON."""

    def __init__(self, *globals_of: str) -> None:
        self.context = _quickjs.Context()
        self.context.eval(prelude())
        for part in globals_of:
            source = f"part({part!r})"
            source = f"{source}.globals" if part == "timers" else source
            self.context.eval(f"Object.defineProperties(globalThis, Object.getOwnPropertyDescriptors({source}))")

    def run(self, body: str) -> Any:
        script = f"""
            (() => {{
                const body = () => {{ {body} }};
                try {{
                    const value = body();
                    return JSON.stringify({{ value: value === undefined ? "undefined" : value }});
                }} catch (error) {{
                    return JSON.stringify({{ value: `${{error?.name}}: ${{error?.message ?? error}}` }});
                }}
            }})()
        """
        return json.loads(self.context.eval(script))["value"]


def evaluate(expression: str, *globals_of: str) -> Any:
    """The value of an expression in a fresh realm; `"undefined"`, or `"Name: message"` of what it throws."""
    return Realm(*globals_of).run(f"return ({expression});")
