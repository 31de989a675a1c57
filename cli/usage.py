"""How the command speaks of its own use: the help pages' style, and mistakes in the options as one plain line.

Owns what Typer would else draw: boxes that cut words off on a narrow terminal, and another kind of error message than
all other errors have.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal, cast

import typer

from .console import error, say
from .exits import EXIT_CODES, ExitCode
from .output import give_up
from .plain_values import PlainGroup

_NARROW = shutil.get_terminal_size().columns < 72  # columns; below, the boxes' tables begin to cut words off

MARKUP: Literal["rich"] | None = None if _NARROW else "rich"
"""What help pages are made with: Rich's boxes, or plain text where those don't fit."""

# Plain help pages fill paragraphs, unless one begins with this mark; Rich's would print it.
EPILOG = EXIT_CODES.replace("\n\n", "\n\n\b\n") if _NARROW else EXIT_CODES

# Which package has it depends on Typer's version; all have what is derived from it.
_UsageError = cast(type[Exception], typer.BadParameter.__mro__[1])


class Commands(PlainGroup):
    """The commands; a mistake in their options is said as every other error is."""

    def make_context(self, *args: Any, **extra: Any) -> Any:
        """Read the options of the group."""
        with _plain_errors("unspool"):
            return super().make_context(*args, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Run a command, which reads its options first."""
        with _plain_errors(ctx.command_path, ctx):
            return super().invoke(ctx)


@contextmanager
def _plain_errors(path: str, ctx: Any = None) -> Iterator[None]:
    try:
        yield
    except _UsageError as problem:
        if type(problem).__name__ == "NoArgsIsHelpError":  # no mistake: the help page follows
            raise
        message = cast(Any, problem).format_message().replace(": Value error, ", ": ")  # Pydantic's words
        error(message[:1].lower() + message[1:].removesuffix("."))
        where = getattr(problem, "ctx", None)
        if where is not None:
            path = where.command_path
        elif ctx is not None and ctx.invoked_subcommand is not None:
            path += f" {ctx.invoked_subcommand}"
        say(f"unspool: see `{path} --help`")
        raise typer.Exit(ExitCode.USAGE) from None
    except SystemExit:  # how Rich ends where the reader of a help page went away
        raise typer.Exit(ExitCode.PIPE_CLOSED) from None
    except OSError as problem:
        if problem.filename is not None:  # of a file
            raise
        give_up(problem)  # of a help page or the version, which Typer writes
