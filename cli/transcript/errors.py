"""The ways in which reading can fail: as a whole, which is an exception, or in one line of many, which is a value."""

from __future__ import annotations

from dataclasses import dataclass


class TranscriptError(ValueError):
    """An input can't be read; the message says what happened, where, and what to try."""


class TokenizerError(ValueError):
    """A tokenizer can't be loaded; the message says what happened and what to try."""


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that could not be read, or one in which a server reports an error; the lines around it still count.

    Attributes:
        line_number: from one.
        reason: what is wrong, for a person.
    """

    line_number: int
    reason: str
