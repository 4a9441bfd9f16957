"""What a module was compiled to is used again while nothing has changed on which it depends."""

from __future__ import annotations

import marshal
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from command import MakeApplication

from scripttest.compile.builds import Compiled, Source
from scripttest.compile.compiler import Compiler, Loaded
from scripttest.process import PollLoop
from scripttest.results import CompileError
from scripttest.shortcuts import PLAIN

TEST = 'import { price } from "./price";\nexport function TestPrice(t) {\n  t.assert.Equal(price(), 1);\n}\n'
PRICE = 'import { rate } from "../lib/rate";\nexport const price = () => rate;\n'
FILES = {
    "src/price_test.ts": TEST,
    "src/price.ts": PRICE,
    "lib/rate.ts": "export const rate = 1;\n",
    "lib/tsconfig.json": '{"compilerOptions": {"strict": true }}',
    "src/tsconfig.json": '{"extends":"../types/base.json"}',
    "types/base.json": '{"compilerOptions":{"types":[]}}',
}
Change = Callable[[Path], object]


def written(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def compiled(root: Path, kept: Path | None, meanwhile: Change = lambda _: None) -> tuple[Compiled | CompileError, bool]:
    """What the test module becomes, and whether that was known without the compiler."""
    source = Source(key="scripts.demo.price", test=root / "src/price_test.ts", script=root / "src/price.ts")
    loop, found = PollLoop(), list[Compiled | CompileError]()
    compiler = Compiler(root, loop, kept=None if kept is None else str(kept))
    compiler.add([source], lambda _, result: found.append(result))
    was_kept = bool(found)
    meanwhile(root)
    end = time.monotonic() + 60
    while not found and time.monotonic() < end:
        loop.wait(1)
    compiler.close()
    return found[0], was_kept


def same(one: Compiled | CompileError, other: Compiled | CompileError) -> bool:
    return str(one) == str(other) if isinstance(one, CompileError) else one == other


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "app"
    written(root, FILES)
    return root


def test_a_module_that_has_not_changed_is_not_compiled_again(root: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    first, was_kept = compiled(root, kept)
    again, is_kept = compiled(root, kept)
    assert (was_kept, is_kept) == (False, True)
    assert isinstance(first, Compiled) and again == first == compiled(root, None)[0]
    assert first.inputs and all(script.source_map for script in first.scripts)


def replace(name: str, old: str, new: str) -> Change:
    """A change of a text that keeps the times of its file, as some tools do."""

    def change(root: Path) -> None:
        path = root / name
        found = path.stat()
        path.write_text(path.read_text().replace(old, new))
        os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))

    return change


def link(name: str) -> Change:
    def change(root: Path) -> None:
        (root / "other").mkdir()
        (root / name).rename(root / "other/real.ts")
        (root / name).symlink_to(root / "other/real.ts")

    return change


