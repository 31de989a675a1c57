"""Splits a response into parts that follow one another, for the APIs that number and close them.

Owns when a part begins and ends. What it looks like in JSON is the adapters' business.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Literal, Unpack

from ..chat_runner import ChatStreamChunk, Usage
from ..messages import DeltaToolCall
from .adapter import Adapter, Envelope, Event


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of one channel, or one call.

    Attributes:
        index: position among the response's parts, from zero.
        kind: its channel.
        call: the first delta of a call, which has its id and name.
    """

    index: int
    kind: Literal["reasoning", "content", "tool_call"]
    call: DeltaToolCall | None = None


class PartAdapter(Adapter):
    """An adapter whose stream is one part after the other: nothing interleaves, and what is closed stays closed.

    Text of another channel ends a part, so reasoning that a call interrupts goes on in a new part behind it.
    """

    def __init__(self, **envelope: Unpack[Envelope]) -> None:
        super().__init__(**envelope)
        self._part: Part | None = None
        self._parts = 0
        self._call_index = -1

    @abstractmethod
    def _open_part(self, part: Part, events: list[Event]) -> None:
        """Append what announces a part."""

    @abstractmethod
    def _piece(self, part: Part, text: str, events: list[Event]) -> None:
        """Append the next characters of the open part."""

    @abstractmethod
    def _close_part(self, part: Part, complete: bool, events: list[Event]) -> None:
        """Append what ends a part; it may not be ``complete`` where it is the response's last."""

    @abstractmethod
    def _finish(self, usage: Usage, events: list[Event]) -> None:
        """Append what follows the last part."""

    @abstractmethod
    def _is_complete(self) -> bool:
        """Whether the response ended as it should."""

    def _chunk(self, chunk: ChatStreamChunk, events: list[Event]) -> None:
        delta = chunk.delta
        if delta.reasoning_content:
            self._text("reasoning", delta.reasoning_content, events)
        if delta.content:
            self._text("content", delta.content, events)
        for call in delta.tool_calls or ():
            self._call(call, events)

    def _end(self, usage: Usage, events: list[Event]) -> None:
        self._close(events, complete=self._is_complete())
        self._finish(usage, events)

    def _text(self, kind: Literal["reasoning", "content"], text: str, events: list[Event]) -> None:
        if self._part is None or self._part.kind != kind:
            self._open(Part(self._parts, kind), events)
        assert self._part is not None
        self._piece(self._part, text, events)

    def _call(self, call: DeltaToolCall, events: list[Event]) -> None:
        if call.index > self._call_index:
            self._call_index = call.index
            self._open(Part(self._parts, "tool_call", call), events)
        elif self._part is None or self._part.kind != "tool_call" or call.index != self._call_index:
            raise ValueError(
                f"a piece of call {call.index} came after something else; this API can't go back to a call, so a parser"
                " has to emit all of a call before what follows it"
            )
        assert self._part is not None
        if call.arguments:
            self._piece(self._part, call.arguments, events)

    def _open(self, part: Part, events: list[Event]) -> None:
        self._close(events, complete=True)
        self._part = part
        self._parts += 1
        self._open_part(part, events)

    def _close(self, events: list[Event], *, complete: bool) -> None:
        if self._part is not None:
            self._close_part(self._part, complete, events)
            self._part = None
