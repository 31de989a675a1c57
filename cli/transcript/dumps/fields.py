"""Reads members of a JSON object and says what is wrong with one that is not what it must be.

Owns the wording of these messages. It knows types, but no engine.
"""

from __future__ import annotations

import json
from typing import Any

_MAX_ID = 2**32 - 1  # ids are unsigned 32 bit numbers in every tokenizer library
# What engines call the two ends that every API knows; other reasons keep the engine's name.
_REASONS = {
    "eos": "stop",
    "eos_token": "stop",
    "stop_sequence": "stop",
    "stop_token": "stop",
    "stop_str": "stop",
    "word": "stop",
    "limit": "length",
    "max_tokens": "length",
    "max_length": "length",
}


def shown(value: Any) -> str:
    """``value`` in a message: what it is, or all of it where it is short."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def string(value: dict[str, Any], key: str) -> str | None:
    """A member that is a string; ``None`` where it is missing or null.

    Raises:
        ValueError: it is something else.
    """
    found = value.get(key)
    if found is None or isinstance(found, str):
        return found
    raise ValueError(f"{key} must be a string, found {shown(found)}")


def mapping(value: dict[str, Any], key: str) -> dict[str, Any]:
    """A member that is an object; empty where it is missing or null.

    Raises:
        ValueError: it is something else.
    """
    found = value.get(key)
    if found is None:
        return {}
    if isinstance(found, dict):
        return found
    raise ValueError(f"{key} must be an object, found {shown(found)}")


def objects(value: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """A member that is a list of objects; empty where it is missing or null.

    Raises:
        ValueError: it is something else.
    """
    found = value.get(key)
    if found is None:
        return []
    if isinstance(found, list) and all(isinstance(item, dict) for item in found):
        return found
    raise ValueError(f"{key} must be a list of objects, found {shown(found)}")


def token_ids(value: dict[str, Any], key: str) -> list[int] | None:
    """A member that is a list of token ids; ``None`` where it is missing or null.

    Raises:
        ValueError: it is something else.
    """
    found = value.get(key)
    if found is None:
        return None
    if not isinstance(found, list):
        raise ValueError(f"{key} must be a list of token ids, found {shown(found)}")
    return checked_ids(found, key)


def checked_ids(values: list[Any], where: str) -> list[int]:
    """``values`` if they are token ids.

    Raises:
        ValueError: one is none.
    """
    for value in values:
        if type(value) is not int or not 0 <= value <= _MAX_ID:  # bool is an int, but no id
            raise ValueError(f"{where} must have token ids (integers from 0), found {shown(value)}")
    return values


def index(value: dict[str, Any], key: str = "index") -> int:
    """A member that numbers a choice; zero where it is missing or null.

    Raises:
        ValueError: it is something else.
    """
    found = value.get(key)
    if found is None:
        return 0
    if type(found) is int:
        return found
    raise ValueError(f"{key} must be an integer, found {shown(found)}")


def request_id(value: dict[str, Any], *keys: str) -> str | None:
    """The first member among ``keys`` that names a request; some servers number them."""
    for key in keys:
        found = value.get(key)
        if isinstance(found, str) and found:
            return found
        if type(found) is int:
            return str(found)
    return None


def finish_reason(value: Any) -> str | None:
    """A finish reason in the words of the APIs: ``stop``, ``length``, else what the engine says.

    Args:
        value: a string, or an object with ``type`` as SGLang and LMDeploy write it.

    Raises:
        ValueError: it is neither, nor null.
    """
    if isinstance(value, dict):
        value = value.get("type")
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise ValueError(f"finish_reason must be a string or an object with a type, found {shown(value)}")
    return _REASONS.get(value.lower(), value)
