"""The versions of the distribution, which `pyproject.toml` reads here, and of the documents of `--json`."""

VERSION = "0.1.0"
FORMAT = 1
"""Changes when a field is removed from these documents or gets another meaning."""
