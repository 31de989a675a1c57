"""The strings in a call's brackets, as they come: where they end, and what of them can go out before.

Owns the string at hand, and what all values share. What an escape means is :mod:`.literals`' business, which member the
value belongs to the literal reader's.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

from ..json_string import quote
from ..markers import Boundaries, marker_scanner
from .literal_output import CALL, LIST, OBJECTS, UNDECIDED, ArgumentsOutput
from .literal_patterns import BARE_KEY, NAME, STRING_START
from .literals import string_body, string_text

LOOKAHEAD = 256
"""Characters that are held, at most, to see whether a quote or a comma ends a value."""

_LONGEST_ELEMENT = 1024  # characters of the first element of `{` or `(` that are held to see what the bracket opens
_WHITE_SPACE = re.compile(r"\s*+")
_STRING_START = re.compile(r"([rRbBuUfF]{0,2})(\"\"\"|'''|[\"'])")
_UNFINISHED_START = re.compile(rf"{STRING_START}\Z")
_NEXT_KEYWORD = re.compile(rf"\s*+(?:{NAME}\s{{0,32}}[=:]|\*\*|\))")
_UNFINISHED_KEYWORD = re.compile(rf"\s*+(?:\*|{NAME}\s{{0,32}})?\Z")
_NEXT_KEY = re.compile(rf"\s*+(?:{BARE_KEY}\s{{0,32}}:|[rRbBuUfF]{{0,2}}[\"']|[}}(])")
_UNFINISHED_KEY = re.compile(rf"\s*+(?:{BARE_KEY}\s{{0,32}})?\Z")


class State(Enum):
    """Where the reader is."""

    MEMBER = "before a member: an argument, a key or an element"
    KEY_END = "after what may be a key"
    VALUE = "before a value"
    STRING = "in a string"
    BARE = "in a value without quotes"
    AFTER = "after a value"


MEMBER, KEY_END, VALUE, STRING, BARE, AFTER = State


class Finding(NamedTuple):
    """A diagnostic, its offset counted from the start of the response."""

    code: str
    offset: int
    message: str


class LiteralStrings:
    """The part of the literal reader that is inside a string; see there for arguments and attributes.

    A value goes to :attr:`_output` as it comes, or is captured where it may be a key: then the reader takes over with
    :attr:`_captured_key` and :attr:`_captured_value`, the two things that it can be.
    """

    def __init__(self, stops: tuple[str, ...], boundaries: Boundaries, private_quote: str = "") -> None:
        self.base_offset = 0
        self.findings: list[Finding] = []
        self._private_quote = private_quote
        self._stops = marker_scanner(stops, boundaries)
        self._quotes = marker_scanner((private_quote or '"',), boundaries)
        self._output = ArgumentsOutput(CALL, ")")
        self._state = MEMBER
        self._by_name = False  # the argument at hand has a name, and so must all that follow
        self._any_name = False  # an argument had one, so that none of the schema's is free for others
        self._types: frozenset[str] = frozenset()  # declared for the value at hand
        self._begun = False  # whether the beginning of the value is out
        self._captured: list[str] | None = None
        self._captured_size = 0
        self._captured_key = self._captured_value = ""

    def _report(self, code: str, pos: int, message: str) -> None:
        self.findings.append(Finding(code, self.base_offset + pos, message))

    def _stop_at(self, text: str, pos: int, final: bool) -> bool | None:
        """Whether a stop tag, whole or cut off by the end of the input, stands at ``pos``; ``None`` if one may yet."""
        if final and is_cut(self._stops.markers, text, pos):
            return True
        found = self._stops.match_final(text, pos) if final else self._stops.match(text, pos)
        return False if found is None else (None if found.lastindex is None else True)

    def _member_follows(self, window: str, pos: int, ended: bool) -> bool | None:
        """Whether a comma before ``pos`` is followed by another member, and not by more of the same text."""
        kind = self._output.kind
        if kind not in OBJECTS or (kind is CALL and not self._by_name):
            return True
        following, unfinished = (_NEXT_KEYWORD, _UNFINISHED_KEYWORD) if kind is CALL else (_NEXT_KEY, _UNFINISHED_KEY)
        private = self._private_quote
        at = end_of(_WHITE_SPACE, window, pos)
        if following.match(window, pos) or (private and window.startswith(private, at)):
            return True
        if unfinished.match(window, pos) or (private and private.startswith(window[at:])):
            return True if ended else None
        return False

    # -- text of a value that is a string -----------------------------------------------------------------------------

    def _capture(self) -> None:
        """What comes now may be a key."""
        self._captured, self._captured_size = [], 0

    def _add(self, piece: str) -> None:
        """Take a piece of the string's JSON text."""
        if not piece:
            return
        if self._captured is None:
            if self._begun:
                self._output.add(piece)
            else:
                self._begun = True
                self._output.emit(f'"{piece}')
            return
        self._captured.append(piece)
        self._captured_size += len(piece)
        if self._captured_size > _LONGEST_ELEMENT and self._output.kind in UNDECIDED:
            whole = "".join(self._captured)
            self._captured = None
            self._begun = True
            self._output.decide(LIST)
            self._output.emit(f'"{whole}')

    def _end_text(self) -> None:
        """The string is complete."""
        if self._captured is not None:
            self._captured_key = self._captured_value = f'"{"".join(self._captured)}"'
            self._state = KEY_END
            return
        if self._begun:
            self._output.add('"')
        else:
            self._output.emit('""')
        self._state = AFTER

    # -- strings ------------------------------------------------------------------------------------------------------

    def _start_string(self, text: str, pos: int, final: bool) -> int | None:
        """Read a string's opening quote: where it ends, ``-1`` if none stands here, ``None`` if one may yet."""
        private = self._private_quote
        if private:
            if text.startswith(private, pos):
                self._begin_string(private, raw=True)
                return pos + len(private)
            if private.startswith(text[pos : pos + len(private)]):
                return None
        if not final and len(text) - pos < 5 and _UNFINISHED_START.match(text, pos):
            return None
        start = _STRING_START.match(text, pos)
        if start is None or (private and start[1]):
            return -1
        if private:
            self._report("token-repaired", pos, f"{start[2]!r} was read as {private!r}")
        self._begin_string(start[2], raw="r" in start[1].lower())
        return start.end()

    def _begin_string(self, mark: str, raw: bool) -> None:
        self._mark, self._raw = mark, raw
        self._begun = self._inner_quote_reported = False
        self._state = STRING

    def _string(self, text: str, pos: int, final: bool) -> tuple[int, bool]:
        """Go on in a string; return where that stopped and whether more text must come."""
        mark = self._mark
        if mark == self._private_quote:
            return self._private_string(text, pos, final)
        end = end_of(string_body(mark, self._raw), text, pos)
        self._add(string_text(text[pos:end], self._raw))
        if end == len(text) or text[end] == "\\":
            return end, True
        if not text.startswith(mark, end):  # the beginning of a triple quote
            if not final:
                return end, True
            self._add(quote(text[end:])[1:-1])
            return len(text), True
        after = end + len(mark)
        closes = True if len(mark) == 3 else self._closes(text, after, final)
        if closes is None:
            return end, True
        if closes:
            following = self._adjacent_string(text, after, final)
            if following is None:
                return end, True
            if following < 0:
                self._end_text()
            return max(following, after), False
        if not self._inner_quote_reported:
            self._inner_quote_reported = True
            self._report("payload-malformed", end, "a quote inside a string that is not escaped was taken as text")
        self._add(quote(mark)[1:-1])
        return after, False

    def _private_string(self, text: str, pos: int, final: bool) -> tuple[int, bool]:
        found = self._quotes.search_final(text, pos) if final else self._quotes.search(text, pos)
        end = len(text) if found is None else found.start()
        self._add(quote(text[pos:end])[1:-1])
        if found is None or found.lastindex is None:
            return end, True
        closes = self._closes(text, found.end(), final)
        if closes is None:
            return end, True
        if closes:
            self._end_text()
        else:
            self._add(quote(found.group())[1:-1])
        return found.end(), False

    def _closes(self, text: str, pos: int, final: bool) -> bool | None:
        """Whether a quote that ends at ``pos`` closes its string: whether the grammar allows what follows it."""
        window = text[pos : pos + LOOKAHEAD]
        ended = final or len(window) == LOOKAHEAD
        at = end_of(_WHITE_SPACE, window, 0)
        if at == len(window):
            return True if ended else None
        char = window[at]
        if char in ")]}":
            return True
        if char == ",":
            if self._captured is not None or self._mark == self._private_quote:
                return True
            return self._member_follows(window, at + 1, ended)
        if char in ":=" and (char == ":" or self._captured is not None):
            return self._captured is not None
        if char in self._stops.starts:
            stop = self._stop_at(window, at, ended)
            if stop is not False:
                return stop
        if at and not self._private_quote:
            if _STRING_START.match(window, at):
                return True
            return None if not ended and _UNFINISHED_START.match(window, at) else False
        return False

    def _adjacent_string(self, text: str, pos: int, final: bool) -> int | None:
        """Where a string goes on that is written as several; ``-1`` if it doesn't, ``None`` if that can't be told."""
        window = text[pos : pos + LOOKAHEAD]
        at = end_of(_WHITE_SPACE, window, 0)
        if at == len(window):
            return -1 if final or at == LOOKAHEAD else None
        if self._private_quote or not (at or len(self._mark) == 3):
            return -1
        if not final and len(window) - at < 5 and _UNFINISHED_START.match(window, at):
            return None
        start = _STRING_START.match(window, at)
        if start is None:
            return -1
        self._mark, self._raw = start[2], "r" in start[1].lower()
        return pos + start.end()


def is_cut(tags: tuple[str, ...], text: str, pos: int) -> bool:
    """Whether the text ends within one of ``tags``, which begins at ``pos``."""
    rest = text[pos : pos + max(map(len, tags))]
    return any(tag.startswith(rest) for tag in tags)


def end_of(pattern: re.Pattern[str], text: str, pos: int) -> int:
    """Where a pattern that may match nothing stops."""
    match = pattern.match(text, pos)
    assert match is not None
    return match.end()
