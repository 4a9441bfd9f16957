"""Installs yao-test: the arguments for pip in PACKAGE, or by default the repository of this action."""

import subprocess
import sys
from pathlib import Path

from words import words_of

words = words_of("PACKAGE") or [str(Path(__file__).resolve().parents[3])]
sys.exit(subprocess.run([sys.executable, "-m", "pip", "install", "--disable-pip-version-check", *words]).returncode)
