"""Attempts to reach files: each an attack by a script test, through the real command."""

from __future__ import annotations

import io
import json
import os
import re
import stat
import zipfile
from pathlib import Path

import pytest
from attacks import MARK, attacked, held
from command import Application, MakeApplication, Record, unprivileged
from table_tests import each

LEAVES = "leaves the volume"
CLOSED = "may contain secrets"
KEY = "sk-key-of-the-connector"

ATTACKS = {
    "dots": f'refused(t, () => new FS("data").ReadFile("../../secret.txt"), "{LEAVES}");',
    "dots inside": f'refused(t, () => new FS("data").ReadFile("folder/../../../secret.txt"), "{LEAVES}");',
    "dots after a slash": f'refused(t, () => new FS("data").ReadFile("/../../secret.txt"), "{LEAVES}");',
    "many dots": f'refused(t, () => new FS("data").ReadFile("../".repeat(50) + "etc/passwd"), "{LEAVES}");',
    "absolute": 'refused(t, () => new FS("data").ReadFile("/etc/passwd"), "no such");',
    "proc environment": 'refused(t, () => new FS("data").ReadFile("/proc/self/environ"), "no such");',
    "proc descriptors": 'refused(t, () => new FS("data").ReadFile("/proc/self/fd/0"), "no such");',
    "nul": 'refused(t, () => new FS("data").ReadFile("note.txt\\0/../../../secret.txt"), "NUL");',
    "percent": 'refused(t, () => new FS("data").ReadFile("%2e%2e/%2e%2e/secret.txt"), "no such");',
    "backslashes": 'refused(t, () => new FS("data").ReadFile("..\\\\..\\\\secret.txt"), "no such");',
    "dots of Unicode": 'refused(t, () => new FS("data").ReadFile("\\u2024\\u2024/\\uff0e\\uff0e/secret.txt"), "no such");',
    "file address": 'refused(t, () => new FS("data").ReadFile("file:///etc/passwd"), "no such");',
    "home": 'refused(t, () => new FS("data").ReadFile("~/.profile"), "no such");',
    "long path": 'refused(t, () => new FS("data").ReadFile("a/".repeat(100000) + "../".repeat(100003) + "x"));',
    "unknown volume": 'refused(t, () => new FS("/").ReadFile("etc/passwd"));',
    "volume with dots": 'refused(t, () => Process("fs.data/../...ReadFile", "x"));',
    "link": f'refused(t, () => new FS("data").ReadFile("out"), "{LEAVES}");',
    "absolute link": f'refused(t, () => new FS("data").ReadFile("absolute"), "{LEAVES}");',
    "folder behind a link": f'refused(t, () => new FS("data").ReadFile("outdir/secret.txt"), "{LEAVES}");',
    "link behind links": f'refused(t, () => new FS("data").ReadFile("chain"), "{LEAVES}");',
    "link to the root": f'refused(t, () => new FS("data").ReadFile("root/etc/passwd"), "{LEAVES}");',
    "link to proc": f'refused(t, () => new FS("data").ReadFile("procfs/environ"), "{LEAVES}");',
    "link to a link's parent": f'refused(t, () => new FS("data").ReadFile("folder/up/up/../secret.txt"), "{LEAVES}|no such");',
    "existence behind a link": f'refused(t, () => new FS("data").Exists("outdir/secret.txt"), "{LEAVES}");',
    "size behind a link": f'refused(t, () => new FS("data").Size("out"), "{LEAVES}");',
    "download": f'refused(t, () => new FS("data").Download("out"), "{LEAVES}");',
    "base64": f'refused(t, () => new FS("data").ReadFileBase64("absolute"), "{LEAVES}");',
    "write through a link": f'refused(t, () => new FS("data").WriteFile("out", "x"), "{LEAVES}");',
    "new file behind a link": f'refused(t, () => new FS("data").WriteFile("outdir/new.txt", "x"), "{LEAVES}");',
    "new file by a dangling link": f'refused(t, () => new FS("data").WriteFile("dangling", "x"), "{LEAVES}");',
    "append through a link": f'refused(t, () => new FS("data").AppendFile("absolute", "x"), "{LEAVES}");',
    "remove behind a link": f'refused(t, () => new FS("data").RemoveAll("outdir/victims"), "{LEAVES}");',
    "remove a link to a folder": 'new FS("data").RemoveAll("spare");',
    "change permissions": f'refused(t, () => new FS("data").Chmod("out", 0o777), "{LEAVES}");',
    "folder behind a link to be made": f'refused(t, () => new FS("data").MkdirAll("outdir/a/b"), "{LEAVES}");',
    "move out": f'refused(t, () => new FS("data").Move("note.txt", "../../moved.txt"), "{LEAVES}");',
    "move behind a link": f'refused(t, () => new FS("data").Move("note.txt", "outdir/moved.txt"), "{LEAVES}");',
    "move in": f'refused(t, () => new FS("data").Move("outdir/secret.txt", "mine.txt"), "{LEAVES}");',
    "move a link, then read": 'const fs = new FS("data"); fs.Move("movable", "folder/sub/moved"); refused(t, () => fs.ReadFile("folder/sub/moved"));',
    "copy a link": f'refused(t, () => new FS("data").Copy("out", "mine.txt"), "{LEAVES}");',
    "copy a folder with links": 'refused(t, () => new FS("data").Copy("/", "copy"));',
    "zip with links": """
        const fs = new FS("data"); fs.Zip("linked", "linked.zip"); fs.Unzip("linked.zip", "unzipped");
        for (const path of fs.ReadDir("unzipped", true)) if (!fs.IsDir(path)) t.assert.NotContains(fs.ReadFile(path), "OUTSIDE");
    """,
    "zip slip": 'refused(t, () => new FS("data").Unzip("slip.zip", "slipped"), "leaves the target");',
    "zip with a link": 'const fs = new FS("data"); fs.Unzip("links.zip", "u"); t.assert.NotContains(fs.ReadFile("u/link"), "OUTSIDE"); t.assert.False(fs.IsLink("u/link"));',
    "pattern with dots": f'refused(t, () => new FS("data").Glob("../../*"), "{LEAVES}");',
    "pattern through a link": 't.assert.Equal(new FS("data").Glob("outdir/*"), []);',
    "pattern of everything": 'for (const path of new FS("data").Glob("**/*")) t.assert.NotContains(path, "secret.txt");',
    "list through links": 'for (const path of new FS("data").ReadDir("/", true)) t.assert.NotContains(path, "secret.txt");',
    "list behind a link": f'refused(t, () => new FS("data").ReadDir("outdir"), "{LEAVES}");',
    "temporary folder elsewhere": f'refused(t, () => new FS("data").MkdirTemp("../..", "x"), "{LEAVES}");',
    "temporary folder by its name": 'refused(t, () => new FS("data").MkdirTemp("", "../../x*"), "without a slash");',
    "remove the root": 'refused(t, () => new FS("data").RemoveAll("folder/.."), "stays where it is");',
    "write in the application": 'refused(t, () => new FS("app").WriteFile("assistants/demo/src/attack_test.ts", ""), "read only");',
    "remove in the application": 'refused(t, () => new FS("dsl").RemoveAll("assistants"), "read only");',
    "write by way of data in the application": 'refused(t, () => new FS("app").WriteFile("data/x", ""), "read only");',
    "write a script": 'refused(t, () => new FS("script").WriteFile("x.ts", ""), "read only");',
    "environment file": f'refused(t, () => new FS("app").ReadFile(".env"), "{CLOSED}");',
    "environment file, other letters": f'for (const n of [".ENV", ".Env.local", ".env.", "./.env", "\\uff0eenv"]) refused(t, () => new FS("app").ReadFile(n), "{CLOSED}");',
    "connector": f'refused(t, () => new FS("app").ReadFile("connectors/model.conn.yao"), "{CLOSED}");',
    "connector by a link": f'refused(t, () => new FS("app").ReadFile("innocent.txt"), "{CLOSED}");',
    "connectors by name": f'refused(t, () => new FS("dsl").ReadDir("Connectors"), "{CLOSED}");',
    "connectors by a walk": 'for (const path of new FS("app").ReadDir("/", true)) t.assert.NotContains(path, "model.conn");',
    "connectors by a pattern": 't.assert.Equal(new FS("app").Glob("connectors/*"), []); t.assert.Equal(new FS("app").Glob("**/*.conn.yao"), []);',
    "repository": f'refused(t, () => new FS("app").ReadFile(".git/config"), "{CLOSED}");',
    "path that changes when it is read": """
        let reads = 0; const path: any = { toString() { return reads++ ? "../../secret.txt" : "note.txt"; }, toJSON() { return reads++ ? "../../secret.txt" : "note.txt"; } };
        let text = ""; try { text = new FS("data").ReadFile(path); } catch {}
        t.assert.NotContains(text, "OUTSIDE");
    """,
    "path that is a list": 'refused(t, () => new FS("data").ReadFile(["..", "..", "secret.txt"] as any));',
    "upload": 'refused(t, () => http.Post("http://127.0.0.1:9/", {}, { f: "../../secret.txt" }));',
    "script by a path": 'refused(t, () => Process("scripts./../../outside.Leak"), "no such script");',
    "script by an absolute path": 'refused(t, () => Process("scripts." + {place} + "/outside.Leak"), "no such script");',
    "require": 'refused(t, () => (globalThis as any).require("fs").readFileSync("/etc/passwd"));',
    "modules of the engine": 'for (const name of ["std", "os", "bjson", "qjs:std", "fs"]) { let got: any; try { got = await (0, eval)(`import("${name}")`); } catch { continue; } t.fail("ESCAPED " + name); }',
    "load functions of the engine": 'for (const name of ["load", "loadFile", "read", "readFile", "print", "scriptArgs", "loadScript", "evalScript"]) t.assert.Equal(typeof (globalThis as any)[name], "undefined");',
    "race": """
        const fs = new FS("data"); let text = "";
        for (let i = 0; i < 40; i++) { try { text += fs.ReadFile(i % 2 ? "note.txt" : "out"); } catch {} }
        t.assert.NotContains(text, "OUTSIDE");
    """,
}

