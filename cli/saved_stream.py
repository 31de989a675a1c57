"""``--save-stream``: the chunks that were replayed, as a token stream in our own normal form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NoReturn

from .exits import fail
from .render.json_bytes import encode_line

if TYPE_CHECKING:
    from unspool.parsers import EngineOutput

    from .transcript import Response


class SavedStream:
    """A file of records.

    Args:
        path: where to; it is written anew.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file: BinaryIO = path.open("wb")
        except (OSError, ValueError) as problem:
            self._give_up(problem)

    def keep(self, response: Response, outputs: Iterable[EngineOutput]) -> Iterator[EngineOutput]:
        """Pass chunks on, and write each."""
        from .transcript import to_record

        prompt: list[int] | None = response.prompt_token_ids
        for output in outputs:
            self._write(encode_line(to_record(output, response.label, prompt)))
            prompt = None
            yield output

    def close(self) -> None:
        """Write what is still in memory."""
        try:
            self._file.close()
        except OSError as problem:
            self._give_up(problem)

    def _write(self, data: bytes) -> None:
        try:
            self._file.write(data)
        except OSError as problem:
            self._give_up(problem)

    def _give_up(self, problem: OSError | ValueError) -> NoReturn:
        fail(f"--save-stream {self._path} can't be written: {getattr(problem, 'strerror', None) or problem}")
