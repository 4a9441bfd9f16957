"""Attempts to read files that lie in the folder of an application and do not belong to it: by scripts, their imports and
cases; each beside what an honest application reads."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from attacks import MARK
from command import Application, MakeApplication
from test_whose_repository import commit, git

KEYS = """
.env .env.local prod.env .envrc .npmrc .netrc _netrc .yarnrc.yml .pypirc .pgpass .my.cnf .dockercfg .git-credentials
.htpasswd .vault-token .s3cfg .boto .terraformrc .vault_pass vault-password.txt .bash_history .psql_history .token .secret
id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_rsa.bak deploy_rsa ssh_host_ed25519_key
server.pem server.key cert.p12 cert.pfx AuthKey_AB12.p8 login.ppk release.jks debug.keystore http.keytab db.kdbx age.agekey
signing.jwk secring.gpg private.asc client.ovpn terraform.tfstate terraform.tfstate.backup prod.tfvars
kubeconfig kubeconfig.yaml prod.kubeconfig credentials credentials.json credentials.yml.enc aws_credentials.csv
application_default_credentials.json gha-creds-0a1b.json gcp-service-account.json service_account.json
app-firebase-adminsdk-x1.json gcloud-service-key.json private_key.json api_key.txt accessKeys.csv key.json keyfile.json
secrets.json secrets.yml secrets.toml client_secret.json client_secret_12.apps.json passwords.txt token.json auth_token.txt
prod.env.bak .env.production~ env.production id_rsa~ id_rsa.ppk.txt key.pem~ server.key.2 private.der a.publishsettings a.kdb
ssh_key deploy-key signing_key.json github_token.txt oauth_token.json secrets-prod.yml users.htpasswd wg0.conf
kubeconfig.json kube.config key.properties terraform.tfstate.1.backup
access_token auth.json creds.json local.settings.json wp-config.php rclone.conf wallet.dat sftp-config.json master.key
.kube/config .aws/credentials .docker/config.json .ssh/known_hosts .azure/accessTokens.json .gnupg/ring .m2/settings.xml
""".split()
"""Names that the tools that keep keys, and people, use."""
FOREIGN = [
    "notes.json",
    "out/result.json",
    "keys/prod.txt",
    "infra/state.json",
    ".cache/x.json",
    ".gh/hosts.yml",
    "dump.sql",
]
"""Files that say nothing by their names, outside of the folders of an application."""
OWN = [
    "README.md",
    "LICENSE",
    "app.yao",
    "scripts/a.json",
    "docs/a.txt",
    "seeds/a.csv",
    "assistants/demo/a.yml",
    "shared/a.ts",
]
READ = """
const names = NAMES;
function read(name: string): string { try { return "GOT " + new FS("app").ReadFile(name); } catch (e: any) { return e.message; } }
export function TestRead(t: any) { for (const name of names) t.log(name + " " + read(name)); }
"""


def read(app: Application, names: Iterable[str]) -> dict[str, str]:
    """What a script gets of files, by their names."""
    app.write({"read_test.ts": READ.replace("NAMES", json.dumps([*names]))})
    (record,) = app.results("-i", "scripts.demo.read", code=0).values()
    return dict(line.split(" ", 1) for line in record["logs"])


def opened(app: Application, names: Iterable[str]) -> list[str]:
    said = read(app, names)
    assert [
        text for text in said.values() if not text.startswith("GOT") and " is not open to scripts: it " not in text
    ] == []
    return [name for name, text in said.items() if text.startswith("GOT")]


def files(names: Iterable[str]) -> dict[str, str]:
    return {f"/{name}": MARK for name in names}


def test_kinds_of_files_that_hold_keys_are_closed_wherever_they_are(app: MakeApplication) -> None:
    """Tracked by Git, and in the folders of the application."""
    names = [f"{folder}{name}" for folder in ("", "assistants/demo/", "data/", "docs/x/") for name in KEYS]
    here = app({"/app.yao": "{}", **files(names), **files(OWN)})
    commit(here.root)
    assert opened(here, [*names, *OWN]) == OWN


@pytest.mark.parametrize("repository", [False, True])
def test_what_is_not_of_the_application_is_closed(app: MakeApplication, repository: bool) -> None:
    here = app({"/app.yao": "{}", **files(OWN)})
    if repository:
        commit(here.root)
    here.write(files([*FOREIGN, *KEYS]))
    assert opened(here, [*FOREIGN, *KEYS, *OWN]) == OWN


TOLD = """
function Create(ctx: any) { return { locale: ctx.metadata.locale }; }
function Next(ctx: any) { return { data: $L("mark") }; }
"""


def test_names_of_models_locales_and_agents_open_no_other_files(app: MakeApplication) -> None:
    """They become paths. A locale chooses among the folders in `langs/`."""
    code = """
      export function TestNames(t: any, ctx: any) {
        for (const file of ["connectors/a.conn.yao", "keys/prod.json"]) t.log(String(Process("models.pet.Load", file)));
        t.log(Process("models.pet.Read") + $L("mark"));
        t.log(["en", "fr"].map((locale) => ctx.agent.Call("told", [{ role: "user", content: "x" }], { metadata: { locale } }).content).join());
        t.log(ctx.agent.Call(OUTSIDE, [{ role: "user", content: "x" }]).error);
      }"""
    model = '{"name": "Pet", "table": {"name": "pet"}, "columns": [{"name": "id", "type": "ID"}]}'
    here = app(
        {
            "/models/pet.mod.yao": model,
            "/connectors/a.conn.yao": f'{{"options": {{"key": "{MARK}"}}}}',
            "/keys/prod.json": f'{{"password": "{MARK}"}}',
            "/keys/prod.yml": f"mark: {MARK}",
            "/ctx.json": '{"locale": "../keys"}',
            "/langs/en/a.yml": "mark: told",
            "/assistants/told/package.yao": "{}",
            "/assistants/told/src/index.ts": TOLD,
        }
    )
    (here.root / "langs/fr").symlink_to("../keys")
    outside = here.root.parent / "outside"
    outside.mkdir()
    (outside / "package.yao").write_text("{}")
    here.write({"names_test.ts": code.replace("OUTSIDE", json.dumps(str(outside)))})
    (record,) = here.results("-i", "scripts.demo.names", "--ctx", str(here.root / "ctx.json"), code=0).values()
    secrets, foreign, read, translated, agent = record["logs"]
    assert "connectors/a.conn.yao may contain secrets" in secrets
    assert "keys/prod.json does not belong to the application" in foreign
    assert (read, translated) == (f"{model}mark", "told,mark")
    assert agent.startswith(f'Cannot find agent "{outside}": there is no ')


def test_what_git_tracks_is_open_and_what_it_ignores_is_not(app: MakeApplication) -> None:
    own = [*FOREIGN[:4], ".prettierrc", "assistants/demo/tests/made.json"]
    here = app({"/app.yao": "{}", "/.gitignore": "ignored*\ndata/\n", **files(own)})
    commit(here.root)
    ignored = ["assistants/demo/ignored.json", "ignored.md"]
    new = ["assistants/demo/tests/new.json", "docs/new.md", "data/ignored.json", "NEW.md"]
    foreign = ["new.json", "out/new.json"]
    here.write(files([*ignored, *new, *foreign]))
    assert opened(here, [*own, *ignored, *new, *foreign]) == [*own, *new]
    git(here.root, "add", "-f", *foreign)
    assert opened(here, [*ignored, *foreign]) == foreign


@pytest.mark.parametrize("ignored", ["*", "/inner/", "elsewhere/"])
def test_a_repository_that_ignores_the_whole_application_is_not_asked(
    app: MakeApplication, tmp_path: Path, ignored: str
) -> None:
    """As those of homes do; the last one is the control, in whose folder the application is new."""
    (tmp_path / "around").mkdir()
    (tmp_path / "around/.gitignore").write_text(f"{ignored}\n")
    git(tmp_path / "around", "init", "-q")
    here = Application(tmp_path / "around/inner", tmp_path)
    here.write({"/app.yao": "{}", "/assistants/demo/package.yao": "{}", **files([*FOREIGN, *KEYS, *OWN])})
    assert opened(here, [*FOREIGN, *KEYS, *OWN]) == OWN


def test_files_of_submodules_are_open(app: MakeApplication, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "part.json").write_text(MARK)
    commit(source)
    here = app({"/app.yao": "{}"})
    commit(here.root)
    git(here.root, "submodule", "add", "-q", str(source), "vendor/part")
    here.write({"/vendor/part/.kept": MARK, "/vendor/other.json": MARK})
    assert opened(here, ["vendor/part/part.json", "vendor/part/.kept", "vendor/other.json"]) == [
        "vendor/part/part.json"
    ]


def test_an_application_that_is_a_submodule_is_read_as_one(app: MakeApplication, tmp_path: Path) -> None:
    here = app({"/app.yao": "{}", **files(["shared/table.json"])})
    commit(here.root)
    top = tmp_path / "around"
    top.mkdir()
    git(top, "init", "-q")
    git(top, "submodule", "add", "-q", str(here.root), "inner")
    inner = Application(top / "inner", here.home)
    inner.write(files(["shared/other.json"]))
    assert opened(inner, ["shared/table.json", "shared/other.json"]) == ["shared/table.json"]


def test_the_configuration_opens_what_it_names(app: MakeApplication) -> None:
    names = ["out/a.json", "out/deep/b.json", "out/server.pem", "certs/test.pem", "certs/own.pem", "other/c.json"]
    here = app({"/app.yao": "{}", "/yao-test.toml": 'readable = ["out", "certs/test.pem"]\n', **files(names)})
    assert opened(here, names) == ["out/a.json", "out/deep/b.json", "certs/test.pem"]


WRONG = {
    '["../out"]': "which is outside the application",
    '["/etc"]': "which is outside the application",
    '["."]': "the whole application",
    '[".env"]': ".env, which is never open to scripts",
    '["connectors/a.conn.yao"]': "never open to scripts",
    "[1]": "readable must be a list of paths",
}


@pytest.mark.parametrize("value", WRONG)
def test_the_configuration_opens_no_more(app: MakeApplication, value: str) -> None:
    here = app({"a_test.ts": "export function TestA() {}", "/yao-test.toml": f"readable = {value}\n"})
    run = here.run("-i", "scripts.demo.a")
    assert (run.code, "yao-test.toml:1: " in run.stderr, WRONG[value] in run.stderr) == (2, True, True), run


KEPT = """
const fs = new FS("data");
function tried(work: () => any): string { try { return "GOT " + work(); } catch (e: any) { return e.message; } }
export function TestKept(t: any) {
  const ways: Record<string, () => any> = {
    read: () => fs.ReadFile("server.pem"), bytes: () => fs.ReadFileBuffer("server.pem").length, copied: () => fs.Copy("server.pem", "a.txt"),
    moved: () => fs.Move("server.pem", "b.txt"), downloaded: () => fs.Download("server.pem"), added: () => fs.MoveAppend("server.pem", "c.txt"),
    "added to, then read": () => { fs.AppendFile("server.pem", "x"); return fs.ReadFile("server.pem"); },
    "inserted, then read": () => { fs.InsertFile("server.pem", 0, "x"); return fs.ReadFile("server.pem"); },
    packed: () => fs.Zip("keys", "keys.zip"), "read as a file of the application": () => new FS("app").ReadFile("data/server.pem"),
    "moved with its folder": () => { fs.Move(".ssh", "open"); return fs.ReadFile("open/config"); },
  };
  for (const [name, way] of Object.entries(ways)) if (tried(way).startsWith("GOT")) t.fail(name);
}
export function TestMade(t: any) {
  fs.WriteFile("made.pem", "mine"); fs.Move("made.pem", "sub/key.json") ;
  const folder = fs.MkdirTemp(); fs.WriteFile(folder + "/id_rsa", "mine");
  t.assert.Equal([fs.ReadFile("sub/key.json"), fs.ReadFile(folder + "/id_rsa"), fs.ReadFile("named.pem"), fs.Exists("server.pem")], ["mine", "mine", "named", true]);
}
"""


def test_keys_in_data_are_closed_unless_scripts_made_them(app: MakeApplication) -> None:
    kept = ["data/server.pem", "data/keys/id_rsa", "data/.ssh/config"]
    here = app({
        "kept_test.ts": KEPT, "/data/named.pem": "named", "/data/sub/x": "", "/yao-test.toml": 'readable = ["data/named.pem"]', **files(kept)
    })  # fmt: skip
    records = here.results("-i", "scripts.demo.kept", code=0)
    assert MARK not in repr(records)


@pytest.mark.parametrize("repository", [False, True])
def test_folders_show_what_is_open(app: MakeApplication, repository: bool) -> None:
    code = 'export function TestA(t: any) { t.log(JSON.stringify(new FS("app").ReadDir("/", true))); }'
    here = app(
        {"a_test.ts": code, "/app.yao": "{}", "/shared/a.ts": "", "/keys/inner/prod.txt": "", "/.gh/hosts.yml": ""}
    )
    if repository:
        git(here.root, "init", "-q")
        git(here.root, "add", "shared", "app.yao")
    (record,) = here.results("-i", "scripts.demo.a", code=0).values()
    shown = json.loads(record["logs"][0])
    assert "/assistants/demo/src/a_test.ts" in shown
    assert ("/shared/a.ts" in shown) is repository
    assert [name for name in shown if "prod" in name or "hosts" in name] == []


IMPORTS = ["../../../notes.json", "../../../keys/prod.json", "../gcp-service-account.json", "../../../.gh/hosts.json"]


def test_imports_and_attachments_belong_to_the_application(app: MakeApplication) -> None:
    closed = {os.path.normpath(f"assistants/demo/src/{name}"): name for name in IMPORTS}
    code = {
        f"i{n}_test.ts": f'import x from "{name}" with {{ type: "text" }};\nexport function TestA(t: any) {{ t.log(x); }}'
        for n, name in enumerate([*IMPORTS, "../table.json"])
    }
    here = app({**code, **files(closed), "/app.yao": "{}", "/assistants/demo/table.json": "[1]"})
    commit(here.root, "first")
    git(here.root, "rm", "-q", "--cached", *(name for name in closed if "service" not in name))
    run = here.run("-i", "scripts.demo.i*", "-v")
    assert run.stdout.count(": it is not open to scripts, since it ") == len(IMPORTS), run
    assert (MARK in run.stdout, "1 passed" in run.stdout) == (False, True)

    here.write(
        {
            "/assistants/demo/package.yao": '{"connector": "scripted"}',
            "/assistants/demo/replies.yml": "- reply: hello\n",
        }
    )
    here.write({"/assistants/demo/prompts.yml": "- { role: system, content: Hi }"})
    for number, name in enumerate([*IMPORTS, "../table.json"]):
        case = {"id": f"C{number}", "input": "Hi", "attachments": [{"type": "file", "source": f"file://{name}"}]}
        here.write({f"/assistants/demo/tests/c{number}.jsonl": json.dumps(case)})
        run = here.run("-i", f"assistants/demo/tests/c{number}.jsonl")
        assert run.code == (0 if number == len(IMPORTS) else 2), run
        assert MARK not in run.stdout + run.stderr


LINKS = {
    "a folder above": ("../..", False),
    "a folder beside the repository": ("../../../home", False),
    "a package of the repository": ("../../packages/x", True),
    "a package in a store of the repository": ("../../node_modules/.pnpm/x@1/node_modules/x", True),
    "a package of the application": ("../local/x", True),
}


@pytest.mark.parametrize("what", LINKS)
@pytest.mark.parametrize("named", [False, True])
def test_links_in_node_modules_lead_into_the_repository(app: MakeApplication, what: str, named: bool) -> None:
    target, is_open = LINKS[what]
    made = app({})
    top = made.root / "top"
    here = Application(top / "app", made.home)
    code = 'import { x } from "x";\nexport function TestA(t: any) { t.assert.Equal(x, 1); }'
    here.write({"a_test.ts": code, "/assistants/demo/package.yao": "{}", "/app.yao": "{}", "/node_modules/.keep": ""})
    (here.root / "node_modules/x").symlink_to(target)
    package = (here.root / "node_modules" / target).resolve()
    package.mkdir(parents=True, exist_ok=True)
    (package / "package.json").write_text('{"main": "index.js"}')
    (package / "index.js").write_text("export const x = 1;")
    git(top, "init", "-q")
    if named:
        here.write({"/yao-test.toml": 'readable = ["node_modules/x"]\n'})
    run = here.run("-i", "scripts.demo.a")
    assert run.code == (0 if is_open or named else 1), run
    said = 'node_modules/x leads out of its repository; readable = ["node_modules/x"] in yao-test.toml'
    assert (said in run.stdout) is (run.code == 1)


def test_a_plain_script_test_starts_no_git(app: MakeApplication) -> None:
    """Not even where there is a repository."""
    here = app({"a_test.ts": 'import { one } from "./one";\nexport function TestA(t: any) { t.assert.Equal(one, 1); }',
                "one.ts": "export const one = 1;", "/app.yao": "{}", "/tsconfig.json": "{}"})  # fmt: skip
    commit(here.root)
    mark, program = here.home / "STARTED", here.home / "bin/git"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ntouch {mark}\nexit 1\n")
    program.chmod(0o755)
    environment = {**here.environment, "PATH": f"{program.parent}:{os.defpath}"}
    command = ["git", "--version"]
    assert subprocess.run(command, env=environment, check=False).returncode == 1 and mark.exists(), "the control"
    mark.unlink()
    run = here.spawn("-i", "scripts.demo.a", env=environment)
    assert (run.code, mark.exists()) == (0, False), run
