"""`sandbox.`: what `ctx.workspace` and `ctx.computer` of scripts ask.

Commands are answered by mocks, in the realm. What comes here has none: it runs in a
jail when `--allow-exec` names its program, and is refused otherwise."""

from __future__ import annotations

from collections.abc import Callable

from bindings.errors import ProcessError
from bindings.policy import HostCall
from bindings.processes.arguments import Arguments, Implementation, host_functions
from bindings.workspace import Workspace, workspace_of
from scripttest.typing_names import Json


def _workspace(call: HostCall) -> Workspace:
    return workspace_of(call.world, lambda: call.app_root / "data" / call.scratch()[1:])


def _of_workspace(work: Callable[[Workspace, Arguments], Json]) -> Implementation:
    def run(given: Arguments, call: HostCall) -> Json:
        return work(_workspace(call), given)

    return run


def _exec(given: Arguments, call: HostCall) -> Json:
    command = [str(part) for part in given.array(1)]
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
        "workspace.ReadFile": _of_workspace(lambda space, given: space.read(given.string(1))),
        "workspace.WriteFile": _of_workspace(lambda space, given: space.write(given.string(1), given.string(2))),
        "workspace.Exists": _of_workspace(lambda space, given: space.exists(given.string(1))),
        "workspace.ReadDir": _of_workspace(lambda space, given: space.read_folder(given.string(1))),
        "workspace.Stat": _of_workspace(lambda space, given: space.stat(given.string(1))),
        "workspace.MkdirAll": _of_workspace(lambda space, given: space.make_folders(given.string(1))),
        "workspace.Remove": _of_workspace(lambda space, given: space.remove(given.string(1))),
        "workspace.RemoveAll": _of_workspace(lambda space, given: space.remove_all(given.string(1))),
        "workspace.Rename": _of_workspace(lambda space, given: space.rename(given.string(1), given.string(2))),
        "workspace.Copy": _of_workspace(lambda space, given: space.copy(given.string(1), given.string(2))),
        "computer.Exec": _exec,
    },
)
