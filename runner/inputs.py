"""What `-i` may name, decided in the order of the specification, section 2."""

from __future__ import annotations

from pathlib import Path

from runner.application import Application, TestModule, find_root
from runner.errors import ConfigurationError
from runner.options import RunOptions, absolute

CASE_SUFFIXES = (".jsonl", ".json", ".yaml", ".yml")


def resolve_application(options: RunOptions, directory: Path) -> Application:
    """The application of a run: `--app`, or upward from here, or from the first input that is a path."""
    if options.app is not None:
        root = absolute(options.app, directory)
        if not root.is_dir():
            raise ConfigurationError(f"Cannot use --app {options.app}: it is not a folder")
        return Application(root)
    for input in options.inputs:
        path = absolute(input, directory)
        if not input.startswith("scripts.") and path.exists():
            return Application(find_root(path))
    return Application(find_root(directory))


def resolve_inputs(options: RunOptions, application: Application, directory: Path) -> list[TestModule]:
    """The test modules of all inputs, each once, in the order in which they were named. Raises ConfigurationError."""
    found: dict[str, TestModule] = {}
    for input in options.inputs:
        for module in _resolve(input, application, directory):
            found.setdefault(module.id, module)
    return list(found.values())


def _resolve(input: str, application: Application, directory: Path) -> list[TestModule]:
    if input.startswith("scripts."):
        return application.resolve(input)
    path = absolute(input, directory)
    if path.is_dir():
        modules = [module for module in application.modules() if module.test.is_relative_to(path)]
        if not modules:
            raise ConfigurationError(f"Nothing to test below {path}: no agent there has a src/**/*_test.ts")
        return modules
    if path.is_file() and path.stem.endswith("_test") and path.suffix in (".ts", ".js"):
        return [application.module_at(path)]
    if path.suffix in CASE_SUFFIXES and not path.exists():
        raise ConfigurationError(f"Cannot read case file {path}: there is no such file")
    raise ConfigurationError(
        f'Cannot use -i "{input}": it is neither scripts.<agent>.<module> nor a test file nor a folder',
        "Test modules are named scripts.<agent>.<module>, such as scripts.expense.setup",
    )
