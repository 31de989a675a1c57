"""Values without quotes in a call's brackets, as they come: numbers, words, and expressions that are kept as text.

Owns where such a value ends and when it can go out. What a scalar means is :mod:`.literals`' business.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ..json_schema import argument_types, to_json
from ..json_string import quote
from ..markers import Boundaries, marker_scanner
from .literal_strings import AFTER, BARE, KEY_END, LOOKAHEAD, Finding, LiteralStrings, end_of, is_cut
from .literals import LONGEST_SCALAR, perhaps_scalar, scalar

_INNER_STRINGS = {mark: re.compile(rf"(?:[^\\{mark}]++|\\.)*+", re.DOTALL) for mark in "\"'"}


class LiteralValues(LiteralStrings):
    """The part of the literal reader that is inside any value; see there for arguments and attributes."""

    def __init__(self, stops: tuple[str, ...], boundaries: Boundaries, private_quote: str = "") -> None:
        super().__init__(stops, boundaries, private_quote)
        self._bare_stops = marker_scanner((*stops, private_quote) if private_quote else stops, boundaries)
        self._bare_run = _run(",:" + self._bare_stops.starts)
        self._parameters: Mapping[str, Any] = {}
        self._known_types: dict[str, frozenset[str]] = {}  # by the key's JSON text
        self._bracket_run = _run("\"'" + self._stops.starts)

    def _declared_types(self) -> frozenset[str]:
        """What the schema declares for the value at hand, which matters for bare values of a private syntax only."""
        if not self._private_quote or self._output.depth or self._captured is not None:
            return frozenset()
        key = self._output.key
        types = self._known_types.get(key)
        if types is None:
            types = self._known_types[key] = argument_types(self._parameters, json.loads(key))
        return types

    def _start_bare(self, pos: int) -> None:
        self._state = BARE
        self._types = self._declared_types()
        self._begun = False
        self._bare_offset = self.base_offset + pos
        self._parts: list[str] = []  # text that may be a scalar, then blank space that may be the value's end
        self._size = 0
        self._brackets = 0  # of an expression
        self._inner_mark = ""  # of a string inside them
        self._last = ""

    def _bare(self, text: str, pos: int, final: bool) -> tuple[int, bool]:
        """Go on in a value without quotes; return where that stopped and whether more text must come."""
        if self._brackets:
            return self._in_brackets(text, pos, final)
        end = end_of(self._bare_run, text, pos)
        self._take_bare(text[pos:end])
        if end == len(text):
            return end, True
        char = text[end]
        if char in "([{":
            self._brackets = 1
        elif char in ")]}":
            self._end_bare()
            return end, False
        elif char in ",:":
            ends = self._ends_bare(char, text, end, final)
            if ends is None:
                return end, True
            if ends:
                self._end_bare()
                return end, False
        else:
            private = self._private_quote
            if private and text.startswith(private, end):
                self._end_bare(quoted=True)
                return end + len(private), False
            found = self._bare_stops.match_final(text, end) if final else self._bare_stops.match(text, end)
            if found is not None and found.lastindex is None:
                return end, True
            if found is not None or (final and is_cut(self._bare_stops.markers, text, end)):
                self._end_bare()
                return end, False
        self._take_bare(char)
        return end + 1, False

    def _ends_bare(self, char: str, text: str, pos: int, final: bool) -> bool | None:
        """Whether ``,`` or ``:`` at ``pos`` ends the value."""
        if char == ":" or self._captured is not None:
            return self._captured is not None
        if not self._begun and self._size <= LONGEST_SCALAR and scalar("".join(self._parts).strip()) is not None:
            return True
        window = text[pos + 1 : pos + 1 + LOOKAHEAD]
        return self._member_follows(window, 0, final or len(window) == LOOKAHEAD)

    def _in_brackets(self, text: str, pos: int, final: bool) -> tuple[int, bool]:
        """Go on inside the brackets of an expression, which is kept as text up to its last bracket."""
        end = end_of(_INNER_STRINGS[self._inner_mark] if self._inner_mark else self._bracket_run, text, pos)
        self._take_bare(text[pos:end])
        if end == len(text):
            return end, True
        char = text[end]
        if self._inner_mark:
            if char == "\\" and not final:  # at the end of the text: what it escapes has to come
                return end, True
            self._inner_mark = "" if char == self._inner_mark else self._inner_mark
            self._take_bare(char)
            return end + 1, False
        if char in self._stops.starts:
            stop = self._stop_at(text, end, final)
            if stop is None:
                return end, True
            if stop:
                self._end_bare()
                return end, False
        if char in "\"'":
            if not self._last.isalnum():  # no apostrophe
                self._inner_mark = char
        elif char in "([{":
            self._brackets += 1
        elif char in ")]}":
            self._brackets -= 1
        self._take_bare(char)
        return end + 1, False

    def _take_bare(self, piece: str) -> None:
        """Take more of the value: it goes out once it can be neither a number nor a word that means something."""
        if not piece:
            return
        self._last = piece[-1]
        self._parts.append(piece)
        self._size += len(piece)
        if self._captured is not None:
            return
        if self._begun:
            if piece.isspace():
                return
        elif self._types - {"string"} or (self._size <= LONGEST_SCALAR and perhaps_scalar("".join(self._parts))):
            return
        else:
            self._report_bare()
        whole = "".join(self._parts)
        text = whole.rstrip()
        self._parts = [whole[len(text) :]]
        self._add(quote(text)[1:-1])

    def _end_bare(self, quoted: bool = False) -> None:
        """The value is complete; ``quoted`` where the private quote, which it lacks in front, ends it."""
        if quoted:
            message = f"{self._private_quote!r} expected before this text"
            self.findings.append(Finding("open-tag-missing", self._bare_offset, message))
        if self._begun:
            self._end_text()
            return
        text = "".join(self._parts).strip()
        literal = None if quoted else scalar(text)
        if self._captured is not None:
            self._captured_value = quote(text) if literal is None else literal
            self._captured_key = quote(text if literal is None or self._private_quote else literal)
            if literal is None and not self._private_quote:
                self._report_bare()
            self._state = KEY_END
            return
        self._output.emit(quote(text) if quoted else self._bare_value(text, literal))
        self._state = AFTER

    def _bare_value(self, text: str, literal: str | None) -> str:
        """JSON text of the value, whose literal is known, by its declared types."""
        value = quote(text) if literal is None else literal
        if self._types:
            fitting, fits = to_json(text if literal is None else literal, self._types)
            value = fitting if fits and fitting[0] != '"' else quote(text)
            if not fits:
                message = f"the value of {self._output.key} does not fit its declared type and stays a string"
                self.findings.append(Finding("value-uncoerced", self._bare_offset, message))
        if literal is None and value[0] == '"' and (not self._types or "string" in self._types):
            self._report_bare()
        return value

    def _report_bare(self) -> None:
        message = "a value without quotes that is no literal became a string"
        self.findings.append(Finding("payload-malformed", self._bare_offset, message))


@lru_cache(maxsize=64)
def _run(ends: str) -> re.Pattern[str]:
    return re.compile(rf"[^()\[\]{{}}{re.escape(ends)}]*+")
