"""Finds the lexical end of one JSON value in a stream (R5, R30, R31).

Owns depth, strings and escapes, and nothing of what a value means: nothing is decoded, so repeated keys, formatting and
invalid literals survive verbatim, and no text is looked at twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from ..json_string import LONG, closing_quote
from ..markers import MarkerScanner

# Possessive, so that a long value costs one pass and no backtracking stack. Whole strings and whole small containers
# are swallowed at once; what is left for Python are the other brackets, the start of a string that goes on in the next
# chunk, and the start of a stop tag. Two levels of containers measure three times as fast as none, more gain nothing.
_SWALLOWED_LEVELS = 2
SHORT_STRING = r'"[^"\\]{0,256}+(?:\\.[^"\\]{0,256}+){0,16}+"'
"""A string with its quotes; longer ones are found by :func:`closing_quote`."""

# The inside of a string as far as it is stable: a `\u00f` at the end of the text may still become `\u00fc`.
_INSIDE_STRING = r'[^"\\]*+(?:\\(?:[^u]|u(?![0-9a-fA-F]{0,3}\Z))[^"\\]*+)*+'

_in_string = re.compile(_INSIDE_STRING, re.DOTALL).match

_SCALAR = re.compile(r'[^\s,:"{}\[\]<]*+')

_Match = Callable[..., "re.Match[str] | None"]


@lru_cache(maxsize=256)
def _walks(stop_starts: str) -> tuple[_Match, _Match, _Match]:
    """Walks over the inside of a container.

    The first goes up to the next bracket, unfinished string or possible stop tag. The others match all of a text that
    has none of these but the beginning of a string at its end, where they set a group; the last begins in a string.
    """
    if set(stop_starts) & set("[{"):  # a bracket may begin a stop tag: look at each
        inside = rf'[^"{{}}\[\]{re.escape(stop_starts)}]++|{SHORT_STRING}'
    else:
        inside = flat = rf'[^"{{}}\[\]{re.escape(stop_starts)}]++|{SHORT_STRING}'
        for _ in range(_SWALLOWED_LEVELS):
            inside = rf"{flat}|\{{(?:{inside})*+\}}|\[(?:{inside})*+\]"
    walk = rf"(?:{inside})*+"
    rest = rf'{walk}(?:"{_INSIDE_STRING}()\Z|\Z)'
    whole = rf'{_INSIDE_STRING}(?:()\Z|"{rest})'
    return tuple(re.compile(pattern, re.DOTALL).match for pattern in (walk, rest, whole))  # type: ignore[return-value]


class JsonValueScanner:
    """Walks over one value, piece by piece.

    Call :meth:`begin` where the value's first character stands, then :meth:`feed` until ``done`` or ``stopped``.

    Args:
        stops: tags that end the value where they stand outside a string: a value that the model left unclosed must
            not swallow what follows.

    Attributes:
        done: the value is complete.
        in_string: the text so far ends inside a string.
        stopped: a stop tag stands where the last call returned.
    """

    __slots__ = (
        "_at_quote",
        "_depth",
        "_rest",
        "_rest_of_string",
        "_scalar",
        "_stops",
        "_walk",
        "done",
        "in_string",
        "stopped",
    )

    def __init__(self, stops: MarkerScanner | None = None) -> None:
        self._stops = stops
        self._walk, self._rest, self._rest_of_string = _walks(stops.starts if stops is not None else "")
        self._depth = 0
        self._at_quote = self.in_string = self._scalar = self.done = self.stopped = False

    def begin(self, first: str) -> None:
        """A new value begins with the character ``first``, which the next :meth:`feed` gets too."""
        self._depth = 0
        self.done = self.stopped = False
        self._at_quote = self.in_string = first == '"'
        self._scalar = first not in '"{['

    def passes(self, text: str) -> bool:
        """Walk over all of ``text``, if no bracket of the container that is open, and no stop tag, can be in it.

        The hot path before :meth:`feed`; where it returns ``False`` nothing has changed.
        """
        if not self.in_string:
            rest = self._rest(text) if self._depth else None
        elif '"' not in text and "\\u" not in text and text[-1:] != "\\":
            return True
        else:
            rest = self._rest_of_string(text) if self._depth else None
        if rest is None:
            return False
        self.in_string = rest.lastindex is not None
        return True

    def feed(self, text: str, pos: int, final: bool = False) -> int:
        """Walk on from ``pos``.

        Args:
            text: the text.
            pos: where the value goes on.
            final: no more text will come, so nothing at the end can become a stop tag.

        Returns:
            How far the value is stable. Short of the end of ``text`` only where the value is done or stopped, or where
            a few characters may still become an escape or a stop tag.
        """
        length = len(text)
        while True:
            if self.in_string:
                if self._at_quote:
                    self._at_quote = False
                    pos += 1
                end = closing_quote(text, pos) if length - pos > LONG else -1
                pos = end if end >= 0 else _in_string(text, pos).end()  # type: ignore[union-attr]
                if pos == length or text[pos] != '"':
                    return pos
                self.in_string = False
                pos += 1
                if not self._depth:
                    self.done = True
                    return pos
            elif self._scalar:
                pos = _SCALAR.match(text, pos).end()  # type: ignore[union-attr]
                self.done = pos < length  # only what follows shows that a number or a word is whole
                return pos
            elif not self._depth:  # at the value's own bracket
                self._depth = 1
                pos += 1
            pos = self._walk(text, pos).end()  # type: ignore[union-attr]
            if pos == length:
                return pos
            char = text[pos]
            if char == '"':
                self.in_string = True
            elif self._stops is not None and char in self._stops.starts and self._at_stop(text, pos, final):
                return pos
            elif char == "{" or char == "[":
                self._depth += 1
            elif char == "}" or char == "]":
                self._depth -= 1
                if self._depth <= 0:
                    self.done = True
                    return pos + 1
            pos += 1

    def _at_stop(self, text: str, pos: int, final: bool) -> bool:
        """Whether a stop tag stands at ``pos``, or what may become one."""
        assert self._stops is not None
        match = self._stops.match_final(text, pos) if final else self._stops.match(text, pos)
        self.stopped = match is not None and match.lastindex is not None
        return match is not None
