"""What a flag of the command line is: its spelling, the values that it takes, the flags that exclude it, which results
it changes, and who else than the command line may set it. All flags are in `RunOptions` of `runner.cli.options`.
Functions that read a value raise ConfigurationError."""

from __future__ import annotations

import re

from runner.durations import in_words, seconds_of
from runner.errors import ConfigurationError, did_you_mean
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar

    from runner.cli.allowance import Allowance
    from runner.cli.cluster_address import ClusterAddress
    from runner.cli.coverage_threshold import CoverageThreshold
    from runner.cli.shard import Shard
    from runner.cli.store_keep import StoreKeep
    from runner.cli.variants import Variant

_NOT_GIVEN = {"repeated": (), "optional": (), "switch": False, "count": 0}
_PATHS = ("FILE", "DIR")
"""What flags with a path have as their `metavar`."""


class Changes:
    """Which results may be others when a flag has another value."""

    NONE = "none"
    ALL = "all"
    CONTEXT = "context"
    """All, through the context of the run, which has a digest of its own."""
    JUDGED = "judged"
    """Those for which a judge was asked."""
    GRADED = "graded"
    """Those of cases with assertions or a score."""


class File:
    """Whether the configuration file may set a flag; if not, the value says why."""

    RUN = "for all tests of a run"
    AGENT = "also for the tests of one agent"
    SECURITY = "it weakens security, so it can only be given on the command line"
    CHECKS = "the file may come with the change that the flag is to check"
    APPLICATION = "the file belongs to the application in which it is"
    ONE_RUN = "it is for one run, so it can only be given on the command line"


class Carried:
    """What the value that a flag had in an earlier run means for `--resume`, `status`, `regrade` and what runs a test
    again."""

    NO = "no"
    """Nothing: the flag is for one command."""
    RUN = "run"
    """A resumed run takes it, and must not change it; what runs a single test again leaves it out."""
    TEST = "test"
    """A resumed run takes it, and must not change it; what runs a single test again has it."""
    OPEN = "open"
    """The same, but a resumed run may change it."""
    GUARD = "guard"
    """It closes a wall: a resumed run takes it, unless its command line has another one."""
    TYPED = "typed"
    """It opens a wall: it has to be given again."""


class Regrade:
    """Whether `regrade` has a flag."""

    NO = "no"
    TYPED = "typed"
    """On its command line only."""
    YES = "yes"
    """Also from the configuration file and from the report, as far as these may set it."""


LINES = "lines"
"""The value of `--json` for a line of JSON for each result."""


class Flag(Value):
    """One flag of the command line."""

    name: str
    """Long spelling, without dashes."""
    field: str
    """Name of the field of `RunOptions` with the value."""
    help: str
    default: Any
    """The value when it is not given."""
    short: str | None
    kind: str
    """text, maybe (text, and `*` where the value is left out), repeated, optional (both), switch or count."""
    metavar: str
    aliases: tuple[str, ...]
    """Other spellings, with dashes."""
    read: Callable[[str, str], Any] | None
    """Makes a value of a text, or several of it for a flag that may be repeated. Its second argument is the flag as it
    is named in the ConfigurationError that it raises. None: the text is the value, and a single one is not empty."""
    excludes: tuple[str, ...]
    """Names of flags that may not be given together with it."""
    needs: str | None
    """Name of a flag without which it may not be given."""
    changes: str
    file: str
    carried: str
    regrade: str

    @property
    def changes_results(self) -> bool:
        """Whether results may be others when it has another value."""
        return self.changes is not Changes.NONE

    @property
    def in_file(self) -> bool:
        """Whether the configuration file may set it."""
        return self.file in (File.RUN, File.AGENT)

    @property
    def of_test(self) -> bool:
        """Whether a single test is run with it: what runs it again, or runs it elsewhere, has the flag."""
        return self.changes_results or self.carried in (Carried.TEST, Carried.OPEN)

    @property
    def is_read_again(self) -> bool:
        """Whether a resumed run takes it from the configuration file as it is now, if it was there before: results
        show with which value they were made, or a report may not set it."""
        return self.in_file and (self.changes_results or self.carried in (Carried.OPEN, Carried.TYPED))

    @property
    def may_open_walls(self) -> bool:
        """Whether there are values that a report may not set."""
        places = self.is_path or self.field in ("inputs", "variants")
        return self.carried is Carried.TYPED or (self.carried is not Carried.NO and places)

    @property
    def is_path(self) -> bool:
        """Whether its value is a path."""
        return self.metavar in _PATHS

    def words(self, value: Any, joined: bool = False) -> list[str]:
        """Its words on a command line, for a value as `RunOptions` or a report has it; `joined`: as `--name=value`."""
        flag = "-i" if self.name == "input" else f"--{self.name}"
        if value in (None, False, (), []) or (self.kind == "count" and not value):
            return []
        if self.kind in ("switch", "count"):
            return [flag] * int(value)
        words: list[str] = []
        for one in value if isinstance(value, list | tuple) else (value,):
            text = in_words(one) if self.metavar == "DURATION" else f"{one:g}" if isinstance(one, float) else str(one)
            words += [f"{flag}={text}"] if (joined or text.startswith("-")) and flag != "-i" else [flag, text]
        return words

    def saved_value(self, value: Any) -> Any:
        """The value of `RunOptions` for that of a report. Raises ConfigurationError."""
        if isinstance(value, list):
            read = self.read
            return tuple(one for text in value for one in (read(text, f"--{self.name}") if read else (text,)))
        if isinstance(value, str) and self.read is not None:
            return self.read(value, f"--{self.name}")
        return value

    @property
    def spellings(self) -> tuple[str, ...]:
        """All spellings, with dashes."""
        short = (f"-{self.short}",) if self.short else ()
        return (*short, f"--{self.name}", *self.aliases)

    @property
    def not_given(self) -> Any:
        """What parsers of command lines return for it when it is not given."""
        return _NOT_GIVEN.get(self.kind)

    def is_given(self, values: dict[str, Any]) -> bool:
        """Whether the command line has it; `values` are those that parsers of command lines return."""
        return bool(values[self.field] != self.not_given)

    def value(self, values: dict[str, Any]) -> Any:
        """Its checked value. Raises ConfigurationError for an invalid one."""
        said = values[self.field]
        if self.read is None:
            if self.kind == "text" and not said:
                hint = f"--{self.name} {self.metavar}: {self.help}"
                raise ConfigurationError(f"Cannot use --{self.name}: it is empty", hint)
            return said
        if self.kind in ("text", "maybe"):
            return self.read(said, f"--{self.name}")
        return tuple(value for text in said for value in self.read(text, f"--{self.name}"))


