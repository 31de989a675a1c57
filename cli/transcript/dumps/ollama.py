"""Ollama: ``/api/generate`` with ``raw``, and ``/api/chat`` as far as its content is the model's text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .fields import finish_reason, mapping, string
from .logprobs import content_tokens
from .pieces import Object, Piece, Shape


def _fits(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("response"), str):
        return "done" in value or "created_at" in value
    return isinstance(value.get("message"), dict) and "created_at" in value


def _read(value: Object) -> Iterator[Piece]:
    message = mapping(value, "message") if "message" in value else value
    reason = None
    if value.get("done") is True:
        reason = finish_reason(value.get("done_reason")) or "stop"
    yield Piece(
        string(message, "content" if "message" in value else "response"),
        logprobs=value.get("logprobs") or None,
        finish_reason=reason,
        tokens=content_tokens(value.get("logprobs")),
        parsed=tuple(key for key in ("thinking", "tool_calls") if message.get(key)),
    )


SHAPE = Shape("ollama", "Ollama /api/generate or /api/chat", "response or message beside done", _fits, _read)
