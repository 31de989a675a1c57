"""Runs one response from engine chunks to client chunks: transport data, finish reason and usage.

Owns what is true of a request but not of its text (R1, R12, R14): which delta carries token ids and log
probabilities, when ``stop`` becomes ``tool_calls``, how many tokens were reasoning. It knows no grammar and no API's
JSON.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .diagnostics import Diagnostic
from .messages import DeltaMessage, MessageBuilder, ParsedResponse
from .response_parser import ResponseParser


@dataclass(slots=True)
class EngineOutput:
    """One chunk as an engine yields it.

    Attributes:
        text: newly decoded text, perhaps ``""``.
        token_ids: the ids behind it; may run ahead of the text.
        logprobs: whatever the engine recorded for these tokens, passed through untouched.
        finish_reason: set on the last chunk (``"stop"``, ``"length"``, ...).
    """

    text: str = ""
    token_ids: list[int] = field(default_factory=list)
    logprobs: Any = None
    finish_reason: str | None = None


@dataclass(slots=True)
class ChatStreamChunk:
    """One delta for a client.

    Attributes:
        chunk: number of the engine chunk that it came from, from zero.
        delta: the visible piece; empty where a chunk has transport data but nothing to show.
        tool_calls_emitted: whether this delta carries a tool call.
        token_ids: ids of the whole engine chunk, on its last delta only; like ``logprobs`` and ``finish_reason``.
        choice: which of several responses it belongs to; ``None`` where there is only one.
    """

    chunk: int
    delta: DeltaMessage
    tool_calls_emitted: bool = False
    token_ids: list[int] | None = None
    logprobs: Any = None
    finish_reason: str | None = None
    choice: str | None = None


@dataclass(slots=True)
class Usage:
    """Token counts; ``None`` where the input had no ids to count."""

    completion_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(slots=True)
class ChatResult:
    """A finished response."""

    message: ParsedResponse
    finish_reason: str | None
    usage: Usage
    diagnostics: list[Diagnostic]
    logprobs: list[Any] = field(default_factory=list)
    choice: str | None = None


class ChatRunner:
    """Drives one parser over one response.

    Args:
        parser: a fresh parser; it is used up by the run.
        choice: names the response among several; it is on everything that comes out.

    The counters are readable while a stream runs: ``chunks``, ``finish_reason``, ``usage``.
    """

    def __init__(self, parser: ResponseParser, *, choice: str | None = None) -> None:
        self.parser = parser
        self.choice = choice
        self.chunks = 0
        self.finish_reason: str | None = None
        self._tool_calls_emitted = False
        self._held: EngineOutput | None = None  # carries a finish reason, before which the end's text has to come
        self._completion_tokens = 0

    @property
    def usage(self) -> Usage:
        """Tokens so far."""
        if not self._completion_tokens:
            return Usage()
        return Usage(self._completion_tokens, self.parser.reasoning_tokens)

    def feed(self, output: EngineOutput, *, final: bool = False) -> list[ChatStreamChunk]:
        """Turn one engine chunk into client chunks.

        Args:
            output: the chunk.
            final: no more text will come; what the parser held back is released.
        """
        number, choice = self.chunks, self.choice
        self.chunks = number + 1
        token_ids, logprobs, reason = output.token_ids, output.logprobs, output.finish_reason
        if token_ids:
            self._completion_tokens += len(token_ids)
        deltas = self.parser.stream_chunk(output.text, token_ids, final)
        if reason is None and len(deltas) == 1:  # nearly all of them
            delta, emitted = deltas[0]
            if emitted:
                self._tool_calls_emitted = True
            return [ChatStreamChunk(number, delta, emitted, token_ids or None, logprobs, None, choice)]
        chunks = []
        for delta, emitted in deltas:
            if emitted:
                self._tool_calls_emitted = True
            chunks.append(ChatStreamChunk(number, delta, emitted, None, None, None, choice))
        if reason is not None:
            reason = self.finish_reason = self._client_finish_reason(reason)
        if token_ids or logprobs is not None or reason is not None:
            if not chunks:
                chunks.append(ChatStreamChunk(number, DeltaMessage(), choice=choice))
            last = chunks[-1]
            last.token_ids = token_ids or None
            last.logprobs = logprobs
            last.finish_reason = reason
        return chunks

    def stream(self, outputs: Iterable[EngineOutput]) -> Iterator[ChatStreamChunk]:
        """Yield client chunks as soon as the engine chunks allow them.

        One engine chunk is held back where it carries a finish reason, so that the text which the parser releases at
        the end still comes before it.
        """
        for output in outputs:
            yield from self.feed(output) if self._held is None and output.finish_reason is None else self._next(output)
        yield from self._finish()

    async def stream_async(self, outputs: AsyncIterable[EngineOutput]) -> AsyncIterator[ChatStreamChunk]:
        """Like :meth:`stream`, for an engine that yields asynchronously."""
        async for output in outputs:
            for chunk in self._next(output):
                yield chunk
        for chunk in self._finish():
            yield chunk

    def collect(self, outputs: Iterable[EngineOutput]) -> ChatResult:
        """Run to the end and return one message."""
        builder, logprobs = MessageBuilder(), []
        for chunk in self.stream(outputs):
            builder.add(chunk.delta)
            if chunk.logprobs is not None:
                logprobs.append(chunk.logprobs)
        return self._result(builder, logprobs)

    async def collect_async(self, outputs: AsyncIterable[EngineOutput]) -> ChatResult:
        """Like :meth:`collect`, for an engine that yields asynchronously."""
        builder, logprobs = MessageBuilder(), []
        async for chunk in self.stream_async(outputs):
            builder.add(chunk.delta)
            if chunk.logprobs is not None:
                logprobs.append(chunk.logprobs)
        return self._result(builder, logprobs)

    def _next(self, output: EngineOutput) -> list[ChatStreamChunk]:
        """Feed what was held, then ``output`` unless it is to be held itself."""
        held, self._held = self._held, None
        if output.finish_reason is not None:
            self._held = output
            return [] if held is None else self.feed(held)
        return self.feed(output) if held is None else self.feed(held) + self.feed(output)

    def _finish(self) -> list[ChatStreamChunk]:
        held, self._held = self._held, None
        chunks = self.feed(held or EngineOutput(), final=True)
        if held is None:
            self.chunks -= 1  # nothing was read: what the end releases belongs to the chunk before
            for chunk in chunks:
                chunk.chunk = max(self.chunks - 1, 0)
        return chunks

    def _result(self, builder: MessageBuilder, logprobs: list[Any]) -> ChatResult:
        return ChatResult(
            builder.build(), self.finish_reason, self.usage, self.parser.diagnostics, logprobs, self.choice
        )

    def _client_finish_reason(self, reason: str) -> str:
        if reason == "stop" and self._tool_calls_emitted and self.parser.request.tool_choice != "none":
            return "tool_calls"
        return reason
