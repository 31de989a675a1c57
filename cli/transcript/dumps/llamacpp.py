"""llama.cpp's own ``/completion``, streamed or not. Its OpenAI endpoints are read as those."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .fields import finish_reason, index, string, token_ids
from .logprobs import content_tokens
from .pieces import Object, Piece, Shape

_OLD_REASONS = {"stopped_eos": "stop", "stopped_word": "stop", "stopped_limit": "length"}


def _fits(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("content"), str)
        and (isinstance(value.get("stop"), bool) or "tokens_predicted" in value)
    )


def _read(value: Object) -> Iterator[Piece]:
    text = string(value, "content")
    ids = token_ids(value, "tokens")
    reason = None
    if value.get("stop") is True:
        kind = string(value, "stop_type")
        old = next((words for key, words in _OLD_REASONS.items() if value.get(key) is True), None)
        reason = finish_reason(kind if kind != "none" else None) or old or "stop"
    probabilities = value.get("completion_probabilities")
    yield Piece(
        text,
        None if text and not ids else ids,  # the list is empty where the server was not asked for ids
        probabilities or None,
        reason,
        index=index(value),
        tokens=content_tokens(probabilities),
    )


SHAPE = Shape("llamacpp", "llama.cpp /completion", "content beside stop or tokens_predicted", _fits, _read)
