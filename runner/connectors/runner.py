"""The connector `runner`, which replaces the runner of a sandbox agent. It follows the rules in `runner.yml` beside
`package.yao`. Its answer is the JSON of a `Product`, so that recordings keep it as they keep those of models.

Nothing is kept between calls: how often a rule has applied is seen from the conversation.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from runner.connectors.base import Completion, ConnectorError, ModelRequest, Usage
from runner.connectors.reply_situation import Situation
from runner.connectors.reply_templates import TemplateError, as_json
from runner.connectors.rules import first_rule, used_before
from runner.connectors.runner_rules import FILE, RunnerRule, read_runner
from runner.errors import ConfigurationError
from runner.paths import shown_path

if TYPE_CHECKING:
    from runner.connectors.endpoint import Endpoint

_SHOWN_RULES = 20


class ScriptedRunner:
    """Answers by rules. A file of rules is read once, which blocks."""

    id = "runner"
    endpoint: Endpoint | None = None

    def __init__(self, application_root: Path) -> None:
        self._root = application_root
        self._files: dict[Path, tuple[RunnerRule, ...]] = {}

    async def complete(self, request: ModelRequest) -> Completion:
        """The result of the first rule that applies. Raises ConnectorError when none does, or the rules are broken."""
        assert request.folder is not None
        path = request.folder / FILE
        label = shown_path(path, self._root)
        rules = self._rules(path, label, request.agent)
        situation = Situation(request)
        rule = self._first(rules, situation, label)
        try:
            product = rule.product(situation)
        except TemplateError as error:
            raise ConnectorError(f"Cannot answer by rule {rule.number} of {label}: {error}") from error
        if request.on_chunk is not None:
            for event in product.events:
                if event["type"] == "text":
                    request.on_chunk(event["text"])
        return Completion(content=json.dumps(product.record(), ensure_ascii=False), usage=Usage())

    def forget_outage(self) -> None:
        """No host, no outage."""

    async def close(self) -> None:
        """Nothing to close."""

    def _rules(self, path: Path, label: str, agent: str) -> tuple[RunnerRule, ...]:
        if path not in self._files:
            if not path.is_file():
                hint = (
                    f"Write {label}, for example:\n"
                    "- when: { message: add a readme }\n"
                    '  files: { README.md: "# Hello" }\n'
                    "  events: [{ type: text, text: Done }]"
                )
                raise ConnectorError(f'Cannot run the sandbox of agent "{agent}": there is no {label}', hint=hint)
            try:
                self._files[path] = read_runner(path, label)
            except ConfigurationError as error:
                raise ConnectorError(error.message, hint=error.hint) from error
        return self._files[path]

    def _first(self, rules: tuple[RunnerRule, ...], situation: Situation, label: str) -> RunnerRule:
        rule = first_rule(rules, situation, used_before(rules, situation))
        if rule is None:
            tried = "\n".join(f"  {rule.shown}" for rule in rules[:_SHOWN_RULES])
            said = as_json(str(situation.value(("input",)))[:300])
            raise ConnectorError(
                f"No rule of {label} applies to the message {said}:\n{tried}",
                hint=f"Add a rule whose conditions hold, or end {label} with one without conditions",
            )
        return rule
