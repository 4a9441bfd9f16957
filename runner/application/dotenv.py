"""The environment variables that an application names: those in its `.env` file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from runner.errors import ConfigurationError
from runner.security.files import read_text
from scripttest import RefusedFileError
from scripttest.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.environment import Environment


class Variables(Value):
    """Environment variables, as an application has them."""

    named: Mapping[str, str]
    """The variables that its `.env` file names."""
    every: Mapping[str, str]
    """These, and all others of the environment."""


def variables_of(root: Path, given: Mapping[str, str]) -> Variables:
    """The variables of the application in a folder. A value among those that are `given` wins over the one of `.env`.
    Raises ConfigurationError for a `.env` that is refused, such as a link out of the application, or cannot be read."""
    named = {name: given.get(name, value) for name, value in _read(root).items()}
    return Variables(named=named, every={**named, **given})


def all_variables(root: Path, environment: Environment) -> Variables:
    """The same of an environment with its keys, for those who connect. From here on the secrets of the application are
    known."""
    variables = variables_of(root, {**environment.variables, **environment.keys})
    environment.secrets.add_application(root, variables.every)
    return variables


def _read(root: Path) -> dict[str, str]:
    """Name → value of `.env`."""
    try:
        lines = read_text(root / ".env", "replace").splitlines()
    except RefusedFileError as error:
        hint = "You can set its variables in the environment, and remove it"
        raise ConfigurationError(f"Cannot read {root / '.env'}: {error.strerror}", hint) from error
    except FileNotFoundError:
        return {}
    except OSError as error:
        hint = "Make it readable, or set its variables in the environment, and remove it"
        raise ConfigurationError(f"Cannot read {root / '.env'}: {error.strerror}", hint) from error
    named = {}
    for line in lines:
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        name = name.strip()
        if equals and name and not name.startswith("#"):
            named[name] = _unquoted(value.strip())
    return named


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value.partition(" #")[0].rstrip()
