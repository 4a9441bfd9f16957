"""What of an application is sent to workers."""

from __future__ import annotations

from pathlib import Path

from runner.cluster.preflight import content_of


def test_linked_agents_are_sent_by_the_names_of_their_links(tmp_path: Path) -> None:
    for name in ("assistants/demo/package.yao", "real/one/package.yao", "real/one/src/a_test.ts", "real/one/.env"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}")
    for link, target in (("linked", "../real/one"), ("copy", "demo"), ("loop", ".."), ("outer", "/usr")):
        (tmp_path / "assistants" / link).symlink_to(target)
    names = content_of(tmp_path, (), str).names
    assert sorted(names) == [
        "assistants/demo/package.yao",
        "assistants/linked/package.yao",
        "assistants/linked/src/a_test.ts",
        "real/one/package.yao",
        "real/one/src/a_test.ts",
    ]
