"""Whether JSON that stands without any tag begins a call, told from its first characters.

Owns the one question where a plain JSON answer and a call look alike. The look is bounded: what is held until the
answer is known can't grow with the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator

LONGEST_HEAD = 512
"""Characters that are looked at, and held, at most."""

# The usual head, which a pattern reads at a fraction of the price of looking at each token.
_USUAL = re.compile(r'\s*+\{\s*+"name"\s*+:\s*+"([^"\\]++)"\s*+,\s*+"([^"\\]++)"\s*+:').match
_TOKEN = re.compile(r'\s*+([{}\[\]:,]|"(?:[^"\\]++|\\.)*+"|[^\s{}\[\]:,"]++)', re.DOTALL)


def begins_call(head: str, argument_fields: Collection[str], names: Collection[str] | None) -> bool | None:
    """Whether an object, or an array of objects, begins as a call does; ``None`` where more of it must be seen.

    An answer that is plain JSON must not be taken for a call, so a name alone is not enough: the argument field stands
    before it, or follows it, or the object ends, and no other field but ``type`` and ``id`` stands between.

    Args:
        head: the first characters.
        argument_fields: names under which the arguments may stand.
        names: the functions that the request exposes; ``None`` where any name will do.
    """
    usual = _USUAL(head)
    if usual is not None and usual[2] in argument_fields:
        return names is None or usual[1] in names
    try:
        return _judge(_tokens(head), argument_fields, names)
    except StopIteration:
        return None


def _tokens(head: str) -> Iterator[str]:
    pos = 0
    while (token := _TOKEN.match(head, pos)) is not None:
        yield token[1]
        pos = token.end()


def _judge(tokens: Iterator[str], argument_fields: Collection[str], names: Collection[str] | None) -> bool:
    token = next(tokens)
    while token == "[":
        token = next(tokens)
    if token != "{":
        return False
    name, arguments = "", False
    while True:
        key = next(tokens)
        if key[0] != '"' or next(tokens) != ":":
            return False
        field = key[1:-1]
        if name and field in argument_fields:
            return True
        value = next(tokens)
        if field == "name" and not name:
            name = _string(value)
            if not name or (names is not None and name not in names):
                return False
            if arguments:
                return True
        elif field in argument_fields and value[0] in '{"':
            arguments = True
            _skip(value, tokens)
        elif (field, value) != ("type", '"function"') and (field != "id" or value[0] != '"'):
            return False
        after = next(tokens)
        if after != ",":
            return bool(name) and after == "}"


def _skip(value: str, tokens: Iterator[str]) -> None:
    depth = 0
    while True:
        depth += (value in ("{", "[")) - (value in ("}", "]"))
        if not depth:
            return
        value = next(tokens)


def _string(literal: str) -> str:
    if literal[0] != '"':
        return ""
    if "\\" not in literal:
        return literal[1:-1]
    try:
        return str(json.loads(literal, strict=False))
    except ValueError:
        return ""
