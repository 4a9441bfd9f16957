"""The environment variables that an application names, in its `.env` file, and those that `--env-file` gives a run."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from runner.errors import ConfigurationError
from runner.options.options import absolute
from runner.security.files import read_text
from scripttest import RefusedFileError
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.environment import Environment

_QUOTED = re.compile(r"""(?:"(.*?)"|'(.*?)')(?:\s+#.*)?""", re.DOTALL)
"""A value in quotation marks, and a comment behind it."""


class Variables(Value):
    """Environment variables, as an application has them."""

    named: Mapping[str, str]
    """The variables that its `.env` file names, and those of `--env-file` that are not secret."""
    every: Mapping[str, str]
    """These, and all others of the environment."""


def variables_of(root: Path, given: Mapping[str, str], names: Collection[str] = ()) -> Variables:
    """The variables of the application in a folder. A value among those that are `given` wins over the one of `.env`;
    `names` are those that are named beside `.env`. Raises ConfigurationError for a `.env` that is refused, such as a
    link out of the application, or cannot be read."""
    try:
        written = {name: _unquoted(value) for _, name, value in _lines(read_text(root / ".env", "replace")) if name}
    except RefusedFileError as error:
        hint = "You can set its variables in the environment, and remove it"
        raise ConfigurationError(f"Cannot read {root / '.env'}: {error.strerror}", hint) from error
    except FileNotFoundError:
        written = {}
    except OSError as error:
        hint = "Make it readable, or set its variables in the environment, and remove it"
        raise ConfigurationError(f"Cannot read {root / '.env'}: {error.strerror}", hint) from error
    named = {name: given.get(name, value) for name, value in written.items()}
    return Variables(named={**named, **{name: given[name] for name in names}}, every={**written, **given})


def all_variables(root: Path, environment: Environment) -> Variables:
    """The same of an environment with its keys, for those who connect. From here on the secrets of the application are
    known."""
    variables = variables_of(root, {**environment.variables, **environment.keys}, environment.named)
    environment.secrets.add_application(root, variables.every)
    return variables


def with_files(environment: Environment, files: Sequence[str]) -> Environment:
    """An environment with the variables of the files of `--env-file`, of which later ones win. Raises
    ConfigurationError for a file that cannot be read, and for a line that sets no variable; it is not quoted, as a key
    may be in it."""
    given: dict[str, str] = {}
    for file in files:
        path = absolute(file, environment.directory)
        try:
            text = read_text(path)
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            raise ConfigurationError(f"Cannot read variables from {file}:{line}: it is not UTF-8") from error
        except OSError as error:
            raise ConfigurationError(f"Cannot read variables from {file}: {error.strerror}") from error
        for line, name, value in _lines(text):
            if not name or "\0" in value or (value[:1] in ("'", '"') and not _QUOTED.fullmatch(value)):
                hint = 'Write each variable on a line of its own, as NAME=value or NAME="value"'
                raise ConfigurationError(f"Cannot read variables from {file}:{line}: the line sets no variable", hint)
            given[name] = _unquoted(value)
    return environment.with_variables(given)


def _lines(text: str) -> Iterator[tuple[int, str, str]]:
    """The number, name and value, as it is written, of each line that is neither empty nor a comment; no name where it
    sets nothing."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and not line.strip().startswith("#"):
            sets = re.match(r"\s*(?:export\s+)?([\w.-]+)\s*=(.*)", line, re.DOTALL)
            yield (number, sets[1], re.split(r"^\s+#", sets[2])[0].strip()) if sets else (number, "", "")


def _unquoted(value: str) -> str:
    quoted = _QUOTED.fullmatch(value)
    return quoted[1] or quoted[2] or "" if quoted else re.split(r"\s#", value, maxsplit=1)[0].rstrip()
