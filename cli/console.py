"""The voice of the command on stderr. Data is never written here, and words never on stdout."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from .render.visible import escape_line


def say(line: str) -> None:
    """One line on stderr, harmless whatever is in it."""
    with suppress(
        OSError, AttributeError
    ):  # stderr is closed, or nobody listens (`2>&1 | head`): the exit code still says it
        sys.stderr.write(escape_line(line) + "\n")
        sys.stderr.flush()


def error(message: str) -> None:
    """Say that something went wrong."""
    say(f"unspool: error: {message}")


def warn(message: str) -> None:
    """Say that something may be other than meant."""
    say(f"unspool: warning: {message}")


def note(message: str) -> None:
    """Say what was found out, to those who asked for it."""
    say(f"unspool: {message}")


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Show Python warnings as one plain line each, the same one only once."""

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        warn(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("once", UserWarning)
        warnings.showwarning = show
        yield
