"""The messages that `--watch` waits for before it runs tests."""

from __future__ import annotations

from runner.watch.changes import Inbox, Pressed, SavedFile


def test_many_files_that_are_saved_together_are_one_change() -> None:
    inbox, paths = Inbox(), [f"/nowhere/{number}.ts" for number in range(20_000)]
    inbox.put(SavedFile(path=path) for path in paths)
    assert inbox.gathered(set()) == (set(paths), [])


def test_keys_among_changes_are_kept() -> None:
    inbox = Inbox()
    inbox.put([SavedFile(path="/nowhere/a.ts"), Pressed(key="h"), SavedFile(path="/nowhere/b.ts")])
    assert inbox.gathered(set()) == ({"/nowhere/a.ts", "/nowhere/b.ts"}, [Pressed(key="h")])
