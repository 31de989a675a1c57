"""Turns the literals in a call's brackets, as they come, into the JSON text of its arguments.

Owns the walk over members and containers, with a stack of its own and no recursion. What is inside a value is
:mod:`.literal_values`' business, what the JSON text looks like :mod:`.literal_output`'s, where calls stand the tool
parser's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..json_string import LONG, quote
from ..markers import Boundaries
from .literal_output import BRACE, CALL, DICT, LIST, OBJECTS, PAREN, SPLAT, UNDECIDED, ArgumentsOutput, Kind
from .literal_patterns import NAME
from .literal_steps import LiteralSteps
from .literal_strings import AFTER, BARE, KEY_END, LOOKAHEAD, MEMBER, STRING, VALUE, Finding, end_of

_WHITE_SPACE = re.compile(r"\s*+")
_KEYWORD = re.compile(rf"({NAME})\s{{0,32}}([=:])")
_UNFINISHED_NAME = re.compile(rf"{NAME}\s{{0,32}}\Z")
_SPLAT = re.compile(r"\*\*\s{0,32}\{")
_UNFINISHED_SPLAT = re.compile(r"\*\*?\s{0,32}\Z")


class LiteralReader(LiteralSteps):
    """Reads one call's arguments at a time.

    Call :meth:`begin` after the call's opening bracket, then :meth:`feed` until ``over``, or :meth:`cut` where the
    input ends. The JSON text comes out through :meth:`take`.

    Args:
        stops: tags that end a call outside strings: one that the model left open must not swallow what follows.
        boundaries: where chunks can end.
        private_quote: the format's own quote, which stands on both sides of a string that has no escapes. Where there
            is one, braces hold keys and values only, keys need no quotes, and bare values get their declared type.

    Attributes:
        base_offset: where the text that is fed stands in the response; the caller keeps it.
        over: the call's closing bracket was read, or a stop tag stands where the last call of :meth:`feed` returned.
        findings: diagnostics that the caller has not taken yet.
    """

    def __init__(self, stops: tuple[str, ...], boundaries: Boundaries, private_quote: str = "") -> None:
        super().__init__(stops, boundaries, private_quote)
        self._positional = 0

    def begin(self, parameters: Mapping[str, Any], kind: Kind = CALL, closer: str = ")") -> None:
        """A call's opening bracket was read.

        Args:
            parameters: the schema of its arguments, ``{}`` where unknown.
            kind: ``CALL`` for ``name=value``, ``DICT`` for ``name: value``.
            closer: the bracket that ends the call.
        """
        self.over = False
        self.inside = ""
        self._output = ArgumentsOutput(kind, closer)
        self._state = MEMBER
        if parameters is not self._parameters:
            self._parameters, self._known_types = parameters, {}
        self._positional = 0
        self._by_name = self._any_name = False
        self._captured = None
        self._look_ahead()

    def take(self) -> str:
        """The JSON text that came since the last time."""
        return self._output.take()

    def feed(self, text: str, pos: int, final: bool) -> int:
        """Walk on from ``pos``; return how far the text is consumed. What remains is handed in again, with more."""
        waiting = False
        while not (waiting or self.over):
            if len(text) - pos > LONG and self._state is STRING:
                pos = self._long_string(text, pos)
            match = None if self._expected is None else self._expected.usual(text, pos)
            if match is not None:
                start = pos
                pos = self._take_steps(match, pos)
                if pos == len(text) or (pos < match.end() and not final):  # the rest waits
                    break
                if pos > start:
                    continue
            state = self._state
            if state is STRING:
                pos, waiting = self._string(text, pos, final)
            elif state is BARE:
                pos, waiting = self._bare(text, pos, final)
            else:
                pos, waiting = self._syntax(text, end_of(_WHITE_SPACE, text, pos), final)
            self._look_ahead()
        in_string = self._state is STRING and self._begun and self._captured is None
        self.inside = self._mark[0] if in_string else ""
        return pos

    def cut(self, text: str, pos: int) -> None:
        """The input ends inside the call, with ``text`` from ``pos`` on not consumed: close what was begun."""
        state = self._state
        dropped = state is KEY_END or (state is VALUE and self._output.kind in OBJECTS)
        if state in (STRING, BARE):
            dropped = self._captured is not None or not self._begun
            if not dropped:
                self._output.add('"')
        dropped = self._output.cut() or dropped
        if pos < len(text) and state is STRING:
            self._report("text-dropped", pos, f"{text[pos:]!r} at the end of the output is no complete escape")
        elif dropped or pos < len(text):
            message = "the argument or element that begins here is not complete"
            self.findings.append(Finding("text-dropped", self._member_offset, message))

    # -- between values -----------------------------------------------------------------------------------------------

    def _syntax(self, text: str, pos: int, final: bool) -> tuple[int, bool]:
        """Read what is no value at ``pos``; return where that stopped and whether more text must come."""
        if pos == len(text):
            return pos, True
        if text[pos] in self._stops.starts:
            stop = self._stop_at(text, pos, final)
            if stop is None:
                return pos, True
            if stop:
                self._report("payload-malformed", pos, "the call's brackets are not closed before this tag")
                self.cut("", 0)
                self.over = True
                return pos, False
        state = self._state
        if state is MEMBER:
            return self._member(text, pos, final)
        if state is VALUE:
            return self._value(text, pos, final)
        return (self._key_end if state is KEY_END else self._after)(text[pos], pos), False

    def _member(self, text: str, pos: int, final: bool) -> tuple[int, bool]:
        char = text[pos]
        if char in ")]}":
            return self._close(char, pos), False
        if char == ",":
            return pos + 1, False
        self._member_offset = self.base_offset + pos
        kind = self._output.kind
        if kind is CALL:
            return self._argument(text, pos, final)
        if kind in UNDECIDED and char in "[{(":  # no key, and too much to hold
            kind = LIST
            self._output.decide(LIST)
        if kind is LIST:
            self._state = VALUE
            return pos, False
        return self._begin_value(text, pos, final, captured=True)

    def _argument(self, text: str, pos: int, final: bool) -> tuple[int, bool]:
        window = text[pos : pos + LOOKAHEAD]
        if len(window) < LOOKAHEAD and (_UNFINISHED_SPLAT.match(window) or _UNFINISHED_NAME.match(window)):
            return pos, True
        splat = _SPLAT.match(window)
        if splat is not None:
            self._push(SPLAT, "}")
            return pos + splat.end(), False
        named = _KEYWORD.match(window)
        self._by_name = named is not None
        self._state = VALUE
        if named is None:
            self._output.key = self._positional_key(pos)
            return pos, False
        self._output.key = quote(named[1])
        self._any_name = True
        if named[2] == ":":
            self._report("payload-malformed", pos + named.end() - 1, "'=' expected after an argument's name")
        return pos + named.end(), False

    def _positional_key(self, pos: int) -> str:
        """A key for an argument without a name: the schema's names in order, its place where none of them is free."""
        place = self._positional
        self._positional += 1
        properties = self._parameters.get("properties")
        names = list(properties) if isinstance(properties, Mapping) and not self._any_name else []
        name = names[place] if place < len(names) else str(place)
        self._report("payload-malformed", pos, f"an argument without a name was taken for {name!r}")
        return quote(name)

    def _key_end(self, char: str, pos: int) -> int:
        """What may be a key was read, and ``char`` follows."""
        kind = self._output.kind
        self._captured = None
        if char in ":=" and kind is not PAREN:
            if char == "=":
                self._report("payload-malformed", pos, "':' expected after a key")
            if kind is BRACE:
                self._output.decide(DICT)
            self._take_key()
            return pos + 1
        if kind is PAREN and char == ")":
            self._output.ungroup(self._captured_value)
            self._state = AFTER
            return pos + 1
        if kind in UNDECIDED:
            self._output.decide(LIST)
            self._output.emit(self._captured_value)
            self._state = AFTER
        elif char in ",)]}":
            self._report("text-dropped", pos, "a key without a value was dropped")
            self._state = AFTER
        else:
            self._report("payload-malformed", pos, "':' expected after a key")
            self._take_key()
        return pos

    def _take_key(self) -> None:
        self._output.key = self._captured_key
        self._state = VALUE

    def _after(self, char: str, pos: int) -> int:
        """A value was read, and ``char`` follows."""
        if char in ")]}":
            return self._close(char, pos)
        self._state = MEMBER
        if char == ",":
            return pos + 1
        self._report("payload-malformed", pos, f"',' or {self._output.closer!r} expected here")
        return pos + (char == ":")

    # -- values and brackets ------------------------------------------------------------------------------------------

    def _value(self, text: str, pos: int, final: bool) -> tuple[int, bool]:
        char = text[pos]
        if char in ",)]}":
            self._report("text-dropped", pos, f"no value for the key {self._output.key}, which was dropped")
            self._state = AFTER
            return pos, False
        if char == "[":
            self._push(LIST, "]")
        elif char == "{":
            self._push(DICT if self._private_quote else BRACE, "}")
        elif char == "(" and not self._private_quote:
            self._push(PAREN, ")")
        else:
            return self._begin_value(text, pos, final)
        return pos + 1, False

    def _begin_value(self, text: str, pos: int, final: bool, *, captured: bool = False) -> tuple[int, bool]:
        """A string or a bare value begins, ``captured`` where it may be a key."""
        started = self._start_string(text, pos, final)
        if started is None:
            return pos, True
        if captured:
            self._capture()
        if started < 0:
            self._start_bare(pos)
        return max(started, pos), False

    def _push(self, kind: Kind, closer: str) -> None:
        self._output.push(kind, closer)
        self._state = MEMBER
