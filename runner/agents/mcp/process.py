"""An MCP server whose tools are processes: script functions, or whatever else the run can call.

Files below the server's mapping folder describe its tools, resources and prompts, and the arguments of calls; each may
also end in `.json` or `.jsonc`:

| file | content |
| --- | --- |
| `schemes/<tool>.in.yao` | JSON Schema of the arguments, with `description` and `x-process-args` |
| `schemes/<tool>.out.yao` | JSON Schema of the result |
| `schemes/<tool>.jsonl`, `resources/<name>.jsonl` | examples `{name, description?, input, output?}`, one on each line |
| `resources/<name>.res.yao` | `uri` with `{param}`, `name`, `description`, `mimeType`, `schema`, `x-process-args` |
| `prompts/<name>.pmt.yao` | `description`, `arguments[]`, and `messages[]` or `template` |"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

from runner.agents.mcp.base import Item, Server, ToolError, no_such_tool, text_content, validate
from runner.application.documents import KEEP_ONE, given_twice, read_json, repeated_keys, text_of
from runner.errors import ConfigurationError, did_you_mean
from scripttest.values import Value

CallProcess = Callable[[str, list[Any], Any], Awaitable[Any]]
"""(process name, arguments, context) → JSON value; raises `bindings.ProcessError`. The context is the caller's
own: what the process gets as its last argument."""

SUFFIXES = (".yao", ".json", ".jsonc")
_IF = re.compile(r"\{\{\s*#if\s+([\w.]+)\s*\}\}((?:(?!\{\{\s*#if\b).)*?)\{\{\s*/if\s*\}\}", re.S)
_ELSE = re.compile(r"\{\{\s*else\s*\}\}")
_VARIABLE = re.compile(r"\{\{\s*([\w.]+)\s*\}\}")


class MappingFile(Value):
    """A file that describes a tool, a resource or a prompt."""

    path: Path
    content: dict[str, Any]


class ProcessServer(Server):
    """Implements `Server`. Its files are read when it is made; raises ConfigurationError."""

    transport = "process"

    def __init__(self, id: str, definition: Item, file: Path, folder: Path, call_process: CallProcess) -> None:
        super().__init__(id, definition)
        self._call_process = call_process
        self._folder = folder
        self._samples: dict[tuple[str, str], list[Item]] = {}
        self._tools = _processes(definition, "tools", file)
        self._resources = _processes(definition, "resources", file)
        self._prompts = _processes(definition, "prompts", file)
        inputs = read_mapping(folder / "schemes", "in", "tool schema")
        outputs = read_mapping(folder / "schemes", "out", "tool schema")
        for of_tool in [*inputs.values(), *outputs.values()]:
            _check_schema(of_tool.path, of_tool.content)
        self._inputs = {name: of_tool.content for name, of_tool in inputs.items()}
        self._outputs = {name: of_tool.content for name, of_tool in outputs.items()}
        self._resource_files = read_mapping(folder / "resources", "res", "resource")
        self._prompt_files = read_mapping(folder / "prompts", "pmt", "prompt")
        for resource in self._resource_files.values():
            if not isinstance(resource.content.get("uri"), str):
                raise ConfigurationError(f'Cannot read resource {resource.path}: it has no "uri"')
            if isinstance(resource.content.get("schema"), dict):
                _check_schema(resource.path, resource.content["schema"])
        for prompt in self._prompt_files.values():
            said = prompt.content
            if not isinstance(said.get("template"), str) and not isinstance(said.get("messages"), list):
                raise ConfigurationError(f'Cannot read prompt {prompt.path}: it has neither "template" nor "messages"')
        self.warnings = (
            *_unused(inputs | outputs, self._tools, "tools", file),
            *_unused(self._resource_files, self._resources, "resources", file),
        )

    async def list_tools(self) -> list[Item]:
        """See `Server`. `description` and `x-process-args` are not part of the schema."""
        return [
            {
                "name": name,
                "description": str(self._inputs.get(name, {}).get("description") or ""),
                "inputSchema": _plain(self._inputs.get(name, {})),
                **({"outputSchema": _plain(self._outputs[name])} if name in self._outputs else {}),
            }
            for name in self._tools
        ]

    async def call_tool(self, name: str, arguments: Item, context: Any) -> Item:
        """See `Server`. The arguments are checked against the tool's schema before the process is called."""
        from bindings import ProcessError

        process = self._tools.get(name)
        if process is None:
            raise no_such_tool(self.id, name, _known(name, self._tools))
        schema = self._inputs.get(name, {})
        await validate(arguments, _plain(schema), f'Cannot call tool "{name}" of MCP server {self.id}')
        mapped = process_arguments(schema.get("x-process-args"), {"arguments": arguments}, {"args": arguments})
        try:
            value = await self._call_process(process, [arguments] if mapped is None else mapped, context)
        except ProcessError as error:
            said = f"Error executing tool {name}: {error.message}"
            return {"content": [text_content(said)], "isError": True}
        return {"content": [text_content(_text(value))], "isError": False}

    async def list_resources(self) -> list[Item]:
        """See `Server`."""
        return [
            {
                "uri": resource.content["uri"],
                "name": str(resource.content.get("name") or name),
                **_said(resource, "description", "mimeType"),
            }
            for name, resource in self._resource_files.items()
            if name in self._resources
        ]

    async def read_resource(self, uri: str, context: Any) -> Item:
        """See `Server`. Without `x-process-args` the process is given the URI. Its parameters are texts: `schema` is of
        the content."""
        what = f'Cannot read resource "{uri}" of MCP server {self.id}'
        for name, file in self._resource_files.items():
            resource = file.content
            matched = match_uri(resource["uri"], uri) if name in self._resources else None
            if matched is None:
                continue
            path, query = matched
            parameters = query | path
            mapped = process_arguments(
                resource.get("x-process-args"),
                {"uri": uri, "parameters": parameters, "arguments": parameters},
                {
                    "args": parameters,
                    "uri": {key: parameters[key] for key in path},
                    "query": {key: parameters[key] for key in query},
                },
            )
            value = await self._answer(self._resources[name], [uri] if mapped is None else mapped, context, what)
            mime = resource.get("mimeType")
            return {"contents": [{"uri": uri, **({"mimeType": mime} if mime else {}), "text": _text(value)}]}
        raise ToolError(f"{what}: there is no such resource", 404, self._known_resources())

    def _known_resources(self) -> str | None:
        """The resources, and those that are incomplete: each needs a process in the definition of the server,
        and a file with its URI."""
        uris = [file.content["uri"] for name, file in self._resource_files.items() if name in self._resources]
        hints = [f"Its resources are {', '.join(uris)}"] if uris else []
        for name in self._resources:
            if name not in self._resource_files:
                plain = name if name.isidentifier() else "<name>"
                file = self._folder / "resources" / f"{plain}.res.yao"
                hints.append(f'"{name}" is not a resource: there is no {file} with its "uri"')
        hints += [warning for warning in self.warnings if "among its resources" in warning]
        return ". ".join(hints) or None

    async def list_prompts(self) -> list[Item]:
        """See `Server`."""
        listed = [
            {"name": name, **_said(prompt, "description", "arguments")} for name, prompt in self._prompt_files.items()
        ]
        return listed + [{"name": name} for name in self._prompts if name not in self._prompt_files]

    async def get_prompt(self, name: str, arguments: Item, context: Any = None) -> Item:
        """See `Server`. A prompt without a file is what its process answers: a text, messages, or the whole."""
        what = f'Cannot get prompt "{name}" of MCP server {self.id}'
        if name not in self._prompt_files:
            if name not in self._prompts:
                known = {**self._prompt_files, **self._prompts}
                raise ToolError(f"{what}: there is no such prompt", 404, _known(name, known))
            value = await self._answer(self._prompts[name], [arguments], context, what)
            if isinstance(value, dict) and "messages" in value:
                return value
            return {"messages": [_message(item) for item in (value if isinstance(value, list) else [_text(value)])]}
        prompt = self._prompt_files[name].content
        declared = [item for item in prompt.get("arguments") or [] if isinstance(item, dict)]
        needed = [item["name"] for item in declared if item.get("required") and isinstance(item.get("name"), str)]
        missing = [name for name in needed if name not in arguments]
        if missing:
            raise ToolError(f"{what}: missing {', '.join(missing)}", 400)
        messages = prompt.get("messages") or [{"role": prompt.get("role", "user"), "content": prompt["template"]}]
        described = {"description": prompt["description"]} if prompt.get("description") else {}
        return {**described, "messages": [_rendered(_message(message), arguments) for message in messages]}

    def samples(self, kind: str, name: str) -> list[Item]:
        """See `Server`. Raises ConfigurationError when the file is broken."""
        key = (kind, name)
        if key not in self._samples:
            known = self._tools if kind == "tool" else self._resources
            folder = self._folder / ("schemes" if kind == "tool" else "resources")
            self._samples[key] = read_samples(folder / f"{name}.jsonl") if name in known else []
        return self._samples[key]

    async def _answer(self, process: str, arguments: list[Any], context: Any, what: str) -> Any:
        """The answer of a process. Raises ToolError, which begins with `what`."""
        from bindings import ProcessError

        try:
            return await self._call_process(process, arguments, context)
        except ProcessError as error:
            raise ToolError(f"{what}: {error.message}", error.code) from error


