"""Tells formats apart by their first bytes.

Owns the guess and how little it waits for: no more than the first line that is not blank, and no more than a bounded
number of bytes. Raw model output that happens to be JSON is text: only a recorder writes a recorder's keys.
"""

from __future__ import annotations

import re
from typing import Literal

from .jsonl import KEYS, load_json
from .source import ByteSource

Format = Literal["text", "jsonl"]

_LIMIT = 1 << 16  # bytes looked at where the first line is longer
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MAY_BE_LIST_OF_IDS = re.compile(rb"\[\s*(?:\d|\Z)")
_MAY_BE_OBJECT = re.compile(rb"\{\s*(?:\"|\Z)")
# How a record begins whose line is too long to be looked at as a whole.
_LONG_RECORD = re.compile(rb"\{\s*\"(?:%s)\"\s*:|\[\s*\d+\s*," % b"|".join(key.encode() for key in KEYS))


def detect_format(source: ByteSource) -> Format:
    """Guess the format of an input; nothing of it is lost.

    Args:
        source: the input, at its start.

    Raises:
        TranscriptError: it can't be read.
    """
    ended = False
    while (found := _judge(source.peek(), ended)) is None:
        ended = not source.read_ahead()
    return found


def _judge(data: bytes, ended: bool) -> Format | None:
    """Say what ``data`` begins; ``None`` where that takes more of it."""
    start = data.removeprefix(_BYTE_ORDER_MARK).lstrip()
    long_enough = ended or len(data) >= _LIMIT
    if not start or _BYTE_ORDER_MARK.startswith(start):
        return "text" if long_enough else None
    if not (_MAY_BE_LIST_OF_IDS.match(start) or _MAY_BE_OBJECT.match(start)):
        return "text"
    line, newline, _ = start.partition(b"\n")
    if newline or ended:
        return "jsonl" if _is_record(line) else "text"
    if long_enough:
        return "jsonl" if _LONG_RECORD.match(line) else "text"
    return None


def _is_record(line: bytes) -> bool:
    try:
        value = load_json(line)
    except ValueError:
        return False
    if isinstance(value, list):
        return bool(value) and all(type(item) is int for item in value)
    return isinstance(value, dict) and any(key in value for key in KEYS)
