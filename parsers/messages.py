"""The normalised values that every parser emits: deltas while the model writes, whole messages at the end.

Owns the shapes and nothing else: how a wire format becomes these values is the parsers' business, how they become
an API's JSON is the adapters'.
"""

from __future__ import annotations

from dataclasses import dataclass
from io import StringIO
from typing import NamedTuple


@dataclass(slots=True)
class DeltaToolCall:
    """One visible piece of a tool call.

    The first delta of an ``index`` carries ``id``, ``type`` and ``name``; later ones carry only ``arguments``.

    Attributes:
        index: position of the call among the response's accepted calls, from zero.
        id: the call's id; only on the first delta.
        type: always ``"function"``; only on the first delta.
        name: the function's name; only on the first delta.
        arguments: the next piece of JSON text, verbatim where the model wrote JSON.
    """

    index: int
    id: str | None = None
    type: str | None = None
    name: str | None = None
    arguments: str | None = None


@dataclass(slots=True)
class DeltaMessage:
    """One visible piece of a response: exactly one of the three channels is set.

    Attributes:
        role: set by adapters that announce a role; parsers leave it ``None``.
        content: the next characters of the answer.
        reasoning_content: the next characters of the reasoning.
        tool_calls: pieces of tool calls, in the order in which the model wrote them.
    """

    role: str | None = None
    content: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[DeltaToolCall] | None = None


@dataclass(slots=True)
class ToolCall:
    """A finished tool call; ``arguments`` is JSON text, never a parsed value."""

    id: str
    type: str
    name: str
    arguments: str


class ParsedResponse(NamedTuple):
    """A whole response. Unpacks as ``content, tool_calls, reasoning_content``.

    ``content`` and ``reasoning_content`` are ``None`` where the model wrote nothing there; ``tool_calls`` may be empty.
    """

    content: str | None
    tool_calls: list[ToolCall]
    reasoning_content: str | None


class MessageBuilder:
    """Folds deltas into one message, piece by piece: kept pieces would take many times the memory of their text."""

    def __init__(self) -> None:
        self._content = StringIO()
        self._reasoning = StringIO()
        self._calls: list[ToolCall] = []
        self._arguments: list[StringIO] = []

    def add(self, delta: DeltaMessage) -> None:
        """Append one delta; deltas must come in the order in which the parser emitted them."""
        if delta.content:
            self._content.write(delta.content)
        if delta.reasoning_content:
            self._reasoning.write(delta.reasoning_content)
        for call in delta.tool_calls or ():
            if call.index == len(self._calls):
                self._calls.append(ToolCall(call.id or "", call.type or "function", call.name or "", ""))
                self._arguments.append(StringIO())
            if call.arguments:
                self._arguments[call.index].write(call.arguments)

    def build(self) -> ParsedResponse:
        """Return the message that the deltas so far add up to."""
        for call, arguments in zip(self._calls, self._arguments, strict=True):
            call.arguments = arguments.getvalue()
        return ParsedResponse(
            self._content.getvalue() or None,
            list(self._calls),
            self._reasoning.getvalue() or None,
        )
