"""What reaches the model: prompts, parameters and connectors of an agent, seen through its cases."""

from __future__ import annotations

import json
from typing import Any

from agent_files import agent, outputs, run_cases, server
from command import MakeApplication, Record
from model_server import ModelServer
from sample_agents import connector

PROMPTED = {
    **agent(
        package={"name": "Demo", "description": "Shows prompts"},
        prompts="""\
- role: system
  content: |-
    $CTX.ASSISTANT_ID is $CTX.ASSISTANT_NAME: $CTX.ASSISTANT_DESCRIPTION
    $CTX.USER_ID of {{ $CTX.TEAM_ID }}, $CTX.LOCALE, plan $CTX.plan, $CTX.missing.
    $ENV.REGION $ENV.NOT_SET $SYS.UNKNOWN $5
- role: user
  content: An example
- role: assistant
  content: "@assets/answer.md"
""",
        cases=[{"id": "all", "input": "Hi", "metadata": {"plan": "pro"}}],
        replies="- reply: { json: '{{ messages }}' }",
    ),
    "/agent/prompts.yml": "- role: system\n  content: Welcome to $CTX.TEAM_ID.\n",
    "/assistants/demo/assets/answer.md": "Two\n  lines: yes\n",
    "/.env": "REGION=north\n",
}


def test_a_model_gets_global_prompts_own_prompts_and_the_message_in_this_order(app: MakeApplication) -> None:
    (output,) = outputs(app(PROMPTED)).values()

    assert output == json.dumps(
        [
            {"role": "system", "content": "Welcome to test-team."},
            {
                "role": "system",
                "content": "demo is Demo: Shows prompts\ntest-user of test-team, en-us, plan pro, .\n"
                "north  $SYS.UNKNOWN $5",
            },
            {"role": "user", "content": "An example"},
            {"role": "assistant", "content": "Two\n  lines: yes\n"},
            {"role": "user", "content": "Hi"},
        ],
        separators=(",", ":"),
    )


