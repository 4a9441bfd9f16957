"""The workloads: modules with three small functions each, and test files that import them.

Every tool gets the same functions, the same data and the same checks, written in its own words. A test is one of ten
shapes, in turn: eight plain ones, one that expects an exception, one that awaits. Three tests are the first three.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple


class Workload(NamedTuple):
    """How much there is to run."""

    modules: int
    tests: int
    """Tests of each module."""

    @property
    def name(self) -> str:
        """As on the command line and in the tables."""
        return f"{self.modules}x{self.tests}"

    @property
    def total(self) -> int:
        """Tests of all modules."""
        return self.modules * self.tests

    def module_names(self) -> list[str]:
        """Names of the modules, without suffix."""
        return ["calc"] if self.modules == 1 else [f"calc_{number:03}" for number in range(1, self.modules + 1)]


WORKLOADS = (
    Workload(modules=1, tests=3),
    Workload(modules=50, tests=10),
    Workload(modules=200, tests=10),
    Workload(modules=1, tests=1000),
)

_MODULE = """\
export interface Line {
  name: string;
  cents: number;
  count: number;
}

/** The price of all lines, in cents. */
export function total(lines: Line[]): number {
  let sum = 0;
  for (const line of lines) {
    if (line.count < 0) throw new RangeError(`${line.name}: a count cannot be negative`);
    sum += line.cents * line.count;
  }
  return sum;
}

/** What a bill ends with; the rate is in percent. */
export function summary(lines: Line[], rate: number): { net: number; tax: number; gross: number } {
  const net = total(lines);
  const tax = Math.round((net * rate) / 100);
  return { net, tax, gross: net + tax };
}

/** An amount as a person reads it. */
export function label(cents: number): string {
  return `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, "0")} EUR`;
}
"""
_INTERFACE = re.compile(r"export interface \w+ \{.*?\n\}\n\n", re.DOTALL)
_ANNOTATION = re.compile(r"(?<=[a-z)]): (?:Line\[\]|number|string|\{ net: .*? \})(?=[,) ])")
FUNCTIONS = ("total", "summary", "label")
_GUARD = "sum += line.cents * line.count;"


class Dialect(NamedTuple):
    """How one tool wants its files written."""

    test_file: str
    """Name of a test file; `{}` is the module."""
    head: str
    """First lines of a test file."""
    imports: str
    """The line that imports the module; `{}` is its name."""
    test: str
    """A test: `{title}`, `{name}` (an identifier), `{async}` and `{body}`."""
    equal: str
    """Checks: `{0}` is what was computed, `{1}` what it should be."""
    deep: str
    contains: str
    true: str
    throws: str
    language: str = "commonjs"
    """commonjs, esm or typescript."""


def module_text(language: str, broken: bool = False) -> str:
    """The module under test. A broken one adds up wrongly, so that its tests must fail."""
    text = _MODULE.replace(_GUARD, "sum -= line.cents * line.count;") if broken else _MODULE
    if language == "typescript":
        return text
    text = _ANNOTATION.sub("", _INTERFACE.sub("", text))
    if language == "commonjs":
        text = text.replace("export function", "function") + f"\nmodule.exports = {{ {', '.join(FUNCTIONS)} }};\n"
    return text


def test_text(dialect: Dialect, module: str, tests: int) -> str:
    """The test file of a module."""
    parts = [dialect.head, dialect.imports.format(module)]
    for number in range(1, tests + 1):
        word, body = _test_body(dialect, number)
        awaits = "async " if "await " in body else ""
        title, name = f"{word} {number}", f"Test{word.title().replace(' ', '')}{number:04}"
        parts.append("\n" + dialect.test.format_map({"title": title, "name": name, "async": awaits, "body": body}))
    return "".join(parts)


def _label(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02} EUR"


def _test_body(dialect: Dialect, number: int) -> tuple[str, str]:
    """What a test is about, and its statements."""
    tea, cup = 200 + number, 950
    lines = f'[{{ name: "tea", cents: {tea}, count: 3 }}, {{ name: "cup", cents: {cup}, count: 1 }}]'
    net = tea * 3 + cup
    tax = (net * 20 + 50) // 100
    equal, deep, true = dialect.equal.format, dialect.deep.format, dialect.true.format
    contains, throws = dialect.contains.format, dialect.throws.format
    bill = f"const bill = summary({lines}, 20);"
    names = f"const names = {lines}.map((line) => line.name);"
    many = equal(f'total([{{ name: "tea", cents: {tea}, count }}])', f"{tea} * count")
    shapes: list[tuple[str, list[str]]] = [
        ("total", [f"const lines = {lines};", equal("total(lines)", net), equal("total([])", 0)]),
        ("summary", [bill, deep("bill", f"{{ net: {net}, tax: {tax}, gross: {net + tax} }}")]),
        ("label", [f"const text = label({net});", equal("text", f'"{_label(net)}"'), contains("text", '"EUR"')]),
        ("order", [bill, true("bill.gross > bill.net"), true("bill.tax > 0"), equal("bill.gross - bill.tax", net)]),
        ("labels", [deep(f"[{tea}, {cup}].map(label)", f'["{_label(tea)}", "{_label(cup)}"]')]),
        ("nothing", [deep("summary([], 20)", "{ net: 0, tax: 0, gross: 0 }"), equal("label(0)", '"0.00 EUR"')]),
        ("negative", [throws(f'total([{{ name: "tea", cents: {tea}, count: -1 }}])')]),
        ("later", [f"const sum = await Promise.resolve({lines}).then(total);", equal("sum", net)]),
        ("many", [f"for (let count = 0; count < 10; count++) {{\n    {many}\n  }}"]),
        ("names", [names, deep("names", '["tea", "cup"]'), equal("names.length", 2)]),
    ]
    word, statements = shapes[(number - 1) % len(shapes)]
    return word, "\n".join(f"  {statement}" for statement in statements)


def write_workload(folder: Path, dialect: Dialect, workload: Workload, broken: bool = False) -> None:
    """Writes the modules and test files into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    suffix = ".ts" if dialect.language == "typescript" else ".js"
    for module in workload.module_names():
        (folder / f"{module}{suffix}").write_text(module_text(dialect.language, broken))
        (folder / dialect.test_file.format(module)).write_text(test_text(dialect, module, workload.tests))
