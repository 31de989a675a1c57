"""The JSON envelope: an object with a name field and an argument field (R28, R29).

Owns finding the fields and passing the argument value on verbatim. Where a value ends is the scanner's business, the
tags around an envelope are a dialect's.
"""

from __future__ import annotations

import json
import re
from enum import Enum
from typing import ClassVar

from ..markers import marker_scanner
from ..messages import DeltaToolCall
from .json_value_scanner import JsonValueScanner
from .tool_parser import ToolParser

_GAP = re.compile(r"[\s,]*+")
_WHITE_SPACE = re.compile(r"\s*+")
_BETWEEN = re.compile(r"[\s,;}]*+")
_ENVELOPE = re.compile(r'\{\s*+["}]')
_UNFINISHED_ENVELOPE = re.compile(r"\{\s*+\Z")
_LOOKAHEAD = 256  # characters that are held, at most, to see whether an envelope begins
_JUNK = re.compile(r"[^\s,\"{}\[\]<]++|.", re.DOTALL)
_ONLY_SEPARATORS = re.compile(r"[\s,;\[\]]*+")
_EXPECTED_FIELDS = ("type", "function")  # of the wrapping that APIs put around a call; they say nothing


_USUAL_SPELLINGS = frozenset(("arguments", "parameters"))


class _State(Enum):
    OUTSIDE = "between envelopes"
    INSIDE = "before a key or the envelope's end"
    KEY = "in a key"
    COLON = "before a colon"
    VALUE = "before a value"
    NAME = "in the name"
    BUFFERED = "in arguments that only their end, or a name after them, can release"
    OTHER = "in a value of no interest"


OUTSIDE, INSIDE, KEY, COLON, VALUE, NAME, BUFFERED, OTHER = _State


