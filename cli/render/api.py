"""Responses in the shapes of an API, for programs that already read one.

Owns how an adapter's events become lines or server-sent events. The shapes are ``unspool.parsers.adapters``' business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count
from typing import Literal

from unspool.parsers import ChatRunner, ChatStreamChunk, EngineOutput
from unspool.parsers.adapters import (
    Adapter,
    ChatCompletionAdapter,
    Event,
    MessagesAdapter,
    ReasoningField,
    ResponsesAdapter,
    sse,
)

from ..output import Output
from .json_bytes import encode, encode_line

Api = Literal["openai", "anthropic", "responses"]


class ApiEvents:
    """Chunk mode: one event a line, or the bytes that a server would have sent.

    Args:
        output: where to.
        adapter: a fresh one.
        as_sse: frame the events as server-sent events.
    """

    def __init__(self, output: Output, adapter: Adapter, *, as_sse: bool) -> None:
        self._output = output
        self._adapter = adapter
        self._as_sse = as_sse

    def delta(self, chunk: ChatStreamChunk) -> None:
        """Write the events of one delta."""
        self._write(self._adapter.feed(chunk))

    def end(self, runner: ChatRunner) -> None:
        """Write the finish reason, the usage and what ends the stream."""
        self._write(self._adapter.finish(runner.usage))
        if self._as_sse:
            self._output.data(self._adapter.sse_end)

    def _write(self, events: list[Event]) -> None:
        for event in events:
            self._output.json(sse.frame(event, encode) if self._as_sse else encode_line(event))


def write_object(
    output: Output,
    new_adapter: Callable[[], Adapter],
    runner: ChatRunner,
    outputs: Iterable[EngineOutput],
    source: str | None,
) -> None:
    """Final mode: run one response and write it as one object, its parts in the order of the model's text."""
    output.json(encode_line(new_adapter().collect(runner, outputs)))


def adapter_factory(
    api: Api,
    *,
    reasoning_field: ReasoningField | None = None,
    model: str | None = None,
    response_id: str | None = None,
    created: int | None = None,
) -> Callable[[], Adapter]:
    """Make what makes the adapter of each response.

    Args:
        api: whose shapes.
        reasoning_field: only for ``openai``.
        model: the responses' model.
        response_id: the first response's id; those that follow are numbered, so that no two have the same.
        created: when the responses were made.
    """
    numbers = count(1)

    def new_adapter() -> Adapter:
        number = next(numbers)
        adapter: Adapter
        match api:
            case "openai":
                adapter = ChatCompletionAdapter(reasoning_field=reasoning_field or "reasoning_content")
            case "anthropic":
                adapter = MessagesAdapter()
            case "responses":
                adapter = ResponsesAdapter()
        adapter.model = adapter.model if model is None else model
        adapter.created = created or 0
        adapter.id = adapter.id if response_id is None else response_id
        if number > 1:
            adapter.id += f"-{number}"
        return adapter

    return new_adapter
