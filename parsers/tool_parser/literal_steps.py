"""The shortcut of the literal reader: what usually comes next is read with one pattern instead of step by step.

Owns what the groups of :mod:`.literal_patterns` do to the reader's state. It reads nothing that the walk would not.
"""

from __future__ import annotations

import re

from ..json_string import closing_quote, quote
from ..markers import Boundaries
from .literal_output import CALL, DICT, LIST
from .literal_patterns import KEY, PIECE, SCALAR, SINGLE_QUOTED, Expected, Match, Patterns, patterns
from .literal_strings import AFTER, MEMBER, STRING, VALUE
from .literal_values import LiteralValues
from .literals import WORDS, same_in_json, string_body, string_text

_IN_WORDS = re.compile(r"[\w.+\-]")


class LiteralSteps(LiteralValues):
    """The part of the literal reader that takes several steps at once; see there for arguments and attributes."""

    def __init__(self, stops: tuple[str, ...], boundaries: Boundaries, private_quote: str = "") -> None:
        super().__init__(stops, boundaries, private_quote)
        self.over = False
        self._member_offset = 0
        self.inside = ""  # in a string whose beginning is out: the first character of the quote that ends it
        self._own_kind = DICT if private_quote else CALL
        self._expected: Expected | None = None  # what usually comes in this state
        self._own_patterns: Patterns | None = None
        self._list_patterns: Patterns | None = None
        # Outside strings the patterns must not run over what begins a tag or the private quote.
        if self._stops.starts == "<" and not _IN_WORDS.match(private_quote):
            self._own_patterns = patterns(private_quote, False, boundaries)
            self._list_patterns = patterns(private_quote, True, boundaries)

    def plain_piece(self, text: str) -> str | None:
        """JSON text of new text that lies wholly within a string; ``None`` where the walk has to look at it."""
        inside = self.inside
        if not inside:
            return None
        escapes = "\\" in text and self._mark != self._private_quote
        if inside not in text:
            if not escapes:
                return quote(text)[1:-1]
            if not self._raw and same_in_json(text):
                return text
        if not escapes or text[-1] == "\\":
            return None
        if not self._raw:
            escaped = f"\\{inside}"
            rest = text.replace(escaped, "")
            if inside not in rest and "\\" not in rest:
                return quote(text.replace(escaped, inside))[1:-1]
        match = string_body(self._mark, self._raw).match(text)
        return string_text(text, self._raw) if match is not None and match.end() == len(text) else None

    def piece_before_tail(self, text: str) -> tuple[str, int] | None:
        """The like of new text that ends within an escape, and where that begins."""
        if not self.inside or text[-1:] != "\\" or self._mark == self._private_quote:
            return None
        end = len(text) - 1
        if self.inside in text or "\\" in text[:end]:  # the last backslash may belong to an escape itself
            match = string_body(self._mark, self._raw).match(text)
            if match is None or match.end() != end:
                return None
        return string_text(text[:end], self._raw), end

    def _long_string(self, text: str, pos: int) -> int:
        """Take the rest of a string that is there up to its quote, which is found faster than matched.

        Returns:
            Where the quote stands; ``pos`` where that isn't known.
        """
        mark = self._mark
        if mark == self._private_quote:
            end = text.find(mark, pos)
        elif len(mark) == 1:
            end = closing_quote(text, pos, mark)
        else:
            return pos
        if end <= pos:
            return pos
        self._add(string_text(text[pos:end], self._raw))
        return end

    @property
    def waits(self) -> Match | None:
        """Matches a text that would only wait for more if it were fed next; ``None`` where that isn't known."""
        return None if self._expected is None else self._expected.waits

    def _look_ahead(self) -> None:
        """Choose the patterns, after a step of the walk."""
        state, kind = self._state, self._output.kind
        found = self._list_patterns if kind is LIST else self._own_patterns if kind is self._own_kind else None
        self._expected = None
        if found is None or self._captured is not None:
            return
        self._chosen = found
        if state is MEMBER:
            self._expected = found.member
        elif kind is CALL and not self._by_name:  # any comma ends this argument, also one that no name follows
            return
        elif state is AFTER:
            self._expected = found.after
        elif state is VALUE:
            self._expected = found.value
        elif state is STRING and self._raw == bool(self._private_quote):
            self._expected = found.strings.get(self._mark)

    def _take_steps(self, match: re.Match[str], pos: int) -> int:
        """Do what the walk would do at each step of ``match``, which begins at ``pos``; return where that ends."""
        output, last, piece = self._output, match.lastindex or 0, match[PIECE]
        if piece:
            self._add(string_text(piece, self._raw))
        if last <= KEY:
            return pos if piece is None else match.end(PIECE)
        if piece is not None:
            if self._begun:
                output.add('"')
            else:
                output.emit('""')
        key = match[KEY]
        if key is not None:
            self._member_offset = self.base_offset + match.start(KEY)
            self._by_name = self._any_name = True
            output.key = f'"{key}"'
        if last < SCALAR:
            mark = "'" if last == SINGLE_QUOTED else self._private_quote or '"'
            self._take_string(match[last], mark, match.start(last))
            return match.end(last)
        scalar = match[SCALAR]
        if scalar is not None:
            self._take_scalar(scalar, match.start(SCALAR))
        if last > SCALAR:
            self._state = AFTER
            self._close(match[last], match.start(last))
            self._look_ahead()
        return match.end(last)

    def _take_string(self, string: str, mark: str, pos: int) -> None:
        output = self._output
        if output.kind is LIST:
            self._member_offset = self.base_offset + pos - len(mark)
        self._expected = self._chosen.strings[mark]
        self._begin_string(mark, raw=bool(self._private_quote))
        if string:
            self._begun = True
            output.emit(quote(string)[:-1])

    def _take_scalar(self, scalar: str, pos: int) -> None:
        literal = WORDS.get(scalar, scalar)
        if self._private_quote:
            self._bare_offset = self.base_offset + pos
            self._types = self._declared_types()
            literal = self._bare_value(scalar, literal)
        self._output.emit(literal)
        self._state = AFTER
        self._expected = self._chosen.after

    def _close(self, closer: str, pos: int) -> int:
        """A closing bracket stands at ``pos``."""
        output = self._output
        if not output.closes(closer):
            self._report("payload-malformed", pos, f"{closer!r} closes nothing here and was dropped")
            return pos + 1
        if output.closer != closer:
            self._report("payload-malformed", pos, f"{output.closer!r} expected before {closer!r}")
            while output.closer != closer:
                output.pop()
        self.over = output.pop()
        self._state = AFTER
        return pos + 1
