"""Chunk mode for programs: one JSON record a delta. Also what every writer of deltas is."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat
from typing import Protocol

from unspool.parsers import ChatRunner, ChatStreamChunk, EngineOutput

from ..output import Output
from .json_bytes import encode_line
from .records import delta_record


class DeltaWriter(Protocol):
    """Writes the deltas of one input."""

    def delta(self, chunk: ChatStreamChunk) -> None:
        """Write one delta."""

    def end(self, runner: ChatRunner) -> None:
        """Write what follows the last delta."""


def write_records(output: Output, runner: ChatRunner, outputs: Iterable[EngineOutput], source: str | None) -> None:
    """Write JSON Lines; nothing follows the last record, which carries the finish reason.

    Args:
        output: where to.
        runner: a fresh one.
        outputs: the engine's chunks.
        source: the input's name, where there are several.
    """
    write = output.json
    for record in map(delta_record, runner.stream(outputs), repeat(source)):
        write(encode_line(record))
