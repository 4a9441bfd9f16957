"""What esbuild is asked: the flags of a build, and which imports and files it asks us about."""

from __future__ import annotations

from pathlib import Path

from scripttest.compile.configuration import FOLDERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BUNDLE_FLAGS = ["--bundle", "--format=esm"]
PLAIN_FLAGS = ["--supported:template-literal=false"]
"""Of what becomes no bundle: without template literals, whatever begins a line begins a statement."""
KEEP_NAMES = "--keep-names"
FLAGS = [
    "--tree-shaking=false",
    "--sourcemap=external",
    "--sources-content=false",
    "--metafile",
    "--target=es2023",
    "--platform=neutral",
    "--main-fields=module,main",
    "--resolve-extensions=.tsx,.ts,.jsx,.js,.mts,.cts,.css,.json",
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