def _processes(definition: Item, key: str, file: Path) -> dict[str, str]:
    section = definition.get(key) or {}
    if not isinstance(section, dict) or not all(isinstance(process, str) for process in section.values()):
        raise ConfigurationError(
            f'Cannot read MCP server {file}: "{key}" is not an object of process names',
            f'Write it as "{key}": {{"<name>": "agents.<agent>.<module>.<Function>"}}',
        )
    return section


def _said(file: MappingFile, *fields: str) -> Item:
    return {field: file.content[field] for field in fields if file.content.get(field)}


def _unused(files: dict[str, MappingFile], declared: dict[str, str], key: str, file: Path) -> list[str]:
    return [
        f'{unused.path} is not used: {file} has no "{name}" among its {key}'
        for name, unused in files.items()
        if name not in declared
    ]


def _plain(schema: Item) -> Item:
    """A schema file without what is not for the model."""
    kept = {key: value for key, value in schema.items() if key not in ("description", "x-process-args")}
    return {"type": "object", "properties": {}, **kept} if kept.get("type", "object") == "object" else kept


def _check_schema(path: Path, schema: Item) -> None:
    from bindings.processes.schemas import schema_problem

    problem = schema_problem(_plain(schema))
    if problem is not None:
        raise ConfigurationError(f"Cannot read schema {path}: {problem}")


