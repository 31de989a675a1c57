"""Calls written as a name and literals in brackets: ``name(key=value)`` and ``name{key:value}``.

Owns the walk from call to call. What stands in a call's brackets is the literal reader's business, and what a call's
head looks like a dialect's.
"""

from __future__ import annotations

import re
from json.encoder import encode_basestring
from typing import ClassVar

from ..json_string import LONG
from ..markers import tails
from ..messages import DeltaToolCall
from .literal_output import CALL, DICT
from .literal_reader import LiteralReader
from .tool_parser import ToolParser
from .undecided import Undecided

LONGEST_HEAD = 512
"""Characters that are held, at most, to see whether a call begins."""

_SPACE = re.compile(r"\s*+")
_GAP = re.compile(r"[\s,;]*+")


class LiteralToolParser(ToolParser):
    """Base of the dialects whose arguments are literals in brackets.

    A dialect declares its tags, what a call begins with and, where it has one, its own quote.

    Attributes:
        call_head: a call up to its opening bracket, which is the group ``bracket``, with its ``name``. Where the call
            has no brackets that group is empty.
        unfinished_head: what may become :attr:`call_head`, up to the end of the text.
        in_list: whether the calls may stand in ``[`` and ``]``.
        private_quote: stands on both sides of a string, in which nothing is escaped.
    """

    call_head: ClassVar[re.Pattern[str]]
    unfinished_head: ClassVar[re.Pattern[str]]
    in_list: ClassVar[bool] = False
    private_quote: ClassVar[str] = ""
    payload_filler = _SPACE

    @classmethod
    def tags(cls) -> tuple[str, ...]:
        return (*super().tags(), cls.private_quote) if cls.private_quote else super().tags()

    def _set_up(self) -> None:
        super()._set_up()
        self._reader = LiteralReader((*self.close_tags, *self.open_tags), self.boundaries, self.private_quote)
        self._in_call = False
        self._unfinished_close_tags = tails(self.close_tags)

    # -- what begins --------------------------------------------------------------------------------------------------

    def _begin_payload(self) -> None:
        self._in_call = False
        self._any_call = False
        self._in_list = self._list_ended = False

    def _begins_payload(self, text: str, pos: int, final: bool) -> bool | None:
        window = text[pos : pos + LONGEST_HEAD]
        at = self._payload_head(window)
        if self.call_head.match(window, at):
            return True
        return None if not final and self._is_unfinished_head(window, at) else False

    def _payload_head(self, window: str) -> int:
        """Where a payload has its first call's head."""
        if not self.in_list or window[:1] != "[":
            return 0
        space = _SPACE.match(window, 1)
        assert space is not None
        return space.end()

    def plain_piece(self, text: str) -> str | None:
        if not self._in_call:
            return super().plain_piece(text)
        if self.call_index < 0:
            return None
        reader = self._reader
        inside = reader.inside
        if inside and inside not in text and "\\" not in text and len(text) < LONG:  # most of a string, see quote
            return encode_basestring(text)[1:-1]
        return reader.plain_piece(text)

    def piece_before_tail(self, text: str) -> tuple[str, int] | None:
        piece = self._reader.piece_before_tail(text) if self._in_call and self.call_index >= 0 else None
        return super().piece_before_tail(text) if piece is None else piece

    def feed_tool_block(self, text: str, deltas: list[DeltaToolCall], final: bool = False, pos: int = 0) -> int:
        if self._in_call and not final:  # most chunks inside a call need no more than this
            if not pos and text[:1] == "\\":  # an escape that has waited: new text was tried before
                piece = self._reader.plain_piece(text)
                if piece is not None:
                    self._emit_delta(deltas, piece)
                    return len(text)
            pos = self._arguments(text, deltas, pos)
            if self._in_call:
                return pos
        return super().feed_tool_block(text, deltas, final, pos)

    def undecided(self) -> Undecided | None:
        if self._in_call:
            return self._reader.waits
        return self._waits_for_payload if self._opening else super().undecided()

    def _waits_for_payload(self, text: str) -> bool:
        return self._is_unfinished_head(text, self._payload_head(text))

    def _undecided_payload(self) -> Undecided | None:
        return self._waits_for_head

    def _waits_for_head(self, text: str) -> bool:
        return (not self._list_ended and self._is_unfinished_head(text)) or text in self._unfinished_close_tags

    def _is_unfinished_head(self, window: str, pos: int = 0) -> bool:
        return len(window) < LONGEST_HEAD and self.unfinished_head.match(window, pos) is not None

    # -- the walk -----------------------------------------------------------------------------------------------------

    def _consume_stream_payload(self, text: str, deltas: list[DeltaToolCall], final: bool, pos: int) -> int:
        waiting = False
        while not (waiting or self._payload_closed):
            if self._in_call:
                pos = self._arguments(text, deltas, pos, final)
                waiting = self._in_call
            else:
                pos, waiting = self._between(text, deltas, final, pos)
        return pos

    def _arguments(self, text: str, deltas: list[DeltaToolCall], pos: int, final: bool = False) -> int:
        """Go on in a call's brackets; return where that stopped."""
        reader = self._reader
        reader.base_offset = self.base_offset
        pos = reader.feed(text, pos, final)
        if reader.over:
            self._in_call = False
            if not self.in_list:
                self._close_before_next_block()
        elif final:
            reader.cut(text, pos)
            pos = len(text)
        piece = reader.take()
        if piece and self.call_index >= 0:
            deltas.append(DeltaToolCall(self.call_index, None, None, None, piece))
        if reader.findings:
            for finding in reader.findings:
                self._report_at(*finding)
            reader.findings.clear()
        return pos

    def _between(self, text: str, deltas: list[DeltaToolCall], final: bool, pos: int) -> tuple[int, bool]:
        """Go on where no call is open; return where that stopped and whether more text must come."""
        gap = (_GAP if self._any_call else _SPACE).match(text, pos)
        assert gap is not None
        if gap.end() > pos:
            self._held.append(gap.group())
        pos = gap.end()
        if pos == len(text):
            return pos, True
        if self.in_list:
            if text[pos] == "[" and not (self._any_call or self._in_list):
                self._in_list = True
                return pos + 1, False
            if text[pos] == "]" and self._in_list:
                return self._end_list(pos), False
        if text.startswith(self.close_tags, pos):
            self._end_calls(pos)
            return pos, False
        window = text[pos : pos + LONGEST_HEAD]
        head = None if self._list_ended else self.call_head.match(window)
        if head is not None:
            self._begin(head, deltas, pos)
            return pos + head.end(), False
        if window in self._unfinished_close_tags:
            return pos, True
        if not self._list_ended and self._is_unfinished_head(window):
            if final:
                self._report("call-without-name", pos, f"the function's name is not complete: {window!r}")
            return pos, True
        self._end_calls(pos)
        return pos, False

    def _end_list(self, pos: int) -> int:
        self._held.clear()
        self._in_list = False
        self._list_ended = True
        self._payload_closed = not self._tagged  # else its close tag must come
        return pos + 1

    def _end_calls(self, pos: int) -> None:
        """No call follows at ``pos``."""
        self._payload_closed = True
        if self._in_list:
            self._report("close-tag-missing", pos, "']' expected after the last call")

    def _begin(self, head: re.Match[str], deltas: list[DeltaToolCall], pos: int) -> None:
        """A call's head stands at ``pos``."""
        self._held.clear()
        name, bracket = head.group("name", "bracket")
        if bracket:
            self._open_call(name, ")" if bracket == "(" else "}", deltas, pos)
            return
        self._any_call = True
        self._begin_call(name, deltas, pos)
        self._emit_delta(deltas, "{}")

    def _open_call(self, name: str, closer: str, deltas: list[DeltaToolCall], pos: int) -> None:
        """A call begins at ``pos``, whose bracket ``closer`` ends."""
        self._any_call = self._in_call = True
        self._begin_call(name, deltas, pos)
        self._reader.begin(self.request.parameters_of(name), DICT if self.private_quote else CALL, closer)
