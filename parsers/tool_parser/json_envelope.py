"""The call that one JSON envelope makes, whatever the order and the spelling of its fields (R24, R28, R29).

Owns the identity of the call and which value its arguments are. Finding the fields is the JSON tool parser's business.
"""

from __future__ import annotations

import json
from typing import ClassVar

from ..messages import DeltaToolCall
from .tool_parser import ToolParser

_USUAL_SPELLINGS = ("arguments", "parameters")


class JsonEnvelope(ToolParser):
    """The part of the JSON tool parser that knows what fields mean.

    Attributes:
        argument_field: the field that holds the arguments. The other usual spelling is taken where this one is absent.
        other_argument_fields: names of that field that are as good.
    """

    argument_field: ClassVar[str] = "arguments"
    other_argument_fields: ClassVar[tuple[str, ...]] = ()

    def _set_up(self) -> None:
        super()._set_up()
        self._spellings = self.argument_spellings
        self._declared = (self.argument_field, *self.other_argument_fields)

    @property
    def argument_spellings(self) -> frozenset[str]:
        """Names under which the arguments may stand."""
        return frozenset((self.argument_field, *self.other_argument_fields, *_USUAL_SPELLINGS))

    def _begin_envelope(self) -> None:
        """Reset the state of the call."""
        self.call_index = -1
        self._name: str | None = None
        self._call_id: str | None = None
        self._key = ""  # of the field at hand
        self._value_offset = 0  # of its value
        self._argument_key = ""  # the spelling whose value was taken
        self._unnamed: list[str] = []  # pieces of arguments that came before the name
        self._substitute: tuple[str, str, int] | None = None  # field, value and offset under the other spelling
        self._envelope_offset = -1  # none has begun
        self._malformed = False

    def _set_name(self, name: str, deltas: list[DeltaToolCall]) -> None:
        if not name:
            return
        self._name = name
        self._begin_call(name, deltas, self._envelope_offset - self.base_offset, self._call_id or None)
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
        if self.call_index < 0:
            self._keep_arguments(piece)
        elif piece:
            deltas.append(DeltaToolCall(self.call_index, None, None, None, piece))

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
            inner = decoded(literal)
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

    def _report_field(self, key: str) -> None:
        message = f"the field {key!r} has no place in a call and was dropped"
        self._report_at("text-dropped", self._value_offset, message)

    def _report_malformed(self, pos: int, message: str) -> None:
        """Report what breaks the grammar, once an envelope: one slip often makes the rest look wrong too."""
        if not self._malformed:
            self._malformed = True
            self._report("payload-malformed", pos, message)


def decoded(literal: str) -> str:
    """The text of a string literal; what is no valid literal loses only its quotes."""
    if "\\" not in literal:
        return literal[1:].removesuffix('"')
    try:
        return str(json.loads(literal, strict=False))
    except ValueError:
        return literal[1:].removesuffix('"')


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text, strict=False), dict)
    except (ValueError, RecursionError):
        return False
