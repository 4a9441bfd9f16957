"""`sandbox.`: what `ctx.workspace` and `ctx.computer` of scripts ask.

Commands are answered by mocks, in the realm. What comes here has none: it runs in a
jail when `--allow-exec` names its program, and is refused otherwise."""

from __future__ import annotations

from collections.abc import Callable

from bindings.errors import ProcessError
from bindings.policy import HostCall
from bindings.processes.arguments import Row, host_functions
from bindings.workspace import Workspace, workspace_of
from scripttest.typing_names import Json

_OF_WORKSPACE: dict[str, Row] = {
    "ReadFile": ("string", Workspace.read),
    "WriteFile": ("string string", Workspace.write),
    "Exists": ("string", Workspace.exists),
    "ReadDir": ("string", Workspace.read_folder),
    "Stat": ("string", Workspace.stat),
    "MkdirAll": ("string", Workspace.make_folders),
    "Remove": ("string", Workspace.remove),
    "RemoveAll": ("string", Workspace.remove_all),
    "Rename": ("string string", Workspace.rename),
    "Copy": ("string string", Workspace.copy),
}


def _workspace(call: HostCall) -> Workspace:
    return workspace_of(call.world, lambda: call.app_root / "data" / call.scratch()[1:])


def _on_workspace(form: str, method: Callable[..., Json]) -> Row:
    return f"call {form}", lambda call, *paths: method(_workspace(call), *paths)


def _exec(call: HostCall, parts: list[Json]) -> Json:
    command = [str(part) for part in parts]
    shown = " ".join(command)
    if not command:
        raise ProcessError("Exec requires a command argument", 400)
    if command[0] not in call.policy.allow_exec:
        raise ProcessError(
            f'Exec failed: "{shown}" is not run here: answer it with {call.world.mock("exec", shown)}, '
            f"or run it in a jail with --allow-exec={command[0]}",
            403,
            missing=True,
        )
    from scripttest import ScriptError, run_jailed

    try:
        result = run_jailed(command, _workspace(call).root)
    except ScriptError as error:
        raise ProcessError(f"Exec failed: {error.message}") from error
    return {"stdout": result.stdout, "stderr": result.stderr, "exit_code": result.exit_code}


FUNCTIONS = host_functions(
    "sandbox",
    {
        **{f"workspace.{name}": _on_workspace(*row) for name, row in _OF_WORKSPACE.items()},
        "computer.Exec": ("call array", _exec),
    },
)