def test_the_time_in_prompts_is_now(app: MakeApplication) -> None:
    names = ["TIME", "DATE", "DATETIME", "WEEKDAY", "YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"]
    prompt = "|".join(f"$SYS.{name}" for name in names)
    record = app(agent(prompts=f"- content: {prompt}", cases=[{"id": "now", "input": "Hi"}])).report(
        "-i", "assistants/demo/tests/cases.jsonl", code=0
    )

    said = json.loads(record["results"][0]["output"])["system"]
    time, date, both, weekday, *parts = said.split("|")
    assert both == f"{date} {time}"
    assert parts == [*date.split("-"), *time.split(":")]
    assert weekday in {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
    assert record["metadata"]["started_at"][:2] == date[:2]


def test_name_and_description_are_in_the_language_of_the_locale(app: MakeApplication) -> None:
    locales = ("en-us", "de-at", "fr-fr", "pt")
    cases = [{"id": locale, "input": "x", "metadata": {"locale": locale}} for locale in locales]
    application = app(
        {
            **agent(
                package={"name": "{{ name }}", "description": "{{texts.about}} {{ texts.none }}"},
                prompts="- content: '$CTX.ASSISTANT_NAME: $CTX.ASSISTANT_DESCRIPTION'",
                hooks="function Create(ctx) { return { locale: ctx.metadata.locale }; }",
                replies="- reply: '{{ system }}'",
                cases=cases,
            ),
            "/assistants/demo/locales/en.yml": "name: PageActions\ntexts: { about: Opens tickets }\n",
            "/assistants/demo/locales/de.yml": "name: Schalter\ntexts: { about: Öffnet Vorgänge }\n",
            "/assistants/demo/locales/de-AT.yml": "name: Pult\n",
            "/agent/locales/fr.yml": "name: Guichet\n",
            "/assistants/demo/locales/pt-br.yml": "name: Balcão\n",
        }
    )

    assert outputs(application) == {
        "en-us": "PageActions: Opens tickets {{ texts.none }}",
        "de-at": "Pult: Öffnet Vorgänge {{ texts.none }}",
        "fr-fr": "Guichet: {{texts.about}} {{ texts.none }}",
        "pt": "Balcão: {{texts.about}} {{ texts.none }}",
    }


OWN = "global for test-user\nown: en-us// plan="
CREATED: dict[str, tuple[Any, Record]] = {
    "null": (None, {}),
    "an empty object": ({}, {}),
    "messages": ({"messages": [{"role": "user", "content": "A"}, {"role": "user", "content": "B"}]}, {"said": "B"}),
    "an empty list of messages": ({"messages": []}, {}),
    "locale, theme and route": (
        {"locale": "de-de", "theme": "dark", "route": "/inbox"},
        {"system": "global for test-user\nown: de-de/dark//inbox plan="},
    ),
    "metadata": ({"metadata": {"plan": "pro"}}, {"system": "global for test-user\nown: en-us// plan=pro"}),
    "a preset": ({"prompt_preset": "task"}, {"system": "global for test-user\nthe task en-us"}),
    "a preset in a folder": ({"prompt_preset": "chat.friendly"}, {"system": "global for test-user\nfriendly"}),
    "a preset named prompts": ({"prompt_preset": "chat.prompts"}, {"system": "global for test-user\nchat"}),
    "a preset named by its folder": ({"prompt_preset": "chat"}, {"system": "global for test-user\nchat"}),
    "an unknown preset": ({"prompt_preset": "tsak"}, {}),
    "a preset outside": ({"prompt_preset": "..demo.prompts"}, {}),
    "no global prompts": ({"disable_global_prompts": True}, {"system": "own: en-us// plan="}),
    "a preset in the metadata": ({"metadata": {"__prompt_preset": "task"}}, {"system": f"{OWN[:20]}\nthe task en-us"}),
    "no global prompts by metadata": (
        {"metadata": {"__disable_global_prompts": True}},
        {"system": "own: en-us// plan="},
    ),
    "other servers": ({"mcp_servers": [{"server_id": "shop"}]}, {"tools": ["buy", "sell"]}),
    "some tools of other servers": ({"mcp_servers": [{"server_id": "shop", "tools": ["sell"]}]}, {"tools": ["sell"]}),
    "no servers": ({"mcp_servers": []}, {}),
}
"""What Create returns → what the model sees otherwise than without it."""


def test_create_changes_what_reaches_the_model(app: MakeApplication) -> None:
    cases = [{"id": id, "input": "Hi", "metadata": {"create": value}} for id, (value, _) in CREATED.items()]
    application = app(
        {
            **agent(
                package={"mcp": {"servers": ["desk"]}},
                prompts="- content: own: $CTX.LOCALE/$CTX.THEME/$CTX.ROUTE plan=$CTX.plan".replace("own:", '"own:')
                + '"',
                hooks="function Create(ctx, messages) { return ctx.metadata.create; }",
                cases=cases,
            ),
            "/agent/prompts.yml": "- content: global for $CTX.USER_ID",
            "/assistants/demo/prompts/task.yml": "- content: the task $CTX.LOCALE",
            "/assistants/demo/prompts/chat/friendly.yml": "- content: friendly",
            "/assistants/demo/prompts/chat/prompts.yaml": "- content: chat",
            "/scripts/tools.ts": "function Any() { return 1; }",
            **server("desk", {"call": "scripts.tools.Any"}),
            **server("shop", {"buy": "scripts.tools.Any", "sell": "scripts.tools.Any"}),
        }
    )

    records = run_cases(application, code=0)

    seen = {id: json.loads(record["output"]) for id, record in records.items()}
    assert seen == {
        id: {"system": OWN, "said": "Hi", "tools": ["call"], **difference} for id, (_, difference) in CREATED.items()
    }
    assert records["an unknown preset"]["logs"] == [
        "[warn] demo has no prompt preset tsak; the default prompts are used"
    ]


def test_parameters_and_the_connector_come_from_package_create_case_and_flag(app: MakeApplication) -> None:
    hooks = "function Create(ctx) { return ctx.metadata.create; }"
    cases = [
        {"id": "package", "input": "Hi"},
        {"id": "create", "input": "Hi", "metadata": {"create": {"temperature": 0, "connector": "second"}}},
        {
            "id": "case",
            "input": "Hi",
            "metadata": {"create": {"max_tokens": 9, "connector": "second"}},
            "options": {"connector": "third"},
        },
    ]
    package = {"connector": "first", "options": {"temperature": 0.5, "max_tokens": 5, "seed": 3}}
    with ModelServer() as models:
        application = app(
            {
                **agent(package=package, hooks=hooks, cases=cases),
                **{
                    f"/connectors/{id}.conn.yao": connector(models, f"gpt-4o-{id}")
                    for id in ("first", "second", "third")
                },
                "/.env": "KEY=secret-of-the-test\n",
            }
        )
        records = run_cases(application, code=0)
        flagged = run_cases(application, "-c", "first", code=0)

    assert {id: record["connector"] for id, record in records.items()} == {
        "package": "first",
        "create": "second",
        "case": "third",
    }
    assert {record["connector"] for record in flagged.values()} == {"first"}
    assert records["package"]["output"] == "echo: Hi"
    sent = [
        {key: request.body.get(key) for key in ("model", "temperature", "max_completion_tokens", "seed")}
        for request in models.requests[:3]
    ]
    assert sent == [
        {"model": "gpt-4o-first", "temperature": 0.5, "max_completion_tokens": 5, "seed": 3},
        {"model": "gpt-4o-second", "temperature": 0, "max_completion_tokens": 5, "seed": 3},
        {"model": "gpt-4o-third", "temperature": 0.5, "max_completion_tokens": 9, "seed": 3},
    ]
    assert models.requests[0].headers["authorization"] == "Bearer secret-of-the-test"


def test_an_agent_with_neither_prompts_nor_servers_asks_no_model(app: MakeApplication) -> None:
    hooks = """\
function Next(ctx, payload) { return { data: { completion: payload.completion, tools: payload.tools } }; }
"""
    application = app(
        {
            **agent(
                package={"connector": "nowhere"},
                prompts=None,
                replies=None,
                hooks=hooks,
                cases=[{"id": "a", "input": "Hi"}],
            ),
            **agent(
                "silent",
                package={"connector": "nowhere"},
                prompts=None,
                replies=None,
                cases=[{"id": "b", "input": "Hi"}],
            ),
        }
    )

    records = run_cases(application, "-i", "assistants", code=0)

    assert records["a"]["output"] == {"completion": None, "tools": []}
    assert records["b"]["output"] is None
    assert [record.get("model_calls") for record in records.values()] == [None, None]
