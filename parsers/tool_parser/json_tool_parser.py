"""Reads JSON envelopes: objects with a name field and an argument field (R28, R29).

Owns finding the fields and passing the argument value on verbatim. What call the fields make is the envelope's
business, where a value ends the scanner's, and the tags around an envelope are a dialect's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from typing import Any, ClassVar

from ..grammar.call_syntax import CallSyntax, json_envelope
from ..markers import marker_scanner
from ..messages import DeltaToolCall
from .json_envelope import JsonEnvelope, decoded
from .json_value_scanner import JsonValueScanner
from .next_block import UsualPayload
from .undecided import Undecided
from .writing import FunctionCalls, json_text

_GAP = re.compile(r"[\s,]*+")
_WHITE_SPACE = re.compile(r"\s*+")
_BETWEEN = re.compile(r"[\s,;}]*+")
_ENVELOPE = re.compile(r'\{\s*+["}]')
_UNFINISHED_ENVELOPE = re.compile(r"\{\s*+\Z")
_LOOKAHEAD = 256  # characters that are held, at most, to see whether an envelope begins
_JUNK = re.compile(r"[^\s,\"{}\[\]<]++|.", re.DOTALL)
_ONLY_SEPARATORS = re.compile(r"[\s,;\[\]]*+")

# An envelope and a field in the usual form are read at one go, once they are all there: the walk sees only the rest.
_NAMED = re.compile(r'\{\s*+"name"\s*+:\s*+"([^"\\]{1,64})"').match
_FIELD = re.compile(r'[\s,]*+"([^"\\]{1,64})"\s*+:\s*+(?=[^\s])').match
SHORT_KEY = r'\s{0,32}+"[^"\\]{0,64}+'
UNFINISHED_FIELD = rf'(?:{SHORT_KEY}(?:"\s{{0,32}}+(?::(?:{SHORT_KEY}|\s{{0,32}}+))?+)?+|\s{{0,32}}+)\Z'
"""Matches a field as far as it has come, up to the end of a short string as its value."""
unfinished_field = re.compile(rf"[\s,]{{0,32}}+{UNFINISHED_FIELD}").match

_OTHER_FIELDS = ("name", "type", "function", "id")


class _State(Enum):
    START = "at a payload that came without its tag"
    OUTSIDE = "between envelopes"
    INSIDE = "before a key or the envelope's end"
    KEY = "in a key"
    COLON = "before a colon"
    VALUE = "before a value"
    NAME = "in the name"
    ID = "in the id that the model gave the call"
    TYPE = "in the type, of which there is only one"
    BUFFERED = "in arguments that only their end, or a name after them, can release"
    OTHER = "in a value of no interest"


START, OUTSIDE, INSIDE, KEY, COLON, VALUE, NAME, ID, TYPE, BUFFERED, OTHER = _State


class JsonToolParser(JsonEnvelope):
    """Base of the dialects whose payload is one or more JSON envelopes.

    A dialect declares its tags and, where it isn't ``arguments``, its :attr:`argument_field`. Without a close tag the
    payload ends where its object or its array does; with one, brackets around the envelopes say nothing.

    Attributes:
        id_field: the field that holds the call's id, where the wire has one.
        close_tag_optional: the payload ends as if there were no close tag, and one may follow.
    """

    id_field: ClassVar[str] = ""
    close_tag_optional: ClassVar[bool] = False
    payload_openers = ("{",)
    usual_payload: ClassVar[UsualPayload | None] = UsualPayload('{"name": "', r'[^"\\]', '"')
    payload_filler = re.compile(r"[\s\[]*+")  # an array of envelopes is understood as well

    def _set_up(self) -> None:
        super()._set_up()
        self._ends_itself = self.close_tag_optional or not self.close_tags
        stops = self._stop_tags()
        self._stops = marker_scanner(stops, self.boundaries) if stops else None
        self._scanner = JsonValueScanner(self._stops)

    def _required_close_tags(self) -> tuple[str, ...]:
        return () if self.close_tag_optional else self.close_tags

    def _stop_tags(self) -> tuple[str, ...]:
        """Tags that end an envelope that is not closed, outside of its strings."""
        return self.close_tags or self.open_tags

    @classmethod
    def write_calls(cls, calls: FunctionCalls) -> str:
        open_tag, close_tag = cls.get_tool_open_tag(), cls.get_tool_close_tag() or ""
        return "\n".join(f"{open_tag}{cls._envelope(*call)}{close_tag}" for call in calls)

    @classmethod
    def _envelope(cls, name: str, arguments: Mapping[str, Any]) -> str:
        return json_text({"name": name, cls.argument_field: dict(arguments)})

    @classmethod
    def _array(cls, calls: FunctionCalls) -> str:
        return f"[{', '.join(cls._envelope(*call) for call in calls)}]"

    @classmethod
    def envelope_syntax(cls) -> tuple[CallSyntax, ...]:
        """What :meth:`call_syntaxes` is where each block holds one envelope and nothing else."""
        return (json_envelope(cls.get_tool_open_tag(), cls.get_tool_close_tag(), cls.argument_field),)

    def _begin_payload(self) -> None:
        self._depth = 0  # of the brackets around the envelopes
        self._tagged = self._tagged and not self.close_tag_optional
        self._state = OUTSIDE if self._opening else START
        self._begin_envelope()

    def _begin_envelope(self) -> None:
        super()._begin_envelope()
        self._nesting = 0  # a call wrapped as {"type": "function", "function": {...}} is one level down
        self._headed = False  # the name stood before the envelope, which is the arguments' value alone
        self._parts: list[str] = []  # pieces of a key, a name or buffered arguments

    def _undecided_payload(self) -> Undecided | None:
        if self._state is OUTSIDE:
            return self._undecided_end if self.close_tags else None
        return unfinished_field if self._state is INSIDE else None

    def _begins_payload(self, text: str, pos: int, final: bool) -> bool | None:
        window = text[pos : pos + _LOOKAHEAD]
        if _ENVELOPE.match(window):
            return True
        unfinished = not final and len(window) < _LOOKAHEAD and _UNFINISHED_ENVELOPE.match(window)
        return None if unfinished else False

    def _find_payload(self, text: str, final: bool, pos: int) -> int:
        end = super()._find_payload(text, final, pos)
        self._depth += text.count("[", pos, end)
        return end

    # -- the walk -----------------------------------------------------------------------------------------------------

    def _consume_stream_payload(self, text: str, deltas: list[DeltaToolCall], final: bool, pos: int) -> int:
        length = len(text)
        while not self._payload_closed:
            state = self._state
            if self._headed and state is INSIDE:
                self._end_headed(deltas, pos)
                break
            if pos == length:
                break
            if state is INSIDE:
                if text[pos] == "}":
                    end = self._close_object(deltas, pos)
                elif (field := _FIELD(text, pos)) is not None:
                    self._key, self._state = field[1], VALUE
                    end = self._begin_value(text, final, field.end())
                    if self._passing is not None:
                        return end
                elif not final and unfinished_field(text, pos):
                    break
                else:
                    end = self._inside(text, deltas, final, pos)
            elif state is OUTSIDE:
                end = self._outside(text, deltas, final, pos)
            elif state is COLON:
                end = self._colon(text, pos)
            elif state is VALUE:
                end = self._value(text, final, pos)
                if self._passing is not None:
                    return end
            elif state is START:
                self._state = OUTSIDE
                end = self._start(text, deltas, pos)
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

    def _start(self, text: str, deltas: list[DeltaToolCall], pos: int) -> int:
        """A payload without its tag begins: skip the markup before its JSON."""
        return pos

    def _outside(self, text: str, deltas: list[DeltaToolCall], final: bool, pos: int) -> int:
        gap = _BETWEEN.match(text, pos)
        assert gap is not None
        if gap.end() > pos:
            self._held.append(gap.group())
        end = gap.end()
        if end == len(text):
            return end
        char = text[end]
        if char == "{":
            return self._open_envelope(text, deltas, end)
        at_close = text.startswith(self.close_tags, end)
        if not at_close and any(tag.startswith(text[end : end + len(tag)]) for tag in self.close_tags):
            return end
        stop = self._stop_at(text, final, end) if char == "[" else None
        if stop is not None and stop.lastindex is None:
            return end
        if char in "[]" and stop is None and not at_close:
            self._held.append(char)
            self._depth += 1 if char == "[" else -1
            if self._ends_itself and self._depth <= 0:
                self._end_payload(end + 1)
            return end + 1
        if self._ends_itself:
            self._report("payload-malformed", end, "']' expected here: the array of calls is not closed")
            self.returned_text = "" if at_close else "".join(self._held)
        self._end_payload(end, judge=at_close)
        return end

    def _open_envelope(self, text: str, deltas: list[DeltaToolCall], pos: int) -> int:
        self._judge_gap(pos)
        self._held.clear()
        if self._envelope_offset >= 0:
            self._begin_envelope()
        self._envelope_offset = self.base_offset + pos
        self._state = INSIDE
        named = _NAMED(text, pos)
        if named is None:
            return pos + 1
        self._set_name(named[1], deltas)
        return named.end()

    def _begin_named(self, name: str, deltas: list[DeltaToolCall], pos: int) -> None:
        self._envelope_offset = self.base_offset + pos
        self._state = INSIDE
        self._set_name(name, deltas)

    def _end_payload(self, end: int, *, judge: bool = True) -> None:
        if judge:
            self._judge_gap(end)
        if self._ends_itself:
            if self._envelope_offset < 0:
                self.returned_text = "".join(self._held)
            self._held.clear()
        self._payload_closed = True

    def _judge_gap(self, end: int) -> None:
        held = "".join(self._held)
        if held and not _ONLY_SEPARATORS.fullmatch(held):
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
            self._value_offset = self.base_offset + pos
            self._scanner.begin(char)
            self._state = KEY
            return pos
        if char == "}":
            return self._close_object(deltas, pos)
        stop = self._stop_at(text, final, pos)
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
        end = junk.end()
        for start in "" if self._stops is None else self._stops.starts:  # a tag can begin like a word
            at = text.find(start, pos + 1, end)
            end = end if at < 0 else at
        return end

    def _close_object(self, deltas: list[DeltaToolCall], pos: int) -> int:
        if self._nesting:
            self._nesting -= 1
        else:
            self._end_envelope(deltas)
            self._state = OUTSIDE
            if self._depth <= 0:
                if self._ends_itself:
                    self._payload_closed = True
                else:
                    self._close_before_next_block()
        return pos + 1

    def _stop_at(self, text: str, final: bool, pos: int) -> re.Match[str] | None:
        """A stop tag that stands at ``pos``, or what may become one."""
        if self._stops is None:
            return None
        return self._stops.match_final(text, pos) if final else self._stops.match(text, pos)

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

    def _value(self, text: str, final: bool, pos: int) -> int:
        pos = _WHITE_SPACE.match(text, pos).end()  # type: ignore[union-attr]
        return pos if pos == len(text) else self._begin_value(text, final, pos)

    def _begin_value(self, text: str, final: bool, pos: int) -> int:
        """A value, or what stands in its place, begins at ``pos``."""
        first, key = text[pos], self._key
        stop = self._stop_at(text, final, pos) if first == "[" else None
        if stop is not None and stop.lastindex is None:
            return pos
        if first in ",}]:<" or stop is not None:
            self._report_malformed(pos, f"no value for the key {self._key!r}")
            self._state = INSIDE
            return pos + (first == ":")
        self._value_offset = self.base_offset + pos
        if key == "function" and first == "{" and self._name is None:
            self._nesting += 1
            self._state = INSIDE
            return pos + 1
        self._scanner.begin(first)
        if first in "{[" and key in self._declared and self._name is not None and not self._argument_key:
            self._take_arguments()
            self._passing = self._scanner
            self._state = INSIDE
            return pos
        self._parts.clear()
        if key == "name" and self._name is None and first == '"':
            self._state = NAME
        elif key == self.id_field and self._name is None and first == '"':
            self._state = ID
        elif key == "type" and first == '"':
            self._state = TYPE  # of the wrapping that APIs put around a call
        elif key not in self._spellings or self._argument_key:
            self._state = OTHER
            self._report_field(key)
        else:
            self._state = BUFFERED
        return pos

    def _end_value(self, state: _State, deltas: list[DeltaToolCall], pos: int) -> None:
        if state is OTHER:
            return
        literal = "".join(self._parts)
        if state is KEY:
            self._key = decoded(literal)
        elif state is NAME:
            self._set_name(decoded(literal), deltas)
        elif state is ID:
            self._call_id = decoded(literal)
        elif state is TYPE:
            if literal != '"function"':
                self._report_field(self._key)
        elif self._key in self._declared:
            self._take_arguments()
            self._emit_arguments(self._usable(literal), deltas)
        elif self._substitute is None:
            self._substitute = (self._key, literal, self._value_offset)

    # -- the call -----------------------------------------------------------------------------------------------------

    def _begin_headed(self, name: str, call_id: str | None, deltas: list[DeltaToolCall], pos: int) -> None:
        """The name stands at ``pos``, before a value that is the arguments and the end of the payload."""
        self._begin_envelope()
        self._envelope_offset = self.base_offset + pos
        self._headed = True
        self._key = self.argument_field
        self._call_id = call_id
        self._state = VALUE
        self._set_name(name, deltas)

    def _end_headed(self, deltas: list[DeltaToolCall], pos: int) -> None:
        if self._scanner.stopped:
            self._report_malformed(pos, "the arguments are not closed here")
        self._end_envelope(deltas)
        self._payload_closed = True

    def _end_of_input(self, text: str, deltas: list[DeltaToolCall], pos: int) -> None:
        state = self._state
        if state is BUFFERED:
            if self._key in self._declared:
                self._take_arguments()
                self._emit_arguments("".join(self._parts), deltas)
            elif self._substitute is None:
                self._substitute = (self._key, "".join(self._parts), self._value_offset)
        elif state is KEY:
            key = "".join(self._parts)[1:]
            if not any(name.startswith(key) for name in (*_OTHER_FIELDS, *self._spellings)):
                self._report_at("text-dropped", self._value_offset, f"the key {key!r} is not complete and was dropped")
        if pos < len(text) and text[pos] == "\\":
            self._report("text-dropped", pos, f"{text[pos:]!r} at the end of the output is no complete escape")
        if state is not OUTSIDE:
            self._end_envelope(deltas, cut=True)
