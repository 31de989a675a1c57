"""Loads the tokenizer that ``--tokenizer`` names. The only way in which a command comes to import tokenizers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .exits import fail

if TYPE_CHECKING:
    from unspool.parsers import TextTokenizer


def load(folder: Path) -> TextTokenizer:
    """Load a tokenizer, or say what is wrong with the folder and end the command."""
    from .transcript import TokenizerError, load_tokenizer

    try:
        return load_tokenizer(folder)
    except TokenizerError as problem:
        fail(str(problem))
