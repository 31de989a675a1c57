"""JSON text of strings, and where one ends.

Owns two choices that decide how fast a long string is: which encoder writes it, and how its closing quote is found.
"""

from __future__ import annotations

from json.encoder import encode_basestring

LONG = 256
"""Characters from which on it pays to treat a string as a long one."""

_LONGEST_WINDOW = 65_536


def quote(text: str) -> str:
    """``text`` as a JSON string. Two encoders write the same, one faster where it is short, one where it is long.

    The two places that write most chunks look at the length themselves, as a call costs as much as a chunk's floor.
    """
    if len(text) < LONG:
        return encode_basestring(text)
    import orjson  # here, as it takes a tenth of the time in which the command starts

    try:
        return orjson.dumps(text).decode()
    except TypeError:  # half of a surrogate pair
        return encode_basestring(text)


def closing_quote(text: str, pos: int, mark: str = '"') -> int:
    """Where the string that goes on at ``pos`` is closed by ``mark``, one character; ``-1`` where it isn't.

    ``pos`` must not be within an escape.
    """
    end = text.find(mark, pos)
    if end <= pos or text[end - 1] != "\\":
        return end
    width, length = LONG, len(text)
    while pos < length:
        end = pos + width
        while text[end - 1 : end] == "\\":  # an escape that begins in this window ends in it too
            end += 1
        window = text[pos:end]
        if "\\" in window:
            window = window.replace("\\\\", "..").replace(f"\\{mark}", "..")
        at = window.find(mark)
        if at >= 0:
            return pos + at
        pos, width = end, min(4 * width, _LONGEST_WINDOW)
    return -1
