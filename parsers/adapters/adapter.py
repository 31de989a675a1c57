"""What the adapters of all APIs share: how one is driven, and what a response says of itself beside its text.

Owns no API's JSON. An adapter is sans-I/O: client chunks in, events as plain JSON values out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, TypedDict

from ..chat_runner import ChatResult, ChatRunner, ChatStreamChunk, EngineOutput, Usage
from ..messages import DeltaMessage, DeltaToolCall

Event = dict[str, Any]
"""One object of an API's stream, ready to be encoded as JSON."""


class Envelope(TypedDict, total=False):
    """What a response says of itself; see :class:`Adapter`."""

    id: str | None
    model: str
    created: int
    prompt_tokens: int | None


class Adapter(ABC):
    """Writes one response in the shapes of one API; used up by it, as its parser is.

    Feed it the chunks of :meth:`ChatRunner.stream` (or of ``stream_async``) and finish it with the runner's usage;
    :meth:`stream` does both. What a request without streaming would have got is :meth:`collect`, or :meth:`whole`
    where there already is a result.

    Args:
        id: the response's id; :attr:`default_id` where not given, so that equal input gives equal output.
        model: the model's name.
        created: when, in seconds since 1970.
        prompt_tokens: length of the prompt; what is not known counts as zero, since all three APIs want a number.

    Attributes:
        api: the API's name on the command line.
        sse_end: what ends the stream where it is sent as server-sent events; empty where nothing does.
    """

    api: ClassVar[str]
    default_id: ClassVar[str]
    sse_end: ClassVar[bytes] = b""

    def __init__(
        self, *, id: str | None = None, model: str = "unspool", created: int = 0, prompt_tokens: int | None = None
    ) -> None:
        self.id = self.default_id if id is None else id
        self.model = model
        self.created = created
        self.prompt_tokens = prompt_tokens or 0
        self._started = self._ended = False
        self._finish_reason: str | None = None
        self._called = False  # whether there was a call

    def feed(self, chunk: ChatStreamChunk) -> list[Event]:
        """Return the events of one client chunk; before the first one comes what opens the stream.

        Raises:
            ValueError: the response has already ended.
        """
        events = self._opening()
        if chunk.finish_reason is not None:
            self._finish_reason = chunk.finish_reason
        if chunk.delta.tool_calls:
            self._called = True
        self._chunk(chunk, events)
        return events

    def finish(self, usage: Usage | None = None) -> list[Event]:
        """Return the events that end the stream: the finish reason is told here, after all text.

        Args:
            usage: token counts; without any, or where they are ``None``, the API's way of not telling them is taken.

        Raises:
            ValueError: the response has already ended.
        """
        events = self._opening()
        self._ended = True
        self._end(usage or Usage(), events)
        return events

    def stream(self, runner: ChatRunner, outputs: Iterable[EngineOutput]) -> Iterator[Event]:
        """Run a response and yield each event as soon as the engine's chunks allow it."""
        for chunk in runner.stream(outputs):
            yield from self.feed(chunk)
        yield from self.finish(runner.usage)

    def collect(self, runner: ChatRunner, outputs: Iterable[EngineOutput]) -> Event:
        """Run a response to its end and return it as one object, its parts in the order of the model's text."""
        return self.join(self.stream(runner, outputs))

    def whole(self, result: ChatResult) -> Event:
        """Return a finished response as one object.

        A result doesn't tell how the channels took turns, so the reasoning comes first, then the content, then the
        calls. :meth:`collect` keeps the order.
        """
        events = [event for chunk in _as_chunks(result) for event in self.feed(chunk)]
        return self.join([*events, *self.finish(result.usage)])

    @abstractmethod
    def join(self, events: Iterable[Event]) -> Event:
        """Fold a stream's events into the object that a request without streaming would have got."""

    @abstractmethod
    def _begin(self, events: list[Event]) -> None:
        """Append what opens the stream."""

    @abstractmethod
    def _chunk(self, chunk: ChatStreamChunk, events: list[Event]) -> None:
        """Append the events of one chunk."""

    @abstractmethod
    def _end(self, usage: Usage, events: list[Event]) -> None:
        """Append what ends the stream."""

    def _opening(self) -> list[Event]:
        if self._ended:
            raise ValueError("this response has already ended; make a new adapter for the next one")
        events: list[Event] = []
        if not self._started:
            self._started = True
            self._begin(events)
        return events


def _as_chunks(result: ChatResult) -> Iterator[ChatStreamChunk]:
    """A result as the chunks of a stream that would have led to it."""
    content, calls, reasoning = result.message
    if reasoning:
        yield ChatStreamChunk(0, DeltaMessage(reasoning_content=reasoning))
    if content:
        yield ChatStreamChunk(0, DeltaMessage(content=content))
    for index, call in enumerate(calls):
        piece = DeltaToolCall(index, call.id, call.type, call.name, call.arguments)
        yield ChatStreamChunk(0, DeltaMessage(tool_calls=[piece]), tool_calls_emitted=True)
    for logprobs in result.logprobs:
        yield ChatStreamChunk(0, DeltaMessage(), logprobs=logprobs)
    yield ChatStreamChunk(0, DeltaMessage(), finish_reason=result.finish_reason)
