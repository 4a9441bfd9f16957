"""`mutate --cluster`: the workers of a Dask cluster find the same as this machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import MakeApplication
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
    assert "1 test fails before anything is planted\n  scripts.demo.wrong TestWrong: " in failed.stderr
    assert here["counts"]["ignored"] > 0
