"""The ``unspool`` command: files and options in, ``unspool.parsers`` in the middle, text out.

Importing it costs one ``import typer``: whatever is slower is imported inside the command that needs it.
"""

from .app import app

__all__ = ["app"]
