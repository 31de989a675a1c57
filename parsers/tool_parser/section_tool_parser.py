"""A section of calls: each has a header that names it, then a JSON body (families C and F of the wire formats).

Owns the walk from call to call and passing the body on verbatim. What a header says is a dialect's business.
"""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from enum import Enum
from functools import lru_cache
from typing import ClassVar, NamedTuple

from ..json_schema import is_json
from ..markers import marker_scanner, tails, tails_pattern
from ..messages import DeltaToolCall
from .json_value_scanner import JsonValueScanner
from .tool_parser import ToolParser
from .undecided import Undecided, usual_or_short
from .writing import FunctionCalls, json_text

LOOKAHEAD = 512
"""Characters that are held, at most, to read a header or to see whether a call follows."""

_WHITE_SPACE = re.compile(r"\s*+")
_NOISE = re.compile(r"[^<]{0,256}")
_HEADER = re.compile(r"\s{0,32}[^<\s]{1,256}\s{0,32}")
_UNFINISHED_HEADER = re.compile(r"\s{0,32}[^<\s]{0,256}\s{0,32}\Z")
_LONGEST_WAIT = 384  # characters, well below what the walk itself would hold


class _Waits(NamedTuple):
    """Which texts only wait: in a header, before one, and behind a body."""

    in_header: Undecided
    in_gap: Undecided
    after_body: Undecided


@lru_cache(maxsize=64)
def _waits(
    margin: str, call_close_tag: str, call_open_tag: str, argument_tag: str, close_tags: tuple[str, ...]
) -> _Waits:
    """Build them; headers wait as far as they have come."""
    followers = (call_open_tag, *close_tags)
    starts = re.escape(argument_tag[0]) + "<"
    ends = "|".join(map(re.escape, (argument_tag, call_close_tag, *followers)))
    header = rf"(?:[^{{{starts}]++|(?!{ends})[{starts}])*+\Z"
    gap = rf"\s*+(?:{re.escape(call_open_tag)}{header}|{tails_pattern(followers)}|\Z)"
    after = rf"{margin}(?:{re.escape(call_close_tag)}{gap}|{tails_pattern((call_close_tag, *followers))}|\Z)"
    # the space ends a tail
    between_calls = tuple(f"{call_close_tag}{space}{call_open_tag} " for space in ("", "\n"))
    return _Waits(
        usual_or_short(frozenset(), header, _LONGEST_WAIT),
        usual_or_short(tails(followers), gap, _LONGEST_WAIT),
        usual_or_short(tails((*followers, *between_calls)), after, _LONGEST_WAIT),
    )


class Header(NamedTuple):
    """What a call's header says: the function's name, and the model's own id where it wrote one."""

    name: str
    call_id: str | None = None


class _State(Enum):
    GAP = "between calls"
    HEADER = "in a header"
    BODY_START = "before the body's first character"
    BODY = "in a JSON body that is kept until its end"
    RAW_BODY = "in a body that is no JSON object: kept until a tag ends it"
    CALL_END = "before the call's close tag"


GAP, HEADER, BODY_START, BODY, RAW_BODY, CALL_END = _State


