"""Step 3: ``steptml`` tags, each call in tokens of its own inside a section."""

from __future__ import annotations

import re

from ..messages import DeltaToolCall
from .invoke_tool_parser import InvokeToolParser
from .tool_parser import ToolParserManager
from .undecided import Undecided, unfinished
from .writing import FunctionCalls
from .xml_tool_parser import LOOKAHEAD, AfterFunction

_CALL_OPEN = "<｜tool_call_begin｜>"
_CALL_CLOSE = "<｜tool_call_end｜>"
_HEADER = re.compile(
    rf"{re.escape(_CALL_OPEN)}\s{{0,32}}([^<>\n]{{0,64}}?)\s{{0,32}}<｜tool_sep｜>\s{{0,32}}(?=<steptml:invoke)"
)
_UNFINISHED_HEADER = re.compile(
    rf"{re.escape(_CALL_OPEN)}\s{{0,32}}[^<>\n]{{0,64}}\s{{0,32}}"
    r"(?:<[^<>]{0,10}|<｜tool_sep｜>\s{0,32}(?:<[a-z:]{0,14})?)?\Z"
)
# the same and the call's head behind it, so short that it can be looked at again with every chunk
_unfinished_head = re.compile(
    rf"\s{{0,8}}+{re.escape(_CALL_OPEN)}\s{{0,32}}[^<>\n]{{0,64}}"
    r"(?:<[^<>]{0,10}|<｜tool_sep｜>\s{0,32}(?:<[a-z:]{0,14}|<steptml:invoke[^<>\n]{0,160})?)?\Z"
).match


@ToolParserManager.register_module("step3")
class Step3ToolParser(InvokeToolParser):
    """``<｜tool_calls_begin｜>``, then calls, then ``<｜tool_calls_end｜>``.

    A call is written without newlines; one on each side of a value is taken for layout::

    <｜tool_call_begin｜>function<｜tool_sep｜>
    <steptml:invoke name="NAME">
    <steptml:parameter name="KEY">VALUE</steptml:parameter>
    </steptml:invoke>
    <｜tool_call_end｜>
    """

    description = "tags <steptml:invoke> and <steptml:parameter> in a section: Step-3"
    prefix = "steptml:"
    open_tags = ("<｜tool_calls_begin｜>",)
    close_tags = ("<｜tool_calls_end｜>",)
    payload_openers = (_CALL_OPEN, "<steptml:invoke name")
    enclosing_close_tags = (_CALL_CLOSE,)
    template_newlines = True

    @classmethod
    def tags(cls) -> tuple[str, ...]:
        return (*super().tags(), _CALL_OPEN, "<｜tool_sep｜>")

    @classmethod
    def write_calls(cls, calls: FunctionCalls) -> str:
        written = "\n".join(
            f"{_CALL_OPEN}function<｜tool_sep｜>{cls._write_call(*call, margin='')}{_CALL_CLOSE}" for call in calls
        )
        return f"{cls.open_tags[0]}\n{written}\n{cls.close_tags[0]}"

    def undecided(self) -> Undecided | None:
        return self._unfinished_start if self._opening else super().undecided()

    def _unfinished_start(self, text: str) -> object:
        return _unfinished_head(text) or unfinished(self.payload_openers, self.boundaries)(text)

    def _undecided_function(self, text: str) -> object:
        return _unfinished_head(text) or super()._undecided_function(text)

    def _begin_payload(self) -> None:
        super()._begin_payload()
        self._call_open = False  # whether the tokens round a call are to be closed

    def _begins_payload(self, text: str, pos: int, final: bool) -> bool | None:
        if not text.startswith(_CALL_OPEN, pos):
            return super()._begins_payload(text, pos, final)
        window = text[pos : pos + LOOKAHEAD]
        if _HEADER.match(window):
            return True
        return None if not final and _UNFINISHED_HEADER.match(window) else False

    def begins_untagged_call(self, text: str, pos: int, final: bool, *, after_call: bool = False) -> bool | None:
        if text.startswith(_CALL_OPEN, pos):
            begins = self._begins_payload(text, pos, final)
            if not begins:
                return begins
            header = _HEADER.match(text, pos)
            assert header is not None
            pos = header.end()
        return super().begins_untagged_call(text, pos, final, after_call=after_call)

    def _consume_head(self, text: str, deltas: list[DeltaToolCall], final: bool, pos: int) -> int | None:
        if self._functions:
            tag = self._tag_at(text, pos, (_CALL_CLOSE,))
            if tag is None:
                return None
            if tag:
                self._held.clear()
                if not self._call_open:
                    self._report("stray-close-tag", pos, f"{tag!r} closes nothing here")
                self._call_open = False
                return pos + len(tag)
            if self._call_open:
                self._call_open = False
                self._report("close-tag-missing", pos, f"{_CALL_CLOSE!r} expected here")
        return super()._consume_head(text, deltas, final, pos)

    def _consume_function(self, payload: str, pos: int, final: bool) -> AfterFunction | None:
        if not payload.startswith(_CALL_OPEN, pos):
            return super()._consume_function(payload, pos, final)
        header = _HEADER.match(payload, pos)
        assert header is not None  # the payload began with it
        head = super()._consume_function(payload, header.end(), final)
        if head is None:
            return None
        if header[1] != "function":
            self._report("header-malformed", header.start(1), f"{header[1]!r} was read as 'function'")
        self._call_open = True
        return head
