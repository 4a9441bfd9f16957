"""Pieces of GitHub-flavoured Markdown: any text, of which nothing is taken for markup, and one result as a section."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from runner.amounts import cost_in, dollars
from runner.look_alikes import raw
from runner.record.lines import sizes
from runner.record.result_texts import (
    answer_of,
    as_text,
    cut,
    differences_of,
    errors_of,
    name_of,
    remarks_of,
    values_of,
    warnings_of,
)
from runner.record.suites import shown_name
from runner.record.verdict import Verdict, verdict_in
from runner.reporters.console.style import first_and_last
from runner.security.terminal import spelled
from scripttest import Status
from scripttest.typing_names import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


VALUE_LIMIT = 4000
"""Characters of a value that are shown."""
LINE_LIMIT = 1000
"""Characters of a line of a value that are shown."""
CELL_LIMIT = 300
"""Characters of a value in a table that are shown."""

_MARKUP = re.compile(r"[\\`*\[|~$]|(?<![^\W_])_|_(?![^\W_])")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
MARKS = {"passed": "✅", "failed": "❌", "broken": "❗", "inconclusive": "❓", "skipped": "⏭️"}
"""Verdict → its sign."""
ITEMS = 50
"""Rows of a table, turns and subtests that are shown."""


def visible(text: str) -> str:
    """Control characters other than tab and line feed, and what turns the direction of writing, as escapes."""
    return spelled(text.replace("\r\n", "\n"))


def inline(text: str, limit: int = CELL_LIMIT) -> str:
    """Text within a line, a heading or a cell of a table."""
    line = visible(" ".join(cut(text, limit).split()))
    return _MARKUP.sub(r"\\\g<0>", line).translate(_ENTITIES)


def code(text: str) -> str:
    """A short text in the typeface of code, outside of tables."""
    line = visible(" ".join(cut(text, CELL_LIMIT).split()))
    ticks = "`" * (max(map(len, re.findall("`+", line)), default=0) + 1)
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{space}{line}{space}{ticks}" if line else ""


def block(value: Any, language: str = "") -> str:
    """A value over as many lines as it needs; `language` is that of a text."""
    text = visible(cut(as_text(value, indent=2), VALUE_LIMIT))
    text = "\n".join(cut(line, LINE_LIMIT) for line in text.split("\n"))
    fence = "`" * max(3, max(map(len, re.findall("`+", text)), default=0) + 1)
    language = language or ("text" if isinstance(value, str) else "json")
    return f"{fence}{language}\n{text}\n{fence}\n\n"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown; the columns are aligned if the cells are short."""
    lines = [list(heads), *map(list, rows)]
    widths = [min(max(3, *(len(line[column]) for line in lines)), 40) for column in range(len(heads))]
    lines.insert(1, ["-" * width for width in widths])
    text = "".join(
        f"| {' | '.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))} |\n" for line in lines
    )
    return text + "\n"


def details(title: str, content: str) -> str:
    """Content that a click opens."""
    return f"<details>\n<summary>{title.translate(_ENTITIES)}</summary>\n\n{content}</details>\n\n"


def duration(milliseconds: float) -> str:
    """A duration as seed 004 writes it: 234ms, 12.3s, 2m5s."""
    seconds = milliseconds / 1000
    if seconds < 1:
        return f"{milliseconds:.0f}ms"
    return f"{seconds:.1f}s" if seconds < 60 else f"{int(seconds // 60)}m{int(seconds % 60)}s"


def heading(record: Record) -> str:
    """`### ✅ T001 - Passed (234ms)`."""
    verdict = verdict_in(record)
    said = "Error" if verdict is Verdict.BROKEN else verdict.capitalize()
    name = inline(name_of(record, alone=True))
    return f"### {MARKS[verdict]} {name} - {said} ({duration(record['duration_ms'])})\n\n"


def _place(suite: Record, record: Record) -> str:
    """The suite of a result; of a case its line, in the file as it is named from the repository."""
    line = f":{record['line']}" if record.get("line") else ""
    if not line or not suite["file"]:
        return shown_name(suite) + line
    variant = f" [{suite['variant']}]" if suite.get("variant") else ""
    return f"{suite['file']}{line}{variant}"


