"""Values of flags that are more than a word, a number or a path, with their readers: each takes the text, and the flag
as it is named in messages, and raises ConfigurationError."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fractions import Fraction

from runner.errors import ConfigurationError, did_you_mean
from scripttest.values import Value


class _Written(Value):
    text: str
    """As the user wrote it."""

    def __str__(self) -> str:
        return self.text


def _unread(where: str, text: str, why: str, hint: str | None = None) -> ConfigurationError:
    return ConfigurationError(f'Cannot read {where} "{text}": {why}', hint)


class Allowance(_Written):
    """How many tests may break before the run fails: a number, or a share of the planned tests."""

    number: Fraction
    is_share: bool
    """Whether the number is a percentage."""

    def covers(self, errors: int, planned: int) -> bool:
        """Whether so many of the planned tests may break; exactly the allowed share may."""
        return errors <= (self.number * planned / 100 if self.is_share else self.number)


def read_allowance(text: str, where: str) -> Allowance:
    """The allowance that a text such as `3`, `2%` or `0.5%` gives. Raises ConfigurationError."""
    number = text.removesuffix("%")
    is_share = number != text
    if not re.fullmatch(r"\d+(\.\d+)?" if is_share else r"\d+", number) or (is_share and Fraction(number) > 100):
        why = "it must be a number of tests, or a share of them from 0% to 100%"
        raise _unread(where, text, why, f"For example: {where} 3 or {where} 2%")
    return Allowance(text=text, number=Fraction(number), is_share=is_share)


_ADDRESS_HINT = "Write tcp://HOST:PORT or tls://HOST:PORT of a Dask scheduler, or local, or local:N for N workers here"
_MOST_WORKERS = 256
"""Of a cluster that a run starts."""
_SCHEDULER = r"(?:(tcp|tls|ws|wss)://)?(\[[0-9A-Fa-f:.]+\]|[\w.-]+):(\d{1,5})/?"


class ClusterAddress(Value):
    """The address of the Dask scheduler of a run with `--cluster`."""

    url: str
    """Such as `tls://10.0.0.1:8786`. Empty: the run starts a scheduler of its own."""
    host: str = ""
    port: int = 0
    workers: int = 0
    """How many workers the run starts; 0: as many as there are CPUs."""

    @property
    def is_local(self) -> bool:
        """Whether scheduler and workers are started for this run."""
        return not self.url

    def __str__(self) -> str:
        return self.url or (f"local:{self.workers}" if self.workers else "local")


def read_cluster_address(text: str, where: str) -> ClusterAddress:
    """Reads the value of `--cluster`. Raises ConfigurationError."""
    local = re.fullmatch(r"local(?::(\d+))?", text)
    if local and int(local[1] or 1) > 0:
        if int(local[1] or 1) > _MOST_WORKERS:
            said = f'{where} "{text}" asks for more than {_MOST_WORKERS} workers on this machine'
            raise ConfigurationError(said, "local alone starts one worker per CPU")
        return ClusterAddress(url="", workers=int(local[1] or 0))
    found = re.fullmatch(_SCHEDULER, text)
    if found is None or not 0 < int(found[3]) < 65536:
        raise _unread(where, text, "it is not the address of a scheduler", _ADDRESS_HINT)
    return ClusterAddress(
        url=f"{found[1] or 'tcp'}://{found[2]}:{found[3]}", host=found[2].strip("[]"), port=int(found[3])
    )


_METRICS = ("statements", "branches", "functions", "lines")


class CoverageThreshold(Value):
    """How many percent of a metric must be covered, in all files or in one folder."""

    metric: str
    percent: float
    """Above 0, at most 100."""
    folder: str = ""
    """Path from the application's root; empty: all files."""

    def __str__(self) -> str:
        return f"{self.folder + ':' if self.folder else ''}{self.metric}={self.percent:g}"


