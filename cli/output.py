"""Standard output, as bytes: never wrapped, and quiet where the reader of a pipe went away.

Owns how bytes leave the process and knows nothing of what they say.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from typing import NoReturn

import typer

from .exits import ExitCode, fail
from .render.visible import escape_json


class Output:
    """Standard output, as bytes. Nothing leaves before :meth:`flush`, and then it all does at once.

    Text is encoded here with what the terminal can't take escaped: a transcript with a lone surrogate must not stop
    the command. Where the reader of a pipe has gone away there is nobody to tell, so the command ends silently.

    Attributes:
        is_terminal: whether a person reads it.
        data: writes bytes as they are.
        json: writes JSON. On a terminal what it would act on is escaped, which changes nothing for a reader of JSON.
    """

    def __init__(self) -> None:
        if sys.stdout is None:  # closed by whoever started the command
            fail("standard output is closed")
        self._buffer = sys.stdout.buffer
        self._pending = io.BytesIO()  # no list: what is copied can be freed, and the next record gets its memory
        self.data: Callable[[bytes], object] = self._pending.write
        self._encoding = sys.stdout.encoding or "utf-8"
        self.is_terminal = sys.stdout.isatty()
        self.json: Callable[[bytes], object] = self._harmless_json if self.is_terminal else self.data

    def text(self, text: str) -> None:
        """Write text for a person, in the terminal's encoding."""
        self.data(text.encode(self._encoding, "backslashreplace"))

    def flush(self) -> None:
        """Hand everything written so far to the reader."""
        data = self._pending.getvalue()
        self._pending.seek(0)
        self._pending.truncate()
        try:
            self._buffer.write(data)
            self._buffer.flush()
        except OSError as problem:
            give_up(problem)

    def _harmless_json(self, data: bytes) -> None:
        self.data(escape_json(data.decode()).encode())


def give_up(problem: OSError) -> NoReturn:
    """End the command: standard output can't be written."""
    # What is still buffered would raise again when the interpreter closes stdout: send it nowhere.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(problem, BrokenPipeError):
        raise typer.Exit(ExitCode.PIPE_CLOSED)
    fail(f"the output can't be written: {problem.strerror or problem}")
