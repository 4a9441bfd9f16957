"""The script host: compiles TypeScript test modules, and runs each test in a realm of its own inside worker processes.

Names are resolved on first use, so that a worker, which imports submodules of this package, loads nothing else."""
# mypy: implicit-reexport
# ruff: noqa: F401

from __future__ import annotations

from sys import modules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scripttest.belongings import KEYS, Belongings, belongings_of, is_never_readable
    from scripttest.compile.at_once import compile_all, without_comments
    from scripttest.compile.builds import Compiled, Source
    from scripttest.compile.compiler import Instrument
    from scripttest.compile.configuration import names_in
    from scripttest.diagnostics.sources import WrittenCall, WrittenCalls, code_frame
    from scripttest.extras import install_command
    from scripttest.files import (
        DATA_LIMIT,
        RefusedFileError,
        anywhere,
        holds_secrets,
        open_file,
        parts_below,
        read_file,
        written_files,
    )
    from scripttest.folder_locks import HeldFolder, hold
    from scripttest.git import GitError, head_of, merge_base, read_at
    from scripttest.habits import filled, habit, row_of
    from scripttest.kept_files import DAMAGED, KeptFiles, state_of
    from scripttest.results import (
        BENCHMARK,
        EVERY_RUN,
        FUZZ,
        Broken,
        Cause,
        CompileError,
        Ended,
        Failure,
        HostError,
        HostRecord,
        Inlined,
        Line,
        Listed,
        Location,
        LogLine,
        MissingScriptError,
        MockedCalls,
        Outcome,
        ResultWarning,
        ScriptError,
        StackFrame,
        Started,
        Status,
        TestKey,
        kind_of,
    )
    from scripttest.shortcuts import is_off
    from scripttest.shortcuts.imports import ModuleFile, import_quickly
    from scripttest.syntax.instruments import (
        PROMPT_TEST,
        Coverage,
        PromptCode,
        PromptInputs,
        Recording,
        Site,
        Watch,
        Watching,
        WatchProblem,
    )
    from scripttest.syntax.mutants import Mutant, Mutants, Planted
    from scripttest.syntax.parser import Focus, UnreadableError, focus_of, inline_calls, parser
    from scripttest.walls.jailed import ProgramResult, run_jailed
    from scripttest.walls.machine import Wall, hide_environment, missing_walls, sandbox_of, system_walls
    from scripttest.workers.functions import FunctionPool, FunctionServices, Switches
    from scripttest.workers.host import ScriptHost
    from scripttest.workers.instrumented import (
        CalledFunctions,
        MutantHost,
        StoryFunctions,
        StoryHost,
        ToldLine,
        ToldStory,
        Trial,
        Tried,
        Walked,
    )
    from scripttest.workers.launch import end_ahead, launch_ahead, worker_command
    from scripttest.workers.repl_host import ReplHost, Said
    from scripttest.workers.services import (
        AskBack,
        FunctionCall,
        FunctionError,
        MissingFunctionError,
        Returned,
        Selected,
        Services,
    )
    from scripttest.workers.work import Module
    from scripttest.workers.worker import Processes, start_processes


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """The `__getattr__` of a package whose public names live in modules of it, `homes`: module → names,
    apart by blanks."""

    def resolve(name: str) -> object:
        for home, names in homes.items():
            if name in names.split():
                from importlib import import_module

                value = getattr(import_module(f"{package}.{home}"), name)
                setattr(modules[package], name, value)
                return value
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return resolve


_HOMES = {
    "belongings": "Belongings KEYS belongings_of is_never_readable",
    "compile.at_once": "compile_all without_comments",
    "compile.builds": "Compiled Source",
    "compile.compiler": "Instrument",
    "compile.configuration": "names_in",
    "diagnostics.sources": "WrittenCall WrittenCalls code_frame",
    "extras": "install_command",
    "files": "DATA_LIMIT RefusedFileError anywhere holds_secrets open_file parts_below read_file written_files",
    "folder_locks": "HeldFolder hold",
    "git": "GitError head_of merge_base read_at",
    "habits": "filled habit row_of",
    "results": "BENCHMARK Broken Cause CompileError EVERY_RUN Ended FUZZ Failure HostError HostRecord"
    " Inlined Line Listed Location LogLine MissingScriptError MockedCalls Outcome ResultWarning"
    " ScriptError StackFrame Started Status TestKey kind_of",
    "kept_files": "DAMAGED KeptFiles state_of",
    "shortcuts": "is_off",
    "shortcuts.imports": "ModuleFile import_quickly",
    "syntax.instruments": "Coverage PROMPT_TEST PromptCode PromptInputs Recording Site Watch WatchProblem Watching",
    "syntax.mutants": "Mutant Mutants Planted",
    "syntax.parser": "Focus UnreadableError focus_of inline_calls parser",
    "walls.jailed": "ProgramResult run_jailed",
    "walls.machine": "Wall hide_environment missing_walls sandbox_of system_walls",
    "workers.functions": "FunctionPool FunctionServices Switches",
    "workers.host": "ScriptHost",
    "workers.instrumented": "CalledFunctions MutantHost StoryFunctions StoryHost ToldLine ToldStory Trial Tried Walked",
    "workers.launch": "end_ahead launch_ahead worker_command",
    "workers.repl_host": "ReplHost Said",
    "workers.services": "AskBack FunctionCall FunctionError MissingFunctionError Returned Selected Services",
    "workers.work": "Module",
    "workers.worker": "Processes start_processes",
}
__all__ = sorted(" ".join(("lazy_names", *_HOMES.values())).split())
__getattr__ = lazy_names(__name__, _HOMES)
