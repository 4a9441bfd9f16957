"""What is put into messages before a model is first asked: references that a search found, and words instead of images.

In Yao each agent is asked whether it needs a search. Here an agent searches when something asks for it: `search` or
`uses.search` of its package, `search` in the options of the call, or what its Create hook returns. The answers come
from mocks of the processes `search.Web`, `search.KB` and `search.DB`, of which `mocks.search` of a case is the short
form, from the agent or the tool that `uses.web` names, from rows of the models in `db.models`, and from the fixtures
that have the names of `kb.collections`. What nothing answers is in the ledger.

An image of a user becomes words if the model does not see: those of the agent or the tool that `uses.vision` names."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import TYPE_CHECKING, Any

from bindings import DATABASE, ProcessError, agent_id
from runner.agents.answer import AgentError, mocked_process
from runner.agents.chat import AgentRequest
from runner.connectors.base import content_parts, message_text, part_url
from runner.connectors.definition import capabilities_of
from runner.errors import RunnerError
from runner.reading.answer_text import extract_json

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bindings import OwnDatabase
    from runner.agents.chat import CallAgent, Messages, Options, Scope
    from runner.agents.runtime import Runtime

    Ask = Callable[[str, str], Awaitable[Any]]
    """(agent, text) → what the agent answers."""

NEEDS_SEARCH = "__yao.needsearch"
"""Id of the agent that decides whether to search, where the application has one or a mock stands for it."""
OFF = "disabled"
PROCESSES = {"web": "search.Web", "kb": "search.KB", "db": "search.DB"}
LIMITS = {"web": 10, "kb": 10, "db": 20}
WEIGHT = 0.6
"""Of what was found by itself, rather than by a hook or a user."""
QUESTION = "Please analyze this image."
TOOL = "describe_image"
"""The tool of an MCP server that is asked."""
FAILED = "[Image content could not be processed]"
NOBODY = "[Image content - vision model not available]"
CITATION = """\
Below are references, each in a <ref> tag within <references>. Use what they say where it helps to answer, and cite \
each reference that you use right behind the statement that it supports, with its id as the text of a link: \
<a class="ref" data-ref-id="1" data-ref-type="web" href="#ref:1">[1]</a>. Cite nothing that is not among them."""


async def with_references(
    runtime: Runtime,
    scope: Scope,
    call_agent: CallAgent,
    *,
    messages: Messages,
    said: Messages,
    create: dict[str, Any],
    options: Options,
) -> Messages:
    """The messages to a model, and behind their leading system messages one with the references that were found, if the
    agent searches and something was found."""
    ask = partial(_ask, scope, call_agent)
    types = await _wanted(runtime, scope, ask, said, create, options)
    query = next((message_text(message) for message in reversed(said) if message.get("role") == "user"), "")
    items = [
        item
        for type in types
        for item in await _Search(runtime, scope, ask, query, uses_of(runtime, scope, create, options)).find(type)
    ]
    if not items:
        return messages
    own = scope.agent.search.get("citation")
    prompt = own.get("custom_prompt") if isinstance(own, dict) else None
    reference = {"role": "system", "content": f"{prompt or CITATION}\n\n{_references(items)}"}
    lead = next((at for at, message in enumerate(messages) if message.get("role") != "system"), len(messages))
    return [*messages[:lead], reference, *messages[lead:]]


def uses_of(runtime: Runtime, scope: Scope, create: dict[str, Any], options: Options) -> dict[str, Any]:
    """What answers searches and looks at images: of the Create hook, else of the call, of the package, of
    `agent/agent.yml`, each key by itself."""
    layers = (runtime.connectors.uses, scope.agent.uses, options.get("uses"), create.get("uses"))
    return {key: value for layer in layers if isinstance(layer, dict) for key, value in layer.items() if value}


async def _wanted(
    runtime: Runtime, scope: Scope, ask: Ask, said: Messages, create: dict[str, Any], options: Options
) -> list[str]:
    """Where to search: `web`, `kb`, `db`; nowhere if the agent does not search."""
    package, metadata, asked = scope.agent, scope.context["metadata"], create.get("search")
    skip = options.get("skip")
    if (isinstance(skip, dict) and skip.get("search")) or metadata.get("__disable_search") is True or asked is False:
        return []
    kinds = ["web", *(["kb"] if package.collections else []), *(["db"] if package.tables else [])]
    if asked is True:
        return ["web"]
    if isinstance(asked, dict):
        return _chosen(asked, kinds)
    uses = uses_of(runtime, scope, create, options)
    if uses.get("search") == OFF:
        return []
    own = {**package.uses, **(create.get("uses") or {})}
    if not (own.get("search") or package.search or options.get("search")):
        return []
    try:
        decided = await _decision(runtime, scope, ask, said)
    except (AgentError, RunnerError) as error:
        scope.chat.warn(f"{NEEDS_SEARCH} could not decide whether {package.id} searches: {error}")
        return []
    return kinds if decided is None else _chosen(decided, kinds)


def _chosen(decision: dict[str, Any], kinds: list[str]) -> list[str]:
    named = decision.get("search_types")
    known = [kind for kind in kinds if kind in named] if isinstance(named, list) and named else kinds
    return known if decision.get("need_search") else []


async def _decision(runtime: Runtime, scope: Scope, ask: Ask, said: Messages) -> dict[str, Any] | None:
    """What the agent says that decides; None if there is none."""
    world = scope.chat.world
    mocked = world.mocks is not None and world.mocks.find_agent(NEEDS_SEARCH) is not None
    if not mocked and not runtime.assistants.knows(NEEDS_SEARCH):
        return None
    texts = [(str(message.get("role")), message_text(message)) for message in said if message.get("role") != "system"]
    last = texts[-5:]
    question = last[-1][1] if last else ""
    if len(last) > 1:
        talk = [f"[{role.capitalize()}]: {text}" for role, text in last]
        question = "\n".join(["=== Conversation Context ===", *talk, "", f"Current user request: {question}"])
    answer = await ask(NEEDS_SEARCH, question)
    return answer if isinstance(answer, dict) else {}


async def _ask(scope: Scope, call_agent: CallAgent, agent: str, text: str) -> Any:
    """The data that an agent answers to a message, else the JSON in its text, else None."""
    answer = await call_agent(_request(scope, agent, text, "search"))
    return answer.next if answer.next is not None else extract_json(answer.text)


def _request(scope: Scope, agent: str, content: Any, *skip: str) -> AgentRequest:
    """A request of the scope's agent to another one; `skip` is left out, as are its history and its output."""
    return AgentRequest(
        agent=agent,
        messages=[{"role": "user", "content": content}],
        options={"skip": dict.fromkeys(("history", *skip, "output"), True)},
        chat=scope.chat,
        caller=scope,
        referer="agent",
        by=scope.agent.id,
    )


