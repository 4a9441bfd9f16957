"""A configuration of promptfoo: https://www.promptfoo.dev/docs/configuration/reference/. Each prompt with each test is
a case, whose input is the prompt with the variables in it; its assertions as ours:
https://www.promptfoo.dev/docs/configuration/expected-outputs/."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from runner.conversion.sources import CODE, Converted, judged, parsed, pattern_problem, value_of
from runner.errors import ConfigurationError
from runner.security.files import TABLES, read_text
from runner.shapes.fields import is_parameter
from scripttest.typing_names import Record

TOP = {
    **dict.fromkeys(("providers", "targets"), "agents have their own connector; -c CONNECTOR overrides it"),
    "outputPath": "-o FILE",
    "evaluateOptions": "--parallel, --runs",
    "commandLineOptions": "flags",
    "env": "set in the application's .env",
    "redteam": "no counterpart",
    "scenarios": "write their combinations as tests",
    "extensions": "--before, --after",
    "nunjucksFilters": "inserted into the prompt",
    "transform": "a Next hook of the agent",
}
"""Field of the configuration → what there is instead."""
OF_AGENT = frozenset(("tools", "tool_choice"))
"""Parameters that are the agent's own here."""
READ = tuple("description prompts tests defaultTest assertionTemplates metadata tags $schema".split())
OF_TEST = ("description", "vars", "assert", "metadata", "options", "threshold", "prompts", "providers", "provider")
OF_OPTIONS = ("prefix", "suffix", "disableVarExpansion", "disableDefaultAsserts")
BETWEEN_PROMPTS = re.compile(r"\n---\n")
_VARIABLE = re.compile(r"\{\{-?\s*([\w.]+)\s*-?\}\}")
_LOGIC = re.compile(r"\{%|\{\{[^}]*[|(]")
"""What is a template with more than names, or looks so."""
_EXPECTED = re.compile(r"__expected\d*\Z")


