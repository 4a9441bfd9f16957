"""References to script functions, as cases spell them: `scripts:tests.validate-expense`, `scripts.test.Assert`,
`env_test.Before`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.application.application import Application, tested_by
from runner.errors import RunnerError, did_you_mean, meant_or_listed, shown_path
from runner.security.files import SUFFIXES, files_below, is_test, no_packages
from scripttest import FunctionError, ScriptError

if TYPE_CHECKING:
    from runner.agents.chat import Scope
    from runner.agents.runtime import Runtime
    from scripttest import FunctionPool


class ScriptReferenceError(RunnerError):
    """A reference names nothing that exists; the message says what was tried, the hint what exists. Its
    `infrastructure` says whether the script is there and cannot be loaded."""


async def find_function(
    reference: str, roles: tuple[str, ...], folder: Path | None, runtime: Runtime
) -> tuple[Path, str]:
    """The script and the function that a reference names. `reference`: a module, with or without its function, and with
    or without `scripts:` or `scripts.` before it. The module is below the application's `scripts/`, below an agent's
    `src/` (`scripts.expense.tools.Check`), or below `src/` or `tests/` of the tested agent. `roles`: names of functions
    to use if the reference has none, the best first; the default export of the module is last. `folder`: folder of the
    tested agent. Raises ScriptReferenceError: nothing fits, or the script cannot be compiled."""
    application, functions = runtime.assistants.application, runtime.functions
    plain = reference.removeprefix("scripts:").removeprefix("scripts.").removeprefix("src/").replace("/", ".")
    module, _, function = plain.rpartition(".")
    missed: ScriptReferenceError | None = None
    for script in _scripts(module, folder, application) if module else ():
        declared = await _declared(functions, script, reference)
        found = _meant(function, declared, roles)
        if found is not None:
            return script, found
        missed = missed or ScriptReferenceError(
            f'Cannot find the function of "{reference}": {script} has none named {function}',
            did_you_mean(function, declared - {"default"}) or _listed(declared),
        )
    for script in _scripts(plain, folder, application):
        declared = await _declared(functions, script, reference)
        for role in (*roles, "default"):
            if role in declared:
                return script, role
        wanted = " or ".join(roles)
        raise ScriptReferenceError(
            f'Cannot find the function of "{reference}": {script} has no {wanted}, and no default export',
            _listed(declared),
        )
    if missed is not None:
        raise missed
    if folder is not None and not module:
        for script in sorted((folder / "src").glob("*_test.*")):
            if is_test(script.name) and plain in await _declared(functions, script, reference):
                return script, plain
    own = [folder / "src", *([folder / "tests"] if plain.startswith("tests.") else [])] if folder else []
    places = ", ".join(["scripts", "the agents' src/ folders", *(shown_path(place, application.root) for place in own)])
    known = list(_known(folder, application))
    hint = did_you_mean(module, known) or meant_or_listed(plain, known)
    raise ScriptReferenceError(f'Cannot find the script of "{reference}": looked in {places}', hint)


async def call_function(
    reference: str,
    roles: tuple[str, ...],
    arguments: list[Any],
    scope: Scope,
    runtime: Runtime,
    *,
    what: str = "",
    context_at: int | None = None,
) -> Any:
    """Calls the function that a reference names, and returns its result, a JSON value. Raises ScriptReferenceError:
    nothing fits, or the script cannot be compiled; AgentError: the function threw an error, or took too long;
    HostError: its worker broke.

    Args:
        reference: see `find_function`, as for `roles`; scripts of the scope's agent can be named too.
        arguments: JSON values.
        scope: for whom it is called.
        what: beginning of messages about errors that it throws.
        context_at: position of the context among the arguments."""
    folder = scope.assistant.folder if scope.assistant else None
    script, function = await find_function(reference, roles, folder, runtime)
    module = tested_by(script)
    return await runtime.function(scope, script, function, arguments, what, module=module, context_at=context_at)


def _scripts(module: str, folder: Path | None, application: Application) -> Iterator[Path]:
    found = application.script(f"scripts.{module}")
    if found is not None:
        yield found
    if folder is not None:
        parts = module.split(".")
        bases = [folder.joinpath("src", *parts)]
        if parts[0] == "tests" and parts[1:]:
            bases.append(folder.joinpath(*parts))
        for base in bases:
            for name in (base.name, base.name + "_test"):
                for suffix in SUFFIXES:
                    script = base.with_name(name + suffix)
                    if script.is_file():
                        yield script


def _known(folder: Path | None, application: Application) -> Iterator[str]:
    """The scripts of the application and of an agent, as references name them."""
    for place in (application.root / "scripts", *([folder / "src"] if folder else [])):
        for path in files_below(place, root=application.root, enters=no_packages):
            base, suffix = os.path.splitext(path[len(str(place)) + 1 :])
            if suffix in SUFFIXES:
                yield base.replace("/", ".")


def _meant(function: str, declared: frozenset[str], roles: tuple[str, ...]) -> str | None:
    """The function that the last word of a reference means. A word with a hyphen is no name of a function: it means
    the one of the same letters, `ValidateExpense` for `validate-expense`, or the one of the role that it begins
    with, `Validate`."""
    if function in declared or "-" not in function:
        return function if function in declared else None
    letters = function.replace("-", "").lower()
    named = (name for name in sorted(declared) if name.replace("_", "").lower() == letters)
    of_role = (role for role in roles if role in declared and function.split("-")[0].lower() == role.lower())
    return next(named, None) or next(of_role, None)


async def _declared(functions: FunctionPool, script: Path, reference: str) -> frozenset[str]:
    try:
        return await functions.declared(script, tested_by(script))
    except (FunctionError, ScriptError) as error:
        at = f"{error.location.file}:{error.location.line}:{error.location.column}: " if error.location else ""
        broken = ScriptReferenceError(f'Cannot load the script of "{reference}": {at}{error.message}', error.hint)
        broken.infrastructure = True
        raise broken from error


def _listed(names: frozenset[str]) -> str:
    shown = sorted(name for name in names if name != "default")
    return f"It has {', '.join(shown[:20])}" if shown else "It has no functions"