def misses_in(
    miss: Callable[[str, float, str], str | None], thresholds: Iterable[CoverageThreshold]
) -> tuple[str, ...]:
    """A sentence for each threshold that is not reached; `miss` makes it of a metric, a percentage and a folder."""
    said = ((miss(one.metric, one.percent, one.folder), one) for one in thresholds)
    return tuple(f"{what}; --coverage-threshold {one}" for what, one in said if what is not None)


def read_coverage_threshold(text: str, where: str) -> tuple[CoverageThreshold, ...]:
    """Reads the value of the flag. Raises ConfigurationError."""
    match = re.fullmatch(r"(?:(.+):)?(\w+)=([\d.]+)%?", text)
    if match is None:
        said = f"lines={text.removesuffix('%') if text.removesuffix('%').isdecimal() else 90}"
        hint = f"Write {said}, or assistants/demo:{said} for the files below a folder of the application"
        raise _unread(where, text, "it must be a metric and a percentage", hint)
    folder, metric, number = match.groups()
    if metric not in _METRICS:
        hint = did_you_mean(metric, _METRICS) or f"The metrics are {', '.join(_METRICS)}"
        raise _unread(where, text, f'unknown metric "{metric}"', hint)
    if not re.fullmatch(r"\d+(\.\d+)?", number) or not 0 < float(number) <= 100:
        raise _unread(where, text, f"{number} must be a percentage above 0 and at most 100")
    folder = (folder or "").strip("/").removeprefix("./")
    return (CoverageThreshold(metric=metric, percent=float(number), folder=folder),)


class Shard(Value):
    """One of several parts of the tests."""

    number: int
    """From 1."""
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def has(self, name: str) -> bool:
        """Whether the test or file with this name belongs to this part."""
        from hashlib import blake2b

        digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return int.from_bytes(digest, "big") % self.of == self.number - 1


def read_shard(text: str, where: str) -> Shard:
    """Reads the value of `--shard`. Raises ConfigurationError."""
    match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise _unread(where, text, "it must be I/N, with I from 1 to N", "For example: 1/4, 2/4, 3/4 and 4/4")
    return Shard(number=int(match[1]), of=int(match[2]))


class WatchExpr(Value):
    """An expression that is evaluated after a line of a script."""

    file: str
    """As the user wrote it."""
    line: int
    """From 1."""
    expression: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.expression}"


def read_watch_expr(text: str, where: str) -> tuple[WatchExpr]:
    """Reads a value of `--watch-expr`. Raises ConfigurationError."""
    match = re.fullmatch(r"(.+?):(\d{1,7}):\s*(\S[^\n]*)", text)
    if match is None or not int(match[2]):
        hint = "For example: assistants/expense/src/setup.ts:12:total"
        raise _unread(where, text, "it must be FILE:LINE:EXPRESSION", hint)
    return (WatchExpr(file=match[1], line=int(match[2]), expression=match[3].strip()),)


_SECONDS = {"h": 3600, "d": 86_400, "w": 7 * 86_400}
_BYTES = {"KB": 1000, "MB": 1000**2, "GB": 1000**3}


class StoreKeep(_Written):
    """The limit of a store: an age of runs, or a size. Runs beyond it are removed, the oldest first."""

    seconds: int | None = None
    """The highest age of a run."""
    bytes: int | None = None
    """The largest size of the store."""


STANDARD_STORE_KEEP = StoreKeep(text="1GB", bytes=_BYTES["GB"])
"""The limit when no flag sets one."""


def read_store_keep(text: str, where: str) -> tuple[StoreKeep, ...]:
    """The limit that a text such as `90d`, `12w`, `36h`, `500MB` or `2GB` gives. Raises ConfigurationError."""
    found = re.fullmatch(r"(\d+)(h|d|w|KB|MB|GB)", text)
    if found is None or not int(found[1]):
        raise _unread(
            where, text, "it must be an age or a size", "Write an age as 90d, 12w or 36h, a size as 500MB or 2GB"
        )
    number, unit = int(found[1]), found[2]
    if unit in _SECONDS:
        return (StoreKeep(text=text, seconds=number * _SECONDS[unit]),)
    return (StoreKeep(text=text, bytes=number * _BYTES[unit]),)


