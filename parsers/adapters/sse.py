"""Frames events as server-sent events. Owns the framing; how an event becomes JSON is a parameter.

Source: the WHATWG HTML standard, *Server-sent events*. The Messages and Responses APIs name each event in an ``event``
line after its ``type``; chat completion chunks have no type, no such line, and end with ``[DONE]``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

DONE = b"data: [DONE]\n\n"
"""The end of a Chat Completions stream."""


def encode_json(event: dict[str, Any]) -> bytes:
    """Compact JSON in ASCII, which is safe for whatever a model wrote, halves of surrogate pairs included."""
    return json.dumps(event, separators=(",", ":")).encode("ascii")


def frame(event: dict[str, Any], encode: Callable[[dict[str, Any]], bytes] = encode_json) -> bytes:
    """Return one event as the bytes of a stream.

    Args:
        event: an adapter's event; its ``type``, where it has one, names it.
        encode: makes JSON of it, on one line or several.
    """
    name = f"event: {event['type']}\n".encode() if "type" in event else b""
    return name + b"".join(b"data: " + line + b"\n" for line in encode(event).splitlines()) + b"\n"