def body(record: Record, suite: Record, names_suite: bool) -> str:
    """The text below the heading."""
    facts = [f"**{inline(record['name'])}**"] if record.get("name") and "script" not in record else []
    facts += [code(_place(suite, record))] if names_suite else []
    facts += [f"cause: {inline(record['cause'])}"] if record.get("cause") else []
    facts += [f"tags: {inline(', '.join(map(str, record['tags'])))}"] if record.get("tags") else []
    text = f"{' · '.join(facts)}\n\n" if facts else ""
    text += "".join(block(error) for error in errors_of(record))
    text += "".join(block(difference, "diff") for difference in differences_of(record))
    if record.get("location"):
        text += f"at {code(record['location'])}\n\n"
    if record["status"] == Status.SKIPPED and record.get("skip_reason"):
        text += f"Skipped: {inline(record['skip_reason'])}\n\n"
    for message, place in warnings_of(record):
        text += f"⚠️ {inline(message)}\n\n"
        text += f"at {code(f'{place.file}:{place.line}:{place.column}')}\n\n" if place.file else ""
    text += "".join(f"{inline(said)}\n\n" for said in remarks_of(record))
    text += _runs(record)
    content = "".join(_content(record))
    return text + (details("Details", content) if content else "")


def _runs(record: Record) -> str:
    runs = record.get("runs")
    if not runs:
        return ""
    low, high = runs["confidence_interval"]
    facts = [
        f"{runs['passed']} of {runs['count']} runs passed ({runs['pass_rate']}%, 95% interval {low}% to {high}%)",
        str(runs["classification"]),
        f"consistency {runs['consistency']}",
        f"{duration(runs['min_duration_ms'])} to {duration(runs['max_duration_ms'])}",
    ]
    rows = [
        (
            str(run["run"]),
            MARKS[verdict_in(run)],
            duration(run["duration_ms"]),
            _cell(run.get("error")),
        )
        for run in _some(runs.get("attempts"))
    ]
    return f"{', '.join(facts)}\n\n" + table(("Run", "", "Duration", "Error"), rows)


def _content(record: Record) -> Iterator[str]:
    assertion = record.get("assertion")
    if assertion:
        told = dict(values_of(assertion))
        for side in ("expected", "actual"):
            value = assertion.get(side)
            yield _titled(side.capitalize(), value if told.get(side, raw(value)) == raw(value) else told[side])
    is_case = "script" not in record
    if is_case and record.get("input") is not None:
        yield _titled("Input", record["input"])
    yield _attachments(record)
    if is_case and not record.get("turns") and (answer := answer_of(record)) is not None:
        yield _titled("Output", answer)
    if record.get("expected") is not None:
        yield _titled("Expected", record["expected"])
    yield _assertions("Assertions", record.get("assertions"))
    for turn in _some(record.get("turns")):
        yield _turn(turn)
    yield _assertions("Final assertions", record.get("final_assertions"))
    yield _checkpoints(record.get("checkpoints"))
    yield _scores(record)
    yield "" if record.get("turns") else _tools(record.get("tools"))
    steps = "".join(_step(step, 0) for step in _some(record.get("steps")))
    yield f"**Subtests**\n\n{steps}\n" if steps else ""
    if record.get("logs"):
        yield _titled("Output of the script" if is_case else "Output", "\n".join(first_and_last(record["logs"])))
    if record.get("stack_trace"):
        yield _titled("Stack", record["stack_trace"])
    yield _trace(record.get("trace"))
    yield _usage(record)


def _trace(trace: Any) -> str:
    steps = _some((trace or {}).get("steps"))
    if not steps:
        return ""
    heads = ("Turn", "Who", "Asked", "Duration", "Tokens", "Cost")
    rows = [
        (
            _cell(step.get("turn")),
            inline(f"{step.get('role')} {step.get('agent') or ''}"),
            inline(str(step.get("name") or step.get("model") or step.get("connector") or "")),
            duration(step.get("duration_ms") or 0),
            f"{step['input_tokens']} in, {step.get('output_tokens', 0)} out" if "input_tokens" in step else "",
            inline(dollars(cost_in(step), 6)) if step.get("cost") is not None else "",
        )
        for step in steps
    ]
    used = [at for at in range(len(heads)) if any(row[at] for row in rows)]
    text = "**Trace**\n\n" + table([heads[at] for at in used], [[row[at] for at in used] for row in rows])
    if len(trace["steps"]) > len(steps):
        text += f"... and {len(trace['steps']) - len(steps)} more\n\n"
    for number, step in enumerate(steps, 1):
        said = {key: step[key] for key in ("messages", "answer", "arguments", "result", "error") if key in step}
        text += _titled(f"Step {number}", said) if said.keys() - {"error"} else ""
    return text


def _attachments(part: Record) -> str:
    lines = sizes(part.get("attachments"))
    return f"Attachments: {inline(', '.join(lines), 1000)}\n\n" if lines else ""


def _titled(title: str, value: Any) -> str:
    return f"**{title}**\n\n{block(value)}"


def _some(items: Any) -> list[Any]:
    return items[:ITEMS] if isinstance(items, list) else []


