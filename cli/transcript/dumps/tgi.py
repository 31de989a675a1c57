"""Text Generation Inference: ``/generate_stream``, one token an object, and the body of ``/generate``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .fields import checked_ids, finish_reason, mapping, objects, string
from .pieces import Object, Piece, Shape, Token


def _fits(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    token = value.get("token")
    return "generated_text" in value or (isinstance(token, dict) and "text" in token and "special" in token)


def _read(value: Object) -> Iterator[Piece]:
    details = mapping(value, "details")
    prompt = [token["id"] for token in objects(details, "prefill") if type(token.get("id")) is int]
    piece = Piece(finish_reason=finish_reason(details.get("finish_reason")), prompt_token_ids=prompt or None)
    if "token" in value:
        token = mapping(value, "token")
        piece.text = string(token, "text")
        piece.token_ids = _ids([token])
        piece.logprobs = [token["logprob"]] if token.get("logprob") is not None else None
    else:
        tokens = objects(details, "tokens")
        piece.text = string(value, "generated_text")
        piece.finish_reason = piece.finish_reason or "stop"  # without details nothing tells
        if tokens:
            piece.token_ids = _ids(tokens)
            piece.logprobs = [token.get("logprob") for token in tokens]
            # The text lacks special tokens, the list of tokens has them.
            piece.tokens = [
                Token((string(token, "text") or "").encode("utf-8", "replace"), token.get("id"), [token.get("logprob")])
                for token in tokens
            ]
            piece.tokens_are_text = all("\ufffd" not in (string(token, "text") or "") for token in tokens)
    yield piece


def _ids(tokens: list[Object]) -> list[int] | None:
    ids = [token["id"] for token in tokens if token.get("id") is not None]
    return checked_ids(ids, "token.id") if ids else None


SHAPE = Shape(
    "tgi", "Text Generation Inference /generate_stream", "token.text and token.special, or generated_text", _fits, _read
)