class Promptfoo:
    """Converts one configuration."""

    def __init__(self, path: Path, config: Record, converted: Converted) -> None:
        self._folder = path.parent
        self._config = _resolved(config, config)
        self.converted = converted
        self._parameters: Record = {}
        """Those of the model, where there is one provider."""

    def convert(self) -> None:
        """Adds all cases. Raises ConfigurationError for a file that cannot be read."""
        for name in sorted(self._config.keys() - READ):
            self.converted.lacks(f"`{name}`: {TOP[name]}" if name in TOP else f"`{name}`")
        providers = self._config.get("providers") or self._config.get("targets")
        one = providers[0] if isinstance(providers, list) and len(providers) == 1 else providers
        config = one.get("config") if isinstance(one, dict) else None
        if isinstance(config, dict):
            for name in sorted(OF_AGENT & config.keys()):
                self.converted.lacks(f"`{name}` of the provider: an agent has its own tools")
            self._parameters = {
                name: value for name, value in config.items() if name not in OF_AGENT and is_parameter(name, value)
            }
        prompts = list(self._prompts(self._config.get("prompts") or ["{{prompt}}"]))
        default = self._read(self._config.get("defaultTest") or {})
        tests = list(self._tests(self._config.get("tests") or []))
        for number, test in enumerate(tests or [{}], 1):
            self.converted.at = f"test-{number}"
            variants = list(self._expanded(default, test))
            for at, variables in enumerate(variants, 1):
                for place, (label, prompt) in enumerate(prompts, 1):
                    if test.get("prompts") and label not in test["prompts"]:
                        continue
                    id = f"test-{number}" + (f"-{at}" if len(variants) > 1 else "")
                    self._add(id + (f"-prompt-{place}" if len(prompts) > 1 else ""), default, test, variables, prompt)

    def _add(self, id: str, default: Record, test: Record, variables: Record, prompt: str) -> None:
        lacks = partial(self.converted.lacks, case=id)
        options = _joined(default, test, "options")
        for name in sorted((default | test).keys() - OF_TEST):
            lacks(f"`{name}` of a test")
        for name in sorted(options.keys() - OF_OPTIONS):
            lacks(f"`options.{name}` of a test")
        if test.get("provider") or test.get("providers"):
            lacks("`provider` of a test: `options.connector`")
        render = partial(self._rendered, variables=variables, lacks=lacks)
        given = [] if options.get("disableDefaultAsserts") else list(default.get("assert") or [])
        checks = Assertions(render, lacks)
        found = [check for one in (*given, *(test.get("assert") or [])) for check in checks.of(self._read_value(one))]
        threshold = test.get("threshold", default.get("threshold"))
        if threshold is not None and threshold < 1:
            lacks("`threshold` of a test: every assertion must pass; `rubrics` have a threshold")
        text = f"{options.get('prefix', '')}{prompt}{options.get('suffix', '')}"
        more = {"name": test.get("description"), "metadata": _joined(default, test, "metadata")}
        self.converted.add(id, _said(render(text)), found, **more, options=self._parameters, lost=checks.lost)

    def _prompts(self, prompts: Any) -> Iterator[tuple[str, str]]:
        """Each prompt with the name by which tests choose it."""
        for one in prompts if isinstance(prompts, list) else [prompts]:
            given = one if isinstance(one, dict) else {"id": str(one)}
            label = given.get("label") or given.get("id") or ""
            source = str(given.get("raw") or given.get("id") or given.get("file") or "")
            name = source.removeprefix("file://")
            is_file = source.startswith("file://") or ("\n" not in name and (self._folder / name[:200]).is_file())
            if not is_file:
                yield label, source
                continue
            for path in self._files(name):
                if path.suffix in CODE or ":" in path.name:
                    self.converted.lacks(f"prompt {name}: the prompt is code; write its text")
                elif path.suffix in TABLES:
                    yield from ((label, str(row.get("prompt", ""))) for row in value_of(path, name))
                elif path.suffix in (".json", ".yaml", ".yml") and not _LOGIC.search(self._text(path, name)):
                    yield label, json.dumps(value_of(path, name), ensure_ascii=False)
                elif path.suffix == ".jsonl":
                    yield from ((label, json.dumps(one, ensure_ascii=False)) for one in value_of(path, name))
                else:
                    texts = BETWEEN_PROMPTS.split(self._text(path, name))
                    yield from ((label, text.strip()) for text in texts if text.strip())

    def _tests(self, given: Any) -> Iterator[Record]:
        """The tests of a list, or of files."""
        for one in given if isinstance(given, list) else [given]:
            if isinstance(one, dict) and "path" not in one:
                yield one
                continue
            source = str(one["path"] if isinstance(one, dict) else one)
            name = source.removeprefix("file://")
            if "://" in name or Path(name.partition(":")[0]).suffix in (*CODE, ".xlsx", ".xls"):
                instead = "save it as CSV" if ".xls" in name or "://" in name else "write the tests to a file"
                self.converted.lacks(f"tests {source}: {instead}")
                continue
            for path in self._files(name):
                found = _resolved(value_of(path, name), self._config)
                for number, row in enumerate(found if isinstance(found, list) else [found], 1):
                    self.converted.at = f"test {number} of {name}"
                    yield _row(row) if path.suffix in TABLES else row

    def _expanded(self, default: Record, test: Record) -> Iterator[Record]:
        """The variables of a test; lists give one test for each of their elements."""
        variables = {**self._read(default.get("vars") or {}), **self._read(test.get("vars") or {})}
        variables = {name: self._content(value) for name, value in variables.items()}
        if _joined(default, test, "options").get("disableVarExpansion"):
            yield variables
            return
        each = [value if isinstance(value, list) and value else [value] for value in variables.values()]
        yield from (dict(zip(variables, values, strict=True)) for values in product(*each))

    def _content(self, value: Any) -> Any:
        """A variable; of `file://` the content of the file."""
        if not (isinstance(value, str) and value.startswith("file://")):
            return value
        name = value.removeprefix("file://")
        path = self._folder / name
        if path.suffix in CODE:
            self.converted.lacks(f"variable {value}: the value is code; write it")
            return ""
        return value_of(path, name) if path.suffix in (".json", ".yaml", ".yml") else self._text(path, name)

    def _rendered(self, value: Any, variables: Record, lacks: Any, depth: int = 0) -> Any:
        """A value with the variables in its texts."""
        if not isinstance(value, str):
            return _each_of(value, lambda one: self._rendered(one, variables, lacks, depth))

        def said(match: re.Match[str]) -> str:
            found = _at(variables, match[1].split("."))
            if isinstance(found, str) and depth < 5:
                found = self._rendered(found, variables, lacks, depth + 1)
            return _text(found)

        if re.search(r"\{\{|\{%", _VARIABLE.sub("", value)):
            lacks("a template with more than {{ name }}: write out its result")
            return value
        return _VARIABLE.sub(said, value)

    def _read(self, given: Any) -> Record:
        """An object, or that of a file."""
        found = self._read_value(given)
        if not isinstance(found, dict):
            raise ConfigurationError(f"Cannot convert this configuration of promptfoo: {given!r} is not an object")
        return found

    def _read_value(self, given: Any) -> Any:
        if isinstance(given, str) and given.startswith("file://"):
            name = given.removeprefix("file://")
            return _resolved(value_of(self._folder / name, name), self._config)
        return given

    def _files(self, name: str) -> Iterable[Path]:
        """The files of a path that may have `*`; one that is not there stays, for the error."""
        found = sorted(self._folder.glob(name)) if "*" in name and not name.startswith("/") else []
        return found or [self._folder / name]

    def _text(self, path: Path, name: str) -> str:
        try:
            return read_text(path)
        except OSError as error:
            raise ConfigurationError(f"Cannot convert {name}: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise ConfigurationError(f"Cannot convert {name}: it is not UTF-8 text") from error


def _at(value: Any, names: Iterable[str]) -> Any:
    """What is below these names in an object; None: nothing."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _each_of(value: Any, made: Callable[[Any], Any]) -> Any:
    """A list or an object with what is made of each of its values; any other value as it is."""
    if isinstance(value, list):
        return [made(one) for one in value]
    return {name: made(one) for name, one in value.items()} if isinstance(value, dict) else value


def _resolved(value: Any, config: Record, depth: int = 0) -> Any:
    """A value with what its `$ref: '#/...'` name in the configuration."""
    reference = value.get("$ref") if isinstance(value, dict) else None
    if isinstance(reference, str) and reference.startswith("#/") and depth < 20:
        found = _at(config, reference[2:].split("/"))
        if found is not None:
            return _resolved(found, config, depth + 1)
    return _each_of(value, lambda one: _resolved(one, config, depth))


def _joined(default: Record, test: Record, field: str) -> Record:
    """A field of a test that is an object, with what the default has besides."""
    return {**(default.get(field) or {}), **(test.get(field) or {})}


def _row(row: Record) -> Record:
    """The test in a row of a table: its columns are variables, and `__expected` and its relatives."""
    test: Record = {"vars": {}, "assert": []}
    for name, cell in row.items():
        if _EXPECTED.match(name):
            test["assert"] += [expected_in(cell)] if cell else []
        elif name == "__description":
            test["description"] = cell
        elif name.startswith("__"):
            test |= {name: cell} if cell else {}
        else:
            test["vars"][name] = cell
    return test


def _said(text: str) -> Record:
    """What a prompt says: its messages, if it is JSON of such."""
    messages = parsed(text) if text.lstrip()[:1] == "[" else None
    is_chat = isinstance(messages, list) and all(isinstance(one, dict) and "role" in one for one in messages)
    return {"messages": messages} if is_chat else {"input": text}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


PLAIN = {name: name.replace("-", "_") for name in ("equals", "contains", "icontains", "starts-with", "regex")}
_LISTED = re.compile(r"(?P<each>i?contains)-(?P<of>any|all)\Z")
"""Its type for a list of values."""
JUDGED = {
    **dict.fromkeys(("llm-rubric", "model-graded-closedqa", "g-eval"), "{}"),
    **dict.fromkeys(("factuality", "model-graded-factuality"), "States the same facts as: {}"),
}
"""Its type → the criterion of a judge."""
LIMITS = {"latency": "latency_ms", "cost": "cost"}
INSTEAD = {
    **dict.fromkeys(
        ("javascript", "python", "ruby", "webhook"), "write it as a TypeScript function, for a `script` assertion"
    ),
    "select-best": "a `preference` assertion",
    "assert-set": "`any_of` or `all_of`",
    "is-refusal": "a criterion in words, for an `agent` assertion",
    **dict.fromkeys(("is-valid-openai-tools-call", "is-valid-function-call"), "an assertion `tool_called`"),
}
"""Its type → what to do instead."""
_OF_ASSERTION = ("type", "value", "threshold", "assert", "weight", "description")
"""Fields of an assertion that are read here, or say nothing about verdicts."""
SIMILARITY = 0.75
_CELL = re.compile(r"(?P<type>(?:not-)?[a-z-]+)(?:\((?P<threshold>[\d.]+)\))?(?:\s*:\s*(?P<value>.*))?\Z", re.S)
_ALIASES = {"eval": "javascript", "fn": "javascript", "grade": "llm-rubric"}


class Assertions:
    """Converts assertions, and tells what has no counterpart."""

    def __init__(self, render: Callable[[Any], Any], lacks: Callable[[str], None]) -> None:
        """`render` puts variables into a value."""
        self._render = render
        self._lacks = lacks
        self.lost: list[Record] = []
        """Assertions that have no counterpart."""

    def of(self, given: Record) -> Iterator[Record]:
        """An assertion; nothing when it has no counterpart."""
        said = str(given.get("type", ""))
        negated, type = said.startswith("not-"), said.removeprefix("not-")
        value, threshold = self._render(given.get("value")), given.get("threshold")
        for name in sorted(given.keys() - _OF_ASSERTION):
            self._lacks(f"`{name}` of an assertion")
        if given.get("weight", 1) != 1:
            self._lacks("`weight` of an assertion: every assertion must pass; `rubrics` have weights")
        found = list(self._found(type, value, threshold, given))
        if not found:
            hint = pattern_problem(value) if type == "regex" else INSTEAD.get(type)
            self._lacks(f"assertion `{said}`: {hint}" if hint else f"assertion `{said}`")
            self.lost.append(given)
        for check in found:
            negative = {"type": "not_contains"} if check["type"] == "contains" else {"negate": True}
            yield {**check, **negative} if negated else check

    def _found(self, type: str, value: Any, threshold: Any, given: Record) -> Iterator[Record]:
        is_file = isinstance(value, str) and value.startswith("file://")
        if is_file or (type == "regex" and pattern_problem(value)):
            return
        if type in PLAIN:
            yield {"type": PLAIN[type], "value": _parsed(value) if type == "equals" else value}
        elif listed := _LISTED.match(type):
            values = value if isinstance(value, list) else [part.strip() for part in str(value).split(",")]
            yield {"type": f"{listed['of']}_of", "value": [{"type": listed["each"], "value": one} for one in values]}
        elif type in ("is-json", "contains-json"):
            schema = _parsed(value)
            if value is None or isinstance(schema, dict):
                yield {"type": "json_schema", "value": schema or {}}
        elif type in JUDGED and value:
            for one in value if isinstance(value, list) else [value]:
                yield judged(JUDGED[type].format(one))
            if threshold is not None:
                self._lacks("`threshold` of a judged assertion: it passes or fails")
        elif type in LIMITS and threshold is not None:
            yield {"type": LIMITS[type], "value": threshold}
        elif type == "similar" and isinstance(value, str):
            yield {"type": "similar", "value": value, "threshold": SIMILARITY if threshold is None else threshold}
        elif type.startswith("trajectory:"):
            yield from _of_trajectory(type, value)


def _of_trajectory(type: str, value: Any) -> Iterator[Record]:
    """Our assertions on calls of tools for one of promptfoo's; none for what has no counterpart."""
    said = value if isinstance(value, dict) else {}
    bounds = {name: said[name] for name in ("min", "max") if name in said}
    named = {"name": said["name"]} if "name" in said else {}
    match type.partition(":")[2]:
        case "tool-used" if not said:
            yield from (
                {"type": "tool_called", "name": name} for name in (value if isinstance(value, list) else [value])
            )
        case "tool-used":
            yield {"type": "tool_calls", **named, "value": bounds or {"min": 1}}
        case "tool-args-match" if named:
            how = "exactly" if said.get("mode") == "exact" else "arguments"
            arguments = said.get("args", said.get("arguments"))
            yield {"type": "tool_arguments", "value": {"tool": said["name"], how: arguments, "calls": "any"}}
        case "tool-sequence":
            mode = {"mode": said["mode"]} if "mode" in said else {}
            yield {"type": "tool_sequence", "value": said.get("steps", value), **mode}
        case "step-count" if bounds and said.get("type", "tool") == "tool":
            yield {"type": "tool_calls", "value": bounds}


def expected_in(cell: str) -> Record:
    """The assertion of a cell `__expected`: `contains: Oslo`, `similar(0.8): Oslo`; any other text equals the
    answer."""
    found = _CELL.match(cell.strip())
    type = found["type"] if found else ""
    bare = _ALIASES.get(type, type).removeprefix("not-")
    known = _LISTED.match(bare) or bare in (*PLAIN, *JUDGED, *LIMITS, *INSTEAD, "is-json", "contains-json", "similar")
    needs_value = bare not in ("is-json", "contains-json")
    if found is None or not (known or ":" in type) or (needs_value and found["value"] is None):
        return {"type": "equals", "value": cell.strip()}
    value: Any = found["value"]
    threshold = float(found["threshold"]) if found["threshold"] else None
    if bare in LIMITS and value and threshold is None:
        threshold, value = float(value), None
    more = {} if threshold is None else {"threshold": threshold}
    return {"type": _ALIASES.get(type, type), **({} if value is None else {"value": value.strip()}), **more}


def _parsed(value: Any) -> Any:
    """A text that is a JSON object or list, as that."""
    is_json = isinstance(value, str) and value.strip()[:1] in ("{", "[")
    return parsed(value, otherwise=value) if is_json else value
