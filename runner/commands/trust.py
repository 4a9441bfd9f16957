"""`yao-test trust [FOLDER]`: approves the files of an application that decide where keys go."""

from __future__ import annotations

from pathlib import Path

import click

from runner.application.application import find_root
from runner.application.trust import FILE, differences, digests_of, read, written
from runner.commands.flags import Command
from runner.commands.reports import writing
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.security.files import check_target, read_text


@click.command(
    "trust",
    cls=Command,
    help=f"Writes the digests of connectors, MCP servers, prompts, hooks and .env into {FILE} of an application "
    "(default: the one here), and shows what has changed. A run with --require-trust refuses files that "
    "differ from it.",
)
@click.argument("folder", required=False, metavar="[FOLDER]")
@click.pass_obj
def trust(environment: Environment, folder: str | None) -> int:
    """Writes the file of approvals and returns the exit code."""
    start = Path(environment.directory, folder or ".")
    if not start.is_dir():
        raise ConfigurationError(f"Cannot approve the files of {start}: it is not a folder")
    root = find_root(start)
    path, text = root / FILE, written(digests_of(root))
    now = read(text, FILE)
    with writing(path):
        check_target(path)
    before = read(read_text(path, "replace"), FILE) if path.is_file() else {}
    for difference in differences(before, now):
        environment.stdout.write(f"  {difference.kind:<8}{difference.path}\n")
    with writing(path):
        path.write_text(text, "utf-8")
    environment.stdout.write(f"Approved {len(now)} {'file' if len(now) == 1 else 'files'} in {path}\n")
    return 0
