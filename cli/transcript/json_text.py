"""JSON as engines write it.

Owns what is read beyond the standard (NaN, halves of characters, bad UTF-8, integers beyond 64 bit) and looking into a
value that is not complete yet. It knows no keys.
"""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

_PERHAPS_BEYOND_64_BIT = re.compile(rb"[\s:,\[-]\d{19}")  # orjson would make these floats
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[\]{},]|"', re.DOTALL)
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"')
_DEEPEST = 200  # containers in each other
_CUT_ESCAPE = re.compile(rb"\\(?:u[0-9a-fA-F]{0,3})?\Z")


def load_json(data: bytes) -> Any:
    """Parse JSON.

    Raises:
        ValueError: it is no JSON, and the message says where it stops being it, or it is nested deeper than what is
            passed through could be written again.
    """
    if data.count(b"[") + data.count(b"{") > _DEEPEST and _depth(data) > _DEEPEST:
        raise ValueError("not readable: nested too deeply")
    if not _PERHAPS_BEYOND_64_BIT.search(data):
        try:
            return orjson.loads(data)
        except orjson.JSONDecodeError:
            pass  # orjson is fast and strict; the standard library decides
    try:
        return json.loads(data.decode("utf-8", "replace"))
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg.removesuffix(' at')} at character {error.pos + 1}") from error
    except RecursionError as error:
        raise ValueError("not readable: nested too deeply") from error


def _depth(data: bytes) -> int:
    """How deeply containers are nested."""
    depth = deepest = 0
    for match in _TOKEN.finditer(data):
        token = match.group()
        if token in (b"{", b"["):
            depth += 1
            deepest = max(deepest, depth)
        elif token in (b"}", b"]"):
            depth -= 1
    return deepest


def open_brackets(line: bytes) -> int | None:
    """How many brackets a line of JSON opens and does not close; ``None`` where it ends inside a string."""
    rest = _STRING.sub(b"", line)
    if b'"' in rest:
        return None
    return rest.count(b"{") + rest.count(b"[") - rest.count(b"}") - rest.count(b"]")


def complete_json(data: bytes) -> Any:
    """Parse the beginning of a JSON value as if it ended where it is cut; what is cut off in it is left out.

    Returns:
        The value, or ``None`` where ``data`` begins none.
    """
    closers: list[bytes] = []
    safe = 0  # where the value could be closed, with all that is open: only strings can come after that place
    open_string = -1
    for match in _TOKEN.finditer(data):
        token = match.group()
        if token == b'"':  # a string that does not end
            open_string = match.start()
            break
        if token in (b"{", b"["):
            closers.append(b"}" if token == b"{" else b"]")
            safe = match.end()
        elif token in (b"}", b"]"):
            if not closers or closers.pop() != token:
                return None
            safe = match.end()
        elif token == b",":
            safe = match.start()
    closing = b"".join(reversed(closers))
    candidates = [data[:safe] + closing]
    if open_string >= 0:  # perhaps a value; a key can't be closed like this
        candidates.insert(0, _CUT_ESCAPE.sub(b"", data) + b'"' + closing)
    for candidate in candidates:
        try:
            return load_json(candidate)
        except ValueError:
            continue
    return None
