"""An application with files, and the processes `fs.*` of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bindings.policy import HostCall, Policy
from bindings.processes import call
from bindings.world import World

Run = Callable[..., Any]


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Path]:
    """An application with files to read, files to write, and links out of it."""
    root = tmp_path / "app"
    for name, text in {
        "app.yao": "{}",
        ".env": "KEY=secret",
        "scripts/run.ts": "function run() {}",
        "seeds/users.json": "[]",
        "data/note.txt": "héllo",
        "data/dir/b.txt": "b",
        "data/dir/a.txt": "a",
        "data/dir/sub/c.json": '{"c": 1}',
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "secret.txt").write_text("secret")
    (root / "data" / "out").symlink_to(tmp_path / "secret.txt")
    (root / "data" / "in").symlink_to("note.txt")
    old = os.umask(0o022)
    yield root
    os.umask(old)


@pytest.fixture
def run(app: Path) -> Run:
    surroundings = HostCall(
        app_root=app, policy=Policy(), locale="en-us", authorized={}, world=World(suite="", test="")
    )
    return lambda name, *args: call(f"fs.{name}", args, surroundings)
