"""The shortcut of the literal reader: what usually comes next is read with one pattern instead of step by step.

Owns what the groups of :mod:`.literal_patterns` do to the reader's state. It reads nothing that the walk would not.
"""

from __future__ import annotations

import re
from json.encoder import encode_basestring as quote

from ..markers import Boundaries
from .literal_output import CALL, DICT, LIST
from .literal_patterns import Match, Patterns, patterns
from .literal_strings import AFTER, MEMBER, STRING, VALUE
from .literal_values import LiteralValues
from .literals import WORDS, string_body, string_text

_IN_WORDS = re.compile(r"[\w.+\-]")


class LiteralSteps(LiteralValues):
    """The part of the literal reader that takes several steps at once; see there for arguments and attributes."""

    def __init__(self, stops: tuple[str, ...], boundaries: Boundaries, private_quote: str = "") -> None:
        super().__init__(stops, boundaries, private_quote)
        self._member_offset = 0
        self._inside = ""  # in a string whose beginning is out: the first character of the quote that ends it
        self._own_kind = DICT if private_quote else CALL
        self._usual: Match | None = None  # what usually comes in this state
        self.waits: Match | None = None
        self._own_patterns: Patterns | None = None
        self._list_patterns: Patterns | None = None
        # Outside strings the patterns must not run over what begins a tag or the private quote.
        if self._stops.starts == "<" and not _IN_WORDS.match(private_quote):
            self._own_patterns = patterns(private_quote, False, boundaries)
            self._list_patterns = patterns(private_quote, True, boundaries)

    def plain_piece(self, text: str) -> str | None:
        """JSON text of new text that lies wholly within a string; ``None`` where the walk has to look at it."""
        inside = self._inside
        if not inside or inside in text:
            return None
        if "\\" in text and self._mark != self._private_quote:
            match = string_body(self._mark, self._raw).match(text)
            return None if match is None or match.end() < len(text) else string_text(text, self._raw)
        return quote(text)[1:-1]

    def _look_ahead(self) -> None:
        """Choose the patterns, after a step of the walk."""
        state, kind = self._state, self._output.kind
        found = self._list_patterns if kind is LIST else self._own_patterns if kind is self._own_kind else None
        self._usual = self.waits = None
        if found is None or self._captured is not None:
            return
        self._chosen = found
        if state is MEMBER:
            self._usual, self.waits = found.member, found.member_waits
        elif kind is CALL and not self._by_name:  # any comma ends this argument, also one that no name follows
            return
        elif state is VALUE:
            self._usual, self.waits = found.value, found.value_waits
        elif state is STRING and not self._raw:
            self._usual, self.waits = found.strings.get(self._mark), found.string_waits.get(self._mark)

    def _take_steps(self, match: re.Match[str]) -> None:
        """Do what the walk would do at each step of ``match``."""
        piece, key, double, single, scalar = match.group(1, 2, 3, 4, 5)
        last, private, output = match.lastindex, self._private_quote, self._output
        if piece is not None:
            if piece:
                self._add(quote(piece)[1:-1] if private else string_text(piece))
            if last == 1:
                return
            if self._begun:
                output.add('"')
            else:
                output.emit('""')
        if key is not None:
            self._member_offset = self.base_offset + match.start(2)
            self._by_name = self._any_name = True
            output.key = quote(key)
        if scalar is not None:
            literal = WORDS.get(scalar, scalar)
            if private:
                self._bare_offset = self.base_offset + match.start(5)
                self._types = self._declared_types()
                literal = self._bare_value(scalar, literal)
            output.emit(literal)
            self._state = MEMBER
            self._usual, self.waits = self._chosen.member, self._chosen.member_waits
        elif last == 3 or last == 4:
            mark, string = (private or '"', double) if last == 3 else ("'", single)
            self._usual, self.waits = self._chosen.strings[mark], self._chosen.string_waits[mark]
            if output.kind is LIST:
                self._member_offset = self.base_offset + match.end() - len(string) - len(mark)
            self._begin_string(mark, raw=False)
            if string:
                self._begun = True
                output.emit(quote(string)[:-1])
        if last == 6 or last == 7:
            self._state = AFTER
