"""What counts as secret, and in which forms it is found."""

from __future__ import annotations

import base64
import html
import json
import quopri
import re
import textwrap
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from table_tests import each

from runner.record import events, model
from runner.record.events import RunError
from runner.record.model import SCRIPT_TEST, Suite
from runner.security.secrets import Secrets
from runner.security.terminal import RedactedStream, own
from scripttest import Failure, LogLine, Outcome

KEY = "sk-T0p/S3cret+9=x"
ODD = 'pa"ss\\wörd\n& %41'

SECRET_NAMES = """
    OPENAI_API_KEY GITHUB_TOKEN AWS_SECRET_ACCESS_KEY DB_PASSWORD MYSQL_PWD PASSPHRASE GOOGLE_CREDENTIALS APIKEY
    api_key token MY_TOKEN_2 SECRET_SAUCE HTTP_AUTHORIZATION BASIC_AUTH NPM_AUTHTOKEN
""".split()
OTHER_NAMES = "PATH HOME PWD OLDPWD KEYBOARD TOKENIZERS_PARALLELISM MAX_TOKENIZED AUTHOR SECRETARY LANG".split()


@each("name", SECRET_NAMES)
def test_a_variable_is_secret_by_its_name(name: str) -> None:
    assert Secrets({name: KEY}).text(f"a {KEY} b") == f"a ***{name}*** b"


@each("name", OTHER_NAMES)
def test_other_variables_are_no_secrets(name: str) -> None:
    assert Secrets({name: KEY}).text(KEY) == KEY


def test_an_application_can_list_further_variables() -> None:
    secrets = Secrets({"YAO_TEST_SECRETS": "ALPHA, BETA", "ALPHA": "value-of-alpha", "BETA": "value-of-beta"})
    assert secrets.text("value-of-alpha value-of-beta") == "***ALPHA*** ***BETA***"


def test_the_password_of_an_address_is_a_secret_whatever_the_name_is() -> None:
    secrets = Secrets({"DATABASE_URL": "postgres://app:hunter22@db.example/x", "HTTPS_PROXY": "http://u:pr0xypw@p:1"})
    assert secrets.text("hunter22 at db.example, pr0xypw") == "***DATABASE_URL*** at db.example, ***HTTPS_PROXY***"


ADDRESSES = {
    "a password": ("amqp://me:pass-word-1@host/x", "pass-word-1"),
    "an escaped password": ("http://me:p%40ss-word@host", "p@ss-word"),
    "a token as the user": ("https://ghp_0123456789abcdefgh@git.example/x", "ghp_0123456789abcdefgh"),
    "a key in the query": ("https://maps.example/v1?zoom=7&api_key=k-0123456&x=1", "k-0123456"),
    "a token in the query": ("https://hooks.example/?access_token=t%2F0123456", "t/0123456"),
}


@each("address", ADDRESSES)
def test_what_authenticates_in_an_address_is_a_secret(address: str) -> None:
    value, secret = ADDRESSES[address]
    secrets = Secrets({"SOME_ADDRESS": value})
    assert secrets.text(f"({secret})") == "(***SOME_ADDRESS***)"
    assert "host" in value or "example" in secrets.text(value)


def test_an_address_without_keys_is_no_secret(tmp_path: Path) -> None:
    address = "https://user@files.example/a?zoom=12345678&page=123456789012"
    assert not Secrets({"SOME_ADDRESS": address})


LEFT_ALONE = ["", "abc12", "password", "Secret", "PRODUCTION", "100000", "/tmp", "$ENV.OTHER_KEY"]


@each("value", LEFT_ALONE)
def test_short_values_and_common_words_are_left_alone(value: str) -> None:
    secrets = Secrets({"SOME_KEY": value})
    assert secrets.text(f"x {value} y") == f"x {value} y"
    assert not secrets


def wrapped(text: str, width: int) -> list[str]:
    """Base64 in lines."""
    return textwrap.wrap(base64.b64encode(text.encode()).decode(), width)


