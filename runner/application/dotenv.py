"""The environment variables that an application names: those in its `.env` file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from runner.errors import ConfigurationError
from runner.security.files import read_text
from scripttest import RefusedFileError

if TYPE_CHECKING:
    from runner.environment import Environment


def named_variables(root: Path, variables: Mapping[str, str]) -> dict[str, str]:
    """Name → value for every name in `<root>/.env`; the value among `variables` wins over the file's. Raises
    ConfigurationError for a file that is refused, such as a link out of the application, or cannot be read."""
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
            named[name] = variables.get(name, _unquoted(value.strip()))
    return named


def all_variables(root: Path, environment: Environment) -> tuple[dict[str, str], dict[str, str]]:
    """The variables that the `.env` of an application names; and all, keys among them, for those who connect. From here
    on the secrets of the application are known. Raises ConfigurationError as `named_variables`."""
    given = {**environment.variables, **environment.keys}
    named = named_variables(root, given)
    variables = {**named, **given}
    environment.secrets.add_application(root, variables)
    return named, variables


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value.partition(" #")[0].rstrip()
