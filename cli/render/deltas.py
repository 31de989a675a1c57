"""Chunk mode for programs: one JSON record a delta. Also what every writer of deltas is."""

from __future__ import annotations

from typing import Protocol

from unspool.parsers import ChatRunner, ChatStreamChunk

from ..output import Output
from .json_bytes import encode_line
from .records import delta_record


class DeltaWriter(Protocol):
    """Writes the deltas of one input."""

    def delta(self, chunk: ChatStreamChunk) -> None:
        """Write one delta."""

    def end(self, runner: ChatRunner) -> None:
        """Write what follows the last delta."""


class DeltaRecords:
    """JSON Lines.

    Args:
        output: where to.
        source: the input's name, where there are several.
    """

    def __init__(self, output: Output, source: str | None) -> None:
        self._write = output.json
        self._source = source

    def delta(self, chunk: ChatStreamChunk) -> None:
        """Write one record."""
        self._write(encode_line(delta_record(chunk, self._source)))

    def end(self, runner: ChatRunner) -> None:
        """Nothing follows: the last record carries the finish reason."""
