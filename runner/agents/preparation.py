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
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from bindings import DATABASE, ProcessError, agent_id
from runner.agents.answer import AgentError, mocked_process
from runner.agents.chat import AgentRequest
from runner.agents.mcp.base import text_in
from runner.connectors.base import content_parts, message_text, part_url
from runner.connectors.definition import capabilities_of
from runner.errors import RunnerError
from runner.reading.answer_text import extract_json

if TYPE_CHECKING:
    from bindings import OwnDatabase
    from runner.agents.chat import CallAgent, Messages, Options, Scope
    from runner.agents.runtime import Runtime

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


class Preparation:
    """Prepares the messages of one call of an agent, whose Create hook has returned `create`."""

    def __init__(
        self, runtime: Runtime, scope: Scope, call_agent: CallAgent, create: dict[str, Any], options: Options
    ) -> None:
        self._runtime, self._scope, self._call_agent = runtime, scope, call_agent
        self._create, self._options = create, options

    async def with_references(self, messages: Messages, said: Messages) -> Messages:
        """The messages to a model, and behind their leading system messages one with the references that were found, if
        the agent searches and something was found."""
        query = next((message_text(message) for message in reversed(said) if message.get("role") == "user"), "")
        items = [item for type in await self._wanted(said) for item in await self._found(type, query)]
        if not items:
            return messages
        own = self._scope.agent.search.get("citation")
        prompt = own.get("custom_prompt") if isinstance(own, dict) else None
        reference = {"role": "system", "content": f"{prompt or CITATION}\n\n{_references(items)}"}
        lead = next((at for at, message in enumerate(messages) if message.get("role") != "system"), len(messages))
        return [*messages[:lead], reference, *messages[lead:]]

    async def with_words_for_images(self, messages: Messages, connector: str) -> Messages:
        """The messages to a model, with words instead of images of users if the model does not see, or if the hook
        forces it."""
        connectors = self._runtime.connectors_of(self._scope.chat)
        sees = capabilities_of(connectors.settings(connector), connectors.model(connector)).vision
        if sees and not (self._create.get("force_uses") and self._uses.get("vision")):
            return messages
        return [await self._without_images(message, connector) for message in messages]

    @cached_property
    def _uses(self) -> dict[str, Any]:
        """What answers searches and looks at images: of the Create hook, else of the call, of the package, of
        `agent/agent.yml`, each key by itself."""
        own = self._scope.agent.uses
        layers = (self._runtime.connectors.uses, own, self._options.get("uses"), self._create.get("uses"))
        return {key: value for layer in layers if isinstance(layer, dict) for key, value in layer.items() if value}

    # searches

    async def _wanted(self, said: Messages) -> list[str]:
        """Where to search: `web`, `kb`, `db`; nowhere if the agent does not search."""
        package, create, options = self._scope.agent, self._create, self._options
        metadata, asked, skip = self._scope.context["metadata"], create.get("search"), options.get("skip")
        if (isinstance(skip, dict) and skip.get("search")) or metadata.get("__disable_search") is True:
            return []
        if isinstance(asked, bool):
            return ["web"] if asked else []
        kinds = ["web", *(["kb"] if package.collections else []), *(["db"] if package.tables else [])]
        if isinstance(asked, dict):
            return _chosen(asked, kinds)
        own = {**package.uses, **(create.get("uses") or {})}
        asks = own.get("search") or package.search or options.get("search")
        if self._uses.get("search") == OFF or not asks:
            return []
        try:
            decided = await self._decision(said)
        except (AgentError, RunnerError) as error:
            self._scope.chat.warn(f"{NEEDS_SEARCH} could not decide whether {package.id} searches: {error}")
            return []
        return kinds if decided is None else _chosen(decided, kinds)

    async def _decision(self, said: Messages) -> dict[str, Any] | None:
        """The decision of the agent for it; None if there is none."""
        world = self._scope.chat.world
        mocked = world.mocks is not None and world.mocks.find("agent", NEEDS_SEARCH) is not None
        if not mocked and not self._runtime.assistants.knows(NEEDS_SEARCH):
            return None
        shown = [message for message in said if message.get("role") != "system"][-5:]
        texts = [(str(message.get("role")), message_text(message)) for message in shown]
        question = texts[-1][1] if texts else ""
        if len(texts) > 1:
            talk = [f"[{role.capitalize()}]: {text}" for role, text in texts]
            question = "\n".join(["=== Conversation Context ===", *talk, "", f"Current user request: {question}"])
        answer = await self._ask(NEEDS_SEARCH, question)
        return answer if isinstance(answer, dict) else {}

    async def _ask(self, agent: str, text: str) -> Any:
        """The data that an agent answers to a message, else the JSON in its text, else None."""
        answer = await self._call_agent(self._request(agent, text, "search"))
        return answer.next if answer.next is not None else extract_json(answer.text)

    def _request(self, agent: str, content: Any, *skip: str) -> AgentRequest:
        """A request to another agent, which leaves out `skip`, its history and its output."""
        return AgentRequest(
            agent=agent,
            messages=[{"role": "user", "content": content}],
            options={"skip": dict.fromkeys(("history", *skip, "output"), True)},
            chat=self._scope.chat,
            caller=self._scope,
            referer="agent",
            by=self._scope.agent.id,
        )

    async def _found(self, type: str, query: str) -> list[dict[str, Any]]:
        """The references of one type; none if nothing answers, or what answers fails."""
        process, chat = PROCESSES[type], self._scope.chat
        try:
            mocked = await mocked_process(chat.world, process, [query, {"limit": LIMITS[type], "source": "auto"}])
            answer = mocked.value if mocked is not None else await self._answer(type, query)
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

    async def _answer(self, type: str, query: str) -> Any:
        if type == "web":
            return await self._web(str(self._uses.get("web") or "builtin"), query)
        database: OwnDatabase | None = self._scope.chat.world.held(DATABASE)
        if database is None:
            return None
        if type == "kb":
            read = (partial(database.fixture, name) for name in self._scope.agent.collections)
        else:
            read = (partial(_rows, database, name) for name in self._scope.agent.tables)
        found = [await asyncio.to_thread(one) for one in read]
        known = [items for items in found if items is not None]
        return [item for items in known for item in items][: LIMITS[type]] if known else None

    async def _web(self, handler: str, query: str) -> Any:
        if handler == "builtin":
            return None
        if not handler.startswith("mcp:"):
            question = json.dumps({"query": query, "type": "web", "source": "auto", "limit": LIMITS["web"]})
            found = await self._ask(agent_id(handler), question)
            return found if isinstance(found, dict) else []
        server, _, tool = handler.removeprefix("mcp:").rpartition(".")
        if not server or not tool:
            missing = f"{handler} names no tool. Write mcp:server.tool"
            self._scope.chat.world.ledger.note_missing("uses.web", missing)
            return []
        return extract_json(await self._ask_tool(server, tool, {"query": query, "limit": LIMITS["web"]})) or []

    async def _ask_tool(self, server: str, tool: str, arguments: dict[str, Any]) -> str:
        """The text that a tool answers. What does not exist is in the ledger of the test. Raises ProcessError, also
        when the tool fails."""
        try:
            found = await self._runtime.servers.answer("mcp.CallTool", [server, tool, arguments], self._scope)
        except ProcessError as error:
            if error.missing:
                self._scope.chat.world.ledger.note_missing(f"mcp.{server}.{tool}", error.message)
            raise
        text = text_in(found)
        if found["isError"]:
            raise ProcessError(f"{tool} of {server} failed: {text}", 500)
        return text

    # images

    async def _without_images(self, message: dict[str, Any], connector: str) -> dict[str, Any]:
        parts = content_parts(message)
        if message.get("role") != "user" or all(part.get("type") != "image_url" for part in parts):
            return message
        words = [
            {"type": "text", "text": await self._words(part, connector)} if part.get("type") == "image_url" else part
            for part in parts
        ]
        return {**message, "content": words}

    async def _words(self, part: dict[str, Any], connector: str) -> str:
        chat, url, handler = self._scope.chat, part_url(part, "image_url"), str(self._uses.get("vision") or "")
        if not handler:
            blind = f"the model of {connector} has no vision, so it gets a placeholder for an image"
            way = f'Name an agent with vision in package.yao of {self._scope.agent.id}: "uses": {{"vision": ...}}'
            chat.world.ledger.note_missing("uses.vision", f"{blind}. {way}")
            return NOBODY
        try:
            if handler.startswith("mcp:"):
                arguments = {"image": url, "content_type": url.partition(";")[0].removeprefix("data:")}
                return await self._ask_tool(handler.removeprefix("mcp:"), TOOL, arguments)
            image = {"type": "image_url", "image_url": {"url": url, "detail": "auto"}}
            content = [{"type": "text", "text": QUESTION}, image]
            answer = await self._call_agent(self._request(agent_id(handler), content))
        except (AgentError, ProcessError, RunnerError) as error:
            chat.warn(f"{handler} could not process an image: {error}")
            return FAILED
        if answer.next is None:
            return answer.text
        return answer.next if isinstance(answer.next, str) else json.dumps(answer.next, ensure_ascii=False)


def _chosen(decision: dict[str, Any], kinds: list[str]) -> list[str]:
    named = decision.get("search_types")
    known = [kind for kind in kinds if kind in named] if isinstance(named, list) and named else kinds
    return known if decision.get("need_search") else []


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
