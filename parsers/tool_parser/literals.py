"""Single literals as models write them in calls: the text of a string, a number, a word. Pure functions and patterns.

Owns what one literal means as JSON. Where it begins and ends among others is the literal reader's business.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ..json_string import LONG, quote

LONGEST_SCALAR = 512
"""Characters: what is longer is no number."""

_HEX = "[0-9a-fA-F]"

# An escape that is complete, or that more text can't make one: what is not an escape keeps its backslash.
_ESCAPE = (
    rf"\\(?:[^0-7xuU\r]|[0-7]{{3}}|[0-7]{{1,2}}(?![0-7]|\Z)|\r(?!\Z)\n?"
    rf"|x(?!{_HEX}?\Z)|u(?!{_HEX}{{0,3}}\Z)|U(?!{_HEX}{{0,7}}\Z))"
)
# What is the same in JSON, and then the characters or the escape that are not.
_SAME_IN_JSON = r"[^\\\"\x00-\x1f]*+(?:\\[\\\"bfnrt][^\\\"\x00-\x1f]*+)*+"
_STRETCH = re.compile(
    rf"({_SAME_IN_JSON})([\"\x00-\x1f]++|\\(?:x{_HEX}{{2}}|u{_HEX}{{4}}|U{_HEX}{{8}}|[0-7]{{1,3}}|\r\n|.))?", re.DOTALL
)
_all_same_in_json = re.compile(_SAME_IN_JSON).fullmatch
_SIMPLE_ESCAPES = {
    "\\\n": "", "\\\r\n": "", "\\\r": "", "\\\\": "\\\\", "\\'": "'", '\\"': '\\"',
    "\\n": "\\n", "\\t": "\\t", "\\r": "\\r", "\\b": "\\b", "\\f": "\\f", "\\a": "\\u0007", "\\v": "\\u000b",
}  # fmt: skip

WORDS = {"true": "true", "false": "false", "null": "null", "True": "true", "False": "false", "None": "null"}
"""Words that are values, with their JSON text."""

_JSON_NUMBER = re.compile(r"-?(?:0|[1-9]\d*+)(?:\.\d++)?(?:[eE][+-]?\d++)?\Z", re.ASCII)
_DECIMAL = re.compile(r"([+-]?)(?=\.?\d)(\d[\d_]*+)?(?:\.([\d_]*+))?([eE][+-]?\d++)?\Z", re.ASCII)
_RADIX = re.compile(rf"[+-]?0(?:[xX](?:_?{_HEX})++|[oO](?:_?[0-7])++|[bB](?:_?[01])++)\Z")
_PERHAPS_NUMBER = re.compile(r"[+-]?\.?(?:\d[\w.+\-]*+)?\s*+\Z", re.ASCII)


@lru_cache(maxsize=32)
def string_body(quotes: str, raw: bool) -> re.Pattern[str]:
    """The inside of a string in ``quotes`` (one or three), as far as it is stable.

    It stops at quotes that may close the string, at a backslash whose escape is not complete, or at the text's end.
    """
    mark = quotes[0]
    escape = r"\\." if raw else _ESCAPE
    lone = rf"|{mark}(?!{mark}{mark})(?!{mark}?\Z)" if len(quotes) == 3 else ""
    return re.compile(rf"(?:[^\\{mark}]++|{escape}{lone})*+", re.DOTALL)


def string_text(body: str, raw: bool = False) -> str:
    """JSON text, without the quotes, of a piece that :func:`string_body` matched."""
    if raw or "\\" not in body:
        return quote(body)[1:-1]
    if len(body) < LONG:
        stretch = _STRETCH.match(body)
        if stretch is not None and stretch.end() == len(body):  # as in nearly every small piece
            return _as_json(stretch)
    # Often quotes are all that differs. Where more does, or a backslash was not a quote's, the result isn't JSON.
    rewritten = body.replace("\\'", "'").replace('"', '\\"')
    return rewritten if same_in_json(rewritten) else _STRETCH.sub(_as_json, body)


def same_in_json(text: str) -> bool:
    """Whether the inside of a string means the same in JSON, and would be written the same."""
    if len(text) < LONG:
        return _all_same_in_json(text) is not None
    import orjson  # as in quote

    literal = f'"{text}"'
    try:
        return quote(orjson.loads(literal)) == literal
    except ValueError:
        return False


def _as_json(stretch: re.Match[str]) -> str:
    same, other = stretch.groups()
    return same + _decoded(other) if other else same


def _decoded(text: str) -> str:
    """JSON text of an escape, or of characters that JSON escapes."""
    simple = _SIMPLE_ESCAPES.get(text)
    if simple is not None:
        return simple
    if text[0] == "\\" and len(text) > 1:
        digits = text[2:] if text[1] in "xuU" else text[1:]
        if digits.isalnum() and digits.isascii() and (text[1] in "xuU" or text[1] in "01234567"):
            code = int(digits, 16 if text[1] in "xuU" else 8)
            if 0xD800 <= code < 0xE000:  # half a character, of which JSON has the other half in the next escape
                return f"\\u{code:04x}"
            if code <= 0x10FFFF:
                return quote(chr(code))[1:-1]
    return quote(text)[1:-1]


def scalar(text: str) -> str | None:
    """JSON text of a number or a word, or ``None`` where ``text`` is neither."""
    if text in WORDS:
        return WORDS[text]
    if _JSON_NUMBER.match(text):
        return text
    number = _DECIMAL.match(text)
    if number is not None:
        sign, whole, fraction, exponent = number.groups()
        whole = (whole or "").replace("_", "").lstrip("0") or "0"
        fraction = "" if fraction is None else "." + (fraction.replace("_", "") or "0")
        return f"{sign.replace('+', '')}{whole}{fraction}{exponent or ''}"
    if _RADIX.match(text):
        return str(int(text.replace("_", ""), 0))
    return None


def perhaps_scalar(text: str) -> bool:
    """Whether ``text``, which begins with no blank space, is a number or a word, or may become one."""
    if len(text) > LONGEST_SCALAR:
        return False
    if _PERHAPS_NUMBER.match(text):
        return True
    word = text.rstrip()
    return word in WORDS or (word == text and any(known.startswith(text) for known in WORDS))
