"""Options that several commands share, so that they read the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

PARSERS_PANEL = "Parsers"
"""The part of a help page that these options stand in."""

Tokenizer = Annotated[
    Path | None,
    typer.Option(
        "--tokenizer",
        metavar="DIR",
        rich_help_panel=PARSERS_PANEL,
        help="Folder of a tokenizer; loaded from disk only, never downloaded.",
    ),
]
Plugin = Annotated[
    list[Path] | None,
    typer.Option(
        "--plugin",
        metavar="FILE.py",
        rich_help_panel=PARSERS_PANEL,
        help="Python file that registers more parsers. Repeatable.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]

STDIN = Path("-")
"""The file name that means standard input."""


def spoken_name(path: Path) -> str:
    """What messages call an input."""
    return "<stdin>" if path == STDIN else str(path)
