"""Large case files for benchmarks.

python tests/bench/cases.py 100000 big.jsonl      writes it, and says how long the first pass over it takes
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path


def write_cases(path: Path, count: int) -> None:
    """Writes cases of one line and one assertion each."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            check = {"type": "contains", "value": "limit"}
            record = {"id": f"case-{number:06d}", "input": f"What is the limit of trip {number}?", "assert": [check]}
            file.write(json.dumps(record) + "\n")


def main(count: int, path: Path) -> None:
    from runner.cases.reader import CaseFile

    write_cases(path, count)
    begin = time.process_time()
    file = CaseFile.check(path)
    print(f"{file.total} cases of {path} checked in {time.process_time() - begin:.2f} s of CPU time")


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
