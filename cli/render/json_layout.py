"""Lays JSON text out over several lines for a person, token by token.

It never decodes and encodes again: numbers keep their digits, strings their escapes, and repeated keys stay repeated,
since those are what one looks for in a model's arguments.
"""

from __future__ import annotations

import json
import re
from typing import Literal, NoReturn

Kind = Literal["key", "string", "number", "literal", "punctuation"]

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_INDENT = "  "


def layout(text: str) -> list[tuple[str, Kind]] | None:
    """Tokens of ``text``, white space of the layout among them, or ``None`` where it isn't JSON."""
    if not _is_json(text):
        return None
    tokens = _TOKEN.findall(text)
    laid: list[tuple[str, Kind]] = []
    depth = 0
    for position, token in enumerate(tokens):
        before = tokens[position - 1] if position else ""
        after = tokens[position + 1] if position + 1 < len(tokens) else ""
        if token in "}]":
            depth -= 1
            if before not in "{[":
                laid.append(("\n" + _INDENT * depth, "punctuation"))
        laid.append((token, _kind(token, after)))
        if token in "{[":
            depth += 1
            if after not in "}]":
                laid.append(("\n" + _INDENT * depth, "punctuation"))
        elif token == ",":
            laid.append(("\n" + _INDENT * depth, "punctuation"))
        elif token == ":":
            laid.append((" ", "punctuation"))
    return laid


def _kind(token: str, after: str) -> Kind:
    if token[0] == '"':
        return "key" if after == ":" else "string"
    if token in "{}[],:":
        return "punctuation"
    return "literal" if token in ("true", "false", "null") else "number"


def _is_json(text: str) -> bool:
    try:
        # Numbers stay text: an integer of 5,000 digits is JSON, but no int.
        json.loads(text, parse_int=str, parse_float=str, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return False
    return True


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
