"""Colours: which channel has which, and whether there are any.

Text is painted piece by piece and written by the caller; no text of a model passes through Rich's markup, its
wrapping or its emoji.
"""

from __future__ import annotations

from typing import Literal

from rich.color import ColorSystem
from rich.console import Console
from rich.style import Style

from .visible import NEWLINE, pieces

ColourChoice = Literal["auto", "always", "never"]

REASONING = Style(color="magenta")
CONTENT = Style(color="green")
TOOL_CALL = Style(color="cyan")
NAME = Style(color="cyan", bold=True)
FAINT = Style(color="bright_black")
TITLE = Style(bold=True)
ESCAPE = Style(color="red")


class Painter:
    """Paints pieces of text.

    Args:
        choice: ``always`` and ``never`` mean what they say; ``auto`` paints on a terminal unless ``NO_COLOR`` is set or
            the terminal is dumb, and honours ``FORCE_COLOR``.
    """

    def __init__(self, choice: ColourChoice) -> None:
        if choice == "auto":
            console = Console()
            self._on = console.color_system is not None and not console.no_color
        else:
            self._on = choice == "always"

    def paint(self, text: str, style: Style) -> str:
        """``text`` in ``style``; the text must be harmless."""
        # The sixteen standard colours follow the theme of the reader's terminal, so no other system is asked for.
        return style.render(text, color_system=ColorSystem.STANDARD) if self._on and text else text

    def model_text(self, text: str, style: Style, *, one_line: bool = False) -> str:
        """Text of a model in ``style``, with what a terminal would act on escaped and set off."""
        return "".join(
            self.paint(piece, style if not escaped else FAINT if piece == NEWLINE else ESCAPE)
            for piece, escaped in pieces(text, one_line=one_line)
        )
