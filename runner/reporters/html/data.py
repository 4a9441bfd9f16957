"""A report as what the page carries: an index of all results, which it reads at once, and the results themselves in
blocks, which it reads when somebody looks at them or searches.

| block | content, as JSON text, compressed with gzip, in base64 |
| --- | --- |
| `index` | `{start, summary, errors, warnings, rows, blocks}`; `blocks` are the positions of the rows they begin with |
| `block-0`, ... | `[[record, extra], ...]`; `extra` is `{command, frames?}` |

A row is `{key, id, status, ms, suite, mode, name?, cause?, tags?, error?, input?, score?, tokens?, cost?, runs?,
digest?}`, and `suite` a position in `start.suites`.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from typing import Any
from zlib import crc32

from runner.reporters.document import Report
from runner.reporters.html.frames import Frames
from runner.reporters.text import escaped, quoted
from runner.reporters.values import text_of

Record = dict[str, Any]

BLOCK_SIZE = 400_000
"""Characters of JSON after which a block ends."""
EXCERPT = 240
"""Characters of an error or an input in the index."""
DEFAULTS = {"user_id": "test-user", "team_id": "test-team"}
TIMES = ("avg_duration", "min_duration", "max_duration", "std_deviation")
FIGURES = ("count", "passed", "pass_rate", "consistency", *(f"{name}_ms" for name in TIMES))
SHOWN_MARKS = 12
"""Runs that the list shows by a mark."""
MARKS = {"passed": "p", "failed": "f", "skipped": "s"}


def blocks_of(report: Report, prefix: str, digests: bool) -> Iterator[tuple[str, str]]:
    """Name and text of each block; the names begin with `prefix`. `digests` adds what outputs are compared by."""
    places = {suite["id"]: place for place, suite in enumerate(report.suites)}
    commands = [_command(suite, report.start["environment"]) for suite in report.suites]
    frames = Frames()
    rows: list[Record] = []
    starts: list[int] = []
    taken: dict[str, int] = {}
    texts: list[str] = []
    size = 0
    for record in report.results:
        place = places[record["suite"]]
        row = _row(record, place, taken)
        extra: Record = {"command": commands[place](record["id"])}
        if record["status"] == "failed" and (found := frames.of(record)):
            extra["frames"] = found
        if digests:
            row["digest"] = crc32(json_text(record.get("output")).encode())
        text = json_text([record, extra])
        if not texts:
            starts.append(len(rows))
        rows.append(row)
        texts.append(text)
        size += len(text)
        if size >= BLOCK_SIZE:
            yield f"{prefix}block-{len(starts) - 1}", packed(f"[{','.join(texts)}]")
            texts, size = [], 0
    if texts:
        yield f"{prefix}block-{len(starts) - 1}", packed(f"[{','.join(texts)}]")
    index = {
        "start": report.start,
        "summary": report.summary,
        "errors": report.errors,
        "warnings": report.warnings,
        "rows": rows,
        "blocks": starts,
    }
    yield f"{prefix}index", packed(json_text(index))


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":")).encode


def json_text(value: Any) -> str:
    """JSON that every reader takes: numbers that JSON has no word for are strings, lone surrogates are escaped."""
    try:
        text = _encode(value)
    except ValueError:
        return json_text(json.loads(json.dumps(value), parse_constant=str))
    return text if text.isascii() or _is_encodable(text) else json.dumps(value, separators=(",", ":"))


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def packed(text: str) -> str:
    """Text compressed and written in base64."""
    from gzip import compress

    return b64encode(compress(text.encode(), 1, mtime=0)).decode()


def _row(record: Record, suite: int, taken: dict[str, int]) -> Record:
    name = f"{record['suite']}/{record['id']}"
    count = taken[name] = taken.get(name, 0) + 1
    row: Record = {
        "key": name if count == 1 else f"{name}~{count}",
        "id": record["id"],
        "status": record["status"],
        "ms": record["duration_ms"],
        "suite": suite,
        "mode": record.get("mode") or ("standard" if "input" in record else "script"),
    }
    for key in ("name", "cause", "tags"):
        if value := record.get(key):
            row[key] = value
    if (score := record.get("score")) is not None:
        row["score"] = score
    if error := record.get("error") or record.get("skip_reason"):
        row["error"] = _excerpt(error)
    if spoken := _spoken(record):
        row["input"] = _excerpt(spoken)
    if usage := record.get("usage"):
        row["tokens"] = usage["input_tokens"] + usage["output_tokens"]
        if "cost" in usage:
            row["cost"] = usage["cost"]
    if runs := record.get("runs"):
        row["runs"] = _runs(runs)
    return row


def _spoken(record: Record) -> str:
    said = record.get("input")
    if isinstance(said, list) and said:
        said = said[-1]
    return text_of(said) if said is not None else ""


def _excerpt(text: str) -> str:
    words = " ".join(text[: 4 * EXCERPT].split())
    return words if len(words) <= EXCERPT else f"{words[:EXCERPT]}…"


def _runs(runs: Record) -> Record:
    """The figures of several runs; `marks` has a letter for each of the first attempts."""
    figures = {key: runs[key] for key in FIGURES if key in runs}
    figures["marks"] = "".join(MARKS[attempt["status"]] for attempt in runs.get("attempts", ())[:SHOWN_MARKS])
    return figures


def _command(suite: Record, environment: Record) -> Callable[[str], str]:
    """What to run to see one result of a suite again, by its id."""
    label: str = suite["label"]
    is_script, is_message = suite["kind"] == "script_test", label.startswith('"')
    command = f"yao-test -i {quoted(suite['id'] if is_script else label[1:-1] if is_message else label)}"
    flags = ""
    if is_message or label.startswith("agents:") or (label.startswith("scripts:") and not is_script):
        flags += f" --name {quoted(suite['agent'])}"
    if suite.get("connector"):
        flags += f" --connector {quoted(suite['connector'])}"
    for key, flag in (("user_id", "--user"), ("team_id", "--team")):
        value = environment.get(key)
        if value and value != DEFAULTS[key]:
            flags += f" {flag} {quoted(value)}"

    def of(id: str) -> str:
        if is_message or (is_script and not id.startswith("Test")):  # a module that broke has no test of that name
            return command + flags
        return f"{command} --run {quoted(f'^{id if is_script else escaped(id)}$')}{flags}"

    return of
