"""An agent with scripted replies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scripted_agent import Agent


@pytest.fixture
def agent(tmp_path: Path) -> Any:
    """Makes an agent of the text of a file of replies."""
    return lambda replies: Agent(tmp_path, replies)
