"""`--variant`: repeats each source of cases for each variant."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from runner.agents.variants import agent_variant
from runner.errors import ConfigurationError

if TYPE_CHECKING:
    from runner.options.values import Variant
    from runner.planning.case_source import CaseSource


def varied(
    sources: Iterable[CaseSource], variants: Iterable[Variant], directory: Path, *, in_rounds: bool
) -> list[CaseSource]:
    """The sources of all variants; those of one input follow each other. `in_rounds`: with `--until-decided`. Raises
    ConfigurationError."""
    found = []
    for source in sources:
        own = [located.case.id for located in source.cases() if located.case.repeat is not None] if in_rounds else []
        if own:
            raise ConfigurationError(
                f'Cannot run {source.suite.label} with --until-decided: case "{own[0]}" says itself how often it runs',
                "Leave its `repeat` out, or --until-decided",
            )
        for variant in variants:
            suite = source.suite.replace(
                id=f"{source.suite.id} [{variant.name}]",
                variant=variant.name,
                connector=variant.connector or source.suite.connector,
            )
            of_agent = agent_variant(variant, source.assistant, directory)
            found.append(source.replace(suite=suite, variant=of_agent))
    if not found:
        raise ConfigurationError(
            "There are no cases for --variant", "Script tests have no connector and no prompts: leave --variant out"
        )
    return found
