"""Log probabilities in the shape of a chat completion's ``choices[].logprobs.content``.

Owns telling OpenAI's shapes from those of the engines. What has another shape has no place in that API and is left out.
"""

from __future__ import annotations

import math
from typing import Any

_LEAST = -9999.0
"""What stands for an infinite or undefined value, which JSON can't hold; OpenAI's own word for "as good as never"."""


def chat_logprobs(recorded: Any) -> list[dict[str, Any]] | None:
    """Return one entry a token, or ``None`` where ``recorded`` has none of OpenAI's shapes.

    Args:
        recorded: what the engine wrote for the tokens of one chunk. Read are Chat Completions
            (``{"content": [{"token", "logprob", "bytes", "top_logprobs"}]}``, also the bare list) and legacy
            Completions (``{"tokens", "token_logprobs", "top_logprobs"}``).
    """
    if isinstance(recorded, dict):
        if "token_logprobs" in recorded:
            return _from_legacy(recorded)
        recorded = recorded.get("content")
    if not isinstance(recorded, list) or not recorded:
        return None
    entries = []
    for item in recorded:
        entry = _entry(item)
        if entry is None:
            return None
        alternatives = item.get("top_logprobs") or []
        top = [_entry(alternative) for alternative in alternatives] if isinstance(alternatives, list) else []
        entries.append(entry | {"top_logprobs": [alternative for alternative in top if alternative is not None]})
    return entries


def _entry(item: Any) -> dict[str, Any] | None:
    if not isinstance(item, dict) or not isinstance(item.get("token"), str):
        return None
    logprob = _number(item.get("logprob"))
    if logprob is None:
        return None
    data = item.get("bytes")
    is_bytes = isinstance(data, list) and all(type(byte) is int and 0 <= byte <= 255 for byte in data)
    return {"token": item["token"], "logprob": logprob, "bytes": data if is_bytes else None}


def _from_legacy(recorded: dict[str, Any]) -> list[dict[str, Any]] | None:
    tokens, logprobs, tops = (recorded.get(key) or [] for key in ("tokens", "token_logprobs", "top_logprobs"))
    if not (isinstance(tokens, list) and isinstance(logprobs, list) and isinstance(tops, list)):
        return None
    if not tokens or len(tokens) != len(logprobs):
        return None
    entries = []
    for position, (token, logprob) in enumerate(zip(tokens, logprobs, strict=True)):
        entry = _entry({"token": token, "logprob": logprob})
        if entry is None:
            return None
        top = tops[position] if position < len(tops) and isinstance(tops[position], dict) else {}
        alternatives = [_entry({"token": token, "logprob": logprob}) for token, logprob in top.items()]
        entries.append(entry | {"top_logprobs": [entry for entry in alternatives if entry is not None]})
    return entries


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return _LEAST
    return number if math.isfinite(number) else _LEAST