def _known(name: str, names: dict[str, Any]) -> str | None:
    return did_you_mean(name, names) or (f"There are {', '.join(names)}" if names else None)


def _text(value: Any) -> str:
    from bindings.processes.formats import encode_json

    return value if isinstance(value, str) else encode_json(value, escape_html=False)


def _message(message: Any) -> Item:
    """A message in the protocol's form; a text is said by the user."""
    if not isinstance(message, dict):
        return {"role": "user", "content": text_content(_text(message))}
    content = message.get("content", "")
    return {
        "role": message.get("role", "user"),
        "content": text_content(content) if isinstance(content, str) else content,
    }


def _rendered(message: Item, variables: Item) -> Item:
    content = message["content"]
    if isinstance(content, dict) and isinstance(content.get("text"), str):
        content = {**content, "text": render(content["text"], variables)}
    return {**message, "content": content}


def read_mapping(folder: Path, kind: str, purpose: str) -> dict[str, MappingFile]:
    """Name → the files `<name>.<kind>.yao` in a folder, sorted. Raises ConfigurationError."""
    found = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        suffix = next((f".{kind}{end}" for end in SUFFIXES if path.name.endswith(f".{kind}{end}")), None)
        if suffix is not None:
            value = read_json(path, purpose)
            if not isinstance(value, dict):
                raise ConfigurationError(f"Cannot read {purpose} {path}: it is not an object")
            found[path.name.removesuffix(suffix)] = MappingFile(path=path, content=value)
    return found


