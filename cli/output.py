"""Standard output, as bytes: never wrapped, and quiet where the reader of a pipe went away.

Owns how bytes leave the process and knows nothing of what they say.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn

import typer

from .exits import ExitCode, fail
from .render.visible import escape_json


class Output:
    """Standard output, as bytes. Nothing leaves before :meth:`flush`, and then it all does at once.

    Text is encoded here with what the terminal can't take escaped: a transcript with a lone surrogate must not stop
    the command. Where the reader of a pipe has gone away there is nobody to tell, so the command ends silently.
    """

    def __init__(self) -> None:
        if sys.stdout is None:  # closed by whoever started the command
            fail("standard output is closed")
        self._buffer = sys.stdout.buffer
        self._parts: list[bytes] = []
        self._encoding = sys.stdout.encoding or "utf-8"
        self.is_terminal = sys.stdout.isatty()

    def data(self, data: bytes) -> None:
        """Write bytes as they are."""
        self._parts.append(data)

    def json(self, data: bytes) -> None:
        """Write JSON. On a terminal what it would act on is escaped, which changes nothing for a reader of JSON."""
        self.data(escape_json(data.decode()).encode() if self.is_terminal else data)

    def text(self, text: str) -> None:
        """Write text for a person, in the terminal's encoding."""
        self.data(text.encode(self._encoding, "backslashreplace"))

    def flush(self) -> None:
        """Hand everything written so far to the reader."""
        data = b"".join(self._parts)
        self._parts.clear()
        try:
            self._buffer.write(data)
            self._buffer.flush()
        except OSError as problem:
            self._give_up(problem)

    def _give_up(self, problem: OSError) -> NoReturn:
        # What is still buffered would raise again when the interpreter closes stdout: send it nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(problem, BrokenPipeError):
            raise typer.Exit(ExitCode.PIPE_CLOSED)
        fail(f"the output can't be written: {problem.strerror or problem}")
