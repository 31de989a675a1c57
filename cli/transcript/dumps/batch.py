"""OpenAI Batch output: one completed request a line, named by its ``custom_id``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from . import chat, completions
from .fields import mapping, request_id, shown
from .pieces import Object, Piece, Shape
from .server_errors import error_message


def _fits(value: Any) -> bool:
    return isinstance(value, dict) and "custom_id" in value and ("response" in value or "error" in value)


def _read(value: Object) -> Iterator[Piece]:
    request = request_id(value, "custom_id")
    response = mapping(value, "response")
    body = mapping(response, "body")
    status = response.get("status_code")
    problem = error_message(value) or error_message(body)
    if problem is None and type(status) is int and status >= 400:
        problem = f"status {status}"
    if problem is not None:
        raise ValueError(f"request {request}: the server reported an error: {problem}")
    for shape in (chat.OPENAI, completions.OPENAI):
        if shape.fits(body):
            for piece in shape.read(body):
                yield replace(piece, request=request)
            return
    keys = ", ".join(list(body)[:8]) or "nothing"
    raise ValueError(f"request {request}: its body, {shown(body)} with {keys}, is neither a completion nor a chat one")


SHAPE = Shape("openai-batch", "OpenAI Batch output", "custom_id beside response", _fits, _read)
