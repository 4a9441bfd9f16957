"""An application that is watched on a real terminal."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from command import Application, MakeApplication
from terminal import Terminal, on_open_terminal
from watching import FILES, WAITING


@pytest.fixture
def here(app: MakeApplication) -> Application:
    return app(FILES)


@pytest.fixture
def watched(here: Application) -> Iterator[Terminal]:
    with on_open_terminal(here, "--watch") as terminal:
        terminal.wait(WAITING)
        yield terminal