CHANGES: dict[str, Change] = {
    "the test file": replace("src/price_test.ts", "price(), 1", "price(), 2"),
    "an imported file": replace("lib/rate.ts", "rate = 1", "rate = 2"),
    "an imported file is gone": lambda root: (root / "lib/rate.ts").unlink(),
    "a file that is meant before it": lambda root: written(root, {"lib/rate.tsx": "export const rate = 3;"}),
    "a file with just this name": lambda root: written(root, {"src/price": "no code"}),
    "a configuration beside it": lambda root: written(
        root, {"src/tsconfig.json": '{"compilerOptions":{"strict":true}}'}
    ),
    "a configuration above it": lambda root: written(root, {"tsconfig.json": '{"compilerOptions":{"strict":true}}'}),
    "a configuration that is extended": lambda root: written(
        root, {"types/base.json": '{"compilerOptions":{"alwaysStrict":true}}'}
    ),
    "a configuration that is extended is gone": lambda root: (root / "types/base.json").unlink(),
    "a package file": lambda root: written(root, {"lib/package.json": '{"sideEffects":false}'}),
    "a configuration whose time is kept": replace("lib/tsconfig.json", "true ", "false"),
    "an imported file is a link": link("src/price.ts"),
    "the module under test is gone": lambda root: shutil.rmtree(root / "lib"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_it_is_compiled_again_when_something_has_changed(root: Path, tmp_path: Path, change: Change) -> None:
    kept = tmp_path / "kept"
    assert isinstance(compiled(root, kept)[0], Compiled)
    assert compiled(root, kept)[1]
    change(root)
    result, was_kept = compiled(root, kept)
    assert not was_kept
    assert same(result, compiled(root, None)[0])


def test_a_configuration_that_changes_while_a_module_is_built_is_seen_by_the_next_run(
    root: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    compiled(root, kept, CHANGES["a configuration that is extended"])
    result, was_kept = compiled(root, kept)
    assert not was_kept
    assert same(result, compiled(root, None)[0])


DEPENDS_ON_MORE = {
    "a package": {
        "node_modules/rates/index.js": "exports.rate = 1;",
        "src/price.ts": PRICE.replace("../lib/rate", "rates"),
    },
    "a configuration that extends a package": {
        "node_modules/base/tsconfig.json": "{}",
        "tsconfig.json": '{"extends":"base"}',
    },
    "an index of a folder": {"lib/rate/index.ts": "export const rate = 1;", "lib/rate.ts": 'export * from "./rate/";'},
    "a text": {
        "lib/n.json": "1",
        "lib/rate.ts": 'import n from "./n.json" with { type: "json" };\nexport const rate = n;',
    },
    "a source map": {"lib/rate.ts": "export const rate = 1;\n//# sourceMappingURL=rate.ts.map"},
    "what is not exported": {"lib/rate.ts": "const rate = 1;"},
}


@pytest.mark.parametrize("files", DEPENDS_ON_MORE.values(), ids=DEPENDS_ON_MORE)
def test_what_depends_on_more_is_not_kept(root: Path, tmp_path: Path, files: dict[str, str]) -> None:
    written(root, files)
    first, _ = compiled(root, tmp_path / "kept")
    again, was_kept = compiled(root, tmp_path / "kept")
    assert not was_kept
    assert same(again, first)


DAMAGES = {
    "empty": b"",
    "text": b"no marshal data",
    "another value": marshal.dumps(1),
    "other values": marshal.dumps((1, 2, 3, 4, 5)),
    "cut": None,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_written_anew(root: Path, tmp_path: Path, damage: bytes | None) -> None:
    kept = tmp_path / "kept"
    first, _ = compiled(root, kept)
    (file,) = kept.iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    assert compiled(root, kept) == (first, False)
    assert compiled(root, kept) == (first, True)


def test_a_folder_that_cannot_be_written_holds_nothing_up(root: Path, tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("no folder")
    for _ in range(2):
        result, was_kept = compiled(root, tmp_path / "kept")
        assert isinstance(result, Compiled)
        assert not was_kept


def test_what_was_kept_a_month_ago_is_let_go_where_something_is_written(root: Path, tmp_path: Path) -> None:
    kept, gone = tmp_path / "caches/demo/compiled", tmp_path / "caches/gone/compiled"
    written(gone, {"old": "", "new": ""})
    gone.chmod(0o700)
    written(tmp_path / "caches", {"file": "", "gone/last-failed.json": ""})
    written(tmp_path / "mine", {"old": ""})
    (tmp_path / "caches/linked").mkdir()
    (tmp_path / "caches/linked/compiled").symlink_to(tmp_path / "mine")
    month_ago = time.time() - 31 * 24 * 3600
    for path in (gone / "old", gone.parent / "last-failed.json", tmp_path / "mine/old"):
        os.utime(path, (month_ago, month_ago))
    compiled(root, kept)
    assert sorted(path.name for path in gone.parent.rglob("*") if path.is_file()) == ["last-failed.json", "new"]
    assert (tmp_path / "mine/old").exists()
    assert compiled(root, kept)[1]


@pytest.mark.parametrize("is_link", [False, True], ids=["a folder for all", "a link"])
def test_code_that_others_can_have_put_there_is_not_used(root: Path, tmp_path: Path, is_link: bool) -> None:
    kept = tmp_path / "kept"
    first, _ = compiled(root, kept)
    (file,) = kept.iterdir()
    file.write_bytes(planted := file.read_bytes().replace(b"Equal", b"equal"))
    if is_link:
        kept.rename(tmp_path / "theirs")
        kept.symlink_to(tmp_path / "theirs")
    else:
        kept.chmod(0o777)
    assert compiled(root, kept) == (first, False)
    assert file.read_bytes() == planted


def test_code_that_is_changed_on_the_way_is_not_kept(root: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    compiler = Compiler(root, PollLoop(), instrument=lambda _, code: Loaded(code=code, loader="ts"), kept=str(kept))
    assert compiler.release() is None
    compiled(root, kept)
    found = list[object]()
    source = Source(key="scripts.demo.price", test=root / "src/price_test.ts", script=root / "src/price.ts")
    compiler.add([source], lambda _, result: found.append(result))
    compiler.close()
    assert not found


def test_runs_say_the_same_and_see_changes(app: MakeApplication) -> None:
    body = "export function TestPrice(t: testing.T) {\n  t.assert.Equal(price(), 1);\n}\n"
    application = app({"price_test.ts": f'import {{ price }} from "./price";\n{body}'})
    application.write({"price.ts": "export const price = () => 1;\n"})
    assert [application.run("-i", "scripts.demo.price").code for _ in range(2)] == [0, 0]
    application.write({"price.ts": "export const price = () => 2;\n"})
    failed, again = (application.run("-i", "scripts.demo.price") for _ in range(2))
    assert (failed.code, again.code) == (1, 1)
    assert "price_test.ts:3" in failed.stdout
    assert "price_test.ts:3" in again.stdout
    assert len([*next(application.home.rglob("compiled")).iterdir()]) == 1


@pytest.mark.parametrize("more", [{"CI": "1"}, {PLAIN: "compiled"}], ids=["CI", "plain"])
def test_where_nothing_may_be_kept_nothing_is(app: MakeApplication, more: dict[str, str]) -> None:
    application = app({"a_test.ts": "export function TestA(t: testing.T) {}\n"})
    assert application.fork("-i", "scripts.demo.a", env={**application.environment, **more}).code == 0
    assert not [*application.home.rglob("compiled")]
