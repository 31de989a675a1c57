"""Recorded log probabilities as tokens: where each ends in the text, its bytes, its id.

Owns the forms that several engines share: ``logprobs.content`` of chat completions, the parallel lists of legacy
completions, and the pairs of SGLang and LMDeploy. Whether tokens are used is others' business.
"""

from __future__ import annotations

import re
from typing import Any

from .pieces import Token

_SPELLED_ID = re.compile(r"token_id:(\d{1,10})\Z")
_SPELLED_BYTES = re.compile(r"bytes:((?:\\x[0-9a-fA-F]{2})+)\Z")


def content_tokens(entries: Any) -> list[Token] | None:
    """Tokens of ``logprobs.content``: objects with ``token`` and perhaps ``bytes`` or an id.

    Returns:
        The tokens; ``None`` where there are none, or where the text of one is not recorded.
    """
    if not isinstance(entries, list) or not entries:
        return None
    tokens = []
    for entry in entries:
        if not isinstance(entry, dict):
            return None
        name = entry.get("token")
        data = _bytes(entry.get("bytes"))
        if not isinstance(name, str):
            return None
        if _SPELLED_ID.match(name) and data in (None, name.encode()):
            return None
        tokens.append(Token(_spelled(name) if data is None else data, entry_id(entry), {"content": [entry]}))
    return tokens


def content_ids(entries: Any) -> list[int] | None:
    """Token ids of ``logprobs.content``; ``None`` where there are none, or one is missing."""
    if not isinstance(entries, list) or not entries:
        return None
    ids = [entry_id(entry) for entry in entries if isinstance(entry, dict)]
    known = [number for number in ids if number is not None]
    return known if len(known) == len(entries) else None


def entry_id(entry: dict[str, Any]) -> int | None:
    """The id of one entry: under ``token_id`` or ``id``, or spelled ``token_id:NNN`` in the place of the token."""
    for key in ("token_id", "id"):
        number = entry.get(key)
        if type(number) is int and number >= 0:
            return number
    return _id_in(entry.get("token"))


def legacy_tokens(logprobs: dict[str, Any]) -> list[Token] | None:
    """Tokens of a legacy completion's ``logprobs``; ``None`` where there are none or they are spelled as ids."""
    names = logprobs.get("tokens")
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        return None
    if any(_SPELLED_ID.match(name) for name in names):
        return None
    lists = {key: values for key, values in logprobs.items() if isinstance(values, list) and len(values) == len(names)}
    return [
        Token(_spelled(name), None, {key: [values[position]] for key, values in lists.items()})
        for position, name in enumerate(names)
    ]


def legacy_ids(logprobs: dict[str, Any]) -> list[int] | None:
    """Token ids of a legacy completion's ``logprobs``, where all tokens are spelled ``token_id:NNN``."""
    names = logprobs.get("tokens")
    if not isinstance(names, list) or not names:
        return None
    ids = [_id_in(name) for name in names]
    known = [number for number in ids if number is not None]
    return known if len(known) == len(names) else None


def row_tokens(rows: Any) -> list[Token] | None:
    """Tokens of ``[[logprob, id, text], ...]``; ``None`` where the text of one is not recorded."""
    if not isinstance(rows, list) or not rows:
        return None
    if not all(isinstance(row, list) and len(row) > 2 and isinstance(row[2], str) for row in rows):
        return None
    return [Token(row[2].encode("utf-8", "replace"), _as_id(row[1]), [row]) for row in rows]


def row_ids(rows: Any) -> list[int] | None:
    """Token ids of ``[[logprob, id, ...], ...]``; ``None`` where there are none."""
    if not isinstance(rows, list) or not all(isinstance(row, list) and len(row) > 1 for row in rows):
        return None
    ids = [number for row in rows if (number := _as_id(row[1])) is not None]
    return ids if len(ids) == len(rows) else None


def _as_id(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _id_in(name: Any) -> int | None:
    match = _SPELLED_ID.match(name) if isinstance(name, str) else None
    return int(match[1]) if match else None


def _spelled(name: str) -> bytes:
    if match := _SPELLED_BYTES.match(name):  # how OpenAI spells a part of a character
        return bytes.fromhex(match[1].replace("\\x", ""))
    return name.encode("utf-8", "replace")


def _bytes(value: Any) -> bytes | None:
    if not isinstance(value, list) or not all(type(number) is int and 0 <= number < 256 for number in value):
        return None
    return bytes(value)