FORMS: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "in JSON": lambda text: json.dumps(text)[1:-1],
    "in JSON without escapes": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "in JSON in JSON": lambda text: json.dumps(json.dumps(text)),
    "in a URL": lambda text: quote(text),
    "in a query": lambda text: quote_plus(text),
    "in a URL, all of it": lambda text: quote(text, safe=""),
    "in a URL, lower case": lambda text: re.sub("%..", lambda m: m[0].lower(), quote(text, safe="")),
    "hexadecimal": lambda text: text.encode().hex(),
    "hexadecimal, upper case": lambda text: text.encode().hex().upper(),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 of a header": lambda text: base64.b64encode(f"Bearer {text}".encode()).decode(),
    "base64 of user and password": lambda text: base64.b64encode(f"me:{text}".encode()).decode(),
    "base64 of user and password, shifted": lambda text: base64.b64encode(f"m:{text}&more".encode()).decode(),
    "base64 for URLs": lambda text: base64.urlsafe_b64encode(f"x{text}".encode()).decode(),
    "in a component of JavaScript": lambda text: quote(text, safe="!'()*~"),
    "in an address of JavaScript": lambda text: quote(text, safe=";,/?:@&=+$#!'()*"),
    "in a URL in a URL": lambda text: quote(quote(text, safe=""), safe=""),
    "in HTML": lambda text: html.escape(text),
    "in HTML, by numbers": lambda text: "".join(c if c.isalnum() and c.isascii() else f"&#{ord(c)};" for c in text),
    "in XML, by numbers": lambda text: "".join(c if c.isalnum() and c.isascii() else f"&#x{ord(c):02X};" for c in text),
    "in JSON of Go": lambda text: re.sub("[&<>]", lambda m: f"\\u{ord(m[0]):04x}", json.dumps(text)[1:-1]),
    "in JSON of PHP": lambda text: json.dumps(text)[1:-1].replace("/", "\\/"),
    "in JSON, all by numbers": lambda text: "".join(
        c if c.isalnum() and c.isascii() else f"\\u{ord(c):04X}" for c in text
    ),
    "in Markdown": lambda text: re.sub(r"([-+_*\\])", r"\\\1", text),
    "in Python": lambda text: ascii(text)[1:-1],
    "in pairs": lambda text: text.encode().hex(":"),
    "in pairs, upper case, within more": lambda text: f"00:{text.encode().hex(':').upper()}:ff",
    "in pairs with blanks": lambda text: text.encode().hex(" "),
    "in C": lambda text: ", ".join(f"0x{byte:02x}" for byte in text.encode()),
    "in percent": lambda text: "".join(f"%{byte:02X}" for byte in text.encode()),
    "in percent, twice": lambda text: "".join(f"%25{byte:02x}" for byte in text.encode()),
    "in percent, from once to three times": lambda text: "".join(
        f"%{'25' * (at % 3)}{byte:02x}" for at, byte in enumerate(text.encode())
    ),
    "in percent, every second sign": lambda text: (
        "".join(f"%{ord(c):02X}" if at % 2 or not c.isalnum() else c for at, c in enumerate(text))
        if text.isascii()
        else quote(text)
    ),
    "quoted-printable": lambda text: quopri.encodestring(text.encode()).decode(),
    "quoted-printable in lines": lambda text: quopri.encodestring(text.encode()).decode().replace("s", "=\r\ns", 1),
    "quoted-printable, all of it": lambda text: "".join(f"={byte:02X}" for byte in text.encode()),
    "bytes in JSON": lambda text: json.dumps({"type": "Buffer", "data": [7, *text.encode(), 7]}),
    "bytes in JSON in JSON": lambda text: json.dumps(json.dumps([*text.encode()], indent=2)),
    "bytes of a typed array": lambda text: json.dumps(dict(enumerate([7, *text.encode(), 7])), indent=1),
    "bytes of a typed array in JSON": lambda text: json.dumps(json.dumps(dict(enumerate(text.encode())))),
    "bytes of an object": lambda text: f"{{{', '.join(f'{at}: {byte}' for at, byte in enumerate(text.encode()))}}}",
    "bytes beside numbers that are none": lambda text: f"12345, 300, {', '.join(map(str, text.encode()))}, 999, 70000",
    "bytes with indexes, up to the end": lambda text: ",\\n".join(
        f'"{at}":{byte}' for at, byte in enumerate(text.encode())
    ),
    "in percent behind a percent sign": lambda text: "%%" + "".join(f"%{byte:02x}" for byte in text.encode()),
    "quoted-printable behind base64": lambda text: "QUJDRA==" + "".join(f"={byte:02X}" for byte in text.encode()),
    "bytes behind a number": lambda text: f"7 {','.join(map(str, text.encode()))}",
    "pairs of a list behind a number": lambda text: f"7,{','.join(f'{byte:02x}' for byte in text.encode())}",
    "letters by padded numbers": lambda text: "".join(f"&#x00{ord(c):02x};" if ord(c) < 256 else c for c in text),
    "all letters by numbers": lambda text: "".join(f"&#{ord(c)};" for c in text),
    "in JSON in HTML": lambda text: html.escape(json.dumps(text)),
}


