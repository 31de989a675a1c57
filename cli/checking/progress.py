"""How far a check is, on stderr, for a person who waits at a terminal. Nobody else sees it."""

from __future__ import annotations

import sys
import time
from contextlib import suppress

from ..render.visible import escape_line

_QUIET_FOR = 1.0  # seconds: what is quicker needs no progress
_EVERY = 0.1


class Progress:
    """One line that is written over again, and gone in the end.

    Args:
        name: what is being checked.
    """

    def __init__(self, name: str) -> None:
        self._name = escape_line(name)
        self._on = sys.stderr is not None and sys.stderr.isatty()
        self._next = time.monotonic() + _QUIET_FOR
        self._shown = False

    def show(self, done: int, total: int) -> None:
        """Say how far it is, now and then."""
        if not self._on or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _EVERY
        self._shown = True
        self._write(f"\r\x1b[K{self._name}: {done:,} of {total:,} cuts")

    def end(self) -> None:
        """Take the line away."""
        if self._shown:
            self._shown = False
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        with suppress(OSError):
            sys.stderr.write(text)
            sys.stderr.flush()