_VARIANT_KEYS = ("connector", "prompts", "env")
_VARIANT_HINT = "For example: --variant new=connector:gpt,prompts:prompts-new.yml,env:STYLE=short"
_MOST_VARIANTS = 8
_MOST_ROUNDS = 5
_VARIANT_NAME = re.compile(r"[\w.+-]{1,40}")
_VARIANT_SETTINGS = re.compile(rf",(?=(?:{'|'.join(_VARIANT_KEYS)}|\w+):)")


class Variant(_Written):
    """One variant: what differs from the agent as it is in the application."""

    name: str
    connector: str = ""
    """Id of the connector that the tested agent uses; empty: the one that it uses without variants."""
    prompts: str = ""
    """File that replaces the prompts.yml of the tested agent."""
    env: tuple[tuple[str, str], ...] = ()
    """Environment variables that are set: names and values."""


def read_variant(text: str, where: str) -> tuple[Variant, ...]:
    """Reads `NAME=connector:...,prompts:...,env:NAME=VALUE`, or a name alone. Raises ConfigurationError."""
    name, _, rest = text.partition("=")
    if not _VARIANT_NAME.fullmatch(name):
        raise _unread(where, text, "it does not start with a name", _VARIANT_HINT)
    said: dict[str, str] = {}
    env: dict[str, str] = {}
    for part in _VARIANT_SETTINGS.split(rest) if rest else ():
        key, is_given, value = part.partition(":")
        if not is_given or key not in _VARIANT_KEYS:
            hint = did_you_mean(key, _VARIANT_KEYS) or f"It must be one of {', '.join(_VARIANT_KEYS)}"
            raise _unread(where, text, f'there is no "{key}"', hint)
        if not value or (key == "env" and not value.partition("=")[0]):
            raise _unread(where, text, f'"{key}:" is empty', _VARIANT_HINT)
        if key == "env":
            variable, is_set, content = value.partition("=")
            if not is_set:
                raise _unread(where, text, f"{variable} has no value", _VARIANT_HINT)
            env[variable] = content
        elif key in said:
            raise _unread(where, text, f'"{key}" occurs twice')
        else:
            said[key] = value
    return (Variant(text=text, name=name, env=tuple(env.items()), **said),)


def rounds_of(runs: int) -> int:
    """How many rounds `--until-decided` plans. Raises ConfigurationError when there are too many."""
    if runs > _MOST_ROUNDS:
        raise ConfigurationError(
            f"--until-decided makes at most {_MOST_ROUNDS} rounds, and --runs is {runs}",
            f"Leave --runs out, or give {_MOST_ROUNDS} at most; more rounds would give false alarms",
        )
    return runs if runs > 1 else _MOST_ROUNDS


def check_variants(variants: tuple[Variant, ...]) -> None:
    """Raises ConfigurationError when variants cannot be compared."""
    names = [variant.name for variant in variants]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigurationError(f'Two variants have the name "{twice}"')
    if len(names) == 1:
        hint = f'For example: --variant old --variant "{variants[0]}": the others are compared with the first one'
        raise ConfigurationError("There is only one --variant, so there is nothing to compare", hint)
    if len(names) > _MOST_VARIANTS:
        raise ConfigurationError(f"There are {len(names)} variants, and {_MOST_VARIANTS} is the most")


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
            f'Cannot use {where} "{text}": it must be the URL of a collector', "For example: http://localhost:4318"
        )
    if address.username is not None or address.password is not None or address.query:
        raise ConfigurationError(
            f"Cannot use {where}: the URL appears in logs, so it must not contain a key",
            "Put it in OTEL_EXPORTER_OTLP_HEADERS, such as authorization=Bearer%20...",
        )
    return text


def growth(text: str, where: str) -> float:
    """A percentage from 0 up, with or without its sign."""
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise ConfigurationError(
            f'Cannot use {where} "{text}": it must be a percentage of at least 0', "Write it as 10%"
        )
    return value
