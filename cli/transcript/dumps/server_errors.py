"""Error objects among the objects of a dump: a server that fails half-way reports it in the stream.

Owns the forms that these have and how they are put in one line.
"""

from __future__ import annotations

import json
from typing import Any


def error_message(value: Any, event_name: str = "") -> str | None:
    """What a server's error says; ``None`` where ``value`` is no error.

    Args:
        value: an object of the dump.
        event_name: what the line ``event:`` before it said.
    """
    if not isinstance(value, dict):
        return None
    error = value.get("error")
    if error:
        return _words(error)
    if value.get("object") == "error" or event_name == "error":
        return _words(value)
    if set(value) == {"detail"}:  # a request that was refused
        return _words(value["detail"])
    return None


def is_only_error(value: Any) -> bool:
    """Whether an object is an error and nothing else, as a server answers a request that it refuses."""
    if not isinstance(value, dict) or error_message(value) is None:
        return False
    return set(value) <= {"error", "error_type", "object", "message", "type", "param", "code", "status", "request_id"}


def _words(error: Any) -> str:
    if isinstance(error, dict):
        message = error.get("message")
        if isinstance(message, str) and message:
            details = [error[key] for key in ("type", "code") if isinstance(error.get(key), str | int)]
            return message + (f" ({', '.join(map(str, details))})" if details else "")
    return error if isinstance(error, str) else json.dumps(error)
