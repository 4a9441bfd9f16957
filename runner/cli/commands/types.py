"""`yao-test types [FOLDER]`: installs the TypeScript declarations into an application."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from runner.application.application import find_root
from runner.cli.commands.flags import Command
from runner.cli.commands.reports import writing
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.security.files import check_target, read_text

DECLARATIONS = Path(__file__).resolve().parents[3] / "bindings" / "types"
TARGET = "types/yao-test"


@click.command(
    "types",
    cls=Command,
    help=f"Installs the TypeScript declarations into {TARGET} of an application (default: the one here).",
)
@click.argument("folder", required=False, metavar="[FOLDER]")
@click.pass_obj
def types(environment: Environment, folder: str | None) -> int:
    """Copies the declaration files and says how an editor finds them."""
    root = Path(environment.directory, folder) if folder else _application(environment.directory)
    if not root.is_dir():
        raise ConfigurationError(f"Cannot install declarations into {root}: it is not a folder")
    target = root / TARGET
    try:
        check_target(target)
        target.mkdir(parents=True, exist_ok=True)
        for declaration in sorted(DECLARATIONS.glob("*.d.ts")):
            check_target(target / declaration.name)
            shutil.copy(declaration, target)
    except OSError as error:
        raise ConfigurationError(f"Cannot install declarations into {target}: {error.strerror}") from error
    environment.stdout.write(f"Installed {len(list(target.glob('*.d.ts')))} files in {target}\n")
    config = root / "tsconfig.json"
    if not config.exists():
        with writing(config):
            check_target(config)
            config.write_text(TSCONFIG, "utf-8")
        environment.stdout.write(f"Wrote {config}\n")
    elif TARGET not in read_text(config, "replace"):
        environment.stdout.write(f'Add "{TARGET}" to "include" in {config}, and editors complete t.assert and ctx\n')
    return 0


def _application(directory: Path) -> Path:
    try:
        return find_root(directory)
    except ConfigurationError as error:
        raise ConfigurationError(error.message, "Name its folder: yao-test types FOLDER") from error


TSCONFIG = f"""{{
  "compilerOptions": {{
    "target": "es2024",
    "lib": ["es2024"],
    "types": [],
    "module": "esnext",
    "moduleResolution": "bundler",
    "moduleDetection": "force",
    "resolveJsonModule": true,
    "strict": true,
    "noEmit": true,
    "paths": {{ "@scripts/*": ["./scripts/*"] }}
  }},
  "include": ["{TARGET}", "scripts", "assistants"]
}}
"""
