"""The parameters of a model: `options` of package.yao, and fields of `options` of cases.

A later one goes over an earlier one, in this order: the connector's file, the package, the case, its turn, what the
Create hook returns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runner.shapes.declared import Model, fields_of
from runner.shapes.fields import FreeObject

_LIMITS = frozenset(("max_tokens", "max_completion_tokens"))


class ModelParameters(Model):
    """As OpenAI's chat API has them; connectors of other hosts write them as their hosts do."""

    temperature: float | None = None
    """Randomness, usually from 0 to 2."""
    max_tokens: int | None = None
    """Maximum number of tokens in the answer."""
    max_completion_tokens: int | None = None
    """Maximum number of tokens in the answer, reasoning included."""
    top_p: float | None = None
    """Share of the most probable tokens to choose from, 0 to 1."""
    n: int | None = None
    """Number of answers from the model; the first one counts."""
    stop: str | list[str] | None = None
    """Strings at which the answer stops."""
    presence_penalty: float | None = None
    """Penalty for tokens that already occurred, -2 to 2."""
    frequency_penalty: float | None = None
    """Penalty for tokens by how often they occurred, -2 to 2."""
    logit_bias: FreeObject | None = None
    """Token → its bias, -100 to 100."""
    user: str | None = None
    """Id of the user, for the provider."""
    response_format: FreeObject | None = None
    """Format of the answer, such as `{"type": "json_object"}`."""
    seed: int | None = None
    """Seed for providers that can repeat an answer."""
    tools: list[FreeObject] | None = None
    """Further tools, in OpenAI's format."""
    tool_choice: str | FreeObject | None = None
    """`auto`, `none`, `required`, or a tool."""
    stream: bool | None = None
    """Whether the answer is streamed."""
    audio: FreeObject | None = None
    """Voice and format of a spoken answer."""


def parameters_in(options: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a model among options; those that are null are not given."""
    return {name: options[name] for name in options and fields_of(ModelParameters) if options.get(name) is not None}


def is_parameter(name: str, value: Any) -> bool:
    """Whether a value is that of a parameter of this name."""
    try:
        return name in fields_of(ModelParameters) and bool(ModelParameters.model_validate({name: value}))
    except ValueError:
        return False


def over(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> dict[str, Any]:
    """Options with others over them; a limit of tokens replaces that of either name."""
    replaced = _LIMITS if _LIMITS & later.keys() else frozenset[str]()
    return {name: value for name, value in earlier.items() if name not in replaced} | dict(later)
