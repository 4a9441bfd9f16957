"""What a flag of the command line is: its spelling, the values that it takes, the flags that exclude it, which results
it changes, and who else than the command line may set it. All flags are in `RunOptions` of `runner.options.options`.

Readers take the text of a value and the flag as it is named in messages, such as `--shard`, and raise
ConfigurationError. Those of values that are more than a word, a number or a path are in `runner.options.values`."""

from __future__ import annotations

import re

from runner.amounts import in_words, seconds_of
from runner.errors import ConfigurationError, did_you_mean
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar, Self


_NOT_GIVEN = {"repeated": (), "optional": (), "words": (), "switch": False, "count": 0}
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
    SECURITY = "it weakens security, so it can only be set on the command line"
    CHECKS = "the file may be part of the change that this flag checks"
    APPLICATION = "the file belongs to the application in which it is"
    ONE_RUN = "it applies to one run, so it can only be set on the command line"


class Carried:
    """What the value of an earlier run means for `--resume`, `status`, `regrade` and what runs a test again."""

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


class Flag(Value):
    """One flag of the command line."""

    name: str = ""
    """Long spelling, without dashes."""
    field: str
    """Name of the field of `RunOptions` with the value."""
    help: str
    default: Any
    """The value when it is not given."""
    short: str | None = None
    kind: str
    """text, maybe (text, and `*` where the value is left out), repeated, optional (both), switch, count; word or words,
    which are no flags."""
    metavar: str = "TEXT"
    aliases: tuple[str, ...] = ()
    """Other spellings, with dashes."""
    read: Callable[[str, str], Any] | None = None
    """Makes a value of a text, or several of it for a flag that may be repeated. Its second argument is the flag as it
    is named in the ConfigurationError that it raises. None: the text is the value, and a single one is not empty."""
    excludes: tuple[str, ...] = ()
    """Names of flags that may not be given together with it."""
    needs: str | None = None
    """Name of a flag without which it may not be given."""
    required: bool = False
    """Whether a command cannot do without it."""
    every_day: str = ""
    """The heading below which `--help` shows it; empty: only `--help all` does."""
    changes: str
    file: str
    carried: str
    regrade: str = Regrade.NO
    mutate: bool = False
    """Whether `mutate` has it, too."""
    repl: bool = False
    """Whether `repl` has it, too."""

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
        """Whether a resumed run takes it from the configuration file as it is now, if it was there before."""
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
        if isinstance(value, list) or (isinstance(value, str) and self.read is not None):
            return self._read(value)
        return value

    @property
    def shown(self) -> str:
        """Its name in messages."""
        return self.metavar if self.kind in ("word", "words") else f"--{self.name}"

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

    def may_be(self, word: str) -> bool:
        """Whether the word behind a flag that may stand without a value can be one; it may also name what to test."""
        if self.kind != "maybe" or self.read is None:
            return self.kind != "optional" or "/" not in word
        try:
            self.read(word, self.name)
        except ConfigurationError:
            return False
        return True

    def value(self, values: dict[str, Any]) -> Any:
        """Its checked value. Raises ConfigurationError for an invalid one."""
        said = values[self.field]
        if self.read is None and self.kind == "text" and not said:
            hint = f"--{self.name} {self.metavar}: {self.help}"
            raise ConfigurationError(f"Cannot use --{self.name}: it is empty", hint)
        return said if isinstance(said, bool | int) else self._read(said)

    def _read(self, said: Any) -> Any:
        read = self.read or (lambda text, _: text)
        if isinstance(said, str):
            return read(said, self.shown)
        found = [read(text, self.shown) for text in said]
        return tuple(value for one in found for value in (one if isinstance(one, tuple) else (one,)))


def flag(
    help: str, *, changes: str, file: str, carried: str, kind: str = "text", default: Any = None, **declared: Any
) -> Any:
    """A `Flag` of a `FlagTable`, with the name of its field, unless another is given, and the default of its kind."""
    default = _NOT_GIVEN.get(kind) if default is None else default
    declared |= {"help": help, "kind": kind, "default": default}
    return declared | {"changes": changes, "file": file, "carried": carried}


