"""OpenAI Chat Completions: ``chat.completion.chunk`` objects, or one ``chat.completion``.

Source of the shapes: the API reference (*Chat Completions*, *Streaming*) and the types ``ChatCompletionChunk`` and
``ChatCompletion`` of the ``openai`` package, which refuse a finish reason that they don't know. Two members are not
OpenAI's: the reasoning, under the name that engines gave it (``reasoning_content`` of DeepSeek, SGLang, LMDeploy and
llama.cpp, ``reasoning`` of vLLM and OpenRouter), and OpenRouter's ``native_finish_reason``, which keeps the engine's
word where ``finish_reason`` can't have it.
"""

from __future__ import annotations

from collections.abc import Iterable
from io import StringIO
from typing import Any, ClassVar, Literal, Unpack

from ..chat_runner import ChatStreamChunk, Usage
from ..messages import DeltaToolCall
from .adapter import Adapter, Envelope, Event
from .finish_reasons import openai_finish_reason
from .openai_logprobs import chat_logprobs
from .sse import DONE

ReasoningField = Literal["reasoning_content", "reasoning"]


class ChatCompletionAdapter(Adapter):
    """Chunks of a streamed chat completion.

    The first chunk has the role. The first delta of a call has its index, id, type and name, the later ones only the
    index and more arguments, since clients join what they get. The last choice has the finish reason and an empty
    delta. A chunk without choices follows with the usage where the tokens could be counted.

    Log probabilities are passed on where the input has them in one of OpenAI's shapes.

    Args:
        reasoning_field: the member that carries the reasoning.
        envelope: see :class:`Adapter`.
    """

    api = "openai"
    default_id: ClassVar[str] = "chatcmpl-unspool"
    sse_end = DONE

    def __init__(self, *, reasoning_field: ReasoningField = "reasoning_content", **envelope: Unpack[Envelope]) -> None:
        super().__init__(**envelope)
        self._reasoning_field = reasoning_field
        self._announced: set[int] = set()

    def join(self, events: Iterable[Event]) -> Event:
        """Fold chunks into one ``chat.completion``."""
        text = {"content": StringIO(), self._reasoning_field: StringIO()}
        calls: dict[int, dict[str, Any]] = {}
        arguments: dict[int, StringIO] = {}
        logprobs: list[dict[str, Any]] = []
        ending: dict[str, Any] = {}
        usage = None
        for event in events:
            usage = event.get("usage")
            for choice in event["choices"]:
                for field, joined in text.items():
                    joined.write(choice["delta"].get(field) or "")
                for call in choice["delta"].get("tool_calls", ()):
                    if "id" in call:
                        calls[call["index"]] = {"id": call["id"], "type": call["type"], "function": call["function"]}
                        arguments[call["index"]] = StringIO()
                    arguments[call["index"]].write(call["function"]["arguments"])
                if choice["logprobs"] is not None:
                    logprobs += choice["logprobs"]["content"]
                ending = {key: value for key, value in choice.items() if key.endswith("finish_reason")}
        message: dict[str, Any] = {"role": "assistant", "content": text["content"].getvalue() or None, "refusal": None}
        if reasoning := text[self._reasoning_field].getvalue():
            message[self._reasoning_field] = reasoning
        if calls:
            message["tool_calls"] = [
                call | {"function": {"name": call["function"]["name"], "arguments": arguments[index].getvalue()}}
                for index, call in calls.items()
            ]
        choice = {"index": 0, "message": message, "logprobs": _logprobs(logprobs)} | ending
        return self._object("chat.completion", [choice]) | ({} if usage is None else {"usage": usage})

    def _begin(self, events: list[Event]) -> None:
        events.append(self._delta({"role": "assistant", "content": ""}))

    def _chunk(self, chunk: ChatStreamChunk, events: list[Event]) -> None:
        delta: dict[str, Any] = {}
        if chunk.delta.reasoning_content:
            delta[self._reasoning_field] = chunk.delta.reasoning_content
        if chunk.delta.content:
            delta["content"] = chunk.delta.content
        if chunk.delta.tool_calls:
            delta["tool_calls"] = [self._call(call) for call in chunk.delta.tool_calls]
        logprobs = _logprobs(chat_logprobs(chunk.logprobs))
        if delta or logprobs:
            events.append(self._delta(delta, logprobs))

    def _end(self, usage: Usage, events: list[Event]) -> None:
        reason = openai_finish_reason(self._finish_reason, called=self._called)
        last = self._delta({}, finish_reason=reason)
        if self._finish_reason not in (None, reason):
            last["choices"][0]["native_finish_reason"] = self._finish_reason
        events.append(last)
        if usage.completion_tokens is not None:
            counts = self._usage(usage.completion_tokens, usage.reasoning_tokens)
            events.append(self._object("chat.completion.chunk", []) | {"usage": counts})

    def _call(self, call: DeltaToolCall) -> dict[str, Any]:
        if call.index in self._announced:
            return {"index": call.index, "function": {"arguments": call.arguments or ""}}
        self._announced.add(call.index)
        function = {"name": call.name or "", "arguments": call.arguments or ""}
        return {"index": call.index, "id": call.id or "", "type": call.type or "function", "function": function}

    def _delta(
        self, delta: dict[str, Any], logprobs: dict[str, Any] | None = None, finish_reason: str | None = None
    ) -> Event:
        choice = {"index": 0, "delta": delta, "logprobs": logprobs, "finish_reason": finish_reason}
        return self._object("chat.completion.chunk", [choice])

    def _object(self, kind: str, choices: list[dict[str, Any]]) -> Event:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model, "choices": choices}

    def _usage(self, completion_tokens: int, reasoning_tokens: int | None) -> dict[str, Any]:
        counts: dict[str, Any] = {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": self.prompt_tokens + completion_tokens,
        }
        if reasoning_tokens is not None:
            counts["completion_tokens_details"] = {"reasoning_tokens": reasoning_tokens}
        return counts


def _logprobs(entries: list[dict[str, Any]] | None) -> dict[str, Any] | None:
    return {"content": entries, "refusal": None} if entries else None
