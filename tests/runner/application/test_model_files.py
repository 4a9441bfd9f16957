"""Which models an application has, under which ids and tables, and what is said of files that cannot be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bindings import ModelFileError, ModelFiles, ProcessError
from runner.application.application import Application
from runner.application.models import ApplicationData


def model(table: str, *columns: Any) -> str:
    return json.dumps({"table": {"name": table}, "columns": [{"name": "id", "type": "ID"}, *columns]})


def data(root: Path, files: dict[str, str]) -> ApplicationData:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return ApplicationData(Application(root))


def own(files: ModelFiles) -> dict[str, str]:
    """Id → table, without the built-in models."""
    return {model.id: model.table for model in files.models if not model.id.startswith("__yao.")}


IDS = [
    ("models/pet.mod.yao", "pet"),
    ("models/user/pet.mod.json", "user.pet"),
    ("models/a/b/c.mod.jsonc", "a.b.c"),
    ("models/bar2.0.mod.yao", "bar2_0"),
    ("models/v1.2/User.mod.yao", "v1_2.User"),
]


@pytest.mark.parametrize(("file", "id"), IDS)
def test_the_id_is_the_path(tmp_path: Path, file: str, id: str) -> None:
    files = data(tmp_path, {file: model("t"), "models/readme.md": "", "models/other.yao": "{"}).models()
    assert (own(files), files.broken) == ({id: "t"}, ())
    assert [model.file for model in files.models if model.id == id] == [f"/{file}"]


TABLES = [
    ("task", "agents_team_helper_task"),
    ("agents_team_helper_task", "agents_team_helper_task"),
    ("agents_mcpload_task", "agents_team_helper_task"),
]


@pytest.mark.parametrize(("written", "table"), TABLES)
def test_an_agents_model_has_the_agent_in_id_and_table(tmp_path: Path, written: str, table: str) -> None:
    folder = "assistants/team/helper"
    files = data(tmp_path, {f"{folder}/package.yao": "{}", f"{folder}/models/x/task.mod.yao": model(written)}).models()
    assert own(files) == {"agents.team.helper.x.task": table}


@pytest.mark.parametrize(
    ("files", "table"),
    [
        ({}, "yao_role"),
        ({"app.yao": '{"prefix": "shop_"} // ours'}, "shop_role"),
        ({"app.yao": '{"name": "x"}'}, "yao_role"),
        ({"app.json": '{"prefix": "j_"}'}, "j_role"),
        ({"app.yao": "{"}, "yao_role"),
    ],
)
def test_built_in_models_have_the_prefix_of_the_application(tmp_path: Path, files: dict[str, str], table: str) -> None:
    assert [model.table for model in data(tmp_path, files).models().models if model.id == "__yao.role"] == [table]


BROKEN = [
    ("pet.mod.yao", '{\n  "table": {"name": "pet"},\n  columns: []\n}',
     ":3:3: Expecting property name enclosed in double quotes. It must be JSON; comments and trailing commas are fine"),
    ("pet.mod.json", '{\n  // a comment\n  "table": {}\n}',
     ":2:3: Expecting property name enclosed in double quotes. .json files cannot have comments or trailing commas: "
     "rename it to .yao or .jsonc"),
    ("pet.mod.json", '{"columns": [],\n}', ":2:1: Expecting property name enclosed in double quotes. .json files "
     "cannot have comments or trailing commas: rename it to .yao or .jsonc"),
    ("pet.mod.yao", '{"columns": [\n  {"name": "id", "type": "ID"},\n  {"name": "a",\n   "type": "vector"}]}',
     ':4:4: column "a" has the type "vector", which does not exist. Types are '),
    ("pet.mod.jsonc", '{"columns": [\n  {"name": "a", "type": "String"}]}',
     ':2:17: column "a" has the type "String", which does not exist. Did you mean "string"?'),
    ("pet.mod.yao", '{"columns": [\n  {"type": "string"}]}', ':2:3: a column has no name. Each column needs "name"'),
    ("pet.mod.yao", "\n []", ":2:2: it is not an object. Write it as "),
    ("pet.mod.yao", '{"name": 1,\n"name": 2}', ':2:1: "name" is set twice, first at '),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "said"), BROKEN, ids=lambda part: str(part)[:30])
def test_a_file_that_cannot_be_read_is_named_with_its_line(tmp_path: Path, name: str, text: str, said: str) -> None:
    files = data(tmp_path, {f"models/{name}": text, "models/good.mod.yao": model("good")}).models()
    assert own(files) == {"good": "good"}
    [problem] = files.broken
    assert problem.startswith(f"Cannot read model models/{name}{said}"), problem


def test_a_broken_model_of_an_agent_costs_nobody_but_itself(tmp_path: Path) -> None:
    written = {
        "assistants/a/package.yao": "{}",
        "assistants/a/models/x.mod.yao": "{",
        "models/pet.mod.yao": model("pet"),
    }
    files = data(tmp_path, written).models()
    assert (own(files), files.broken, list(files.refused)) == ({"pet": "pet"}, (), ["agents.a.x"])
    assert "Cannot read model assistants/a/models/x.mod.yao:1:2" in files.refused["agents.a.x"]


def test_documents_of_models_that_scripts_load(tmp_path: Path) -> None:
    found = data(tmp_path, {"models/pet.mod.yao": '{"name": "Pet",}', "models/bad.mod.yao": "["})
    assert found.document("models/pet.mod.yao", None) == (
        "/models/pet.mod.yao",
        {"name": "Pet"},
        (tmp_path / "models/pet.mod.yao").read_text(),
    )
    assert found.document("/x.mod.yao", '{"name": "X"}') == ("/x.mod.yao", {"name": "X"}, '{"name": "X"}')
    for file, source in [
        ("models/bad.mod.yao", None), ("models/none.mod.yao", None), ("../x.mod.yao", None), ("x.mod.yao", "{")
    ]:  # fmt: skip
        with pytest.raises(ModelFileError) as error:
            found.document(file, source)
        assert error.value.message.startswith(f"Cannot read model {file}"), error.value.message
        assert error.value.problem


LINE = '{"model": "pet", "row": {"name": "%s"}}\n'


def test_a_fixture_is_looked_for_from_the_folder_of_the_test_upward(tmp_path: Path) -> None:
    found = data(
        tmp_path / "app",
        {
            "fixtures/pets.jsonl": "// all of them\n\n" + LINE % "Rex",
            "assistants/a/fixtures/pets.jsonl": LINE % "Mia",
            "../fixtures/outside.jsonl": LINE % "Bo",
        },
    )
    agent = tmp_path / "app/assistants/a/src"
    assert found.fixture("pets", agent).file == "assistants/a/fixtures/pets.jsonl"
    assert list(found.fixture("pets", agent).lines) == [
        ("assistants/a/fixtures/pets.jsonl:1", {"model": "pet", "row": {"name": "Mia"}})
    ]
    assert found.fixture("pets", tmp_path / "app").lines[0][0] == "fixtures/pets.jsonl:3"
    assert found.fixture("pets", tmp_path).lines[0][0] == "fixtures/pets.jsonl:3"
    for name in ("outside", "../pets", "/etc/passwd", "", "a/../pets"):
        with pytest.raises(ProcessError):
            found.fixture(name, agent)
    with pytest.raises(ProcessError) as raised:
        found.fixture("pet", agent)
    assert raised.value.message == (
        'There is no fixture "pet": no assistants/a/src/fixtures/pet.jsonl, nor in a folder above it. There are pets'
    )