class _Search:
    """The searches before one call of a model."""

    def __init__(self, runtime: Runtime, scope: Scope, ask: Ask, query: str, uses: dict[str, Any]) -> None:
        self._runtime = runtime
        self._scope = scope
        self._ask = ask
        self._query = query
        self._uses = uses

    async def find(self, type: str) -> list[dict[str, Any]]:
        """The references of one type; none if nothing answers, or what answers fails."""
        process, chat = PROCESSES[type], self._scope.chat
        asked = {"limit": LIMITS[type], "source": "auto"}
        try:
            mocked = await mocked_process(chat.world, process, [self._query, asked])
            answer = mocked.value if mocked is not None else await self._answer(type)
        except (AgentError, ProcessError, RunnerError) as error:
            chat.warn(f"{process} found nothing: {error}")
            return []
        if answer is None:
            searches = (
                f"{self._scope.agent.id} searches before its model is called, and nothing here answers the search"
            )
            short = 'mocks: {"search": [{"title": ..., "content": ..., "url": ...}]}'
            way = short if chat.world.of_case else chat.world.mock("process", process)
            chat.world.ledger.note_missing(process, f"{searches}. Provide references with {way}")
            return []
        items = answer.get("items") if isinstance(answer, dict) else answer
        return [{"type": type, **item} for item in items if isinstance(item, dict)] if isinstance(items, list) else []

    async def _answer(self, type: str) -> Any:
        database: OwnDatabase | None = self._scope.chat.world.held(DATABASE)
        if type == "web":
            return await self._web(str(self._uses.get("web") or "builtin"))
        if database is None:
            return None
        if type == "kb":
            read = (partial(database.fixture, name) for name in self._scope.agent.collections)
        else:
            read = (partial(_rows, database, name) for name in self._scope.agent.tables)
        found = [await asyncio.to_thread(one) for one in read]
        known = [items for items in found if items is not None]
        return [item for items in known for item in items][: LIMITS[type]] if known else None

    async def _web(self, handler: str) -> Any:
        if handler == "builtin":
            return None
        asked = {"query": self._query, "limit": LIMITS["web"]}
        if not handler.startswith("mcp:"):
            question = json.dumps({"query": self._query, "type": "web", "source": "auto", "limit": LIMITS["web"]})
            found = await self._ask(agent_id(handler), question)
            return found if isinstance(found, dict) else []
        from runner.agents.mcp.servers import ask_tool

        world = self._scope.chat.world
        server, _, tool = handler.removeprefix("mcp:").rpartition(".")
        if not server or not tool:
            world.ledger.note_missing("uses.web", f"{handler} names no tool. Write mcp:server.tool")
            return []
        return extract_json(await ask_tool(self._runtime.servers, server, tool, asked, self._scope, world)) or []


