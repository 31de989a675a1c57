"""``/generate`` of SGLang and of LMDeploy: the same keys, but all so far in the one and what is new in the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .fields import finish_reason, index, mapping, request_id, string, token_ids
from .logprobs import row_ids, row_tokens
from .pieces import Growth, Object, Piece, Shape


def _fits(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("meta_info"), dict)
        and ("text" in value or "output_ids" in value)
    )


def _fits_lmdeploy(value: Any) -> bool:
    return _fits(value) and "id" not in value["meta_info"] and "input_token_logprobs" in value["meta_info"]


def _read(value: Object) -> Iterator[Piece]:
    meta = mapping(value, "meta_info")
    rows = meta.get("output_token_logprobs")
    top = meta.get("output_top_logprobs")
    ids = token_ids(value, "output_ids")
    total = meta.get("completion_tokens")
    numbered = value.get("index") is not None
    yield Piece(
        string(value, "text"),
        row_ids(rows) if ids is None and rows else ids,
        {"output_token_logprobs": rows, "output_top_logprobs": top} if top else rows,
        finish_reason(meta.get("finish_reason")),
        None if numbered else request_id(meta, "id"),
        index(value),
        token_ids(value, "prompt_token_ids"),
        row_tokens(rows),
        total=total if type(total) is int else None,
    )


SGLANG = Shape(
    "sglang-generate", "SGLang /generate", "text or output_ids beside meta_info", _fits, _read, Growth.BY_COUNT
)
LMDEPLOY = Shape(
    "lmdeploy-generate",
    "LMDeploy /generate",
    "text or output_ids beside a meta_info without id",
    _fits_lmdeploy,
    _read,
    family=_fits,
)
