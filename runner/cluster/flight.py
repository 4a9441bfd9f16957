"""A piece that is on a worker."""

from __future__ import annotations

from typing import Any

from runner.cluster.connection import Station
from runner.cluster.frames import FrameBuffer
from runner.cluster.pieces import Piece
from runner.results.test_place import TestPlace


class Flight:
    """A piece that a worker runs, as the command knows it."""

    def __init__(self, piece: Piece, station: Station) -> None:
        self.piece, self.station = piece, station
        self.future: Any = None
        self.buffer = FrameBuffer()
        self.number = 0
        """The number of the next message."""
        self.begun: float | None = None
        """When its first message came."""
        self.stopped_at: float | None = None
        """The time in seconds that the worker was last told it still has."""
        self.under_way: dict[TestPlace, str] = {}
        self.kept = self.told = 0
        """Up to which number the answers of models are kept, and up to which it was told so."""
        self.ended_at: float | None = None
        """When Dask said that it has ended."""
