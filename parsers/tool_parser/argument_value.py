"""Turns an argument's text, as it comes, into JSON text.

Owns the decision what a value is: a string that can be passed on at once, or something that only its end tells (R35).
Where a value begins and ends in the wire text is the tool parser's business.
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring

from ..json_schema import STRING_ONLY, to_json
from ..json_string import LONG, quote

_MOSTLY_STRINGS = frozenset((STRING_ONLY, frozenset(("null", "string"))))
_DECIDED_BY = 64  # characters: what is longer than this and its white space is not null


class ArgumentValue:
    """One value of one argument.

    Args:
        types: JSON Schema types that are declared for it; empty where none are, which means a string.
        template_newlines: one newline on each side is the template's and not the value's.
        key: JSON text that goes out before the first of the value.

    Attributes:
        streamed: the value is a string that goes out as it comes.
        finding: a diagnostic code that the value's end gave rise to, or ``""``.
    """

    __slots__ = (
        "_held",
        "_key",
        "_last_piece",
        "_parts",
        "_template_newlines",
        "_types",
        "_undecided",
        "finding",
        "streamed",
    )

    def __init__(self, types: frozenset[str], template_newlines: bool, key: str = "") -> None:
        self._types = types
        self._template_newlines = template_newlines
        self._key = key
        self.streamed = False
        self._undecided = not types or types in _MOSTLY_STRINGS  # the first characters will tell
        self._parts: list[str] = []  # what is not out yet
        self._held = ""  # a newline that may be the template's
        self._last_piece = ""
        self.finding = ""

    @property
    def at_line_start(self) -> bool:
        """Whether the text so far is empty or ends in a newline."""
        return self._last_piece[-1:] in ("", "\n")

    def add(self, piece: str) -> str:
        """Take the next piece of the text, not empty; return JSON text that is stable now, perhaps ``""``."""
        self._last_piece = piece
        if not self.streamed:
            self._parts.append(piece)
            return self._decide() if self._undecided else ""
        if self._template_newlines and (self._held or piece[-1] in "\r\n"):
            piece = self._held + piece
            if piece.endswith(("\n", "\r")):  # perhaps the template's, or the first half of that
                self._held = "\r\n" if piece.endswith("\r\n") else piece[-1]
                piece = piece[: -len(self._held)]
            else:
                self._held = ""
        return (encode_basestring(piece) if len(piece) < LONG else quote(piece))[1:-1]  # most are short, see quote

    def end(self) -> str:
        """The value is complete; return the rest of its JSON text."""
        if self.streamed:
            return quote("" if self._held.endswith("\n") else self._held)[1:]
        return self._key + self._whole("".join(self._parts))

    def _whole(self, text: str) -> str:
        """JSON text of a value that only its end has told."""
        if self._template_newlines:
            text = _without_leading_newline(text)
            if text.endswith("\n"):
                text = text[:-1].removesuffix("\r")
        if text.startswith('"') and "string" in self._types:
            inner = _string_in(text)
            if inner is not None:
                self.finding = "value-unquoted"
                return quote(inner)
        value, fits = to_json(text, self._types)
        if not fits:
            unescaped = _unescaped(text, self._types)
            if unescaped is not None:
                self.finding = "arguments-unwrapped"
                return unescaped
            self.finding = "value-uncoerced"
        return value

    def cut(self) -> str | None:
        """The input ended inside the value: return what completes its JSON text.

        ``None`` where nothing of it may be emitted, as its type needs the whole of it.
        """
        if self.streamed:
            return quote(self._held)[1:]
        if not self._is_string():
            return None
        text = "".join(self._parts)
        if self._template_newlines:
            text = _without_leading_newline(text)
        return self._key + quote(text) if text else None  # an empty string would be made up

    def _is_string(self) -> bool:
        return not self._types or "string" in self._types

    def _decide(self) -> str:
        """Open the string as soon as its first characters rule out everything else."""
        text = "".join(self._parts)
        self._parts = [text]
        if self._template_newlines:
            if text == "\r":
                return ""
            text = _without_leading_newline(text)
        if not text:
            return ""
        if text[0] == '"' and self._types:  # perhaps a JSON string literal, which only its end tells
            self._undecided = False
            return ""
        if "null" in self._types and len(text) < _DECIDED_BY and "null".startswith(text.strip()[:5]):
            return ""
        self.streamed = True
        self._parts.clear()
        key, self._key = self._key, ""
        return f'{key}"{self.add(text)}'


def _without_leading_newline(text: str) -> str:
    if text.startswith("\n"):
        return text[1:]
    return text[2:] if text.startswith("\r\n") else text


def _unescaped(text: str, types: frozenset[str]) -> str | None:
    """A container that was escaped as if it stood in a JSON string, without those escapes, or ``None``."""
    if '\\"' not in text:
        return None
    inner = _string_in(f'"{text.strip()}"')
    if inner is None:
        return None
    value, fits = to_json(inner, types)
    return value if fits else None


def _string_in(text: str) -> str | None:
    """The string that ``text`` is a JSON literal of, or ``None``."""
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, str) else None
