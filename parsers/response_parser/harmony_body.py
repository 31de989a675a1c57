"""How far the body of a Harmony message is as JSON.

Owns so much of JSON's lexis as tells an end token from data and a finished body from a cut one. It checks nothing
else, and a body is passed on as it stands, so that it never has to be held back.
"""

from __future__ import annotations

import re

from ..json_string import LONG, closing_quote
from ..tool_parser.json_value_scanner import SHORT_STRING

_IN_STRING = re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL).match
_OUTSIDE = re.compile(rf'(?:[^"{{}}\[\]]++|{SHORT_STRING})*+', re.DOTALL).match

_BATCH = 64  # pieces that are read together: one by one they would cost several times as much


class JsonBody:
    """A body that should be one JSON object.

    How it goes on after its first character is asked only where a token stands and at its end, so pieces are kept for
    a while and read together.

    Attributes:
        blank: nothing but white space so far.
        is_json: it begins as JSON, as far as can be told.
    """

    __slots__ = ("_complete", "_depth", "_escaped", "_quoted", "_unread", "blank", "is_json")

    def __init__(self) -> None:
        self.blank = self.is_json = True
        self._quoted = self._complete = self._escaped = False
        self._depth = 0
        self._unread: list[str] = []

    @property
    def quoted(self) -> bool:
        """Whether it is inside a string."""
        self._read()
        return self._quoted

    @property
    def complete(self) -> bool:
        """Whether every bracket is closed; what follows is not looked at."""
        self._read()
        return self._complete

    def feed(self, text: str) -> bool:
        """Take more of the body; return whether this piece shows that it is no JSON object."""
        no_object = False
        if self.blank:
            first = text.lstrip()[:1]
            if not first:
                return False
            self.blank, self.is_json, no_object = False, first in ("{", "["), first != "{"
        unread = self._unread
        unread.append(text)
        if len(unread) >= _BATCH:
            self._read()
        return no_object

    def _read(self) -> None:
        text = "".join(self._unread)
        self._unread.clear()
        if self._complete or not self.is_json:
            return
        pos, length = 0, len(text)
        if self._escaped and text:
            self._escaped = False
            pos = 1
        while pos < length:
            end = closing_quote(text, pos) if self._quoted and length - pos > LONG else -1
            pos = end if end >= 0 else (_IN_STRING if self._quoted else _OUTSIDE)(text, pos).end()  # type: ignore[union-attr]
            if pos == length:
                return
            char = text[pos]
            pos += 1
            if self._quoted:
                self._escaped = char == "\\"  # the last character: one that has a successor is matched with it
                self._quoted = self._escaped
            elif char == '"':
                self._quoted = True
            else:
                self._depth += 1 if char in "{[" else -1
                if self._depth <= 0:
                    self._complete = True
                    return