IMPORTS = {
    "a text": 'import x from "../../../../secret.txt" with { type: "text" }; const got = x;',
    "bytes": 'import x from "../../../../secret.txt" with { type: "bytes" }; const got = new TextDecoder().decode(x);',
    "an absolute path": 'import x from "/etc/passwd" with { type: "text" }; const got = x;',
    "JSON": 'import x from "../../../../secret.json"; const got = JSON.stringify(x);',
    "JSON with an error": 'import x from "../../../../broken.json"; const got = JSON.stringify(x);',
    "a script": 'import { Leak } from "../../../../outside"; const got = Leak();',
    "require": 'const x = require("../../../../secret.json"); const got = JSON.stringify(x); export {};',
    "a link": 'import x from "../../../data/absolute" with { type: "text" }; const got = x;',
    "a connector": 'import x from "../../../connectors/other.conn.json"; const got = JSON.stringify(x);',
    "the environment file": 'import x from "../../../.env" with { type: "text" }; const got = x;',
    "the compiler's own input": 'import x from "/dev/stdin" with { type: "text" }; const got = x;',
    "the compiler's environment": 'import x from "/proc/self/environ" with { type: "text" }; const got = x;',
    "the root by a process": 'import x from "/proc/self/root/etc/passwd" with { type: "text" }; const got = x;',
    "the folder of a process": 'import x from "/proc/self/cwd/../secret.txt" with { type: "text" }; const got = x;',
    "a descriptor of the compiler": 'import x from "/proc/self/fd/0" with { type: "text" }; const got = x;',
    "a descriptor in its folder": 'import x from "/dev/fd/3" with { type: "text" }; const got = x;',
    "the environment of a thread": 'import x from "/proc/thread-self/environ" with { type: "text" }; const got = x;',
    "two slashes": 'import x from "//etc/passwd" with { type: "text" }; const got = x;',
    "backslashes": 'import x from "..\\\\..\\\\..\\\\..\\\\secret.txt" with { type: "text" }; const got = x;',
    "connectors in capitals": 'import x from "../../../CONNECTORS/other.conn.json"; const got = JSON.stringify(x);',
    "the environment file in wide letters": 'import x from "../../../.ｅnv" with { type: "text" }; const got = x;',
    "a mapped path": 'import x from "@secret/secret.json"; const got = JSON.stringify(x);',
    "what is executed": 'import "../../../../outside.js"; const got = (globalThis as any).leaked;',
    "a source map": "const got = '';",
    "a packages folder in the suffix": 'import x from "/etc/passwd?/node_modules/x" with { type: "text" }; const got = x;',
    "a packages folder in the fragment": 'import x from "../../../../secret.txt#/node_modules/" with { type: "text" }; const got = x;',
    "a packages folder on the way": 'import x from "../../../../node_modules/../secret.txt" with { type: "text" }; const got = x;',
    "packages beside the application": 'import x from "../../../../node_modules/alien/secret.txt" with { type: "text" }; const got = x;',
    "a package beside the application": 'import x from "alien/secret.txt" with { type: "text" }; const got = x;',
    "the environment file with a suffix": 'import x from "../../../.env?raw" with { type: "text" }; const got = x;',
    "the environment file with a fragment": 'import x from "../../../.env#x" with { type: "text" }; const got = x;',
    "a connector with a suffix": 'import x from "../../../connectors/other.conn.json?url"; const got = JSON.stringify(x);',
    "a connector that is code": 'import x from "../../../connectors/code.ts"; const got = x;',
    "dot files of a package": 'import x from "own/.npmrc" with { type: "text" }; const got = x;',
    "dot files of a package by the path": 'import x from "../../../node_modules/own/.env" with { type: "text" }; const got = x;',
    "the environment of another process": 'import x from "/proc/PID/environ?/node_modules/x" with { type: "text" }; const got = x;',
    "a link in a package": 'import x from "own/link.txt" with { type: "text" }; const got = x;',
    "a package that is a link, but no package": 'import x from "fake/secret.txt" with { type: "text" }; const got = x;',
    "dot files of a linked package": 'import x from "linked/.env" with { type: "text" }; const got = x;',
    "what is beside a linked package": 'import x from "linked/../secret.txt" with { type: "text" }; const got = x;',
    "a syntax error": 'import x from "../../../.env?x"; const got = x;',
    "a syntax error behind a link": 'import x from "../../../data/code.ts"; const got = x;',
    "bytes of the repository": 'import x from "../../../.git/config?" with { type: "bytes" }; const got = String.fromCharCode(...x);',
    "a dynamic import": 'const got = import("../../../connectors/other.conn.json");',
    "a pattern of imports": 'const n = "other.conn.json"; const got = import("../../../connectors/" + n);',
    "an export of everything": 'export * from "../../../../outside"; const got = (globalThis as any).Leak();',
    "a style": 'import "../../../../style.css"; const got = "";',
    "a file address": 'import x from "file:///etc/passwd" with { type: "text" }; const got = x;',
    "a data address that names it": "import { Leak } from \"data:text/javascript,export * from '/PLACE/outside'\"; const got = Leak();",
}
"""Import and what it would give; each in a module of its own."""