def _cell(value: Any) -> str:
    return "" if value is None else inline(as_text(value, indent=2))


def _mark(item: Record) -> str:
    """The sign of a check; one that was not judged is neither passed nor failed."""
    return MARKS["failed" if not item.get("passed") else "passed" if item.get("judged", True) else "skipped"]


def _why(item: Record) -> str:
    said = str(item.get("message") or item.get("reason") or "")
    return said if item.get("judged", True) else f"not judged: {said}" if said else "not judged"


def _assertions(title: str, items: Any) -> str:
    if not items:
        return ""
    held = sum(bool(item.get("passed") and item.get("judged", True)) for item in items)
    rows = [
        (
            _mark(item),
            inline(" ".join(filter(None, (item.get("type"), item.get("path"), item.get("name"))))),
            _cell(item.get("expected")),
            _cell(item.get("actual")) if not item.get("passed") else "",
            _cell(_why(item) or None),
        )
        for item in _some(items)
    ]
    title = f"**{title}**: {held} of {len(items)} passed\n\n"
    return title + table(("", "Assertion", "Expected", "Actual", "Message"), rows)


def _turn(turn: Record) -> str:
    source = turn.get("input_source")
    said = f", {source}" if source and source != "static" else ""
    text = f"**Turn {turn.get('turn')}** {MARKS.get(turn.get('status', ''), '')} "
    text += f"({duration(turn.get('duration_ms') or 0)}{said})\n\n"
    if turn.get("input") is not None:
        text += f"User:\n\n{block(turn['input'])}"
    text += _attachments(turn)
    if (answer := answer_of(turn)) is not None:
        text += f"Agent:\n\n{block(answer)}"
    text += _tools(turn.get("tool_calls"))
    text += _assertions("Assertions", turn.get("assertions"))
    for key in ("error", "skip_reason", "note"):
        if turn.get(key):
            text += f"{inline(str(turn[key]))}\n\n"
    return text


def _tools(items: Any) -> str:
    if not items:
        return ""
    rows = [
        (
            _cell(item.get("name")),
            _cell(item.get("arguments", item.get("args"))),
            f"error: {_cell(item['error'])}" if item.get("error") is not None else _cell(item.get("result")),
        )
        for item in _some(items)
    ]
    return table(("Tool", "Arguments", "Result"), rows)


def _checkpoints(items: Any) -> str:
    if not items:
        return ""
    rows = [
        (
            _mark(item) if item.get("passed") or item.get("required", True) else MARKS["skipped"],
            _cell(item.get("id")) + ("" if item.get("required", True) else " (optional)"),
            _cell(item.get("reached_at_turn")),
            _cell(_why(item) or item.get("description")),
        )
        for item in _some(items)
    ]
    return table(("", "Checkpoint", "Turn", "Message"), rows)


def _scores(record: Record) -> str:
    if record.get("score") is None and not record.get("scores"):
        return ""
    threshold = f" (threshold {record['threshold']:g})" if record.get("threshold") is not None else ""
    rows = [
        (_cell(item.get("name")), _cell(item.get("score")), _cell(item.get("verdict")))
        for item in _some(record.get("scores"))
    ]
    score = "none" if record.get("score") is None else f"{record['score']:.2f}{threshold}"
    text = f"**Score**: {score}\n\n" + (table(("Part", "Score", "Verdict"), rows) if rows else "")
    criteria = [criterion for item in _some(record.get("scores")) for criterion in _some(item.get("assertions"))]
    unjudged = [(_mark(item), _cell(item.get("text")), _cell(_why(item))) for item in criteria if "judged" in item]
    return text + (table(("", "Criterion", "Message"), unjudged) if unjudged else "")


def _step(step: Record, depth: int) -> str:
    status = step.get("status", "")
    reason = step.get("skip_reason") or (step.get("error") if status == Status.FAILED else None)
    text = f"{'  ' * depth}- {MARKS.get(status, '')} {inline(str(step.get('name')))}"
    text += f" ({duration(step.get('duration_ms') or 0)})" + (f": {inline(reason)}" if reason else "") + "\n"
    return text + "".join(_step(inner, depth + 1) for inner in _some(step.get("steps")))


def _usage(record: Record) -> str:
    usage = record.get("usage") or {}
    facts = [f"connector: {inline(record['connector'])}"] if record.get("connector") else []
    if usage:
        facts.append(f"tokens: {usage.get('input_tokens', 0)} in, {usage.get('output_tokens', 0)} out")
    if usage.get("cost") is not None:
        facts.append(f"cost: {inline(dollars(cost_in(usage)))}")
    return f"{', '.join(facts)}\n\n" if facts else ""
