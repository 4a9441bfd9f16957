"""`mutate --cluster`: the workers of a Dask cluster find the same as this machine."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from command import MakeApplication, on_terminal
from dask_cluster import DaskCluster

pytest.importorskip("distributed")

SOURCE = """export function fare(zones: number, child = false): number {
  if (zones < 1) throw new RangeError("no zone");
  // yao-test-ignore mutate: the cap is a courtesy
  const full = Math.min(zones * 3, 50);
  return child ? full / 2 : full;
}
"""
TEST = """import { fare } from "./fare";
export function TestFare(t: testing.T) {
  t.assert.Equal([fare(1), fare(2)], [3, 6]);
}
export function TestNoZone(t: testing.T) {
  t.assert.Panic(() => fare(0));
}
"""


def test_parts_on_workers_are_the_whole(app: MakeApplication, tmp_path: Path) -> None:
    made = app({"fare.ts": SOURCE, "fare_test.ts": TEST})
    here = json.loads(made.run("mutate", "--json").stdout)
    with DaskCluster(tmp_path) as cluster:
        there = made.run("mutate", "--json", "--cluster", cluster.address)
        assert there.code == 0, there.stderr
        assert json.loads(there.stdout) == here
        made.write({"wrong_test.ts": "export function TestWrong(t: testing.T) { t.assert.Equal(1, 2); }"})
        failed = made.run("mutate", "--cluster", cluster.address)
    assert failed.code == 1
    assert "1 test fails without any mutant\n  scripts.demo.wrong TestWrong: " in failed.stderr
    assert here["counts"]["ignored"] > 0


def test_a_second_run_on_a_cluster_asks_only_what_changed_also_since_a_commit(
    app: MakeApplication, tmp_path: Path
) -> None:
    other = {"bus.ts": SOURCE.replace("fare", "bus"), "bus_test.ts": TEST.replace("fare", "bus")}
    made = app({"fare.ts": SOURCE, "fare_test.ts": TEST, **other})
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"]):
        subprocess.run(["git", *words], cwd=made.root, check=True)
    with DaskCluster(tmp_path, workers=1) as cluster:

        def mutated(*more: str) -> str:
            code, shown = on_terminal(made, "mutate", "--cluster", cluster.address, "--store", ".yao-test", *more)
            assert code == 0, shown
            return shown

        first, second = mutated("--fresh"), mutated()
        assert re.search(r"\d+ of \d+ mutants, .* left", first), first
        asked = re.search(r"(\d+) killed, (\d+) survived", first)
        assert asked is not None, first
        assert f"{int(asked[1]) + int(asked[2])} of these verdicts come from an earlier run" in second
        made.write({"fare.ts": SOURCE.replace("full / 2", "full / 4")})
        half = (int(asked[1]) + int(asked[2])) // 2
        assert f"\n{half} of these verdicts come from" in mutated().replace("\r", "")
        since = mutated("--since", "HEAD")
        assert "fare.ts:5" in since and "bus" not in since and "fare.ts:2" not in since
