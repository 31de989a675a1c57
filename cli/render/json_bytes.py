"""Values as bytes of JSON. Owns what ``orjson`` refuses: a value must come out whatever the input holds."""

from __future__ import annotations

import json
import math
from typing import Any

import orjson


def encode(value: Any) -> bytes:
    """One line of JSON without its newline; NaN and infinities, which JSON has not, become ``null``."""
    try:
        return orjson.dumps(value)
    except TypeError:  # a lone surrogate or an integer over 64 bits, both legal in the JSON that we read
        return json.dumps(_finite(value), separators=(",", ":")).encode("ascii")


def encode_line(value: Any) -> bytes:
    """One line of JSON with its newline."""
    try:
        return orjson.dumps(value, None, orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        return encode(value) + b"\n"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
