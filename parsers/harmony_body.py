"""How far the body of a Harmony message is as JSON.

Owns so much of JSON's lexis as tells an end token from data and a finished body from a cut one. It checks nothing
else, and a body is passed on as it stands, so that it never has to be held back.
"""

from __future__ import annotations

import re

_IN_STRING = re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL).match
_OUTSIDE = re.compile(r'[^"{}\[\]]*+').match


class JsonBody:
    """A body that should be one JSON object.

    Attributes:
        blank: nothing but white space so far.
        is_json: it begins as JSON, as far as can be told.
        quoted: inside a string.
        complete: every bracket is closed; what follows is not looked at.
    """

    __slots__ = ("_depth", "_escaped", "blank", "complete", "is_json", "quoted")

    def __init__(self) -> None:
        self.blank = self.is_json = True
        self.quoted = self.complete = self._escaped = False
        self._depth = 0

    def feed(self, text: str) -> bool:
        """Take more of the body; return whether this piece shows that it is no JSON object."""
        if self.quoted:
            if not self._escaped and '"' not in text and "\\" not in text:
                return False
        elif self.complete or not self.is_json:
            return False
        no_object = False
        if self.blank:
            first = text.lstrip()[:1]
            self.blank = not first
            no_object = first not in ("{", "")
            self.is_json = first in ("{", "[", "")
            if not self.is_json or self.blank:
                return no_object
        self._walk(text)
        return no_object

    def _walk(self, text: str) -> None:
        pos, length = 0, len(text)
        if self._escaped:
            self._escaped = False
            pos = 1
        while pos < length:
            pos = (_IN_STRING if self.quoted else _OUTSIDE)(text, pos).end()  # type: ignore[union-attr]
            if pos == length:
                return
            char = text[pos]
            pos += 1
            if self.quoted:
                self._escaped = char == "\\"  # the last character: one that has a successor is matched with it
                self.quoted = self._escaped
            elif char == '"':
                self.quoted = True
            else:
                self._depth += 1 if char in "{[" else -1
                if self._depth <= 0:
                    self.complete = True
                    return
