"""Exit codes, which are an interface, and the one way to stop with an error."""

from __future__ import annotations

from enum import IntEnum, unique
from typing import NoReturn

import typer

from .console import error


@unique
class ExitCode(IntEnum):
    """What the command tells the shell; documented in ``--help`` and the README."""

    OK = 0
    FOUND = 1
    USAGE = 2
    INTERRUPTED = 130  # raised by Typer
    PIPE_CLOSED = 141  # the reader of our output went away, as `| head` does; what a shell reports for SIGPIPE


EXIT_CODES = """\
Exit codes

0  fine
1  the check found something, or --strict met a diagnostic
2  wrong options, or an input that can't be read; the other inputs are still processed
130  interrupted
141  the reader of the output went away, as in `| head`
"""


def fail(message: str) -> NoReturn:
    """Say what is wrong with the options or an input, and stop."""
    error(message)
    raise typer.Exit(ExitCode.USAGE)
