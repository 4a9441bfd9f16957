"""Case files in YAML: a list of cases, a mapping with the list as `tests` or `cases`, or a case; in one document or
several.

Scalars are read as Yao's Go reader does: `yes`, `no`, `on` and `off` are texts, and so are dates.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TextIO

import yaml

from runner.cases.entries import Entry, Places
from runner.cases.problems import Problem, Problems
from runner.documents import given_twice, in_words, place_of, repeated_yaml_keys, yaml_loader
from runner.json_parts import Path

LISTS = ("tests", "cases")
_TAG = "tag:yaml.org,2002:"


def entries_of(file: TextIO, problems: Problems) -> Iterator[list[Entry]]:
    """The entries of a YAML file, document by document. What cannot be read is added to the problems."""
    loader = yaml_loader()(file)
    try:
        while loader.check_node():
            document = loader.get_node()
            for again in repeated_yaml_keys(loader, document, _as_json):
                line, column = again.first
                said = given_twice(again.key, f"{problems.name}:{line}:{column}")
                problems.add(Problem(*again.place, said, again.hint))
            nodes = _cases(document, problems)
            yield [entry for node in nodes if (entry := _entry(loader, node, problems))]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        problems.add(Problem(*place, f"broken YAML: {in_words(error)}"))
    except yaml.reader.ReaderError as error:
        problems.add(Problem(1, 1, f"broken YAML: {error.reason}"))
    except RecursionError:
        problems.add(Problem(1, 1, "broken YAML: it is nested too deeply"))
    finally:
        loader.dispose()


def _cases(document: yaml.Node | None, problems: Problems) -> Iterator[yaml.Node]:
    if isinstance(document, yaml.MappingNode):
        names = [key.value for key, _ in document.value]
        listed = next((name for name in LISTS if name in names), None)
        if listed is None:
            yield document
            return
        for key, value in document.value:
            if key.value == listed:
                yield from _cases(value, problems)
            elif not str(key.value).startswith("x-"):
                hint = f'Beside "{listed}" there is nothing but fields that start with x-'
                problems.add(Problem(*place_of(key), f'unknown field "{key.value}"', hint))
    elif isinstance(document, yaml.SequenceNode):
        yield from document.value
    elif document is not None and document.tag != f"{_TAG}null":
        yield document


def _entry(loader: Any, node: yaml.Node, problems: Problems) -> Entry | None:
    line, column = place_of(node)
    if not isinstance(node, yaml.MappingNode):
        hint = "A case is a mapping with id and input"
        problems.add(Problem(line, column, f"{_shown(node)} is no case", hint))
        return None
    try:
        text = json.dumps(loader.construct_document(node), ensure_ascii=False, allow_nan=False)
    except yaml.MarkedYAMLError as error:
        place = error.problem_mark and (error.problem_mark.line + 1, error.problem_mark.column + 1)
        problems.add(Problem(*(place or (line, column)), f"broken YAML: {in_words(error)}"))
        return None
    except RecursionError:
        problems.add(Problem(line, column, "broken YAML: it is nested too deeply"))
        return None
    except (TypeError, ValueError) as error:
        problems.add(Problem(line, column, f"it holds what JSON cannot: {error}"))
        return None
    places: Places = {}
    _collect(node, (), places)
    return Entry(line, column, text, places)


def _collect(node: yaml.Node, path: Path, places: Places) -> None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            places[(*path, str(key.value))] = place_of(key)
            _collect(value, (*path, str(key.value)), places)
    elif isinstance(node, yaml.SequenceNode):
        for index, element in enumerate(node.value):
            places[(*path, index)] = place_of(element)
            _collect(element, (*path, index), places)


def _as_json(key: Any) -> str:
    """A key as it is in JSON, where all keys are texts."""
    return json.dumps({key: None})


def _shown(node: yaml.Node) -> str:
    return repr(node.value[:40]) if isinstance(node, yaml.ScalarNode) else "a list"
