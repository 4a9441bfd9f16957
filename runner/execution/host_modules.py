"""The test modules of a plan in the form that the script host takes."""

from __future__ import annotations

import json
import os
from pathlib import Path

from scripttest import Module, Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.application.application import TestModule
    from runner.planning.plan import RunPlan


def host_modules(plan: RunPlan) -> list[Module]:
    """All test modules of a plan."""
    return [_host_module(module, plan) for module in plan.modules]


def _host_module(module: TestModule, plan: RunPlan) -> Module:
    context = plan.context_of(module.agent)
    own = {**context, "assistant_id": context["assistant_id"] or module.agent}
    folder = f"{str(module.test)[: -len(module.label)]}{module.label.partition('/src/')[0]}"
    if os.path.isfile(f"{folder}/sandbox.yao"):
        own = _in_sandbox(own, Path(folder))
    return Module(
        source=Source(key=module.id, test=module.test, script=module.script),
        context=json.dumps(own),
        timeout=plan.settings.of(module.agent, plan.options).script_timeout,
    )


def _in_sandbox(context: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The context of an agent with a sandbox. It is unchanged when the sandbox file is wrong, which calls of the agent
    report."""
    from runner.application.sandbox import read_sandbox
    from runner.errors import ConfigurationError

    try:
        sandbox = read_sandbox(folder)
    except ConfigurationError:
        return context
    return context if sandbox is None else sandbox.context(context)