def _rows(database: OwnDatabase, model: str) -> list[dict[str, Any]] | None:
    """The rows of a model as references; None if there are none."""
    rows = database.call(f"models.{model}.Get", [{"limit": LIMITS["db"]}])
    if not isinstance(rows, list) or not rows:
        return None
    return [{"title": model, "content": json.dumps(row, ensure_ascii=False)} for row in rows]


def _references(items: list[dict[str, Any]]) -> str:
    lines = ["<references>"]
    for number, item in enumerate(items, 1):
        lines.append(f'<ref id="{number}" type="{item["type"]}" weight="{WEIGHT}" source="auto">')
        texts = (item.get("title"), item.get("content"), item.get("url") and f"URL: {item['url']}")
        lines += [*(str(text) for text in texts if text), "</ref>"]
    return "\n".join([*lines, "</references>"])


async def with_words_for_images(
    runtime: Runtime,
    scope: Scope,
    call_agent: CallAgent,
    *,
    connector: str,
    messages: Messages,
    handler: str,
    forced: bool,
) -> Messages:
    """The messages to a model, with words instead of images of users if the model does not see, or if it is `forced`.
    `handler` is `uses.vision`: an agent, or `mcp:server`; empty: nobody looks at images."""
    connectors = runtime.connectors_of(scope.chat)
    sees = capabilities_of(connectors.settings(connector), connectors.model(connector)).vision
    if sees and not (forced and handler):
        return messages
    looked = _Looking(runtime, scope, call_agent, connector, handler)
    return [await looked.at(message) for message in messages]


class _Looking:
    def __init__(self, runtime: Runtime, scope: Scope, call_agent: CallAgent, connector: str, handler: str) -> None:
        self._runtime = runtime
        self._scope = scope
        self._call_agent = call_agent
        self._connector = connector
        self._handler = handler

    async def at(self, message: dict[str, Any]) -> dict[str, Any]:
        """A message without its images, if a user sent some."""
        parts = content_parts(message)
        if message.get("role") != "user" or all(part.get("type") != "image_url" for part in parts):
            return message
        words = [
            {"type": "text", "text": await self._words(part)} if part.get("type") == "image_url" else part
            for part in parts
        ]
        return {**message, "content": words}

    async def _words(self, part: dict[str, Any]) -> str:
        chat, url = self._scope.chat, part_url(part, "image_url")
        if not self._handler:
            blind = f"the model of {self._connector} has no vision, so it gets a placeholder for an image"
            way = f'Name an agent with vision in package.yao of {self._scope.agent.id}: "uses": {{"vision": ...}}'
            chat.world.ledger.note_missing("uses.vision", f"{blind}. {way}")
            return NOBODY
        try:
            if self._handler.startswith("mcp:"):
                return await self._of_tool(self._handler.removeprefix("mcp:"), url)
            return await self._of_agent(agent_id(self._handler), url)
        except (AgentError, ProcessError, RunnerError) as error:
            chat.warn(f"{self._handler} could not process an image: {error}")
            return FAILED

    async def _of_agent(self, agent: str, url: str) -> str:
        image = {"type": "image_url", "image_url": {"url": url, "detail": "auto"}}
        content = [{"type": "text", "text": QUESTION}, image]
        answer = await self._call_agent(_request(self._scope, agent, content))
        if answer.next is None:
            return answer.text
        return answer.next if isinstance(answer.next, str) else json.dumps(answer.next, ensure_ascii=False)

    async def _of_tool(self, server: str, url: str) -> str:
        from runner.agents.mcp.servers import ask_tool

        arguments = {"image": url, "content_type": url.partition(";")[0].removeprefix("data:")}
        return await ask_tool(self._runtime.servers, server, TOOL, arguments, self._scope, self._scope.chat.world)
