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
    """Randomness, mostly from 0 to 2."""
    max_tokens: int | None = None
    """Tokens of the answer at most."""
    max_completion_tokens: int | None = None
    """The same, with what the model thinks."""
    top_p: float | None = None
    """The share of probable tokens that the model chooses from, 0 to 1."""
    n: int | None = None
    """How many answers the model gives; the first one counts."""
    stop: str | list[str] | None = None
    """Texts before which the answer ends."""
    presence_penalty: float | None = None
    """From -2 to 2: how much tokens that were there count less."""
    frequency_penalty: float | None = None
    """The same, by how often they were there."""
    logit_bias: FreeObject | None = None
    """Token → how much more or less it counts, -100 to 100."""
    user: str | None = None
    """Id of the user for the host of the model."""
    response_format: FreeObject | None = None
    """The form of the answer, such as `{"type": "json_object"}`."""
    seed: int | None = None
    """For hosts that give equal answers to equal requests."""
    tools: list[FreeObject] | None = None
    """Further tools, in OpenAI's form."""
    tool_choice: str | FreeObject | None = None
    """`auto`, `none`, `required`, or a tool."""
    stream: bool | None = None
    """Whether the answer comes in pieces."""
    audio: FreeObject | None = None
    """Voice and format of a spoken answer."""


def parameters_in(options: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a model among options; those that are null are not given."""
    return {name: options[name] for name in fields_of(ModelParameters) if options.get(name) is not None}


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
