"""Assembles the command: the version and the commands, nothing else."""

from __future__ import annotations

from typing import Annotated

import typer

from unspool import __version__

from .commands import bench, check, grammar, parsers, replay
from .plain_values import PlainCommand
from .usage import EPILOG, MARKUP, Commands

app = typer.Typer(
    name="unspool",
    cls=Commands,
    rich_markup_mode=MARKUP,
    help="Replay raw language-model output through an incremental parser: reasoning, content and tool calls.",
    epilog=EPILOG,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command("replay", cls=PlainCommand, epilog=EPILOG)(replay.replay)
app.command("check", cls=PlainCommand, epilog=EPILOG)(check.check)
app.command("bench", cls=PlainCommand, epilog=EPILOG)(bench.bench)
app.command("grammar", cls=PlainCommand, epilog=EPILOG)(grammar.grammar)
app.add_typer(parsers.app, name="parsers")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"unspool {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Replay raw language-model output through an incremental parser: reasoning, content and tool calls."""
