"""Finds the lexical end of one JSON value in a stream (R5, R30, R31).

Owns depth, strings and escapes, and nothing of what a value means: nothing is decoded, so repeated keys, formatting and
invalid literals survive verbatim, and no text is looked at twice.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ..markers import MarkerScanner

# Possessive, so that a long value costs one pass and no backtracking stack. Whole strings and whole small containers
# are swallowed at once; what is left for Python are the other brackets, the start of a string that goes on in the next
# chunk, and the start of a stop tag. Two levels of containers measure three times as fast as none, more gain nothing.
_SWALLOWED_LEVELS = 2
_STRING = r'"(?:[^"\\]++|\\.)*+"'

# The inside of a string as far as it is stable: a `\u00f` at the end of the text may still become `\u00fc`.
_in_string = re.compile(r'(?:[^"\\]++|\\(?!u).|\\u(?![0-9a-fA-F]{0,3}\Z))*+', re.DOTALL).match

_SCALAR = re.compile(r'[^\s,:"{}\[\]<]*+')


@lru_cache(maxsize=256)
def _structure(stop_starts: str) -> re.Pattern[str]:
    """The inside of a container up to the next bracket, unfinished string or possible stop tag."""
    if set(stop_starts) & set("[{"):  # a bracket may begin a stop tag: look at each
        return re.compile(rf'(?:[^"{{}}\[\]{re.escape(stop_starts)}]++|{_STRING})*+', re.DOTALL)
    inside = flat = rf'[^"{{}}\[\]{re.escape(stop_starts)}]++|{_STRING}'
    for _ in range(_SWALLOWED_LEVELS):
        inside = rf"{flat}|\{{(?:{inside})*+\}}|\[(?:{inside})*+\]"
    return re.compile(rf"(?:{inside})*+", re.DOTALL)


class JsonValueScanner:
    """Walks over one value, piece by piece.

    Call :meth:`begin` where the value's first character stands, then :meth:`feed` until ``done`` or ``stopped``.

    Args:
        stops: tags that end the value where they stand outside a string: a value that the model left unclosed must
            not swallow what follows.

    Attributes:
        done: the value is complete.
        stopped: a stop tag stands where the last call returned.
    """

    __slots__ = ("_at_quote", "_depth", "_in_string", "_scalar", "_stops", "_structure", "done", "stopped")

    def __init__(self, stops: MarkerScanner | None = None) -> None:
        self._stops = stops
        self._structure = _structure(stops.starts if stops is not None else "").match
        self._depth = 0
        self._at_quote = self._in_string = self._scalar = self.done = self.stopped = False

    def begin(self, first: str) -> None:
        """A new value begins with the character ``first``, which the next :meth:`feed` gets too."""
        self._depth = 0
        self.done = self.stopped = False
        self._at_quote = self._in_string = first == '"'
        self._scalar = first not in '"{['

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
        if self._in_string and '"' not in text and "\\" not in text:
            return length  # most chunks of a long string, at a third of the pattern's price
        while True:
            if self._in_string:
                if self._at_quote:
                    self._at_quote = False
                    pos += 1
                pos = _in_string(text, pos).end()  # type: ignore[union-attr]
                if pos == length or text[pos] != '"':
                    return pos
                self._in_string = False
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
            pos = self._structure(text, pos).end()  # type: ignore[union-attr]
            if pos == length:
                return pos
            char = text[pos]
            if char == '"':
                self._in_string = True
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
