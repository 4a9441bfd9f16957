"""`yao-test types [FOLDER]`: installs the TypeScript declarations into an application."""

from __future__ import annotations

from pathlib import Path

import click

from runner import exit_codes
from runner.application.application import Application, find_root
from runner.commands.flags import Command
from runner.commands.reports import writing
from runner.commands.type_projects import APART, MADE, PROJECTS, TARGET, projects
from runner.environment import Environment
from runner.errors import ConfigurationError
from runner.security.files import check_target, read_text

DECLARATIONS = Path(__file__).resolve().parents[2] / "bindings" / "types"
CONFIG = "tsconfig.json"


@click.command(
    "types",
    cls=Command,
    help=f"Installs the TypeScript declarations into {TARGET} of an application (default: the one here), and small "
    "projects with which editors know the module beside each test.",
)
@click.argument("folder", required=False, metavar="[FOLDER]")
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a file is not up to date.")
@click.pass_obj
def types(environment: Environment, folder: str | None, check: bool) -> int:
    """Writes the files, prints how an editor finds them, and returns the exit code."""
    root = Path(environment.directory, folder) if folder else _application(environment.directory)
    if not root.is_dir():
        raise ConfigurationError(f"Cannot install declarations into {root}: it is not a folder")
    files = type_files(root)
    old = [path for path, text in files.items() if _content(root / path) != text]
    left = [path for path in _made(root) if path not in files]
    if check:
        for path in [*old, *left]:
            environment.stdout.write(f"Not up to date: {root / path}\n")
        return exit_codes.FAILED if old or left else exit_codes.PASSED
    foreign = [path for path in old if path.startswith(PROJECTS) and not _is_made(root / path)]
    is_new = not (root / CONFIG).exists()
    for path in [path for path in old if path not in foreign] + [CONFIG] * is_new:
        with writing(root / path):
            check_target(root / path)
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(files.get(path, TSCONFIG), "utf-8", newline="\n")
    for path in left:
        with writing(root / path):
            (root / path).unlink()
    environment.stdout.write(
        f"Installed {sum(not path.startswith(PROJECTS) for path in files)} files in {root / TARGET}\n"
    )
    for path in foreign:
        environment.stdout.write(f"Left as it is {root / path}, which does not begin with {MADE.strip()}\n")
    if is_new:
        environment.stdout.write(f"Wrote {root / CONFIG}\n")
    for line in lacks(root, files, str(root / CONFIG)):
        environment.stdout.write(f"{line}\n")
    return exit_codes.PASSED


def type_files(root: Path) -> dict[str, str]:
    """All files that an application gets: path from its root → text."""
    declarations = sorted(DECLARATIONS.glob("*.d.ts"))
    return {f"{TARGET}/{path.name}": path.read_text("utf-8") for path in declarations} | projects(Application(root))


def lacks(root: Path, files: dict[str, str], shown: str) -> list[str]:
    """Says what the owner of a `tsconfig.json` has to add to it; `shown` is its path for people."""
    text = _content(root / CONFIG) or ""
    lines = []
    if TARGET not in text.replace(PROJECTS, ""):
        lines.append(f'Add "{TARGET}" to "include" in {shown}: editors complete t.assert and ctx')
    tests = [path for path in files if path.startswith(PROJECTS) and path.endswith(".d.ts")]
    if tests and PROJECTS not in text:
        lines.append(
            f'Add "{APART}" to "extends" in {shown}, and {{ "path": "./{PROJECTS}" }} to "references": editors know '
            'the functions that tests do not import. What that file excludes, add to your own "exclude" if you have one'
        )
    return lines


def _application(directory: Path) -> Path:
    try:
        return find_root(directory)
    except ConfigurationError as error:
        raise ConfigurationError(error.message, "Name its folder: yao-test types FOLDER") from error


def _made(root: Path) -> list[str]:
    """The generated project files that are there from an earlier call, as paths from the root."""
    return [path.relative_to(root).as_posix() for path in sorted((root / PROJECTS).glob("*")) if _is_made(path)]


def _is_made(path: Path) -> bool:
    """Whether a file is missing, or was written by this command."""
    content = _content(path)
    return content.startswith(MADE) if content is not None else not path.exists()


def _content(path: Path) -> str | None:
    """The text of a file; None when it is not there or cannot be read."""
    try:
        return read_text(path, "replace")
    except OSError:
        return None


TSCONFIG = f"""{{
  "extends": "{APART}",
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
  "include": ["{TARGET}", "scripts", "assistants"],
  "references": [{{ "path": "./{PROJECTS}" }}]
}}
"""