def archive(name: str, mode: int, content: str) -> bytes:
    """A zip file with one entry."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        entry = zipfile.ZipInfo(name)
        entry.external_attr = mode << 16
        made.writestr(entry, content)
    return file.getvalue()


@pytest.fixture(scope="module")
def application(shared_app: MakeApplication) -> Application:
    """An application with links out of it, beside files that nobody may read or change."""
    app = shared_app(
        {
            "/data/note.txt": "note",
            "/data/folder/sub/x.txt": "x",
            "/data/linked/own.txt": "own",
            "/data/slip.zip": archive("../../slipped.txt", 0o644, "x"),
            "/data/links.zip": archive("link", stat.S_IFLNK | 0o777, "/etc/passwd"),
            "/.env": f"APP_NAMED={MARK}",
            "/.git/config": MARK,
            "/connectors/model.conn.yao": f'{{"type": "openai", "options": {{"key": "{KEY}"}}}}',
            "/connectors/other.conn.json": f'{{"type": "openai", "options": {{"key": "{KEY}"}}}}',
            "/connectors/code.ts": f'export default "{KEY}";',
            "/node_modules/own/package.json": "{}",
            "/node_modules/own/index.js": "export const own = 'own package';",
            "/node_modules/own/.npmrc": MARK,
            "/node_modules/own/.env": MARK,
            "/tsconfig.json": '{"compilerOptions": {"paths": {"@secret/*": ["../*"]}}}',
            "/yao-test.toml": 'readable = ["node_modules/linked"]',
        }
    )
    outside = app.root.parent
    (outside / "secret.txt").write_text(MARK)
    (outside / "secret.json").write_text(f'{{"key": "{MARK}"}}')
    (outside / "broken.json").write_text(f'{{"key": {MARK}')
    (outside / "outside.ts").write_text(f'export function Leak() {{ return "{MARK}"; }}')
    (outside / "outside.js").write_text(f'globalThis.leaked = "{MARK}";')
    (outside / "style.css").write_text(f"a::before {{ content: '{MARK}' }} {{{MARK}")
    for package in ("node_modules/alien", "linked"):
        (outside / package).mkdir(parents=True)
        (outside / package / "package.json").write_text("{}")
        (outside / package / "index.js").write_text("export const linked = 'linked package';")
        (outside / package / "secret.txt").write_text(MARK)
        (outside / package / ".env").write_text(f"APP_NAMED={MARK}")
    (outside / "victims").mkdir()
    (outside / "victims/victim.txt").write_text("alive")
    data = app.root / "data"
    links: dict[str, str | Path] = {
        "out": "../../secret.txt",
        "absolute": outside / "secret.txt",
        "outdir": outside,
        "spare": outside / "victims",
        "movable": "../../secret.txt",
        "dangling": "../../made.txt",
        "chain": "folder/hop",
        "folder/hop": "../out",
        "folder/up": "..",
        "root": "/",
        "procfs": "/proc/self",
        "linked/leak": "../../../secret.txt",
        "linked/folder": outside / "victims",
        "../innocent.txt": "connectors/model.conn.yao",
        "code.ts": outside / "secret.txt",
        "../node_modules/own/link.txt": outside / "secret.txt",
        "../node_modules/linked": outside / "linked",
        "../node_modules/fake": outside / "victims/..",
    }
    for name, target in links.items():
        (data / name).symlink_to(target)
    return app


def outside_of(app: Application) -> dict[str, str]:
    """Everything outside the application, with its content and permissions."""
    found = {}
    for path in sorted(app.root.parent.rglob("*")):
        if not path.is_relative_to(app.root) and not path.is_relative_to(app.home) and path.is_file():
            found[path.name] = f"{path.read_text()} {path.stat().st_mode:o}"
    return found


@pytest.fixture(scope="module")
def results(application: Application) -> tuple[dict[str, Record], dict[str, str], dict[str, str]]:
    before = outside_of(application)
    attacks = {name: code.replace("{place}", f'"{application.root.parent}"') for name, code in ATTACKS.items()}
    records = attacked(application, attacks)
    return records, before, outside_of(application)


@each("attack", ATTACKS)
def test_a_script_reaches_no_file_outside(
    results: tuple[dict[str, Record], dict[str, str], dict[str, str]], attack: str
) -> None:
    records, before, after = results
    assert held(records[attack]), records[attack]
    assert after == before


def test_the_application_itself_is_unchanged(application: Application, results: object) -> None:
    assert (application.root / ".env").read_text() == f"APP_NAMED={MARK}"
    assert (application.root / "assistants/demo/package.yao").read_text() == "{}"
    assert (application.root / "data/note.txt").read_text() == "note"


@pytest.fixture(scope="module")
def imported(application: Application) -> dict[str, str]:
    """All that the command said of a module that imports, by what it imports."""
    from base64 import b64encode

    source_map = '{"version": 3, "sources": ["../../../../secret.txt"], "names": [], "mappings": "AAAA;AAAA;AAAA;AAAA"}'
    said = {}
    for number, (name, text) in enumerate(IMPORTS.items()):
        code = text.replace("PID", str(os.getpid())).replace("/PLACE", str(application.root.parent))
        test = f'{code}\nexport function TestImport(t: any) {{\n  t.fail("got " + got);\n}}\n'
        if name == "a source map":
            test += f"//# sourceMappingURL=data:application/json;base64,{b64encode(source_map.encode()).decode()}\n"
        application.write({f"import{number}_test.ts": test})
        said[name] = str(number)
    run = application.run("-i", "scripts.demo.import*", "-v", "--timeout", "5s")
    assert run.code == 1, run
    parts = re.split(r"Script Test: scripts\.demo\.import|^✗ scripts\.demo\.import", run.stdout, flags=re.M)[1:]
    return {name: "".join(part for part in parts if re.match(rf"{n}\s", part)) for name, n in said.items()}


@each("what", IMPORTS)
def test_a_script_imports_nothing_from_outside(imported: dict[str, str], what: str) -> None:
    reasons = (
        ": it is not (a file of the application|open to scripts)",
        " is a URL, but only files can be imported",
    )
    refused = rf"(Cannot import: .*({'|'.join(reasons)})|Cannot find module)"
    assert bool(re.search(refused, imported[what])) == (what != "a source map")
    assert MARK not in imported[what]
    assert KEY not in imported[what]
    assert "root:" not in imported[what]
    assert "PATH=" not in imported[what]


def test_an_ordinary_user_imports_nothing_from_outside_either(application: Application, imported: object) -> None:
    """What root may read and others may not plays no part."""
    run = application.spawn("-i", "scripts.demo.import*", "--timeout", "5s", prefix=unprivileged())
    assert run.stdout.count("└─ Cannot ") == len(IMPORTS) - 1, "all but a source map"
    assert not re.search(f"{MARK}|{KEY}|root:|PATH=", run.stdout)


EXTENDED = {
    "the environment file": ('{"extends": "./.env"}', "it is not open to scripts"),
    "a file outside that is not JSON": ('{"extends": "../secret.txt"}', "its error is not shown"),
    "one of several": ('{"extends": ["./none.json", "../broken"]}', "its error is not shown"),
}


@pytest.mark.parametrize("what", EXTENDED)
def test_what_a_tsconfig_extends_is_not_shown(app: MakeApplication, what: str) -> None:
    text, said = EXTENDED[what]
    here = app({"a_test.ts": "export function TestA() {}", "/tsconfig.json": text, "/.env": f"{MARK}={MARK}"})
    (here.root.parent / "secret.txt").write_text(f"{MARK}: {MARK}")
    (here.root.parent / "broken.json").write_text(f'{{"a": {MARK}')
    run = here.run("-i", "scripts.demo.a", "-v")
    assert said in run.stdout, run
    assert MARK not in run.stdout


def test_a_tsconfig_outside_is_extended(app: MakeApplication) -> None:
    """The control: monorepos share one."""
    code = 'import { x } from "@m/x"; export function TestA(t: any) { t.assert.Equal(x, 1); }'
    here = app({"a_test.ts": code, "/m/x.ts": "export const x = 1;", "/tsconfig.json": '{"extends": "../base"}'})
    (here.root.parent / "base.json").write_text('{"compilerOptions": {"paths": {"@m/*": ["./app/m/*"]}}}')
    assert here.run("-i", "scripts.demo.a").code == 0


def test_what_is_open_to_scripts_is_imported(application: Application) -> None:
    """The control: the same ways of writing it, to files that are open; and a package to which `npm link` has led,
    named in the configuration."""
    code = """
        import own from "own/index.js?/node_modules/x" with { type: "text" };
        import note from "../../../data/note.txt?raw" with { type: "text" };
        import again from "../../../data/linked/own.txt#x" with { type: "bytes" };
        import { linked } from "linked";
        import shown from "linked/secret.txt" with { type: "text" };
        export function TestOpen(t: any) {
          t.assert.Equal([own.includes("own package"), note, [...again], linked, shown], [true, "note", [111, 119, 110], "linked package", MARK]);
        }
    """
    application.write({"open_test.ts": code.replace("MARK", f'"{MARK}"')})
    run = application.run("-i", "scripts.demo.open")
    assert run.code == 0, run


@pytest.mark.parametrize(
    ("marker", "content"),
    [("package.json", '{"workspaces": ["packages/*", "app"]}'), ("pnpm-workspace.yaml", ""), (".git", "gitdir: x")],
)
def test_packages_of_the_workspace_of_an_application_are_open(app: MakeApplication, marker: str, content: str) -> None:
    """Package managers put them above the application; a folder that says nothing of a workspace is not one."""
    code = 'import { x } from "shared"; import { y } from "member"; export function TestA(t: any) { t.assert.Equal([x, y], [1, 2]); }'
    here = app({"a_test.ts": code})
    top = here.root.parent
    for folder, text in {
        "node_modules/shared": "export const x = 1;",
        "packages/member": "export const y = 2;",
    }.items():
        (top / folder).mkdir(parents=True)
        (top / folder / "package.json").write_text("{}")
        (top / folder / "index.js").write_text(text)
    (top / "node_modules/member").symlink_to("../packages/member")
    assert "it is not a file of the application" in here.run("-i", "scripts.demo.a").stdout
    (top / marker).write_text(content)
    assert here.run("-i", "scripts.demo.a").code == 0


LINKED = 'const got = [() => new FS("data").ReadFile("secret.txt"), () => new FS("data").WriteFile("x.txt", "x"), () => new FS("data").MkdirTemp(), () => new FS("script").ReadFile("secret.txt"), () => new FS("system").ReadDir("/")].map((work) => { try { return work(); } catch (error: any) { return error.message.split(": ")[1]; } });'


def test_folders_of_the_application_that_are_links_out_of_it_are_closed(app: MakeApplication) -> None:
    here = app({"a_test.ts": f"export function TestA(t: any) {{ {LINKED} t.log(JSON.stringify(got)); }}"})
    outside = here.root.parent / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text(MARK)
    for name in ("data", "scripts"):
        (here.root / name).symlink_to(outside)
    (record,) = here.results("-i", "scripts.demo.a", code=0).values()
    refusal = "the folder of the volume is a link that leaves the application"
    assert json.loads(record["logs"][0]) == [refusal] * 5
    assert [path.name for path in outside.iterdir()] == ["secret.txt"]


def test_a_data_folder_that_is_a_link_within_the_application_is_used(app: MakeApplication) -> None:
    code = 'export function TestA(t: any) { new FS("data").WriteFile("x.txt", "x"); }'
    here = app({"a_test.ts": code, "/store/.keep": ""})
    (here.root / "data").symlink_to("store")
    assert here.run("-i", "scripts.demo.a").code == 0
    assert (here.root / "store/x.txt").read_text() == "x"
