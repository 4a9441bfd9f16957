"""The values of a story are those that node's inspector shows; `values.jsonl` has what it says, see `inspect_values.mjs`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from command import MakeApplication, Record

VALUES = [json.loads(line) for line in (Path(__file__).parent / "values.jsonl").read_text("utf-8").splitlines()]
APART = 30
"""How many values a test has, whose story would be cut otherwise."""
ITEMS, TEXT, DEPTH, ROOM = 12, 120, 3, 320
"""What a story shows of a value, see `usual` in `bindings/src/realm/shown.ts`."""


def test_values_are_those_of_the_inspector(app: MakeApplication) -> None:
    made = ",".join(f"() => ({one['of']})" for one in VALUES)
    tests = [f'const of = Function("at", {json.dumps(f"return [{made}][at]()")});\n']
    for first in range(0, len(VALUES), APART):
        lines = [f"  const v{at} = of({at});\n" for at in range(len(VALUES))[first : first + APART]]
        tests.append(f"export function TestFrom{first}(t) {{\n{''.join(lines)}  t.assert.Equal(0, 1);\n}}\n")
    run = app({"values_test.ts": "".join(tests)}).run("--story=all", "--json")
    stories = [failure["story"] for failure in json.loads(run.stdout)["failures"]]
    lines = {name: line for story in stories for line in story for name in line.get("assigned", ())}
    shown = {one["of"]: lines[f"v{at}"]["text"].partition(f"v{at} = ")[2] for at, one in enumerate(VALUES)}
    expected = {one["of"]: Text().of(one["is"]) for one in VALUES}
    assert {of: (text, expected[of]) for of, text in shown.items() if text != expected[of]} == {}
    values = {of: lines[f"v{at}"]["assigned"][f"v{at}"] for at, of in enumerate(expected) if "…" not in expected[of]}
    of_json = {one["of"]: plain(one["is"]) for one in VALUES if one["of"] in values and is_json(one["is"])}
    assert {of: values[of] for of in of_json} == of_json


class Text:
    """The text for what the inspector says of one value."""

    def __init__(self) -> None:
        self._depth, self._room = 0, ROOM

    def of(self, one: Record) -> str:
        text = self._of(one)
        self._room -= len(text.encode("utf-16-le")) // 2
        return text

    def _of(self, one: Record) -> str:
        if one["type"] == "string":
            return clipped(one["value"], max(20, min(TEXT, self._room)), json_text)
        if one["type"] in ("number", "boolean"):
            return one["text"] if "text" in one else json_number(one["value"])
        if one["type"] == "bigint":
            return cut(one["text"][:-1]) + "n"
        if one["type"] == "symbol":
            return cut(one["text"])
        if one["type"] == "undefined" or one.get("value", 0) is None:
            return "undefined" if one["type"] == "undefined" else "null"
        if one["type"] in ("get", "set", "get/set"):
            return {"get": "[Getter]", "set": "[Setter]", "get/set": "[Getter/Setter]"}[one["type"]]
        if one["type"] == "circular":
            return "[Circular]"
        if one.get("subtype") == "proxy" or (one["type"] == "function" and one.get("class") == "Proxy"):
            return "[Proxy]"
        if one["type"] == "function":
            return f"[{' '.join(filter(None, ['class' if one['isClass'] else 'Function', cut(one.get('name', ''))]))}]"
        self._depth += 1
        try:
            return self._object(one)
        finally:
            self._depth -= 1

    def _object(self, one: Record) -> str:
        name, kind, size = one["class"], one.get("subtype"), one.get("size", 0)
        fields = one.get("fields", [])
        if name.endswith("Iterator"):  # the class has another name than `Symbol.toStringTag`
            name = re.sub("(?<=[a-z])(?=String|Iterator)|(?<=Exp)(?=String)", " ", name)
        if kind == "generator":
            name = "Generator"
        if "[[PromiseState]]" in one:
            state = one["[[PromiseState]]"]
            result = "" if state == "pending" else f": {self.of(one['[[PromiseResult]]'])}"
            return f"Promise {{<{state}>{result}}}"
        if kind in ("map", "set") and "[[Entries]]" in one:
            entries = [entry for _, entry in one["[[Entries]]"].get("fields", [])]
            return f"{name}({len(entries)}) {{{self._several(entries, len(entries))}}}"
        if kind == "date":
            return f"{name}({one['text']})"
        if kind == "regexp":
            source, _, flags = one["text"][1:].rpartition("/")
            last = f" {{lastIndex: {one['lastIndex']}}}" if one["lastIndex"] else ""
            return f"/{clipped(source, TEXT)}/{flags}{last}"
        if kind == "error":
            title, _, message = one["text"].partition(": ")
            title = name if title == "Error" else title  # a class that gives its errors no name
            own = [field for field in fields if field[0] != "name"]
            more = f" {{{self._several(own, len(own))}}}" if own else ""
            return title + (f": {cut(message)}" if message else "") + more
        if "[[PrimitiveValue]]" in one:
            return f"{name}({self.of(one['[[PrimitiveValue]]'])})"
        if kind in ("typedarray", "arraybuffer"):
            items = (one.get("[[Uint8Array]]") or one).get("fields", [])
            return f"{name}({size}) [{self._several([item for _, item in items], size)}]"
        if kind == "dataview":
            return f"{name}({size})"
        if kind == "array" and name != "Arguments":
            items = dict(field for field in fields if isinstance(field[0], str) and field[0].isdigit())
            more = [field for field in fields if not (isinstance(field[0], str) and field[0].isdigit())]
            texts = [self._several([items.get(str(at), "<empty>") for at in range(one["length"])], one["length"])]
            texts += [self._several(more, len(more))] if more else []
            return ("" if name == "Array" else f"{name}({size}) ") + f"[{', '.join(filter(None, texts))}]"
        head = "" if name in ("Object", "Arguments") else f"{name} "
        return f"{head}{{{self._several(fields, len(fields))}}}"

    def _several(self, items: list[Any], size: int) -> str:
        if self._depth > DEPTH:
            return "…" if size else ""
        texts: list[str] = []
        for item in items[:ITEMS]:
            if self._room <= 0 and texts:
                break
            texts.append(self._item(item))
        return ", ".join(texts + ([f"… {size - len(texts)} more"] if size > len(texts) else []))

    def _item(self, item: Any) -> str:
        if item == "<empty>":
            return item
        if isinstance(item, list):
            key, value = item
            shown = f"[{cut(key['symbol'])}]" if isinstance(key, dict) else key if named(key) else json_text(key)
            return f"{shown}: {self.of(value)}"
        if item.get("subtype") == "internal#entry":
            parts = dict(item["fields"])
            return " => ".join(self.of(parts[part]) for part in ("key", "value") if part in parts)
        return self.of(item)


def named(key: str) -> bool:
    return key.isidentifier() or key.replace("$", "_").isidentifier() or key.isdigit()


def json_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=any("\ud800" <= letter <= "\udfff" for letter in text))


def json_number(value: float) -> str:
    if isinstance(value, bool | int):
        return json.dumps(value)
    return {1e21: "1e+21", 1e-7: "1e-7"}.get(value, repr(value))


def clipped(text: str, most: int, shown: Any = str) -> str:
    units = text.encode("utf-16-le", "surrogatepass")
    more = len(units) // 2 - most
    return shown(text) if more <= 0 else f"{shown(units[: 2 * most].decode('utf-16-le', 'surrogatepass'))}… {more} more"


def cut(text: str) -> str:
    return json_text(clipped(text, TEXT))[1:-1]


def is_json(one: Record) -> bool:
    if one.get("subtype") == "array" and one["class"] == "Array":
        fields = one.get("fields", [])
        return len(fields) == one["length"] and all(is_json(value) for _, value in fields)
    if one["type"] == "object" and one.get("class") == "Object" and "subtype" not in one:
        return all(isinstance(key, str) and is_json(value) for key, value in one.get("fields", []))
    return "value" in one and one["value"] != "\ud83d"


def plain(one: Record) -> Any:
    if one.get("subtype") == "array":
        return [plain(value) for _, value in one.get("fields", [])]
    return one["value"] if "value" in one else {key: plain(value) for key, value in one.get("fields", [])}
