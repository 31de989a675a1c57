"""Deltas and messages as plain JSON values, in OpenAI's nested shapes.

Owns which keys a record has: those of the contract, and beyond them only what the input had. Writes nothing.
"""

from __future__ import annotations

from typing import Any

from unspool.parsers import ChatResult, ChatStreamChunk, DeltaToolCall, Diagnostic, ToolCall


def delta_record(chunk: ChatStreamChunk, source: str | None = None) -> dict[str, Any]:
    """One line of chunk mode.

    Args:
        chunk: the delta with its transport data.
        source: the input's name, where there are several.
    """
    message = chunk.delta
    delta: dict[str, Any] = {}
    if message.role is not None:
        delta["role"] = message.role
    if message.content is not None:
        delta["content"] = message.content
    if message.reasoning_content is not None:
        delta["reasoning_content"] = message.reasoning_content
    if message.tool_calls:
        delta["tool_calls"] = [_call_delta(call) for call in message.tool_calls]
    record = {"chunk": chunk.chunk, "delta": delta, "tool_calls_emitted": chunk.tool_calls_emitted}
    if source is not None or chunk.choice is not None:
        record = origin(source, chunk.choice) | record
    if chunk.token_ids is not None:
        record["token_ids"] = chunk.token_ids
    if chunk.logprobs is not None:
        record["logprobs"] = chunk.logprobs
    if chunk.finish_reason is not None:
        record["finish_reason"] = chunk.finish_reason
    return record


def message_record(result: ChatResult, source: str | None = None) -> dict[str, Any]:
    """The one object of final mode; every key is always there, so that a reader needs no defaults."""
    return origin(source, result.choice) | {
        "message": {
            "role": "assistant",
            "content": result.message.content,
            "reasoning_content": result.message.reasoning_content,
            "tool_calls": [call_record(call) for call in result.message.tool_calls],
        },
        "finish_reason": result.finish_reason,
        "usage": {
            "completion_tokens": result.usage.completion_tokens,
            "reasoning_tokens": result.usage.reasoning_tokens,
        },
        "diagnostics": [_diagnostic(diagnostic) for diagnostic in result.diagnostics],
    }


def call_record(call: ToolCall) -> dict[str, Any]:
    """A finished call; its arguments stay the text that the model wrote."""
    return {"id": call.id, "type": call.type, "function": {"name": call.name, "arguments": call.arguments}}


def origin(source: str | None, choice: str | None) -> dict[str, Any]:
    """Where a record is from, as far as there are several inputs or several responses in one."""
    record: dict[str, Any] = {} if source is None else {"input": source}
    if choice is not None:
        record["choice"] = choice
    return record


def _call_delta(call: DeltaToolCall) -> dict[str, Any]:
    record: dict[str, Any] = {"index": call.index}
    if call.id is not None:
        record["id"] = call.id
    if call.type is not None:
        record["type"] = call.type
    # Clients join the pieces, so the first delta of a call carries the empty one, as in OpenAI's stream.
    arguments = call.arguments or ""
    record["function"] = {"arguments": arguments} if call.name is None else {"name": call.name, "arguments": arguments}
    return record


def _diagnostic(diagnostic: Diagnostic) -> dict[str, Any]:
    return {"code": diagnostic.code, "offset": diagnostic.offset, "message": diagnostic.message}
