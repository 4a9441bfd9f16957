"""Pieces of GitHub-flavoured Markdown: any text, of which nothing is taken for markup, and one result as a section."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from runner.amounts import cost_in, dollars
from runner.assertions.base import AssertionResult, ToolUse
from runner.record import result_texts
from runner.record.case_result import CaseResult, CheckpointResult, CriterionResult, TurnResult
from runner.record.lines import sizes
from runner.record.model import Suite, TestResult
from runner.record.outcomes import Verdict, error_text, log_members, place, stack_trace
from runner.reporters.console.style import first_and_last
from runner.security.terminal import spelled
from scripttest import Outcome, Status

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
    line = visible(" ".join(result_texts.cut(text, limit).split()))
    return _MARKUP.sub(r"\\\g<0>", line).translate(_ENTITIES)


def code(text: str) -> str:
    """A short text in the typeface of code, outside of tables."""
    line = visible(" ".join(result_texts.cut(text, CELL_LIMIT).split()))
    ticks = "`" * (max(map(len, re.findall("`+", line)), default=0) + 1)
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{space}{line}{space}{ticks}" if line else ""


def block(value: Any, language: str = "") -> str:
    """A value over as many lines as it needs; `language` is that of a text."""
    text = visible(result_texts.cut(result_texts.as_text(value, indent=2), VALUE_LIMIT))
    text = "\n".join(result_texts.cut(line, LINE_LIMIT) for line in text.split("\n"))
    fence = "`" * max(3, max(map(len, re.findall("`+", text)), default=0) + 1)
    language = language or ("text" if isinstance(value, str) else "json")
    return f"{fence}{language}\n{text}\n{fence}\n\n"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown, empty without rows; the columns are aligned if the cells are short."""
    lines = [list(heads), *map(list, rows)]
    if len(lines) == 1:
        return ""
    widths = [min(max(3, *(len(line[column]) for line in lines)), 40) for column in range(len(heads))]
    lines.insert(1, ["-" * width for width in widths])
    text = "".join(
        f"| {' | '.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))} |\n" for line in lines
    )
    return text + "\n"