@each("value", [KEY, ODD], ids=["a key", "an odd value"])
@each("form", FORMS)
def test_a_secret_is_found_in_its_common_forms(form: str, value: str) -> None:
    written = FORMS[form](value)
    clean = Secrets({"MY_KEY": value}).text(f"<{written}>")
    assert "***MY_KEY***" in clean
    assert written[len(written) // 2 - 4 : len(written) // 2 + 4] not in clean


OTHERS = "08:00:2b:01:02:03 [1, 2, 3, 104, 105, 106] %E4%BD%A0 a=3D=41=42 12 34 56 78 9a 0x41, 0x42 \\x41&#65;"


def test_codes_of_other_texts_stay() -> None:
    assert Secrets({"MY_KEY": KEY}).text(OTHERS) == OTHERS


def test_a_list_of_bytes_is_hidden_in_values() -> None:
    typed = {str(at): byte for at, byte in enumerate([1, *KEY.encode()])}
    said = {"data": [1, *KEY.encode(), 300], "typed": typed, "other": [*b"of others"]}
    clean = Secrets({"MY_KEY": KEY}).value(said)
    hidden = {"0": 1, "1": "***MY_KEY***"}
    assert clean == {"data": [1, "***MY_KEY***", 300], "typed": hidden, "other": [*b"of others"]}


WRAPPED: dict[str, Callable[[str], str]] = {
    "base64 in lines of MIME": lambda text: base64.encodebytes((f"head {'.' * 60} {text} " * 3).encode()).decode(),
    "base64 in lines of PEM, indented": lambda text: "\n    ".join(wrapped(f"a{text}bc" * 9, 64)),
    "base64 in lines with returns": lambda text: "\r\n".join(wrapped(f"ab{text}bc" * 9, 64)),
    "base64 in lines, in JSON": lambda text: json.dumps("\n".join(wrapped(f"{text}bc" * 9, 76))),
    "hexadecimal in lines": lambda text: "\n".join(textwrap.wrap(f"{'-' * 40}{text}".encode().hex(), 60)),
}


@each("value", [KEY, ODD], ids=["a key", "an odd value"])
@each("form", WRAPPED)
def test_a_secret_is_found_in_what_goes_on_over_several_lines(form: str, value: str) -> None:
    written = WRAPPED[form](value)
    clean = Secrets({"MY_KEY": value}).text(f"<{written}>")
    assert "***MY_KEY***" in clean
    left = re.sub(r"\\r|\\n|\s", "", clean)
    shifted = [base64.b64encode(bytes(shift) + value.encode()).decode()[4:-4] for shift in range(3)]
    assert [text for text in (*shifted, value.encode().hex()) if text in left] == []
    assert any(text in re.sub(r"\\r|\\n|\s", "", written) for text in (*shifted, value.encode().hex()))


def test_text_in_lines_that_holds_no_secret_stays_as_it_is() -> None:
    text = "\n".join(["a" * 76, "b" * 76, "words and words", "c" * 40, json.dumps("d" * 50 + "\n" + "e" * 50)])
    assert Secrets({"MY_KEY": KEY}).text(text) == text


CUT = {
    "at its end": ("it is {head}...", "it is ***MY_KEY***..."),
    "at its end, with a count": ("it is {head} …12 more… and so on", "it is ***MY_KEY*** …12 more… and so on"),
    "at its end, in quotes": ('"{head}"... 12 more characters', '"***MY_KEY***"... 12 more characters'),
    "at its beginning": ("begin …12 more… {tail} and so on", "begin …12 more… ***MY_KEY*** and so on"),
    "at its beginning, in quotes": ('..."{tail}" and so on', '..."***MY_KEY***" and so on'),
    "in its middle": ("{head}…3 more… {tail}", "***MY_KEY***…3 more… ***MY_KEY***"),
    "nowhere": ("{head} and ... so on, … and {tail}", "{head} and ... so on, … and {tail}"),
    "long ago": ("... and {tail}, {head} ...", "... and {tail}, ***MY_KEY*** ..."),
}


@each("left", [6, 9, len(KEY) - 1])
@each(("written", "clean"), CUT.values(), ids=CUT)
def test_what_is_left_of_a_secret_in_a_shortened_text_is_hidden(written: str, clean: str, left: int) -> None:
    parts = {"head": KEY[:left], "tail": KEY[-left:]}
    assert Secrets({"MY_KEY": KEY}).text(written.format(**parts)) == clean.format(**parts)


PARTS = {
    "the token of a header": ("Bearer tok-123456", "tok-123456"),
    "a basic header": ("Basic bWU6b3BlbnNlc2FtZQ==", "opensesame"),
    "a line of a key": ("-----BEGIN KEY-----\nMIIEvQIBADANBgkqh\n-----END KEY-----", "MIIEvQIBADANBgkqh"),
    "a field of JSON": ('{"type": "service", "private_key": "abc\\ndef-ghi"}', "abc\ndef-ghi"),
}


@pytest.mark.parametrize("part", PARTS)
def test_what_a_secret_is_made_of_is_secret(part: str) -> None:
    value, inner = PARTS[part]
    assert Secrets({"THE_CREDENTIALS": value}).text(f"({inner})") == "(***THE_CREDENTIALS***)"


def test_a_secret_that_becomes_known_is_hidden_in_texts_that_were_seen_before() -> None:
    secrets = Secrets({"FIRST_KEY": "first-0123456789"})
    assert secrets.text("token later-9876543210") == "token later-9876543210"
    secrets.add("LATER_KEY", "later-9876543210")
    assert secrets.text("token later-9876543210") == "token ***LATER_KEY***"


def test_the_longest_secret_wins() -> None:
    secrets = Secrets({"A_KEY": "abcdef", "B_KEY": "abcdefghi"})
    assert secrets.text("abcdefghi abcdef") == "***B_KEY*** ***A_KEY***"


def test_definitions_of_the_application_hold_secrets(tmp_path: Path) -> None:
    files: dict[str, Any] = {
        "connectors/openai/gpt.conn.yao": {
            "options": {"key": "key-in-a-file", "model": "gpt-4o-mini", "host": "$ENV.H"}
        },
        "connectors/other.conn.json": {"options": {"key": "$ENV.PLAIN", "model": "$ENV.MODEL"}},
        "mcps/web.mcp.yao": {"authorization_token": "token-in-a-file", "url": "http://mcp.example"},
        "connectors/by.conn.yao": {
            "options": {"host": "https://a:word-of-a-host@h.example/?sig=1&token=tok-of-a-query"}
        },
        "mcps/tool.mcp.yao": {"arguments": ["--verbose", "--api-key", "key-after-a-flag", "--auth=key-in-a-flag", "x"]},
        "assistants/a/b/mcps/x.mcp.yao": {"env": {"GH_TOKEN": "token-of-agent"}, "arguments": ["-t", "$ENV.ARGUMENT"]},
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(json.dumps(content))
    secrets = Secrets({})
    variables = {
        "PLAIN": "value-of-plain",
        "MODEL": "value-of-model",
        "H": "http://host.example",
        "ARGUMENT": "value-of-arg",
    }
    secrets.add_application(tmp_path, variables)
    told = "key-in-a-file gpt-4o-mini value-of-plain value-of-model http://host.example token-in-a-file token-of-agent value-of-arg"
    told += " word-of-a-host tok-of-a-query key-after-a-flag key-in-a-flag --verbose h.example"
    assert secrets.text(told) == (
        "***gpt.key*** gpt-4o-mini ***PLAIN*** value-of-model http://host.example "
        "***web.authorization_token*** ***x.GH_TOKEN*** ***ARGUMENT*** "
        "***by.host*** ***by.host*** ***tool.api-key*** ***tool.auth*** --verbose h.example"
    )


def result(**more: Any) -> model.TestResult:
    failure = Failure(
        cause="error", message=f"threw {KEY}", actual={KEY: [KEY, 1, None, {"deep": KEY}]}, code_frame=f"> 1 | {KEY}"
    )
    return model.TestResult(
        suite="scripts.a",
        name=f"Test{KEY}",
        position=0,
        outcome=Outcome(name="Test", status="failed", milliseconds=1, failures=(failure,)),
        **more,
    )


def test_events_are_cleaned_in_every_field() -> None:
    secrets = Secrets({"MY_KEY": KEY})
    clean = secrets.value(events.TestEnd(result=result(logs=(LogLine(level="info", text=f"says {KEY}"),))))
    assert KEY not in repr(clean)
    assert clean.result.outcome.failures[0].actual == {
        "***MY_KEY***": ["***MY_KEY***", 1, None, {"deep": "***MY_KEY***"}]
    }
    assert type(clean) is events.TestEnd
    assert clean.result.suite == "scripts.a"


def test_events_without_secrets_stay_the_same_object() -> None:
    event = RunError(message="nothing to see")
    assert Secrets({"MY_KEY": KEY}).value(event) is event
    assert Secrets({}).value(event) is event


def test_a_secret_does_not_change_what_reporters_know_results_by() -> None:
    secrets = Secrets({"A_KEY": "scripts.expense", "B_KEY": "infrastructure"})
    suite = Suite(id="scripts.expense", kind=SCRIPT_TEST, label="scripts.expense", file="", agent="expense")
    assert secrets.value(suite) == suite.replace(label="***A_KEY***")
    outcome = Outcome(
        name="T", status="failed", milliseconds=1, failures=(Failure(cause="infrastructure", message="infrastructure"),)
    )
    assert secrets.value(outcome).failures[0] == Failure(cause="infrastructure", message="***B_KEY***")


SPLIT = {
    "over two lines": [KEY[:7], KEY[7:]],
    "over many lines": list(KEY),
    "with text around": [f"a {KEY[:9]}", f"{KEY[9:]} b"],
    "inside a text with line breaks": [f"{KEY[:4]}\n{KEY[4:8]}\n{KEY[8:]}"],
}


@pytest.mark.parametrize("split", SPLIT)
def test_a_secret_that_is_split_over_log_lines_is_hidden(split: str) -> None:
    texts = ["before", *SPLIT[split], "after"]
    lines = [LogLine(level="info" if text != "after" else "warn", text=text) for text in texts]
    clean = Secrets({"MY_KEY": KEY}).value(result(logs=tuple(lines)))
    assert KEY not in "".join(line.text for line in clean.logs).replace("\n", "")
    assert (clean.logs[0], clean.logs[-1], len(clean.logs)) == (lines[0], lines[-1], len(lines))
    if split == "with text around":
        assert [line.text for line in clean.logs[1:-1]] == ["a ***", "*** b"]


def test_values_that_are_nested_deeper_than_python_likes_are_cleaned() -> None:
    value: Any = KEY
    for _ in range(600):
        value = [value]
    clean = Secrets({"MY_KEY": KEY}).value(value)
    assert "***MY_KEY***" in json.dumps(clean)
    assert KEY not in json.dumps(clean)


def test_a_stream_is_clean_however_it_is_written_to() -> None:
    inner = StringIO()
    stream: Any = RedactedStream(inner, Secrets({"MY_KEY": KEY}))
    assert stream.write(f"{KEY}\x1b[2J\n") == len(KEY) + 5
    stream.writelines([f"a {KEY}\n", f"{own('[31m')}red{own('[0m')} \x1b[32mgreen\r\n"])
    print(f"b {KEY}", file=stream)
    said = "***MY_KEY***\\u001b[2J\na ***MY_KEY***\n[31mred[0m \\u001b[32mgreen\r\nb ***MY_KEY***\n"
    assert inner.getvalue() == said


@each("form", FORMS)
def test_a_secret_across_pieces_of_a_long_text_is_found(monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    monkeypatch.setattr("runner.security.forms._AT_ONCE", 1 << 17)
    written = FORMS[form](KEY)
    text = "-." * ((1 << 16) - 10) + "\n" + written + "\n" + "-." * 1000
    assert "***MY_KEY***" in Secrets({"MY_KEY": KEY}).text(text)
