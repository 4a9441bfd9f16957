"""Finding processes by name, and how their failures reach a script."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import pytest
from table_tests import each

from bindings.errors import ProcessError
from bindings.policy import HostCall, Policy
from bindings.processes import NAMESPACES, call, find, knows
from bindings.processes.arguments import host_functions, kind
from bindings.world import World

CALL = HostCall(
    app_root=Path("/nowhere"), policy=Policy(), locale="en-us", authorized={}, world=World(suite="", test="")
)

OFFERED = {
    "text": "Extract ExtractFirst ExtractJSON ExtractByType MarkdownToHTML HTMLToMarkdown",
    "encoding": "base64.Encode base64.Decode hex.Encode hex.Decode json.Encode json.Decode json.Repair json.Parse "
    "yaml.Encode yaml.Decode xml.Encode xml.Decode",
    "json": "Encode Decode Parse Repair Validate ValidateSchema",
    "crypto": "Hash Hmac HmacWith RSA2Sign RSA2Verify AES256Encrypt AES256Decrypt",
    "yao": "crypto.Hash crypto.Hmac env.Get env.GetMany env.Set env.SetMany",
    "utils": "str.Join str.JoinPath str.UUID str.Concat str.Hex now.Time now.Date now.DateTime now.Timestamp "
    "now.Timestampms arr.Get arr.Indexes arr.Pluck arr.Split arr.Column arr.Keep arr.Tree arr.Unique arr.MapSet "
    "map.Get map.Set map.Del map.DelMany map.Keys map.Values map.Array tree.Flatten url.ParseQuery url.QueryParam "
    "url.ParseURL "
    "json.Validate jsonschema.Validate jsonschema.ValidateSchema env.Get env.Set env.GetMany env.SetMany time.Sleep "
    "throw.BadRequest throw.Unauthorized throw.Forbidden throw.NotFound throw.InternalError throw.Exception fmt.Print "
    "fmt.Printf fmt.ColorPrintf jwt.Make jwt.Verify pwd.Verify flow.Throw flow.Return",
    "xiang": "helper.ArrayGet helper.MapSet helper.StrConcat helper.EnvGet helper.HexToString flow.Sleep env.MultiGet",
    "http": "Get Post Put Patch Delete Head Send Stream",
    "sandbox": "workspace.ReadFile workspace.WriteFile workspace.Exists workspace.ReadDir workspace.Stat workspace.MkdirAll workspace.Remove "
    "workspace.RemoveAll workspace.Rename workspace.Copy computer.Exec",
    "session": "ID Get GetMany Set SetMany Del DelMany Dump",
    "regex": "Match",
    "jsonpath": "Find",
    "fs": " ".join(
        f"{volume}.{method}"
        for volume in ("data", "system", "app", "script", "dsl", "seed")
        for method in (
            "Exists IsDir IsFile IsLink ReadFile ReadFileBuffer ReadFileBase64 ReadCloser WriteFile WriteFileBuffer "
            "WriteFileBase64 AppendFile AppendBuffer AppendBase64 InsertFile InsertBuffer InsertBase64 Remove "
            "RemoveAll Download ReadDir Mkdir MkdirAll MkdirTemp Chmod BaseName DirName ExtName MimeType Mode Size "
            "ModTime Move Copy MoveAppend MoveInsert Abs Zip Unzip Glob"
        ).split()
    ),
}


@each("namespace", OFFERED)
def test_every_process_is_there_whatever_the_case_of_its_name(namespace: str) -> None:
    missing = [name for name in OFFERED[namespace].split() if find(f"{namespace}.{name}") is None]
    assert missing == []
    first = f"{namespace}.{OFFERED[namespace].split()[0]}"
    assert find(first) is find(first.lower()) is find(first.upper())


def test_all_namespaces_are_tested() -> None:
    assert sorted(OFFERED) == sorted(NAMESPACES)


@each("name", ["scripts.a.b", "models.user.Find", "", ".", "text", "text.", "text.Nope", "fs.other.ReadFile"])
def test_what_is_not_offered_is_not_found(name: str) -> None:
    assert find(name) is None


@each(("name", "known"), [("text.Nope", True), ("TEXT.x", True), ("fs", True), ("models.a.Find", False), ("", False)])
def test_known_namespaces(name: str, known: bool) -> None:
    assert knows(name) is known


@each(
    ("name", "message"),
    [
        ("text.ExtracJSON", 'Process "text.ExtracJSON" does not exist (did you mean "text.ExtractJSON"?)'),
        ("utils.str.join2", 'Process "utils.str.join2" does not exist (did you mean "utils.str.Join"?)'),
        ("fs.data.ReadFil", 'Process "fs.data.ReadFil" does not exist (did you mean "fs.data.ReadFile"?)'),
        (
            "utils.str.Pinyin",
            'Process "utils.str.Pinyin" is not available here: mock it with mocks: {"process": {"utils.str.Pinyin": ...}}',
        ),
        (
            "text.Zzzzzz",
            'Process "text.Zzzzzz" is not available here: mock it with mocks: {"process": {"text.Zzzzzz": ...}}',
        ),
        (
            "models.user.Find",
            'Process "models.user.Find" is not available here: mock it with mocks: {"process": {"models.user.Find": ...}}',
        ),
    ],
)
def test_a_call_of_a_missing_process_says_so(name: str, message: str) -> None:
    with pytest.raises(ProcessError) as caught:
        call(name, [], CALL)
    assert (caught.value.message, caught.value.code) == (message, 404)


def test_a_call_runs_the_process() -> None:
    assert call("UTILS.str.CONCAT", ["a", 1], CALL) == "a1"


WRONG: list[tuple[str, list[Any], str]] = [
    ("text.Extract", [None], "text.Extract: argument 1 must be a string, got null"),
    ("text.Extract", [], "text.Extract: argument 1 must be a string, got nothing"),
    ("text.ExtractByType", ["x", 5], "text.ExtractByType: argument 2 must be a string, got number"),
    ("text.HTMLToMarkdown", [True], "text.HTMLToMarkdown: argument 1 must be a string, got boolean"),
    ("encoding.json.Encode", [], "encoding.json.Encode: argument 1 is missing"),
    ("encoding.base64.Decode", [b"x"], "encoding.base64.Decode: argument 1 must be a string, got Uint8Array"),
    ("encoding.xml.Encode", [[]], "encoding.xml.Encode: argument 1 must be an object, got array"),
    ("json.Validate", [1], "json.Validate: argument 2 is missing"),
    ("crypto.Hash", ["SHA256"], "crypto.Hash: argument 2 must be a string, got nothing"),
    ("crypto.HmacWith", ["x", "a", "b"], "crypto.HmacWith: argument 1 must be an object, got string"),
    ("yao.crypto.hash", [1, "x"], "yao.crypto.Hash: argument 1 must be a string, got number"),
    ("utils.str.Join", ["ab", ","], "utils.str.Join: argument 1 must be an array, got string"),
    ("utils.arr.Get", [[1], 1.5], "utils.arr.Get: argument 2 must be a whole number, got number"),
    ("utils.arr.Get", [[1], True], "utils.arr.Get: argument 2 must be a whole number, got boolean"),
    ("utils.arr.Column", [[1], "x"], "utils.arr.Column: argument 1 must be an array of objects, got array"),
    ("utils.arr.Keep", [[{}], [1]], "utils.arr.Keep: argument 2 must be an array of strings, got array"),
    ("utils.map.Set", [{}, "x"], "utils.map.Set: argument 3 is missing"),
    ("xiang.helper.MapGet", [{}, None], "xiang.helper.MapGet: argument 2 must be a string, got null"),
    ("fs.data.WriteFile", ["a", {}], "fs.data.WriteFile: argument 2 must be a string, got object"),
    ("fs.data.WriteFileBuffer", ["a", "x"], "fs.data.WriteFileBuffer: argument 2 must be a Uint8Array, got string"),
    ("fs.data.ReadDir", ["a", "yes"], "fs.data.ReadDir: argument 2 must be a boolean, got string"),
    ("http.Get", [None], "http.Get: argument 1 must be a string, got null"),
    ("session.GetMany", ["a"], "session.GetMany: argument 1 must be an array, got string"),
    ("regex.Match", ["a"], "regex.Match: argument 2 must be a string, got nothing"),
    ("jsonpath.Find", [{}, 1], "jsonpath.Find: argument 2 must be a string, got number"),
]


@each(("name", "args", "message"), WRONG, ids=[row[2] for row in WRONG])
def test_a_wrong_argument_is_named(name: str, args: list[Any], message: str) -> None:
    with pytest.raises(ProcessError) as caught:
        call(name, args, CALL)
    assert (caught.value.message, caught.value.code) == (message, 400)


def raising(error: BaseException) -> Any:
    def run() -> NoReturn:
        raise error

    return host_functions("x", {"Y": ("", run)})["Y"]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("bad thing"), "x.Y: bad thing"),
        (KeyError(), "x.Y: KeyError"),
        (RecursionError("maximum recursion depth exceeded"), "x.Y: the value is nested too deeply"),
        (FileNotFoundError(2, "No such file or directory", "/somewhere/secret"), "x.Y: no such file or directory"),
    ],
)
def test_an_unexpected_exception_becomes_one_of_ours_with_its_cause(error: Exception, message: str) -> None:
    with pytest.raises(ProcessError) as caught:
        raising(error)([], CALL)
    assert (caught.value.message, caught.value.code) == (message, 500)
    assert caught.value.__cause__ is error


def test_our_own_errors_and_interrupts_pass_unchanged() -> None:
    error = ProcessError("mine", 418)
    with pytest.raises(ProcessError) as caught:
        raising(error)([], CALL)
    assert caught.value is error
    with pytest.raises(KeyboardInterrupt):
        raising(KeyboardInterrupt())([], CALL)


def test_kinds_have_the_names_that_scripts_know() -> None:
    values: list[Any] = [None, True, 1, 1.5, "x", [], {}, b""]
    assert [kind(value) for value in values] == [
        "null",
        "boolean",
        "number",
        "number",
        "string",
        "array",
        "object",
        "Uint8Array",
    ]


def test_importing_the_package_or_a_namespace_imports_no_library() -> None:
    program = (
        "import sys, importlib, bindings.processes as p\n"
        "assert [m for m in sys.modules if m.startswith('bindings.')] == ['bindings.processes'], sys.modules\n"
        "for place in p.NAMESPACES.values(): importlib.import_module('bindings.processes.' + place.partition('.')[0])\n"
        "tops = {m.partition('.')[0] for m in sys.modules}\n"
        "ours = {'bindings', 'scripttest'}\n"
        "print(sorted(m for m in tops - set(sys.stdlib_module_names) - ours if not m.startswith('_')))\n"
        "print(sorted({'hashlib', 'ssl', 'zipfile', 'shutil', 'tempfile', 'uuid', 'difflib', 'logging'} & tops))"
    )
    done = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n[]\n"


@pytest.mark.parametrize(
    ("library", "name", "args", "message"),
    [
        ("cryptography", "crypto.AES256Encrypt", ["GCM", "k" * 32, "n" * 12, "x"], "cryptography>=42"),
        ("cryptography", "crypto.RSA2Sign", ["key", "SHA256", "x"], "cryptography>=42"),
        ("bcrypt", "utils.pwd.Verify", ["x", "y"], "bcrypt>=4"),
        ("markdownify", "text.HTMLToMarkdown", ["x"], "markdownify>=1.1"),
        ("xmltodict", "encoding.xml.Decode", ["<a/>"], "xmltodict>=0.14"),
        ("xmltodict", "encoding.xml.Encode", [{}], "xmltodict>=0.14"),
    ],
)
def test_a_missing_library_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, library: str, name: str, args: list[Any], message: str
) -> None:
    for module in [module for module in sys.modules if module.partition(".")[0] == library]:
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ProcessError) as caught:
        call(name, args, CALL)
    assert caught.value.message == f"{name}: the package \"{library}\" is not installed: pip install '{message}'"