def narrow_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The same without empty columns."""
    used = [at for at in range(len(heads)) if any(row[at] for row in rows)]
    return table([heads[at] for at in used], [[row[at] for at in used] for row in rows])


def details(title: str, content: str) -> str:
    """Content that a click opens."""
    return f"<details>\n<summary>{title.translate(_ENTITIES)}</summary>\n\n{content}</details>\n\n"


def duration(milliseconds: float) -> str:
    """A duration as seed 004 writes it: 234ms, 12.3s, 2m5s."""
    seconds = milliseconds / 1000
    if seconds < 1:
        return f"{milliseconds:.0f}ms"
    return f"{seconds:.1f}s" if seconds < 60 else f"{int(seconds // 60)}m{int(seconds % 60)}s"


def heading(result: TestResult) -> str:
    """`### ✅ T001 - Passed (234ms)`."""
    verdict = result.verdict
    said = "Error" if verdict is Verdict.BROKEN else verdict.capitalize()
    name = inline(result_texts.name_of(result, alone=True))
    return f"### {MARKS[verdict]} {name} - {said} ({duration(result.outcome.milliseconds)})\n\n"


def _place(suite: Suite, result: TestResult) -> str:
    """The suite of a result; of a case its line, in the file as it is named from the repository."""
    line = result_texts.case_line(result)
    if not line:
        return suite.shown
    return suite.name_of(f"{suite.file}:{line}") if suite.file else f"{suite.shown}:{line}"


def body(result: TestResult, suite: Suite, names_suite: bool) -> str:
    """The text below the heading."""
    outcome, case = result.outcome, result.case
    facts = [f"**{inline(case.title)}**"] if case is not None and case.title else []
    facts += [code(_place(suite, result))] if names_suite else []
    facts += [f"cause: {inline(outcome.cause)}"] if outcome.cause else []
    facts += [f"tags: {inline(', '.join(case.tags))}"] if case is not None and case.tags else []
    text = f"{' · '.join(facts)}\n\n" if facts else ""
    for error, differences in result_texts.told_of(result):
        text += block(error) + "".join(
            block(one, "diff" if one.startswith(result_texts.HEAD) else "") for one in differences
        )
    if (failure := result_texts.placed_failure(result)) and (where := place(failure)):
        text += f"at {code(where)}\n\n"
    if result.status == Status.SKIPPED and outcome.skip_text:
        text += f"Skipped: {inline(outcome.skip_text)}\n\n"
    for warning in outcome.warnings:
        text += f"⚠️ {inline(warning.message)}\n\n"
        text += f"at {code(place(warning) or '')}\n\n" if warning.frames else ""
    text += "".join(f"{inline(said)}\n\n" for said in result_texts.remarks_of(result))
    text += _runs(result)
    content = "".join(_content(result))
    return text + (details("Details", content) if content else "")


def _runs(result: TestResult) -> str:
    runs = result.stability
    if runs is None:
        return ""
    low, high = runs.confidence_interval
    facts = [
        f"{runs.passed} of {runs.judged} runs passed ({runs.pass_rate}%, 95% interval {low}% to {high}%)",
        runs.classification,
        f"consistency {runs.consistency}",
        f"{duration(runs.min_duration_ms)} to {duration(runs.max_duration_ms)}",
    ]
    rows = [
        (str(run.run), MARKS[run.verdict], duration(run.duration_ms), _cell(run.error))
        for run in result.attempts[:ITEMS]
    ]
    return f"{', '.join(facts)}\n\n" + table(("Run", "", "Duration", "Error"), rows)


def _content(result: TestResult) -> Iterator[str]:
    outcome, case = result.outcome, result.case
    if case is not None:
        yield from _answered(case)
    if outcome.steps:
        yield "".join(["**Subtests**\n\n", *(_step(step, 0) for step in outcome.steps[:ITEMS]), "\n"])
    if result.logs:
        lines = log_members(result.logs)["logs"]
        yield _titled("Output" if case is None else "Output of the script", "\n".join(first_and_last(lines)))
    if (failure := result_texts.placed_failure(result)) and (stack := stack_trace(failure)):
        yield _titled("Stack", stack)
    if result.story:
        from runner.record.story import shown_lines

        yield _titled("What happened before it failed", "\n".join(shown_lines(result.story)))
    if case is not None:
        yield _trace(case.trace)
        yield _usage(case)


def _answered(case: CaseResult) -> Iterator[str]:
    if case.input is not None:
        yield _titled("Input", case.input)
    yield _attachments(case)
    if not case.turns and (answer := case.answer) is not None:
        yield _titled("Output", answer)
    if case.expected is not None:
        yield _titled("Expected", case.expected)
    yield _assertions("Assertions", case.assertions)
    for turn in case.turns[:ITEMS]:
        yield _turn(turn)
    yield _assertions("Final assertions", case.final_assertions or ())
    yield _checkpoints(case.checkpoints or ())
    yield _scores(case)
    yield "" if case.turns else _tools(case.tools)


def _trace(trace: Any) -> str:
    steps = (trace or {}).get("steps") or []
    shown = steps[:ITEMS]
    if not shown:
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
        for step in shown
    ]
    text = "**Trace**\n\n" + narrow_table(heads, rows)
    if len(steps) > len(shown):
        text += f"... and {len(steps) - len(shown)} more\n\n"
    for number, step in enumerate(shown, 1):
        said = {key: step[key] for key in ("messages", "answer", "arguments", "result", "error") if key in step}
        text += _titled(f"Step {number}", said) if said.keys() - {"error"} else ""
    return text


def _attachments(part: CaseResult | TurnResult) -> str:
    lines = sizes(part.attachments)
    return f"Attachments: {inline(', '.join(lines), 1000)}\n\n" if lines else ""


def _titled(title: str, value: Any) -> str:
    return f"**{title}**\n\n{block(value)}"


def _cell(value: Any) -> str:
    return "" if value is None else inline(result_texts.as_text(value, indent=2))


def _mark(item: AssertionResult | CriterionResult | CheckpointResult) -> str:
    """The sign of a check; one that was not judged is neither passed nor failed."""
    return MARKS["failed" if not item.passed else "passed" if item.judged else "skipped"]


def _why(said: str, is_judged: bool) -> str:
    return said if is_judged else f"not judged: {said}" if said else "not judged"


def _assertions(title: str, items: Sequence[AssertionResult]) -> str:
    if not items:
        return ""
    held = sum(item.passed and item.judged for item in items)
    rows = [
        (
            _mark(item),
            inline(" ".join(filter(None, (item.type, item.path, item.name)))),
            _cell(item.expected),
            _cell(item.actual) if not item.passed else "",
            _cell(_why(item.message, item.judged) or None),
        )
        for item in items[:ITEMS]
    ]
    title = f"**{title}**: {held} of {len(items)} passed\n\n"
    return title + table(("", "Assertion", "Expected", "Actual", "Message"), rows)


def _turn(turn: TurnResult) -> str:
    said = f", {turn.source}" if turn.source and turn.source != "static" else ""
    text = f"**Turn {turn.turn}** {MARKS[turn.status]} ({duration(turn.milliseconds)}{said})\n\n"
    if turn.input is not None:
        text += f"User:\n\n{block(turn.input)}"
    text += _attachments(turn)
    if (answer := turn.answer) is not None:
        text += f"Agent:\n\n{block(answer)}"
    text += _tools(turn.tools)
    text += _assertions("Assertions", turn.assertions)
    return text + "".join(f"{inline(said)}\n\n" for said in (turn.error, turn.skip_reason, turn.note) if said)


def _tools(items: Sequence[ToolUse]) -> str:
    rows = [
        (
            _cell(item.name),
            _cell(item.arguments),
            _cell(item.result) if item.error is None else f"error: {_cell(item.error)}",
        )
        for item in items[:ITEMS]
    ]
    return table(("Tool", "Arguments", "Result"), rows)


def _checkpoints(items: Sequence[CheckpointResult]) -> str:
    rows = [
        (
            _mark(item) if item.passed or item.required else MARKS["skipped"],
            _cell(item.id) + ("" if item.required else " (optional)"),
            _cell(item.reached_at_turn),
            _cell(_why(item.message, item.judged) or item.description),
        )
        for item in items[:ITEMS]
    ]
    return table(("", "Checkpoint", "Turn", "Message"), rows)


def _scores(case: CaseResult) -> str:
    if case.score is None and not case.scores:
        return ""
    threshold = f" (threshold {case.threshold:g})" if case.threshold is not None else ""
    shown = case.scores[:ITEMS]
    rows = [(_cell(item.name), _cell(item.score), _cell(item.verdict)) for item in shown]
    score = "none" if case.score is None else f"{case.score:.2f}{threshold}"
    text = f"**Score**: {score}\n\n" + table(("Part", "Score", "Verdict"), rows)
    unjudged = [
        (_mark(item), _cell(item.text), _cell(_why(item.reason, item.judged)))
        for part in shown
        for item in part.assertions[:ITEMS]
        if not item.judged
    ]
    return text + table(("", "Criterion", "Message"), unjudged)


def _step(step: Outcome, depth: int) -> str:
    reason = step.skip_text or (error_text(step.decisive) if step.decisive else None)
    text = f"{'  ' * depth}- {MARKS[step.status]} {inline(step.name)}"
    text += f" ({duration(step.milliseconds)})" + (f": {inline(reason)}" if reason else "") + "\n"
    return text + "".join(_step(inner, depth + 1) for inner in step.steps[:ITEMS])


def _usage(case: CaseResult) -> str:
    facts = [f"connector: {inline(case.connector)}"] if case.connector else []
    if case.tokens or case.cost is not None:
        facts.append(f"tokens: {case.input_tokens} in, {case.output_tokens} out")
    if case.cost is not None:
        facts.append(f"cost: {inline(dollars(case.cost))}")
    return f"{', '.join(facts)}\n\n" if facts else ""