def read_samples(path: Path) -> list[dict[str, Any]]:
    """The examples in a `.jsonl` file, empty when there is none. Raises ConfigurationError with the position."""
    if not path.is_file():
        return []
    samples: list[dict[str, Any]] = []
    for number, line in enumerate(text_of(path, "samples", is_data=True).split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("//"):
            continue
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            raise ConfigurationError(f"Cannot read samples {path}:{number}:{error.colno}: {error.msg}") from error
        except RecursionError as error:
            raise ConfigurationError(f"Cannot read samples {path}:{number}: it is nested too deeply") from error
        if not isinstance(value, dict):
            raise ConfigurationError(f"Cannot read samples {path}:{number}: it is not an object")
        for found in repeated_keys(line):
            twice = given_twice(found.key, f"{path}:{number}:{found.first + 1}")
            raise ConfigurationError(f"Cannot read samples {path}:{number}:{found.again + 1}: {twice}", KEEP_ONE)
        samples.append({"name": "", "input": None, **value, "index": len(samples)})
    return samples


def process_arguments(template: Any, whole: Mapping[str, Any], fields: Mapping[str, Any]) -> list[Any] | None:
    """The arguments of the process for a call, by an `x-process-args` list; None if there is no list. `template`:
    items of the list. `":name"` is one of `whole`, `"$name.a.b"` a field of one of `fields`, `"$a.b"` a field of
    their `args`; null if it is missing. Anything else is a constant."""
    return [_filled(item, whole, fields) for item in template] if isinstance(template, list) else None


def _filled(item: Any, whole: Mapping[str, Any], fields: Mapping[str, Any]) -> Any:
    if not isinstance(item, str):
        return item
    if item.startswith(":") and item[1:] in whole:
        return whole[item[1:]]
    if not item.startswith("$") or len(item) == 1:
        return item
    first, *path = item[1:].split(".")
    if first in fields and path:
        return _field(fields[first], path)
    return _field(fields["args"], [first, *path])


def _field(value: Any, path: list[str]) -> Any:
    for part in path:
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value


def match_uri(template: str, uri: str) -> tuple[dict[str, str], dict[str, str]] | None:
    """The path parameters and the query of a URI that fits a template such as `orders://{id}/items?page={page}`; None
    if it does not. The query's names may come in any order, and more of them than the template has; a name that the
    template has must be there."""
    path, _, wanted = template.partition("?")
    given_path, _, given = uri.partition("?")
    pieces = re.split(r"\{(\w+)\}", path)
    names = pieces[1::2]
    pattern = "".join("([^/?#]+)" if at % 2 else re.escape(piece) for at, piece in enumerate(pieces))
    match = re.fullmatch(pattern, given_path)
    if match is None:
        return None
    query = dict(parse_qsl(given, keep_blank_values=True))
    parameters = {name: unquote(text) for name, text in zip(names, match.groups(), strict=True)}
    for key, text in parse_qsl(wanted, keep_blank_values=True):
        variable = re.fullmatch(r"\{(\w+)\}", text)
        if key not in query or (variable is None and query[key] != text):
            return None
        if variable is not None:
            parameters[variable[1]] = query[key]
    return parameters, query


def render(text: str, variables: Mapping[str, Any]) -> str:
    """Fills `{{name}}` (missing: empty) and `{{#if name}}...{{else}}...{{/if}}` into a prompt."""

    def choose(match: re.Match[str]) -> str:
        yes, *no = _ELSE.split(match[2], maxsplit=1)
        return yes if _field(dict(variables), match[1].split(".")) else "".join(no)

    def fill(match: re.Match[str]) -> str:
        value = _field(dict(variables), match[1].split("."))
        if value is None:
            return ""
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    replaced = 1
    while replaced:
        text, replaced = _IF.subn(choose, text)
    return _VARIABLE.sub(fill, text)
