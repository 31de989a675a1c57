"""Bytes from a file or from standard input, as they arrive.

Owns reading without waiting for more than is there, and looking ahead without losing what was seen. It knows neither
encodings nor formats.
"""

from __future__ import annotations

import io
import os
import stat
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from .errors import TranscriptError

BLOCK_SIZE = 1 << 16
_TOGETHER = 127  # lines that are handed on at once: more don't stay in the processor's cache, and are slower


class ByteSource:
    """A binary stream that can be looked into before it is read.

    Args:
        stream: where the bytes come from.
        name: what messages call it.
    """

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self.name = name
        # read1 returns what one system call gives: a pipe's bytes are seen when they come, not when a block is full.
        self._read: Callable[[int], bytes] = getattr(stream, "read1", stream.read)
        self._ahead = b""
        self._lines: deque[bytes] = deque()  # whole lines that have arrived and are still to come out of `lines`
        self._is_file = _is_file(stream)

    @property
    def line_ready(self) -> bool:
        """Whether the next line is there without waiting for whoever writes the input."""
        return bool(self._lines) or self._is_file

    def arrived_lines(self) -> list[bytes]:
        """Take some of the lines that have arrived with the last one of :meth:`lines`, which then skips them."""
        take = self._lines.popleft
        return [take() for _ in range(min(len(self._lines), _TOGETHER))]

    def peek(self) -> bytes:
        """What was read ahead so far; it is still to come out of :meth:`blocks`."""
        return self._ahead

    def read_ahead(self) -> bool:
        """Read one more block into :meth:`peek`.

        Returns:
            Whether there was one; ``False`` at the end of the stream.

        Raises:
            TranscriptError: the stream can't be read.
        """
        block = self._next_block()
        self._ahead += block
        return bool(block)

    def blocks(self) -> Iterator[bytes]:
        """Yield the bytes in blocks of whatever size they arrive in, none of them empty.

        Raises:
            TranscriptError: the stream can't be read.
        """
        block, self._ahead = self._ahead, b""
        if block:
            yield block
        while block := self._next_block():
            yield block

    def lines(self, *, carriage_returns: bool = False) -> Iterator[bytes]:
        r"""Yield lines without their ends, each as soon as it is complete; the last one may lack its end.

        Only ``\n`` ends a line: the other characters that Unicode calls line ends may stand inside JSON strings.

        Args:
            carriage_returns: ``\r\n`` and a lone ``\r`` end a line as well, as in server-sent events.

        Raises:
            TranscriptError: the stream can't be read.
        """
        parts: list[bytes] = []
        after_return = False
        for block in self.blocks():
            if carriage_returns:
                if after_return and block.startswith(b"\n"):
                    block = block[1:]
                after_return = block.endswith(b"\r")
                if b"\r" in block:
                    block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            *whole, rest = block.split(b"\n")
            if whole:
                whole[0] = b"".join([*parts, whole[0]])
                parts.clear()
                self._lines.extend(whole)
                while self._lines:
                    yield self._lines.popleft()
            if rest:
                parts.append(rest)
        self._is_file = False
        if parts:
            yield b"".join(parts)

    def _next_block(self) -> bytes:
        try:
            return self._read(BLOCK_SIZE)
        except OSError as error:
            raise TranscriptError(f"cannot read {self.name}: {error.strerror or error}") from error


@contextmanager
def open_source(path: str | Path) -> Iterator[ByteSource]:
    """Open a file, or standard input for ``-``, which is left open afterwards.

    Raises:
        TranscriptError: there is no such file, it is a folder, or it may not be read.
    """
    if str(path) == "-":
        if sys.stdin is None:
            raise TranscriptError("cannot read standard input: it is closed; name a file")
        yield ByteSource(sys.stdin.buffer, "<stdin>")
        return
    try:
        # Unbuffered, so that a named pipe is read as it arrives as well.
        stream = Path(path).open("rb", buffering=0)  # noqa: SIM115 - closed below; only opening it may fail here
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise TranscriptError(f"cannot read {path}: {reason}") from error
    with stream:
        yield ByteSource(stream, str(path))


def is_live(path: str | Path) -> bool:
    """Whether an input may still be written while it is read, as a pipe is: all but a regular file.

    Args:
        path: a file, or ``-`` for standard input.
    """
    if str(path) == "-":
        return sys.stdin is None or not _is_file(sys.stdin.buffer)
    try:
        return not stat.S_ISREG(Path(path).stat().st_mode)
    except (OSError, ValueError):
        return True


def _is_file(stream: BinaryIO) -> bool:
    try:
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError, AttributeError, io.UnsupportedOperation):
        return False  # a stream in memory
