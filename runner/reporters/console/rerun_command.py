"""The command that runs one test again: the console prints it, and the HTML report copies it. In the folder in which a
run was started, it gives the result of that run once more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from runner.options.options import RunOptions
from runner.record.model import Suite
from scripttest import BENCHMARK, Status, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Record = dict[str, Any]

SEARCH = "--fuzz-time"
"""Among the flags of a run that searches with `--fuzz`."""


def flags_of(options: RunOptions) -> tuple[str, ...]:
    """The flags of a run that a result may depend on, as words of its command."""
    return tuple(options.words(lambda flag: flag.of_test and (flag.field != "fuzz_time" or bool(options.fuzz))))


def command_of(suite: Suite, flags: Sequence[str]) -> Callable[..., str]:
    """What runs one test of a suite again, by its name and whether a step of it failed; `flags` is what `flags_of`
    gave. An input that a search has found is a step, which needs no search any more."""
    more, search = list(flags), ""
    if SEARCH in more:
        at = more.index(SEARCH)
        search = f" {SEARCH} {_quoted(more[at + 1])}"
        del more[at : at + 2]
    if "--name" not in flags and (suite.is_message or suite.is_generated):
        more += ["--name", suite.agent]
    command = f"yao-test -i {_quoted(suite.input)}"
    rest = "".join(f" {_quoted(word)}" for word in more)

    def of(test: str, in_step: bool = True) -> str:
        if suite.is_message or (not suite.has_cases and not kind_of(test)):  # a broken module has no tests
            return command + rest
        pattern = f"'^{test}$'" if _is_plain(test) else _quoted(pattern_of([test]))
        flag = "--bench" if not suite.has_cases and kind_of(test) == BENCHMARK else "--run"
        if search and not in_step:
            return f"{command} --fuzz {pattern}{search}{rest}"
        return f"{command} {flag} {pattern}{rest}"

    return of


def has_failed_step(record: Record) -> bool:
    """Whether a step of a result failed, which is a line of a report."""
    return any(step.get("status") == Status.FAILED for step in record.get("steps") or ())


def pattern_of(tests: Iterable[str]) -> str:
    """The value of `--run` that runs these tests of a suite, by their names."""
    return "|".join(f"^{_escaped(test)}$" for test in tests)


def _is_plain(name: str) -> bool:
    """Whether a name can be a pattern of `--run` unchanged, as most can. Reports have thousands of names."""
    return name.isascii() and name.replace("-", "_").isidentifier()


def _quoted(text: str) -> str:
    from shlex import quote

    return quote(text)


def _escaped(name: str) -> str:
    """A pattern of `--run` that matches a name. Spaces are `_` there, so any character is accepted for them, and for
    those that cannot be seen."""
    from re import sub

    def escaped(letter: str) -> str:
        if letter == "\n":
            return r"\n"
        if letter in " /" or not letter.isprintable():
            return "."
        return f"\\{letter}" if letter.isascii() else letter

    return sub(r"[^\w-]", lambda match: escaped(match[0]), name)
