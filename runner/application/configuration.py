"""`yao-test.toml` at the root of an application: flags by their names, for all runs, for profiles and for agents.

    parallel = 4

    [profile.ci]
    retry-errors = 2

    [agent.expense]
    timeout = "10s"

    [prices."openai.gpt4"]
    input = 2.5
    output = 10.0

`readable = ["certs/ca.txt"]`, at the top, opens files to scripts and cases; see `scripttest.belongings`.

A flag of the command line has priority; then come its profile, its agent, and the top of the file, in this order."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from runner.amounts import PRICES
from runner.application.application import Application
from runner.errors import ConfigurationError, did_you_mean
from runner.options.flags import Carried, File, share_or_percent
from runner.options.options import FLAG_OF, FLAGS, ConfiguredOptions, RunOptions, RunSettings, lacking, with_rounds
from runner.security.files import read_text
from scripttest import holds_secrets, is_never_readable, parts_below
from scripttest.values import Value

FILE = "yao-test.toml"
TABLES = ("profile", "agent", "prices", "mutate")
MUTATE = ("threshold", "ignore-calls", "files")
"""What `[mutate]` sets: for `yao-test mutate`, and for nothing else."""
READABLE = "readable"
_OUTSIDE = "only the command line may do that"
OF_AGENTS = tuple(flag.name for flag in FLAGS if flag.file is File.AGENT)
"""Flags that may be set for one agent."""
_SPELLINGS = {"strictDatabase": "strict-db"}
_KEY = r"(?:[\w-]+|\"[^\"]*\"|'[^']*')"
_DOTTED = rf"{_KEY}(?:\s*\.\s*{_KEY})*"


class Setting(Value):
    """One flag, as a table of the file has it."""

    flag: str
    """Name of the flag."""
    value: Any
    """As in `RunOptions`."""
    text: Any
    """As in the file."""
    table: str
    """Its table, such as `profile.ci`; empty for the top of the file."""
    line: int


class Configuration(Value):
    """A file, read."""

    path: Path
    tables: Mapping[str, Mapping[str, Setting]]
    """Table → its settings by the name of the flag; `` is the beginning of the file."""
    prices: Mapping[str, Mapping[str, float]]
    price_lines: Mapping[str, int]
    readable: tuple[str, ...]
    """What scripts may read, and cases attach, beside what belongs to the application."""
    readable_line: int
    mutate: Mapping[str, Any] = {}
    """What `[mutate]` says, as it is in the file."""

    def layers(self, profile: str | None, agent: str | None) -> list[Mapping[str, Setting]]:
        """The tables that say something, the one that counts most first. Raises ConfigurationError for a profile that
        is not there."""
        found = []
        if profile is not None:
            if not self.has_profile(profile):
                known = [name.removeprefix("profile.") for name in self.tables if name.startswith("profile.")]
                hint = did_you_mean(profile, known) or (f"There are {', '.join(known)}" if known else None)
                raise ConfigurationError(f"Cannot use --profile {profile}: {self.path} has no such profile", hint)
            found.append(self.tables[f"profile.{profile}"])
        if agent is not None:
            found.append(self.tables.get(f"agent.{agent}", {}))
        return [*found, self.tables.get("", {})]

    def settings(self, given: frozenset[str], profile: str | None, agent: str | None = None) -> dict[str, Setting]:
        """The settings that apply, by flag, without flags that are `given` on the command line or excluded by these."""
        found: dict[str, Setting] = {}
        known = set(given)
        for layer in self.layers(profile, agent):
            new = {name: one for name, one in layer.items() if not (known & {name, *_excluded_by(name)})}
            found |= new
            known |= new.keys()
        return found

    def has_profile(self, name: str) -> bool:
        """Whether there is a profile of a name."""
        return f"profile.{name}" in self.tables

    @property
    def agents(self) -> list[str]:
        """The agents with settings in the file."""
        return [name.removeprefix("agent.") for name in self.tables if name.startswith("agent.")]


def configured(
    options: RunOptions, given: frozenset[str], application: Application, wanted: Collection[str] = tuple(FLAG_OF)
) -> ConfiguredOptions:
    """Completes options with those of the file. Raises ConfigurationError with all problems of the file. `options`:
    from the command line. `given`: the names of the flags on the command line. `wanted`: the flags that the command
    takes from the file."""
    file = read_configuration(application)
    if file is None:
        if options.profile is not None:
            raise ConfigurationError(f"Cannot use --profile {options.profile}: there is no {application.root / FILE}")
        return ConfiguredOptions(options=options)

    if options.no_writes:  # a store is then named on the command line
        given |= {"store"}

    def settings(agent: str | None = None) -> dict[str, Setting]:
        found = file.settings(given, options.profile, agent)
        return {name: one for name, one in found.items() if name in wanted}

    of_run = settings()
    merged = _with(options, of_run)
    idle = [(one, needed) for one in of_run.values() if one.value and (needed := lacking(one.flag, merged))]
    merged = _with(merged, {one.flag: one.replace(value=FLAG_OF[one.flag].default) for one, _ in idle})
    agents = {agent: _with(options, settings(agent)) for agent in file.agents}
    idle_lines = ((f"{file.path}:{one.line}: {one.flag}", needed) for one, needed in idle if needed.in_file)
    warnings = tuple(f"{at} has no effect without {needed.name}" for at, needed in idle_lines)
    found = RunSettings(typed=options, agents=agents, prices=file.prices, warnings=warnings)
    return ConfiguredOptions(options=with_rounds(merged), settings=found)


def with_configuration(options: RunOptions, values: Mapping[str, Any], application: Application) -> ConfiguredOptions:
    """Options and settings of a run; `values` is what the command line says. What a run takes over from the one that it
    resumes counts as given, but for what results show of the file when it is read again. Raises ConfigurationError."""
    given = {flag.name for flag in FLAGS if flag.is_given(dict(values))}
    if options.resume is not None:
        for flag in FLAGS:
            is_kept = flag.carried in (Carried.RUN, Carried.TEST) and not flag.is_read_again
            if is_kept or (flag.carried is not Carried.NO and getattr(options, flag.field) != flag.default):
                given.add(flag.name)
    return configured(options, frozenset(given), application)


def read_configuration(application: Application) -> Configuration | None:
    """The file of an application; None when there is none. Raises ConfigurationError with everything that is wrong with
    it."""
    path = application.root / FILE
    try:
        text = read_text(path)
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigurationError(f"Cannot read {path}: {why}") from error
    import tomllib

    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r" \(at line (\d+), column (\d+)\)$", str(error))
        where = f"{path}:{place[1]}:{place[2]}" if place else str(path)
        raise ConfigurationError(f"Cannot read {where}: {str(error).partition(' (at line ')[0]}") from error
    return _Reader(path, content, _lines_of(text), application).read()


def _with(options: RunOptions, settings: Mapping[str, Setting]) -> RunOptions:
    return options.replace(**{FLAG_OF[name].field: setting.value for name, setting in settings.items()})


def _excluded_by(name: str) -> frozenset[str]:
    """Flags that may not be given together with one."""
    return frozenset([*FLAG_OF[name].excludes, *(flag.name for flag in FLAGS if name in flag.excludes)])


def _lines_of(text: str) -> dict[tuple[str, ...], int]:
    """The lines of tables and keys, by their whole names."""
    found: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n"), 1):
        if head := re.match(rf"\s*\[+\s*({_DOTTED})\s*\]", line):
            table = _parts(head[1])
            found.setdefault(table, number)
        elif key := re.match(rf"\s*({_DOTTED})\s*=", line):
            found.setdefault((*table, *_parts(key[1])), number)
    return found


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in re.findall(_KEY, dotted))


class _Reader:
    """Reads the content of a file, and collects what is wrong with it."""

    def __init__(
        self, path: Path, content: dict[str, Any], lines: dict[tuple[str, ...], int], application: Application
    ) -> None:
        self._path = path
        self._content = content
        self._lines = lines
        self._application = application
        self._problems: list[tuple[int, str]] = []

    def read(self) -> Configuration:
        """Raises ConfigurationError."""
        others = (*TABLES, READABLE)
        tables = {"": self._table((), {key: value for key, value in self._content.items() if key not in others})}
        readable = self._readable()
        for name, table in self._tables("profile"):
            tables[f"profile.{name}"] = self._table(("profile", name), table)
        for name, table in self._tables("agent"):
            self._check_agent(name)
            tables[f"agent.{name}"] = self._table(("agent", name), table)
        prices = {name: self._prices(name, table) for name, table in self._tables("prices")}
        mutate = self._mutate()
        if self._problems:
            raise self._error()
        return Configuration(
            path=self._path,
            tables=tables,
            prices=prices,
            price_lines={name: self._line(("prices", name)) for name in prices},
            readable=readable,
            readable_line=self._line((READABLE,)),
            mutate=mutate,
        )

    def _mutate(self) -> dict[str, Any]:
        table = self._content.get("mutate", {})
        if not isinstance(table, dict):
            self._wrong(("mutate",), "mutate must be a table: [mutate]")
            return {}
        for key, value in table.items():
            at = ("mutate", key)
            if key not in MUTATE:
                self._wrong(at, f"unknown setting {key} of mutate; the settings are {', '.join(MUTATE)}")
            elif key == "threshold":
                try:
                    share_or_percent(str(value), "threshold")
                except ConfigurationError as error:
                    self._wrong(at, error.message)
            elif not (isinstance(value, list) and all(isinstance(text, str) and text for text in value)):
                example = "assistants/expense/**" if key == "files" else "audit.*"
                self._wrong(at, f'{key} must be a list of strings, such as ["{example}"]')
        return table

    def _readable(self) -> tuple[str, ...]:
        value = self._content.get(READABLE, [])
        paths, at = value if isinstance(value, list) else [value], (READABLE,)
        if not all(isinstance(path, str) and path for path in paths):
            self._wrong(at, f'{READABLE} must be a list of paths, such as ["certs/ca.txt", "shared"]')
            return ()
        for path in paths:
            parts = tuple(os.path.normpath(path).split("/"))
            if path.startswith("/") or parts[0] == "..":
                link = "; name a package outside the repository by its link, such as node_modules/NAME"
                self._wrong(at, f"{READABLE} names {path}, which is outside the application{link}")
            elif parts == (".",):
                self._wrong(at, f"{READABLE} names the whole application; list folders and files in it instead")
            elif is_never_readable(parts):
                self._wrong(at, f"{READABLE} names {path}, which is never open to scripts")
        return tuple(paths)

    def _tables(self, kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
        tables = self._content.get(kind, {})
        if not isinstance(tables, dict):
            self._wrong((kind,), f"{kind} must be a table of tables, such as [{kind}.NAME]")
            return
        pending: list[tuple[tuple[str, ...], Any]] = [((name,), table) for name, table in tables.items()]
        for names, table in pending:
            if not isinstance(table, dict):
                self._wrong((kind, *names), f"{kind}.{'.'.join(names)} must be a table, such as [{kind}.NAME]")
                continue
            inner = {name: value for name, value in table.items() if isinstance(value, dict)}
            if kind != "profile" and inner:  # [agent.a.b] without quotes
                pending += [((*names, name), value) for name, value in inner.items()]
                table = {name: value for name, value in table.items() if name not in inner}
                if not table:
                    continue
            yield ".".join(names), table

    def _table(self, place: tuple[str, ...], table: dict[str, Any]) -> dict[str, Setting]:
        found: dict[str, Setting] = {}
        for key, value in table.items():
            setting = self._setting(place, key, value)
            if setting is None:
                continue
            for other in found.keys() & _excluded_by(setting.flag):
                if setting.value and found[other].value:
                    self._wrong((*place, key), f"{setting.flag} and {other} cannot be used together")
            found[setting.flag] = setting
        return found

    def _setting(self, place: tuple[str, ...], key: str, value: Any) -> Setting | None:
        name = _SPELLINGS.get(key, key)
        at = (*place, key)
        flag = FLAG_OF.get(name)
        if flag is not None and not flag.in_file:
            self._wrong(at, f"{key} cannot be set here: {flag.file}")
            return None
        if flag is None:
            table = isinstance(value, dict)
            known = [*(one.name for one in FLAGS if one.in_file), *_SPELLINGS, READABLE]
            hint = did_you_mean(key, TABLES if table else known)
            self._wrong(at, f"there is no {'table' if table else 'flag'} {key}{'. ' + hint if hint else ''}")
            return None
        if place[:1] == ("agent",) and flag.file is not File.AGENT:
            settable = ", ".join(OF_AGENTS)
            self._wrong(at, f"{key} applies to a whole run, not to one agent. For one agent, set {settable}")
            return None
        try:
            read = self._value(name, value)
        except (ConfigurationError, ValueError) as error:
            text, hint = (error.message, error.hint) if isinstance(error, ConfigurationError) else (str(error), None)
            text += f". {hint}" if hint else ""
            self._wrong(at, text.replace(f"--{name}", name))
            return None
        return Setting(flag=name, value=read, text=value, table=".".join(place), line=self._line(at))

    def _value(self, name: str, value: Any) -> Any:
        """The value of a flag. Raises ValueError for one of another kind, ConfigurationError for a bad one."""
        flag = FLAG_OF[name]
        default = RunOptions.__value_defaults__[flag.field]
        if flag.kind == "switch":
            if not isinstance(value, bool):
                raise ValueError(f"{name} must be true or false")
            return value
        if flag.kind == "count":
            if isinstance(value, bool) or (isinstance(value, int) and 0 <= value <= 2):
                return int(value)
            raise ValueError(f"{name} must be true, false, or a number")
        if flag.kind == "maybe" and isinstance(value, bool):
            return flag.value({flag.field: "*"}) if value else default
        several = flag.kind in ("repeated", "optional")
        texts = value if several and isinstance(value, list) else [value]
        if not texts or not all(isinstance(text, str | int | float) and not isinstance(text, bool) for text in texts):
            raise ValueError(f"{name} must be a string{' or a list of strings' if several else ' or a number'}")
        words = [self._path_of(name, str(text)) if flag.is_path else str(text) for text in texts]
        read = flag.value({flag.field: tuple(words) if several else words[0]})
        for variant in read if name == "variant" else ():
            if ".." in Path(variant.prompts).parts or os.path.isabs(variant.prompts):
                raise ValueError(f"{name} names the prompts {variant.prompts}: {_OUTSIDE}")
        return read

    def _path_of(self, name: str, text: str) -> str:
        """A path, which counts from the folder of the file. Raises ValueError for one that is not open to a file that
        comes with the application; where links lead is judged when it is used."""
        if not text:
            return ""
        folder = self._path.parent
        path = os.path.normpath(folder / Path(text).expanduser())
        parts = parts_below(path, str(folder))
        if parts is None:
            raise ValueError(f"{name} leads outside the application: {_OUTSIDE}")
        if holds_secrets(parts):
            raise ValueError(f"{name} names {text}, and {'/'.join(parts)} may contain secrets")
        return path

    def _prices(self, connector: str, table: dict[str, Any]) -> dict[str, float]:
        for key, value in table.items():
            if key not in PRICES:
                self._wrong(("prices", connector, key), f"unknown price {key}; the prices are {', '.join(PRICES)}")
            elif isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
                self._wrong(("prices", connector, key), f"{key} must be a number, in US dollars per million tokens")
        return table

    def _check_agent(self, id: str) -> None:
        known = [agent.id for agent in self._application.agents()]
        if id not in known:
            hint = did_you_mean(id, known)
            self._wrong(("agent", id), f"there is no agent {id}{'. ' + hint if hint else ''}")

    def _line(self, place: tuple[str, ...]) -> int:
        """The line of a key or a table; where it cannot be found, that of the table around it."""
        wanted = tuple(part for name in place for part in (name.split(".") if place[:1] == ("agent",) else [name]))
        for tried in (place, wanted):
            while tried:
                if tried in self._lines:
                    return self._lines[tried]
                tried = tried[:-1] if tried != place else ()
        return next((line for known, line in self._lines.items() if known[: len(place)] == place), 1)

    def _wrong(self, place: tuple[str, ...], text: str) -> None:
        self._problems.append((self._line(place), text))

    def _error(self) -> ConfigurationError:
        lines = [f"{self._path}:{line}: {text}" for line, text in sorted(self._problems)]
        several = "\n  ".join([f"{self._path}: {len(lines)} problems", *lines])
        return ConfigurationError(f"Cannot use {lines[0] if len(lines) == 1 else several}")
