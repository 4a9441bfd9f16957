"""Finds the host function of a process name such as `text.ExtractJSON`.

The first part of a name selects a table of a module. The rest is the key in it, in Yao's spelling (`ExtractJSON`,
`str.Join`). Upper and lower case do not matter. A module is imported when one of its processes is first used, and its
libraries when one of them is first called. So importing this package is fast; keep it free of imports, and import only
light parts of the standard library at the top of the modules.

`find` returns None for `scripts.*`, `agents.*`, `stores.*`, `llm.*`, `models.*` and others that need the realm or the
run."""

from __future__ import annotations

from functools import cache

from scripttest.typing_names import Json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from bindings.policy import HostCall, HostFunction
    from bindings.world import World

LIKE = 0.75
"""How alike the last word of a misspelling is to the right one, from 0 to 1."""
NAMESPACES = {
    "crypto": "encoding.CRYPTO",
    "encoding": "encoding.FUNCTIONS",
    "fs": "fs.FUNCTIONS",
    "http": "http.FUNCTIONS",
    "json": "encoding.JSON",
    "jsonpath": "encoding.JSON_PATH",
    "regex": "encoding.REGEX",
    "sandbox": "session.SANDBOX",
    "session": "session.FUNCTIONS",
    "text": "text.FUNCTIONS",
    "utils": "utils.FUNCTIONS",
    "xiang": "utils.XIANG",
    "yao": "utils.YAO",
}
"""First part of a process name, in lower case, to the module of this package and its table there."""

WIDGETS = ("yao.table", "yao.form", "yao.list", "yao.chart", "yao.dashboard")
"""Groups of processes that belong to pages, which a test has not."""
_OF_MODELS = {
    **{name.lower(): name for name in ("Get", "Find", "Save", "Create", "Insert", "Update", "UpdateWhere", "Delete")},
    "deletewhere": "DeleteWhere",
    "search": "Paginate",
    "updatein": "UpdateWhere",
    "deletein": "DeleteWhere",
}
"""Method of a page in lower case → the method of models that it calls."""
NODES = ("sandbox", "workspace")
"""Groups of processes of the globals that make computers and their folders, which a test has not."""
EXTRAS = {
    "crypto.rsa2sign": "crypto",
    "crypto.rsa2verify": "crypto",
    "crypto.aes256encrypt": "crypto",
    "crypto.aes256decrypt": "crypto",
    "utils.pwd.verify": "crypto",
    "xiang.helper.passwordvalidate": "crypto",
    "encoding.xml.encode": "formats",
    "encoding.xml.decode": "formats",
    "text.htmltomarkdown": "formats",
}
"""Process, in lower case, to the optional part of this package that it needs."""


def find(name: str) -> HostFunction | None:
    """Looks a process up, importing the module of its namespace on first use. Returns the function, or None when
    there is no such process."""
    namespace, _, rest = name.lower().partition(".")
    return _functions(namespace).get(rest)


def knows(name: str) -> bool:
    """Whether the namespace of a process is one of those here, be there such a process or not."""
    return name.lower().partition(".")[0] in (*NAMESPACES, *NODES)


def names() -> list[str]:
    """The names of all processes, as Yao spells them. Imports all modules."""
    return [f"{namespace}.{key}" for namespace, place in NAMESPACES.items() for key in _load(place)]


def call(name: str, args: Sequence[Json], host_call: HostCall) -> Json:
    """Runs a process and waits for its result. Raises ProcessError: code 404 when there is no such process;
    otherwise what the process raised."""
    function = find(name)
    if function is None:
        raise _missing(name, args, host_call.world)
    return function(list(args), host_call)


@cache
def _functions(namespace: str) -> dict[str, HostFunction]:
    """The processes of a namespace, by names in lower case; none of one that is not here."""
    place = NAMESPACES.get(namespace)
    return {} if place is None else {name.lower(): function for name, function in _load(place).items()}


def _load(place: str) -> dict[str, HostFunction]:
    from importlib import import_module

    module, _, table = place.partition(".")
    functions: dict[str, HostFunction] = getattr(import_module(f"{__name__}.{module}"), table)
    return functions


def _missing(name: str, args: Sequence[Json], world: World) -> Exception:
    """The error of a call of an unknown process: a misspelling if its last word is similar to one of its group,
    otherwise that only a mock can answer it."""
    from difflib import get_close_matches

    from bindings.errors import ProcessError

    namespace = name.lower().partition(".")[0]
    group, _, word = name.lower().rpartition(".")
    names = [f"{namespace}.{key}" for key in (_load(NAMESPACES[namespace]) if namespace in NAMESPACES else ())]
    known = {name.lower().rpartition(".")[2]: name for name in names if name.lower().rpartition(".")[0] == group}
    close = get_close_matches(word, known, n=1, cutoff=LIKE)
    if close:
        return ProcessError(f'Process "{name}" does not exist (did you mean "{known[close[0]]}"?)', 404, missing=True)
    mock = world.mock("process", name)
    if name.lower().startswith(tuple(f"{widget}." for widget in WIDGETS)):
        text = f'Process "{name}" belongs to a Yao page, which is not available here: mock it with {mock}'
        id = args[0] if args and isinstance(args[0], str) and args[0] else "<id>"
        such = f', such as Process("models.{id}.{_OF_MODELS[word]}", ...)' if word in _OF_MODELS else ""
        return ProcessError(f"{text}, or call the model behind it{such}", 404, missing=True)
    if group in NODES:
        text = f'Process "{name}" needs a Yao node, which is not available offline: mock it with {mock}'
        other = "use ctx.computer and ctx.workspace of an agent with sandbox.yao"
        return ProcessError(f"{text}, or {other}", 404, missing=True)
    return ProcessError(f'Process "{name}" is not available here: mock it with {mock}', 404, missing=True)
