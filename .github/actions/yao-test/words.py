"""Splits an input into words as a shell does."""

import os
import shlex
import sys


def words_of(variable: str) -> list[str]:
    text = os.environ.get(variable, "")
    try:
        return shlex.split(text)
    except ValueError as error:
        line = f"::error title=yao-test::Cannot read the input {variable.lower()}, {text}: {error}"
        print(line.replace("\n", " "))
        sys.exit(1)
