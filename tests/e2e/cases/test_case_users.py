"""Who the user of a case is, as its hooks, its tools and its prompts see it."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from agent_files import agent, run_cases
from command import MakeApplication

HOOKS = """\
function Create(ctx) { return { metadata: { created: ctx.authorized.user_id + "/" + ctx.authorized.team_id } } }
function Next(ctx, { tools }) {
  const { authorized, metadata } = ctx;
  return { data: [metadata.created, tools[0].result, authorized.sub + "/" + authorized.tenant_id, ctx.locale] };
}
"""
TOOL = "function Who() { const a = Authorized(); return a.user_id + '/' + a.team_id }"
REPLIES = "- reply: { tool_calls: [who] }"
LAYERS = {
    "context": ({"authorized": {"user_id": "ctx", "team_id": "ctx-team"}}, "ctx"),
    "flags": (["-u", "flag", "-t", "flag-team"], "flag"),
    "case": ({"user": "case", "team": "case-team"}, "case"),
    "defaults": ({"user": "default", "team": "default-team"}, "default"),
}
"""From the layer that wins over all others."""


def files(case: dict[str, Any], defaults: dict[str, Any], context: dict[str, Any]) -> dict[str, str]:
    package = {"mcp": {"servers": ["desk"]}}
    cases = json.dumps({"defaults": defaults, "cases": [{"id": "a", "input": "Who?", **case}]})
    return {
        **agent(package=package, replies=REPLIES, hooks=HOOKS),
        "/mcps/desk.mcp.yao": json.dumps(
            {"label": "Desk", "transport": "process", "tools": {"who": "scripts.who.Who"}}
        ),
        "/scripts/who.ts": TOOL,
        "/assistants/demo/tests/cases.yaml": cases,
        "/ctx.json": json.dumps(context),
    }


@pytest.mark.parametrize(
    "layers", [set(pair) for size in (0, 1, 2, 4) for pair in itertools.combinations(LAYERS, size)]
)
def test_the_first_layer_that_names_the_user_and_the_team_decides(app: MakeApplication, layers: set[str]) -> None:
    given = {name: value if name in layers else type(value)() for name, (value, _) in LAYERS.items()}
    application = app(files(given["case"], given["defaults"], given["context"]))
    context = ["--ctx", "ctx.json"] if "context" in layers else []

    (record,) = run_cases(application, "-i", "assistants/demo/tests/cases.yaml", *given["flags"], *context).values()

    who = next((name for layer, (_, name) in LAYERS.items() if layer in layers), "test")
    expected = "test-user/test-team" if who == "test" else f"{who}/{who}-team"
    assert record["output"] == [expected, expected, expected, "en-us"]


def test_what_a_layer_does_not_name_comes_from_the_next_one(app: MakeApplication) -> None:
    case, defaults = {"user": "case"}, {"user": "default", "team": "default-team"}
    application = app(files(case, defaults, {"authorized": {"user_id": "ctx"}, "locale": "de-de"}))
    run = ("-i", "assistants/demo/tests/cases.yaml")

    (record,) = run_cases(application, *run, "--ctx", "ctx.json", "-u", "flag", "--locale", "fr-fr").values()

    assert record["output"] == ["ctx/default-team"] * 2 + ["ctx/default-team", "de-de"]


def test_a_context_that_names_a_tenant_alone_names_the_team(app: MakeApplication) -> None:
    application = app(files({"team": "case-team"}, {}, {"authorized": {"tenant_id": "tenant"}}))

    (record,) = run_cases(application, "-i", "assistants/demo/tests/cases.yaml", "--ctx", "ctx.json").values()

    assert record["output"][0] == "test-user/tenant"