class SectionToolParser(ToolParser):
    """Base of the section/call dialects.

    Attributes:
        call_open_tag: begins a call.
        argument_tag: stands between header and body.
        call_close_tag: ends a call.
        body_margin: what may stand on either side of the body without being part of it.
        header_proof: what has to follow the first word of a header where a section's own tag is missing;
            ``argument_tag`` where empty.
    """

    call_open_tag: ClassVar[str]
    argument_tag: ClassVar[str]
    call_close_tag: ClassVar[str]
    body_margin: ClassVar[re.Pattern[str]] = _WHITE_SPACE
    header_proof: ClassVar[str] = ""

    @classmethod
    def tags(cls) -> tuple[str, ...]:
        return (*super().tags(), cls.call_open_tag, cls.argument_tag, cls.call_close_tag)

    @classmethod
    def write_calls(cls, calls: FunctionCalls) -> str:
        bodies = (
            f"{cls.call_open_tag}{cls._write_header(name, index)}{cls.argument_tag}{json_text(dict(arguments))}"
            for index, (name, arguments) in enumerate(calls)
        )
        written = "".join(f"{body}{cls.call_close_tag}" for body in bodies)
        return f"{cls.get_tool_open_tag()}{written}{cls.get_tool_close_tag() or ''}"

    @classmethod
    def _write_header(cls, name: str, index: int) -> str:
        return name

    @abstractmethod
    def _read_header(self, text: str, pos: int) -> Header | None:
        """Read a header's text, which stands at ``pos`` for diagnostics; ``None`` where it names nothing."""

    def _set_up(self) -> None:
        super()._set_up()
        self._stops = marker_scanner((self.call_close_tag, self.call_open_tag, *self.close_tags), self.boundaries)
        self._waits = _waits(
            self.body_margin.pattern, self.call_close_tag, self.call_open_tag, self.argument_tag, self.close_tags
        )

    def _begin_payload(self) -> None:
        self._state = GAP
        self._scanner = JsonValueScanner(self._stops)
        self._kept_body: list[str] = []

    def _undecided_payload(self) -> Undecided | None:
        state = self._state
        if state is CALL_END:
            return self._waits.after_body
        if state is GAP:
            return self._waits.in_gap
        return self._waits.in_header if state is HEADER else None

    def _begins_payload(self, text: str, pos: int, final: bool) -> bool | None:
        """Noise before the first call is tolerated, as far as it is short and holds no tag."""
        noise = _NOISE.match(text, pos)
        assert noise is not None
        end = noise.end()
        if text.startswith(self.call_open_tag, end):  # after words it may only be mentioned
            return self.begins_untagged_call(text, end, final) if noise.group().strip() else True
        if final or end - pos == 256:
            return False
        return None if self.call_open_tag.startswith(text[end : end + len(self.call_open_tag)]) else False

    def begins_untagged_call(self, text: str, pos: int, final: bool, *, after_call: bool = False) -> bool | None:
        proof = self.header_proof or self.argument_tag
        window = text[pos + len(self.call_open_tag) : pos + LOOKAHEAD]
        header = _HEADER.match(window)
        if header is not None:
            rest = window[header.end() : header.end() + len(proof)]
            if rest:
                unfinished = not final and rest != proof and proof.startswith(rest)
                return None if unfinished else rest == proof
        return None if not final and _UNFINISHED_HEADER.match(window) else False

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
            elif state is RAW_BODY:
                end = self._raw_body(text, deltas, final, pos)
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
            self._payload_closed = not self._is_cut_tag(text[pos : pos + LOOKAHEAD], self.close_tags)
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
        brace = text.find("{", pos, end if end >= 0 else pos + LOOKAHEAD)
        missing = brace >= 0  # the tag: arguments begin without it
        end = brace if missing else end
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
        self.call_index = -1
        self._empty = True
        self._junk = False  # whether text after the body was reported
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
        if missing:
            self._report("open-tag-missing", end, f"{self.argument_tag!r} expected here")
            return end
        return end + len(self.argument_tag)

    def _open_call(self, header: Header, deltas: list[DeltaToolCall], pos: int) -> None:
        self._begin_call(header.name, deltas, pos, header.call_id)

    def _body_start(self, text: str, deltas: list[DeltaToolCall], final: bool, pos: int) -> int:
        margin = self.body_margin.match(text, pos)
        assert margin is not None
        pos = margin.end()
        if pos == len(text):
            return pos
        stop = self._stops.match_final(text, pos) if final else self._stops.match(text, pos)
        if stop is not None and stop.lastindex is None:
            return pos
        if stop is not None:
            self._end_body(deltas)
            self._state = CALL_END
        else:
            self._begin_body(text[pos], pos)
        return pos

    def _begin_body(self, first: str, pos: int) -> None:
        """A body begins: JSON goes out as it comes, what is no container is judged as a whole."""
        self._body_offset = self.base_offset + pos
        self._empty = False
        self._scanner.begin(first)
        if first in "{[" and not self._keeps_body():
            self._passing = self._scanner
            self._state = CALL_END
        else:
            self._kept_body.clear()
            self._state = BODY if first in '{["' else RAW_BODY

    def _keeps_body(self) -> bool:
        """Whether a JSON object must be kept until its end."""
        return False

    def _raw_body(self, text: str, deltas: list[DeltaToolCall], final: bool, pos: int) -> int:
        stop = self._stops.search_final(text, pos) if final else self._stops.search(text, pos)
        end = len(text) if stop is None else stop.start()
        self._kept_body.append(text[pos:end])
        if stop is not None and stop.lastindex is not None:
            self._end_body(deltas)
            self._state = CALL_END
        return end

    def _end_body(self, deltas: list[DeltaToolCall], cut: bool = False) -> None:
        """A kept body is complete, or there is none; ``cut`` where the input ends in it or before it."""
        if not self._empty:
            self._emit_kept("".join(self._kept_body).rstrip(), deltas, cut)
        elif not cut:
            self._emit_delta(deltas, "{}")

    def _emit_kept(self, body: str, deltas: list[DeltaToolCall], cut: bool) -> None:
        inner = _decoded(body) if body.startswith('"') else ""
        if is_json(inner, dict):
            self._report_at("arguments-unwrapped", self._body_offset, "arguments were a string that holds an object")
            body = inner
        elif body == "null":
            self._report_at("payload-malformed", self._body_offset, "arguments are null: taken as an empty object")
            body = "{}"
        elif not cut:
            self._report_at("payload-malformed", self._body_offset, "the arguments are no JSON object")
        self._emit_delta(deltas, body)

    def _call_end(self, text: str, final: bool, pos: int) -> int:
        """Find the call's close tag; what stands before it belongs nowhere."""
        if self._scanner.stopped:
            self._scanner.stopped = False
            self._report("payload-malformed", pos, "a tag ends the arguments before their JSON is complete")
        stop = self._stops.search_final(text, pos) if final else self._stops.search(text, pos)
        end = len(text) if stop is None else stop.start()
        junk = self.body_margin.sub("", text[pos:end], 1)
        if junk and not self._junk and not (stop is None and self._is_cut_tag(junk, self._stops.markers)):
            self._junk = True
            self._report("text-dropped", end - len(junk), "text between a call's arguments and its end was dropped")
        if stop is None or stop.lastindex is None:
            return end
        self._state = GAP
        if stop.group() == self.call_close_tag:
            return stop.end()
        self._report("close-tag-missing", end, f"{self.call_close_tag!r} expected before {stop.group()!r}")
        return end

    @staticmethod
    def _is_cut_tag(rest: str, tags: tuple[str, ...]) -> bool:
        """Whether the text ends within a tag: where no more comes that is markup, neither text nor lost."""
        return any(tag.startswith(rest) and tag != rest for tag in tags)

    def _end_of_input(self, text: str, deltas: list[DeltaToolCall], pos: int) -> None:
        if text.startswith("\\", pos):
            self._report("text-dropped", pos, f"{text[pos:]!r} at the end of the output is no complete escape")
        elif self._state is HEADER:
            self._report("call-without-name", pos, f"the header {text[pos:].strip()!r} is not complete")
        if self._state in (BODY_START, BODY, RAW_BODY):
            self._end_body(deltas, cut=True)
        self._payload_closed = self._state is GAP and pos == len(text)  # the calls are complete


def _decoded(literal: str) -> str:
    """The string that a JSON literal stands for, ``""`` where it is none."""
    try:
        value = json.loads(literal, strict=False)
    except (ValueError, RecursionError):
        return ""
    return value if isinstance(value, str) else ""
