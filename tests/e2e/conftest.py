"""Fixtures for tests of the whole command."""

from __future__ import annotations

import pytest
from command import MakeApplication
from two_reports import Pairs, pairs_in


@pytest.fixture
def pair_of(app: MakeApplication) -> Pairs:
    """Makes pairs of reports, each in a folder of its own."""
    return pairs_in(app)
