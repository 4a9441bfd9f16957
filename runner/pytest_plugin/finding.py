"""Which files have script tests, and which tests of a file pytest finds."""

MODULES = (".ts", ".js")
"""The suffixes of test modules."""
HOW_FOUND = "pytest finds tests by their text, such as `export function TestX`; yao-test finds all"
