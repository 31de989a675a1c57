"""What a response says about itself beside its text, in words."""

from __future__ import annotations

from unspool.parsers import Usage

from .visible import escape_line


def transport(finish_reason: str | None, usage: Usage) -> list[str]:
    """Phrases for the finish reason and the token counts, as far as the input has them."""
    phrases = []
    if finish_reason is not None:
        phrases.append(f"finish reason {escape_line(finish_reason)}")
    if usage.completion_tokens is not None:
        phrases.append(count(usage.completion_tokens, "token"))
    if usage.reasoning_tokens is not None:
        phrases.append(f"{usage.reasoning_tokens:,} of them reasoning")
    return phrases


def count(number: int, noun: str) -> str:
    """``3 chunks``, ``1 chunk``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