def flag(
    help: str,
    *,
    changes: str,
    file: str,
    carried: str,
    regrade: str = Regrade.NO,
    name: str | None = None,
    default: Any = None,
    short: str | None = None,
    kind: str = "text",
    metavar: str = "TEXT",
    aliases: tuple[str, ...] = (),
    read: Callable[[str, str], Any] | None = None,
    excludes: tuple[str, ...] = (),
    needs: str | None = None,
) -> Any:
    """A field of a `FlagTable`; see `Flag`. It has the name of the field, with dashes, if no other is given, and the
    default of its kind."""
    return Flag(
        name=name or "",
        field="",
        help=help,
        default=_NOT_GIVEN.get(kind) if default is None else default,
        short=short,
        kind=kind,
        metavar=metavar,
        aliases=aliases,
        read=read,
        excludes=excludes,
        needs=needs,
        changes=changes,
        file=file,
        carried=carried,
        regrade=regrade,
    )


class FlagTable(Value):
    """Values of flags. Each field of a subclass is declared with `flag`."""

    __declared__: ClassVar[tuple[Flag, ...]] = ()
    """All flags, in the order in which they are declared."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.__declared__ = tuple(
            declared.replace(field=field, name=declared.name or field.replace("_", "-"))
            for field, declared in cls.__value_defaults__.items()
        )
        cls.__value_defaults__ = {flag.field: flag.default for flag in cls.__declared__}


def count(text: str, where: str) -> int:
    """A whole number from 1 up."""
    if not text.isdecimal() or int(text) < 1:
        raise ConfigurationError(f'Cannot read {where} "{text}": it must be a whole number from 1 up')
    return int(text)


def shuffle_seed(text: str, where: str) -> int:
    """A whole number from 1 up; for `*` a random one."""
    if text != "*":
        return count(text, where)
    from os import urandom

    return int.from_bytes(urandom(3), "big") + 1


def json_form(text: str, where: str) -> str:
    """`lines`, or `document` for `*`. Raises ConfigurationError."""
    if text not in ("*", LINES):
        raise ConfigurationError(f"Cannot use {where} {text}", f"Write {where} for one document, or {where}={LINES}")
    return LINES if text == LINES else "document"


def collector(text: str, where: str) -> str:
    """The address of a collector; empty for `*`: environment variables name it."""
    if text == "*":
        return ""
    from urllib.parse import urlsplit

    try:
        address = urlsplit(text)
        known = address.scheme in ("http", "https") and bool(address.hostname) and (address.port or 1) > 0
        known = known and text.isprintable() and " " not in text and not address.fragment
    except ValueError:
        known = False
    if not known:
        raise ConfigurationError(
            f'Cannot use {where} "{text}": it must be the address of a collector', "Such as http://localhost:4318"
        )
    if address.username is not None or address.password is not None or address.query:
        raise ConfigurationError(
            f"Cannot use {where}: the address appears in logs, so it must not hold a key",
            "Put it into OTEL_EXPORTER_OTLP_HEADERS, such as authorization=Bearer%20...",
        )
    return text


def samples(text: str, where: str) -> int:
    """A whole number from 1 to 9."""
    if not text.isdecimal() or not 1 <= int(text) <= 9:
        raise ConfigurationError(f'Cannot read {where} "{text}": it must be a whole number from 1 to 9')
    return int(text)


def amount(text: str, where: str) -> float:
    """A number above 0."""
    if not re.fullmatch(r"\d*\.?\d+", text) or not float(text):
        raise ConfigurationError(f'Cannot read {where} "{text}": it must be a number above 0, such as 2.50')
    return float(text)


def percent(text: str, where: str) -> float:
    """A percentage from 1 to 100, with or without its sign."""
    number = text.removesuffix("%")
    if not re.fullmatch(r"\d+(\.\d+)?", number) or not 1 <= float(number) <= 100:
        raise ConfigurationError(f'Cannot read {where} "{text}": it must be a percentage from 1 to 100, such as 80')
    return float(number)


def share(text: str, where: str) -> float:
    """A number from 0 to 1."""
    if not re.fullmatch(r"\d*\.?\d+", text) or float(text) > 1:
        raise ConfigurationError(f'Cannot read {where} "{text}": it must be a number from 0 to 1, such as 0.8')
    return float(text)


def growth(text: str, where: str) -> float:
    """A percentage from 0 up, with or without its sign."""
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise ConfigurationError(f'Cannot use {where} "{text}": it must be a percentage from 0 up', "Write it as 10%")
    return value


def duration(text: str, where: str) -> float:
    """A duration such as `30s`, `1m30s`, `500ms` or `2h`, in seconds."""
    return seconds_of(text, where)


def store_keep(text: str, where: str) -> tuple[StoreKeep, ...]:
    """For how long runs are kept, such as `90d`, or up to which size, such as `500MB`."""
    from runner.cli.store_keep import read_store_keep

    return (read_store_keep(text, where),)


def filled(hint: str) -> Callable[[str, str], str]:
    """Makes a reader of texts that are not empty; `{}` in the hint is the flag."""

    def read(text: str, where: str) -> str:
        if not text:
            raise ConfigurationError(f"Cannot use {where}: it is empty", hint.format(where))
        return text

    return read


def search(text: str, where: str) -> str:
    """A pattern of names; an empty one finds all."""
    return text


def shard(text: str, where: str) -> Shard:
    """One of several parts, such as `2/4`."""
    from runner.cli.shard import read_shard

    return read_shard(text)


def cluster(text: str, where: str) -> ClusterAddress:
    """The address of a scheduler, such as `tls://10.0.0.1:8786`, or `local`."""
    from runner.cli.cluster_address import read_cluster_address

    return read_cluster_address(text, where)


def allowance(text: str, where: str) -> Allowance:
    """How many tests may break, such as `3` or `2%`."""
    from runner.cli.allowance import read_allowance

    return read_allowance(text)


def coverage_threshold(text: str, where: str) -> tuple[CoverageThreshold, ...]:
    """How much of what is counted has to run, such as `lines=90`."""
    from runner.cli.coverage_threshold import read_coverage_threshold

    return read_coverage_threshold(text)


def policy(text: str, where: str) -> str:
    """How often cases run, such as `4 of 5`."""
    from runner.statistics.policies import PolicyError, read_policy

    try:
        read_policy(text)
    except PolicyError as error:
        raise ConfigurationError(f'Cannot read {where} "{text}": {error}', error.hint) from error
    return text


def variant(text: str, where: str) -> tuple[Variant, ...]:
    """One way to run the cases."""
    from runner.cli.variants import read_variant

    return (read_variant(text),)


def hosts(text: str, where: str) -> tuple[str, ...]:
    """Hosts with commas between them, at least one."""
    from bindings import host_problem

    hint = "Write a host or host:port, such as api.example.com:443"
    named = _listed(text, where, hint)
    for host in named:
        problem = host_problem(host)
        if problem is not None:
            raise ConfigurationError(f'Cannot use {where} "{host}": {problem}', hint)
    return named


def programs(text: str, where: str) -> tuple[str, ...]:
    """Names of programs with commas between them, at least one. Raises ConfigurationError for a path."""
    hint = "Programs are looked for in /usr/local/bin, /usr/bin and /bin"
    names = _listed(text, where, hint)
    for name in names:
        if "/" in name or "*" in name:
            raise ConfigurationError(f'Cannot use {where} "{name}": it must be the name of a program', hint)
    return names


def _listed(text: str, where: str, hint: str) -> tuple[str, ...]:
    listed = tuple(name.strip() for name in text.split(",") if name.strip())
    if not listed:
        raise ConfigurationError(f"Cannot use {where}: it is empty", hint)
    return listed


def one_of(*choices: str) -> Callable[[str, str], str]:
    """Makes a reader that accepts only some words."""

    def read(text: str, where: str) -> str:
        if text not in choices:
            *others, last = choices
            listed = f"{', '.join(others)} or {last}" if others else last
            hint = did_you_mean(text, choices) or f"Write {listed}"
            raise ConfigurationError(f'Cannot use {where} "{text}": there is no such choice', hint)
        return text

    return read