class JsonToolParser(ToolParser):
    """Base of the dialects whose payload is one or more JSON envelopes.

    A dialect declares its tags and, where it isn't ``arguments``, its :attr:`argument_field`.

    Attributes:
        argument_field: the field that holds the arguments. The other usual spelling is taken where this one is absent.
    """

    argument_field: ClassVar[str] = "arguments"
    payload_openers = ("{",)
    payload_filler = re.compile(r"[\s\[]*+")  # an array of envelopes is understood as well

    @property
    def argument_spellings(self) -> frozenset[str]:
        """Names under which the arguments may stand."""
        return _USUAL_SPELLINGS | {self.argument_field}

    def _begin_payload(self) -> None:
        self._spellings = self.argument_spellings
        stops = self.close_tags or self.open_tags
        self._scanner = JsonValueScanner(marker_scanner(stops, self.boundaries))
        self._stops = marker_scanner(stops, self.boundaries)
        self._state = OUTSIDE
        self._begin_envelope()

    def _begin_envelope(self) -> None:
        self._nesting = 0  # a call wrapped as {"type": "function", "function": {...}} is one level down
        self._key = ""
        self._name: str | None = None
        self._call_index = -1
        self._envelope_offset = 0
        self._malformed = False
        self._argument_key = ""  # the spelling whose value was taken
        self._parts: list[str] = []  # pieces of a key, a name or buffered arguments
        self._unnamed: list[str] = []  # pieces of arguments that came before the name
        self._substitute: tuple[str, str, int] | None = None  # field, value and offset under the other spelling
        self._value_offset = 0

    def _begins_payload(self, text: str, pos: int, final: bool) -> bool | None:
        window = text[pos : pos + _LOOKAHEAD]
        if _ENVELOPE.match(window):
            return True
        unfinished = not final and len(window) < _LOOKAHEAD and _UNFINISHED_ENVELOPE.match(window)
        return None if unfinished else False

    # -- the walk -----------------------------------------------------------------------------------------------------

    def _consume_stream_payload(self, text: str, deltas: list[DeltaToolCall], final: bool, pos: int) -> int:
        length = len(text)
        while pos < length and not self._payload_closed:
            state = self._state
            if state is INSIDE:
                end = self._inside(text, deltas, final, pos)
            elif state is OUTSIDE:
                end = self._outside(text, pos)
            elif state is COLON:
                end = self._colon(text, pos)
            elif state is VALUE:
                end = self._value(text, pos)
                if self._passing is not None:
                    return end
            else:
                end = self._scanner.feed(text, pos, final)
                if state is not OTHER:
                    self._parts.append(text[pos:end])
                if not self._value_ended():
                    pos = end
                    break
                self._end_value(state, deltas, end)
            if end == pos and self._state is state and not self._payload_closed:
                break  # the few characters from here on may become a stop tag
            pos = end
        if final and not self._payload_closed:
            self._end_of_input(text, deltas, pos)
            return len(text)
        return pos

    def _value_ended(self) -> bool:
        """Leave a value that is complete or that a stop tag cuts short."""
        if self._scanner.stopped:
            self._state = INSIDE
            return True
        if self._scanner.done:
            self._state = COLON if self._state is KEY else INSIDE
            return True
        return False

    def _outside(self, text: str, pos: int) -> int:
        gap = _BETWEEN.match(text, pos)
        assert gap is not None
        if gap.end() > pos:
            self._held.append(gap.group())
        end = gap.end()
        if end == len(text):
            return end
        at_close = text.startswith(self.close_tags, end)
        if not at_close and any(tag.startswith(text[end:]) for tag in self.close_tags):
            return end
        if text[end] in "[]" and not at_close:
            self._held.append(text[end])
            return end + 1
        held = "".join(self._held)
        if text[end] == "{":
            self._judge_gap(held, end)
            self._held.clear()
            self._begin_envelope()
            self._envelope_offset = self.base_offset + end
            self._state = INSIDE
            return end + 1
        if at_close:
            self._judge_gap(held, end)
        self._payload_closed = True
        return end

    def _judge_gap(self, held: str, end: int) -> None:
        if not _ONLY_SEPARATORS.fullmatch(held):
            self._report("payload-malformed", end - len(held), f"{held.strip()!r} between envelopes was dropped")

    def _inside(self, text: str, deltas: list[DeltaToolCall], final: bool, pos: int) -> int:
        gap = _GAP.match(text, pos)
        assert gap is not None
        pos = gap.end()
        if pos == len(text):
            return pos
        char = text[pos]
        if char == '"':
            self._parts.clear()
            self._scanner.begin(char)
            self._state = KEY
            return pos
        if char == "}":
            if self._nesting:
                self._nesting -= 1
            else:
                self._end_envelope(deltas)
                self._state = OUTSIDE
                self._payload_closed = not self.close_tags
            return pos + 1
        stop = self._stops.match_final(text, pos) if final else self._stops.match(text, pos)
        if stop is not None:
            if stop.lastindex is not None:
                self._report_malformed(pos, f"{stop.group()!r} inside an envelope that is not closed")
                self._end_envelope(deltas)
                self._payload_closed = True
            return pos
        self._report_malformed(pos, f"{char!r} where a field should begin")
        if char in "{[":
            self._scanner.begin(char)
            self._state = OTHER
            return pos
        junk = _JUNK.match(text, pos)
        assert junk is not None
        return junk.end()

    def _colon(self, text: str, pos: int) -> int:
        end = _WHITE_SPACE.match(text, pos).end()  # type: ignore[union-attr]
        if end == len(text):
            return end
        if text[end] == ":":
            self._state = VALUE
            return end + 1
        self._report_malformed(end, f"no colon after the key {self._key!r}")
        self._state = INSIDE
        return end

    def _value(self, text: str, pos: int) -> int:
        pos = _WHITE_SPACE.match(text, pos).end()  # type: ignore[union-attr]
        if pos == len(text):
            return pos
        first = text[pos]
        if first in ",}]:<":
            self._report_malformed(pos, f"no value for the key {self._key!r}")
            self._state = INSIDE
            return pos + (first == ":")
        key = self._key
        self._value_offset = self.base_offset + pos
        if key == "function" and first == "{" and self._name is None:
            self._nesting += 1
            self._state = INSIDE
            return pos + 1
        self._parts.clear()
        self._scanner.begin(first)
        if key == "name" and self._name is None and first == '"':
            self._state = NAME
        elif key not in self._spellings or self._argument_key:
            self._state = OTHER
            if key not in _EXPECTED_FIELDS:
                self._report("text-dropped", pos, f"the field {key!r} has no place in a call and was dropped")
        elif key == self.argument_field and first in "{[" and self._name is not None:
            self._take_arguments()
            self._passing = self._scanner
            self._state = INSIDE
        else:
            self._state = BUFFERED
        return pos

    def _end_value(self, state: _State, deltas: list[DeltaToolCall], pos: int) -> None:
        if state is OTHER:
            return
        literal = "".join(self._parts)
        if state is KEY:
            self._key = _decoded(literal)
        elif state is NAME:
            self._set_name(_decoded(literal), deltas)
        elif self._key == self.argument_field:
            self._take_arguments()
            self._emit_arguments(self._usable(literal), deltas)
        elif self._substitute is None:
            self._substitute = (self._key, literal, self._value_offset)

    # -- the call -----------------------------------------------------------------------------------------------------

    def _set_name(self, name: str, deltas: list[DeltaToolCall]) -> None:
        if not name:
            return
        self._name = name
        self._begin_call(name, deltas, self._envelope_offset - self.base_offset)
        for piece in self._unnamed:
            self._emit_delta(deltas, piece)
        self._unnamed.clear()

    def _take_arguments(self) -> None:
        self._argument_key = self._key
        if self._substitute is not None:
            key, _, offset = self._substitute
            self._substitute = None
            self._report_at("text-dropped", offset, f"{key!r} was dropped: {self._key!r} is there too")

    def _emit_arguments(self, piece: str, deltas: list[DeltaToolCall]) -> None:
        if self._call_index < 0:
            self._keep_arguments(piece)
        elif piece:
            deltas.append(DeltaToolCall(self._call_index, None, None, None, piece))

    def _keep_arguments(self, piece: str) -> None:
        """Keep arguments that came before the name (R24); those of a rejected call go nowhere."""
        if self._name is None and piece:
            self._unnamed.append(piece)

    def _usable(self, literal: str) -> str:
        """Arguments that a client can use: ``null`` means none, a string may hold the object."""
        if literal == "null":
            self._report_at("payload-malformed", self._value_offset, "arguments are null: taken as an empty object")
            return "{}"
        if literal.startswith('"'):
            inner = _decoded(literal)
            if _is_object(inner):
                self._report_at(
                    "arguments-unwrapped", self._value_offset, "arguments were a string that holds an object"
                )
                return inner
        return literal

    def _end_envelope(self, deltas: list[DeltaToolCall], *, cut: bool = False) -> None:
        if self._name is None:
            self._report_at("call-without-name", self._envelope_offset, "no function name in this envelope: dropped")
        elif self._substitute is not None:
            key, literal, offset = self._substitute
            self._value_offset = offset
            self._emit_arguments(self._usable(literal), deltas)
            self._report_at("field-substituted", offset, f"{key!r} was taken for {self.argument_field!r}")
        elif not self._argument_key and not cut:
            self._emit_arguments("{}", deltas)

    def _end_of_input(self, text: str, deltas: list[DeltaToolCall], pos: int) -> None:
        state = self._state
        if state is BUFFERED:
            if self._key == self.argument_field:
                self._take_arguments()
                self._emit_arguments("".join(self._parts), deltas)
            elif self._substitute is None:
                self._substitute = (self._key, "".join(self._parts), self._value_offset)
        if pos < len(text) and text[pos] == "\\":
            self._report("text-dropped", pos, f"{text[pos:]!r} at the end of the output is no complete escape")
        if state is not OUTSIDE:
            self._end_envelope(deltas, cut=True)

    def _report_malformed(self, pos: int, message: str) -> None:
        """Report what breaks the grammar, once an envelope: one slip often makes the rest look wrong too."""
        if not self._malformed:
            self._malformed = True
            self._report("payload-malformed", pos, message)


def _decoded(literal: str) -> str:
    """The text of a string literal; what is no valid literal loses only its quotes."""
    try:
        return str(json.loads(literal, strict=False))
    except ValueError:
        return literal[1:].removesuffix('"')


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text, strict=False), dict)
    except (ValueError, RecursionError):
        return False
