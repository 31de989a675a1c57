"""The two ways in which reading can fail as a whole; one bad line of many is no error (see ``jsonl.BadLine``)."""

from __future__ import annotations


class TranscriptError(ValueError):
    """An input can't be read; the message says what happened, where, and what to try."""


class TokenizerError(ValueError):
    """A tokenizer can't be loaded; the message says what happened and what to try."""
