"""How surely and how soon `--fuzz` finds planted faults: a boundary, a missing key, a magic constant, each with ten seeds.

    .venv/bin/python tests/bench/fuzzing.py [SECONDS]

Prints for each fault how many of ten searches of so many seconds, 10 by default, have found it, and the median and the
longest time until then. Exit code 1 when one was found by fewer than nine.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

SEEDS = range(1, 11)
FOUND = re.compile(r"found after (\d+) inputs? \(([\d.]+)s\)")
HANDLER = """\
export function Shelf(place: number): number {
  if (place === 4096) throw new Error("a boundary");
  return place;
}
export function Ship(order: any): string {
  return `${order.customer.address.city}, ${order.items.length}`;
}
export function Run(command: string): number {
  if (command.startsWith("reset-all")) throw new Error("a magic constant");
  return command.length;
}
export function Page(size: number, total: number): number {
  return Array.from({ length: total > 100_000 ? -1 : 1 }).length / (size > 1000 ? 0 : 1);
}
"""
FAULTS = {
    "boundary": "f.add(1); f.fuzz((t, place) => { Shelf(place); });",
    "missing key": "f.add({ customer: { name: 'Ann', address: { city: 'Oslo' } }, items: [1] }); f.fuzz((t, order) => { Ship(order); });",
    "magic constant": "f.add('list'); f.fuzz((t, command) => { Run(command); });",
    "range": "f.add(10, 50); f.fuzz((t, size, total) => { t.assert.True(Number.isFinite(Page(size, total))); });",
}


def search(root: Path, function: str, seed: int, seconds: int) -> tuple[int, float] | None:
    """After how many inputs and seconds a search has found something; None: it has not."""
    words = ["-i", "scripts.shop.handler", "--fuzz", f"^{function}$", "--fuzz-time", f"{seconds}s", "--seed", str(seed)]
    run = subprocess.run(
        [sys.executable, "-m", "runner", *words], cwd=root, capture_output=True, text=True, check=False
    )
    match = FOUND.search(run.stdout)
    return (int(match[1]), float(match[2])) if match else None


def main() -> int:
    """Prints the table."""
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    worst = len(SEEDS)
    print(f"{'fault':<16}  found  inputs  median    most")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        source = root / "assistants/shop/src"
        source.mkdir(parents=True)
        (root / "assistants/shop/package.yao").write_text("{}")
        (source / "handler.ts").write_text(HANDLER)
        for fault, body in FAULTS.items():
            function = "Fuzz" + fault.title().replace(" ", "")
            test = (
                f'import {{ Page, Run, Shelf, Ship }} from "./handler";\nexport function {function}(f) {{ {body} }}\n'
            )
            (source / "handler_test.ts").write_text(test)
            found = []
            for seed in SEEDS:
                for kept in source.glob("testdata/fuzz/*/*"):
                    kept.unlink()
                if one := search(root, function, seed, seconds):
                    found.append(one)
            worst = min(worst, len(found))
            inputs = statistics.median(count for count, _ in found) if found else 0
            times = [time for _, time in found] or [0.0]
            figures = f"{inputs:6.0f}  {statistics.median(times):5.2f}s  {max(times):5.2f}s"
            print(f"{fault:<16}  {len(found):>2}/{len(SEEDS)}  {figures}", flush=True)
    return int(worst < len(SEEDS) - 1)


if __name__ == "__main__":
    sys.exit(main())
