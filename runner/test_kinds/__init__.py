"""Kinds of script tests with inputs or runs of their own: fuzz tests, `--fuzz`, and benchmarks, `--bench`."""
