"""A section of calls: each has a header that names it, then a JSON body (families C and F of the wire formats).

Owns the walk from call to call and passing the body on verbatim. What a header says is a dialect's business.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from enum import Enum
from typing import ClassVar, NamedTuple

from ..markers import marker_scanner
from ..messages import DeltaToolCall
from .json_value_scanner import JsonValueScanner
from .tool_parser import ToolParser

LOOKAHEAD = 512
"""Characters that are held, at most, to read a header or to see whether a call follows."""

_WHITE_SPACE = re.compile(r"\s*+")
_NOISE = re.compile(r"[^<]{0,256}")


class Header(NamedTuple):
    """What a call's header says: the function's name, and the model's own id where it wrote one."""

    name: str
    call_id: str | None = None


class _State(Enum):
    GAP = "between calls"
    HEADER = "in a header"
    BODY_START = "before the body's first character"
    BODY = "in a body that is kept until its end"
    CALL_END = "before the call's close tag"


GAP, HEADER, BODY_START, BODY, CALL_END = _State


class SectionToolParser(ToolParser):
    """Base of the section/call dialects.

    Attributes:
        call_open_tag: begins a call.
        argument_tag: stands between header and body.
        call_close_tag: ends a call.
    """

    call_open_tag: ClassVar[str]
    argument_tag: ClassVar[str]
    call_close_tag: ClassVar[str]

    @classmethod
    def tags(cls) -> tuple[str, ...]:
        return (*super().tags(), cls.call_open_tag, cls.argument_tag, cls.call_close_tag)

    @abstractmethod
    def _read_header(self, text: str, pos: int) -> Header | None:
        """Read a header's text, which stands at ``pos`` for diagnostics; ``None`` where it names nothing."""

    def _begin_payload(self) -> None:
        self._state = GAP
        stops = marker_scanner((self.call_close_tag, self.call_open_tag, *self.close_tags), self.boundaries)
        self._stops = stops
        self._scanner = JsonValueScanner(stops)
        self._kept_body: list[str] = []

    def _begins_payload(self, text: str, pos: int, final: bool) -> bool | None:
        """Noise before the first call is tolerated, as far as it is short and holds no tag."""
        noise = _NOISE.match(text, pos)
        assert noise is not None
        end = noise.end()
        if text.startswith(self.call_open_tag, end):
            return True
        if final or end - pos == 256:
            return False
        return None if self.call_open_tag.startswith(text[end : end + len(self.call_open_tag)]) else False

    def begins_untagged_call(self, text: str, pos: int, final: bool, *, after_call: bool = False) -> bool | None:
        window = text[pos : pos + LOOKAHEAD]
        tag = window.find(self.argument_tag)
        if tag > 0:
            return "<" not in window[len(self.call_open_tag) : tag]
        rest = window[len(self.call_open_tag) :]
        unfinished = "<" not in rest or self.argument_tag.startswith(rest[rest.index("<") :])
        return None if not final and unfinished and len(window) < LOOKAHEAD else False

    # -- the walk -----------------------------------------------------------------------------------------------------

    def _consume_stream_payload(self, text: str, deltas: list[DeltaToolCall], final: bool, pos: int) -> int:
        while pos < len(text) and not self._payload_closed:
            state = self._state
            if state is BODY:
                end = self._scanner.feed(text, pos, final)
                self._kept_body.append(text[pos:end])
                if self._scanner.done or self._scanner.stopped:
                    self._end_body(deltas)
                    self._state = CALL_END
            elif state is GAP:
                end = self._gap(text, final, pos)
            elif state is HEADER:
                end = self._header(text, deltas, final, pos)
            elif state is BODY_START:
                end = self._body_start(text, deltas, final, pos)
                if self._passing is not None:
                    return end
            else:
                end = self._call_end(text, final, pos)
            if end == pos and self._state is state and not self._payload_closed:
                break
            pos = end
        if final and not self._payload_closed:
            self._end_of_input(text, deltas, pos)
            return len(text)
        return pos

    def _gap(self, text: str, final: bool, pos: int) -> int:
        space = _WHITE_SPACE.match(text, pos)
        assert space is not None
        if space.end() > pos:
            self._held.append(space.group())
        pos = space.end()
        if pos == len(text):
            return pos
        begins = self._begins_payload(text, pos, final)
        if begins is None:
            return pos
        if not begins:
            self._payload_closed = True
            return pos
        noise = _NOISE.match(text, pos)
        assert noise is not None
        if noise.group():
            self._report("text-dropped", pos, f"{noise.group()!r} between section and call was dropped")
        self._held.clear()
        self._state = HEADER
        self._call_offset = self.base_offset + noise.end()
        return noise.end() + len(self.call_open_tag)

    def _header(self, text: str, deltas: list[DeltaToolCall], final: bool, pos: int) -> int:
        end = text.find(self.argument_tag, pos, pos + LOOKAHEAD)
        stop = self._stops.search_final(text, pos, end if end >= 0 else pos + LOOKAHEAD)
        if stop is not None:
            end = stop.start()
        elif end < 0:
            if len(text) - pos < LOOKAHEAD:
                return pos
            self._report("payload-malformed", pos, f"no {self.argument_tag!r} after a call's header")
            self._payload_closed = True
            return pos
        header = self._read_header(text[pos:end].strip(), pos)
        self._call_index = -1
        self._named = False
        self._empty = True
        if header is None:
            self._report("call-without-name", pos, f"{text[pos:end].strip()!r} names no function: the call was dropped")
        else:
            self._open_call(header, deltas, pos)
        if stop is not None:
            self._report("open-tag-missing", end, f"{self.argument_tag!r} expected here")
            self._end_body(deltas)
            self._state = CALL_END
            return end
        self._state = BODY_START
        return end + len(self.argument_tag)

    def _open_call(self, header: Header, deltas: list[DeltaToolCall], pos: int) -> None:
        self._begin_call(header.name, deltas, pos, header.call_id)

    def _body_start(self, text: str, deltas: list[DeltaToolCall], final: bool, pos: int) -> int:
        space = _WHITE_SPACE.match(text, pos)
        assert space is not None
        pos = space.end()
        if pos == len(text):
            return pos
        stop = self._stops.match_final(text, pos) if final else self._stops.match(text, pos)
        if stop is not None and stop.lastindex is None:
            return pos
        if stop is not None:
            self._end_body(deltas)
            self._state = CALL_END
        else:
            self._scanner.begin(text[pos])
            self._pass_body_on()
        return pos

    def _pass_body_on(self) -> None:
        """A body begins: it goes out as it comes."""
        self._passing = self._scanner
        self._empty = False
        self._state = CALL_END

    def _end_body(self, deltas: list[DeltaToolCall]) -> None:
        """The body is complete, or a tag cuts it short; an empty one means no arguments."""
        if self._empty:
            self._emit_delta(deltas, "{}")
            self._empty = False

    def _call_end(self, text: str, final: bool, pos: int) -> int:
        """Find the call's close tag; what stands before it belongs nowhere."""
        stop = self._stops.search_final(text, pos) if final else self._stops.search(text, pos)
        end = len(text) if stop is None else stop.start()
        junk = text[pos:end]
        if junk.strip() and not self._junk_reported(pos):
            self._report("payload-malformed", pos, "text between a call's arguments and its end was dropped")
        if stop is None or stop.lastindex is None:
            return end
        self._state = GAP
        if stop.group() == self.call_close_tag:
            return stop.end()
        self._report("close-tag-missing", end, f"{self.call_close_tag!r} expected before {stop.group()!r}")
        return end

    def _junk_reported(self, pos: int) -> bool:
        last = self.diagnostics[-1] if self.diagnostics else None
        return last is not None and last.code == "payload-malformed" and last.offset >= self._call_offset

    def _end_of_input(self, text: str, deltas: list[DeltaToolCall], pos: int) -> None:
        if text.startswith("\\", pos):
            self._report("text-dropped", pos, f"{text[pos:]!r} at the end of the output is no complete escape")
        elif self._state is HEADER:
            self._report("call-without-name", pos, f"the header {text[pos:].strip()!r} is not complete")
