"""HostCalls: answers what scripts ask of the host, on behalf of one run.

Names go to, in this order: what this run adds (`providers`: snapshots, translations, and whatever a later caller
brings), then the table of `bindings.processes`; what neither knows fails with an Exception that names the two ways out.
"""

from __future__ import annotations

import _thread
import json
import os
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripttest import ScriptError, Services

if TYPE_CHECKING:
    from bindings.policy import Policy
    from bindings.scratch import Scratch
    from bindings.snapshots import Snapshots

Provider = Callable[[str, str, list[Any]], Any]
"""(module id, test name, arguments) → JSON value; raises ProcessError."""
GroupProvider = Callable[[str, str, str, list[Any]], Any]
"""(module id, test name, process name, arguments) → JSON value; raises ProcessError."""


class HostCalls(Services):
    """Implements `scripttest.Services`. `call` may be used from several threads."""

    def __init__(self, app_root: Path, policy: Callable[[], Policy], find_script: Callable[[str], Path | None]) -> None:
        self._app_root = app_root
        self._policy = policy
        self._find_script = find_script
        self._sessions: dict[tuple[str, str], dict[str, Any]] = {}
        self.context: Mapping[str, Any] = {}
        """The fields of the run's context."""
        self.filter: Callable[[str], bool] = lambda name: True
        """Whether a test is to be run."""
        self.done: Mapping[str, Collection[str]] = {}
        """Module → tests of it that are not run again."""
        self.providers: dict[str, Provider] = {
            "snapshot.Match": self._match_snapshot,
            "locale.Translate": self._translate,
        }
        """Process name → what answers it."""
        self.groups: dict[str, GroupProvider] = {}
        """First word of a process name → what answers those that nothing else does."""
        self.snapshot_files: dict[str, Path] = {}
        """Suite id → its test or case file."""
        self.updates_snapshots = False
        """Whether a snapshot that differs is replaced."""
        self.ci = False
        """Whether a missing snapshot is a failure."""
        self.redact: Callable[[str], str] = str
        """Takes secrets out of what is stored."""
        self._snapshots: Snapshots | None = None
        self._translations: dict[str, str] | None = None
        self._scratch: Scratch | None = None
        self._lock = _thread.allocate_lock()

    def close(self) -> None:
        """Removes what scripts made for a while, and what runs that were killed have left of that."""
        if self._scratch is not None or os.path.isdir(self._app_root / "data" / "tmp"):
            self._temporary().close()

    def call(self, module: str, test: str, name: str, arguments: str) -> str:
        """Answers one host call; see `scripttest.Services`."""
        return enveloped(name, arguments, lambda args: self._answer(module, test, name, args))

    def process(self, name: str, args: list[Any], context: Mapping[str, Any], session: dict[str, Any]) -> Any:
        """Calls a process of `bindings.processes` on behalf of a context; may block. Raises ProcessError."""
        from bindings import processes
        from bindings.services import HostCall, ProcessError

        if processes.find(name) is None and not processes.knows(name):
            group = name.partition(".")[0]
            mock = 't.mock.agent("<id>", ...)' if group in ("agent", "agents") else f't.mock.process("{name}", ...)'
            raise ProcessError(
                f'Process "{name}" is not available here: mock it with {mock}, '
                f"or run against a host that provides {group}.*",
                404,
            )
        who = context["authorized"]
        surroundings = HostCall(
            app_root=self._app_root,
            policy=self._policy(),
            locale=context["locale"],
            authorized=who,
            session=session,
            scratch=lambda: self._temporary().folder(),
        )
        return processes.call(name, args, surroundings)

    def selects(self, module: str, test: str) -> bool:
        """Whether a test is to be run; see `scripttest.Services`."""
        return self.filter(test) and test not in self.done.get(module, ())

    def library(self, module: str, script: str) -> Path:
        """The file of a script; see `scripttest.Services`."""
        path = self._find_script(script) if "/" not in script and "\0" not in script else None
        if path is None:
            raise ScriptError(f'Process "{script}" does not exist: there is no such script')
        return path

    @property
    def used_snapshots(self) -> Snapshots | None:
        """The snapshots of this run; None when nothing has asked for one."""
        return self._snapshots

    def snapshots(self) -> Snapshots:
        """The snapshots of this run."""
        if self._snapshots is None:
            from bindings.snapshots import Snapshots

            self._snapshots = Snapshots(self.snapshot_files, self.updates_snapshots, self.ci)
        return self._snapshots

    def snapshot_matcher(self, module: str) -> Callable[[str, str], dict[str, Any]]:
        """What compares texts with the snapshots of a file, which `snapshot_files` names: (key, text) → `{passed,
        expected?, reason?}`. It raises ProcessError."""
        return lambda key, text: self._match_snapshot(module, "", [key, text])

    def _match_snapshot(self, module: str, test: str, args: list[Any]) -> dict[str, Any]:
        return self.snapshots().match(
            module, test, [self.redact(text) if isinstance(text, str) else text for text in args]
        )

    def _translate(self, module: str, test: str, args: list[Any]) -> Any:
        if self._translations is None:
            from bindings.translations import load_translations

            self._translations = load_translations(self._app_root, self.context["locale"])
        return self._translations.get(args[0], args[0])

    def _temporary(self) -> Scratch:
        from bindings.scratch import Scratch

        if self._scratch is None:
            with self._lock:
                self._scratch = self._scratch or Scratch(self._app_root / "data")
        return self._scratch

    def _answer(self, module: str, test: str, name: str, args: list[Any]) -> Any:
        provider = self.providers.get(name)
        if provider is not None:
            return provider(module, test, args)
        group = self.groups.get(name.partition(".")[0])
        if group is not None:
            return group(module, test, name, args)
        return self.process(name, args, self.context, self._sessions.setdefault((module, test), {}))


def enveloped(name: str, arguments: str, answer: Callable[[list[Any]], Any]) -> str:
    """The JSON envelope of what `answer` makes of JSON arguments, or of what it raises."""
    from bindings.services import ProcessError

    try:
        return envelope(answer(revived(arguments)))
    except ProcessError as error:
        return json.dumps({"error": {"message": error.message, "code": error.code}})
    except RecursionError:
        return json.dumps({"error": {"message": f"{name}: values are nested too deeply", "code": 400}})
    except UnicodeEncodeError:
        return json.dumps({"error": {"message": f"{name}: a text holds half a character", "code": 400}})
    except Exception as error:
        return json.dumps({"error": {"message": f"{name}: {type(error).__name__}: {error}", "code": 500}})


def revived(arguments: str) -> list[Any]:
    """The arguments of a host call from their JSON: a list, or `{args, bytes}` with the places of those in base64."""
    given: Any = json.loads(arguments)
    if isinstance(given, list):
        return given
    from base64 import b64decode

    args: list[Any] = given["args"]
    for place in given["bytes"]:
        args[place] = b64decode(args[place])
    return args


def envelope(value: Any) -> str:
    """The envelope of a result."""
    if isinstance(value, bytes):
        from base64 import b64encode

        return json.dumps({"bytes": b64encode(value).decode()})
    return json.dumps({"ok": value})