class FlagTable(Value):
    """Values of flags. Each field of a subclass is declared with `flag`."""

    __declared__: ClassVar[tuple[Flag, ...]] = ()
    """All flags, in the order in which they are declared."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.__declared__ = tuple(
            Flag(**{"field": field, "name": field.replace("_", "-"), **declared})
            for field, declared in cls.__value_defaults__.items()
        )
        cls.__value_defaults__ = {flag.field: flag.default for flag in cls.__declared__}

    @classmethod
    def read(cls, values: dict[str, Any]) -> Self:
        """The checked values of texts, by field, as parsers of command lines return them. Raises ConfigurationError."""
        return cls(**{flag.field: flag.value(values) for flag in cls.__declared__ if flag.is_given(values)})


LINES = "lines"
"""The value of `--json` for a line of JSON for each result."""
duration = seconds_of
"""A duration such as `30s`, `1m30s`, `500ms` or `2h`, in seconds."""


def value_read_by(name: str) -> Callable[[str, str], Any]:
    """The reader of this name in `runner.options.values`, which is loaded for such a flag only."""

    def read(text: str, where: str) -> Any:
        from runner.options import values

        return getattr(values, name)(text, where)

    return read


def number(
    kind: Callable[[str], float], pattern: str, fits: Callable[[float], bool], what: str
) -> Callable[[str, str], Any]:
    """Makes a reader of numbers; `what` a text has to be if it is refused."""

    def read(text: str, where: str) -> float:
        if not re.fullmatch(pattern, text) or not fits(value := kind(text.removesuffix("%"))):
            raise ConfigurationError(f'Cannot read {where} "{text}": it must be {what}')
        return value

    return read


count = number(int, r"\d+", lambda number: number >= 1, "a whole number of at least 1")
samples = number(int, r"\d+", lambda number: 1 <= number <= 9, "a whole number from 1 to 9")
amount = number(float, r"\d*\.?\d+", lambda number: number > 0, "a number above 0, such as 2.50")
percent = number(float, r"\d+(\.\d+)?%?", lambda number: 1 <= number <= 100, "a percentage from 1 to 100, such as 80")
share = number(float, r"\d*\.?\d+", lambda number: number <= 1, "a number from 0 to 1, such as 0.8")


def share_or_percent(text: str, where: str) -> float:
    """A share such as `0.8`, `80` or `80%`, from 0 to 1."""
    number = text.removesuffix("%")
    if not re.fullmatch(r"\d*\.?\d+", number) or not float(number) <= 100:
        raise ConfigurationError(f'Cannot read {where} "{text}": it must be a share such as 0.8, or 80 for 80 %')
    return float(number) / 100 if float(number) > 1 or text.endswith("%") else float(number)


def shuffle_seed(text: str, where: str) -> int:
    """A whole number from 1 up; for `*` a random one."""
    if text != "*":
        number: int = count(text, where)
        return number
    from os import urandom

    return int.from_bytes(urandom(3), "big") + 1


def story_form(text: str, where: str) -> str:
    """`all`, `off`, or `few` for `*`. Raises ConfigurationError."""
    return one_of("few", "all", "off")("few" if text == "*" else text, where)


def json_form(text: str, where: str) -> str:
    """`lines`, or `document` for `*`. Raises ConfigurationError."""
    if text not in ("*", LINES):
        raise ConfigurationError(f"Cannot use {where} {text}", f"Write {where} for one document, or {where}={LINES}")
    return LINES if text == LINES else "document"


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


def policy(text: str, where: str) -> str:
    """How often cases run, such as `4 of 5`."""
    from runner.statistics.policies import PolicyError, read_policy

    try:
        read_policy(text)
    except PolicyError as error:
        hint = f"Type: --runs {text}" if text.isdecimal() else error.hint
        raise ConfigurationError(f'Cannot read {where} "{text}": {error}', hint) from error
    return text


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
    hint = "Programs are searched for in /usr/local/bin, /usr/bin and /bin"
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
            hint = did_you_mean(text, choices) or f"Choose {listed}"
            raise ConfigurationError(f'Invalid {where} "{text}"', hint)
        return text

    read.choices = choices  # type: ignore[attr-defined]  # for help and completion
    return read
