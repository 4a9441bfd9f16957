"""Variants of an agent: other prompts, another connector, other environment variables, in one run with the agent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.agents.assistant import own_prompts
from runner.errors import ConfigurationError
from scripttest.values import Value

if TYPE_CHECKING:
    from runner.agents.assistant import Assistant
    from runner.options.values import Variant


class AgentVariant(Value):
    """What one variant changes in the tested agent. Other agents get its environment variables only."""

    name: str
    agent: str
    """Id of the tested agent."""
    connector: str
    prompts: tuple[Mapping[str, Any], ...] | None
    """Replaces its own; None: it uses its own."""
    env: Mapping[str, str]
    digest: str
    """The digest of its prompts and variables, for a run that is resumed."""

    def of(self, assistant: Assistant) -> Assistant:
        """An agent as it is in this variant."""
        if self.prompts is None or assistant.id != self.agent:
            return assistant
        return assistant.replace(prompts=self.prompts)


def agent_variant(variant: Variant, assistant: Assistant, directory: Path) -> AgentVariant:
    """A variant of an agent, its prompts read. Raises ConfigurationError."""
    prompts = own_prompts(_file(variant, assistant, directory)) if variant.prompts else None
    content = json.dumps([prompts, variant.env], sort_keys=True, default=str)
    return AgentVariant(
        name=variant.name,
        agent=assistant.id,
        connector=variant.connector,
        prompts=prompts,
        env=dict(variant.env),
        digest=blake2b(content.encode("utf-8", "replace"), digest_size=8).hexdigest(),
    )


def _file(variant: Variant, assistant: Assistant, directory: Path) -> Path:
    """The prompts of a variant: from the working directory, else from the agent's folder."""
    places = [directory / variant.prompts, assistant.folder / variant.prompts]
    for place in places:
        if place.is_file():
            return place
    raise ConfigurationError(
        f"Cannot find the prompts of variant {variant.name}: there is no {places[0]}, and no {places[1]}",
        "Name a file from the working directory or from the folder of the agent",
    )
