"""Compares the verdicts of two reports of mutants, by place, mutator and replacement: what both have, and where they
differ.

    python tests/bench/mutation/verdicts.py mutants.json stryker.json
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path

NOTICED = {"Killed", "Timeout"}
Key = tuple[str, str, int, int, int, int, str]


def verdicts(path: str) -> dict[Key, str]:
    """Place, mutator and replacement → the status; files by their last name, replacements without blanks, brackets and
    semicolons, which StrykerJS prints in a way of its own, but for those of regular expressions."""
    found: dict[Key, str] = {}
    for file, record in json.loads(Path(path).read_bytes())["files"].items():
        for mutant in record["mutants"]:
            start, end = mutant["location"]["start"], mutant["location"]["end"]
            text = mutant["replacement"]
            if mutant["mutatorName"] != "Regex":
                text = re.sub(r"[\s;,()]", "", text).replace("'", '"')
            place = (start["line"], start["column"], end["line"], end["column"])
            found[(Path(file).name, mutant["mutatorName"], *place, text)] = mutant["status"]
    return found


def main() -> None:
    """Prints the differences and the counts."""
    ours, theirs = map(verdicts, sys.argv[1:3])
    left_out = {key for key, status in ours.items() if status == "Ignored"}
    both = (ours.keys() & theirs.keys()) - left_out
    differ = [key for key in sorted(both) if (ours[key] in NOTICED) != (theirs[key] in NOTICED)]
    for key in differ:
        print(*key, f"{ours[key]} here, {theirs[key]} there", sep="  ")
    print(f"{len(ours)} here, {len(theirs)} there, {len(both)} in both, {len(differ)} with another verdict")
    print(f"{len(left_out)} left out here, because types do not allow them")
    print("only there:", dict(Counter(key[1] for key in theirs.keys() - ours.keys())))
    pairs = Counter((ours[key], theirs[key]) for key in both)
    print("here, there:", {f"{a}, {b}": number for (a, b), number in sorted(pairs.items())})


if __name__ == "__main__":
    main()
