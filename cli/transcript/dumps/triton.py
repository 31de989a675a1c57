"""Triton's ``generate_stream`` and ``generate`` with the TensorRT-LLM backend; it tells no finish reason."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .fields import string, token_ids
from .pieces import Growth, Object, Piece, Shape


def _fits(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("text_output"), str)


def _read(value: Object) -> Iterator[Piece]:
    yield Piece(string(value, "text_output"), token_ids(value, "output_ids"), value.get("output_log_probs"))


SHAPE = Shape("triton", "Triton generate_stream", "text_output", _fits, _read, Growth.BY_TEXT)
