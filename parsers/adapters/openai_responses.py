"""OpenAI Responses: the events of a streamed response, or one ``response``.

Source of the shapes: the API reference (*Responses*, *Streaming events*) and the types ``ResponseStreamEvent`` and
``Response`` of the ``openai`` package. Reasoning is sent as ``reasoning_text``, which is what open models' servers do:
it is the model's own text, not a summary.
"""

from __future__ import annotations

from collections.abc import Iterable
from io import StringIO
from typing import Any, ClassVar, Unpack

from ..chat_runner import Usage
from .adapter import Envelope, Event
from .finish_reasons import responses_status
from .parts import Part, PartAdapter


class ResponsesAdapter(PartAdapter):
    """Events of a streamed response; see :class:`Adapter` for the arguments.

    Events repeat all text when a part, an item and the response end, so the response is kept in memory: this is how
    the API is. Output items are numbered in order, and so are their ids. Where tokens could be counted but not those of
    the reasoning, their number is zero: the client wants one. Log probabilities are left out.
    """

    api = "responses"
    default_id: ClassVar[str] = "resp_unspool"

    def __init__(self, **envelope: Unpack[Envelope]) -> None:
        super().__init__(**envelope)
        self._sequence_number = 0
        self._output: list[dict[str, Any]] = []
        self._text_so_far = StringIO()

    def join(self, events: Iterable[Event]) -> Event:
        """Return the response that the last event has."""
        response: Event = {}
        for event in events:
            response = event.get("response", response)
        return response

    def _begin(self, events: list[Event]) -> None:
        for kind in ("response.created", "response.in_progress"):
            self._add(events, kind, response=self._response("in_progress"))

    def _open_part(self, part: Part, events: list[Event]) -> None:
        self._text_so_far = StringIO()
        self._add(events, "response.output_item.added", output_index=part.index, item=self._item(part, "in_progress"))
        if part.kind != "tool_call":
            self._add_for(part, events, "response.content_part.added", content_index=0, part=_content(part, ""))

    def _piece(self, part: Part, text: str, events: list[Event]) -> None:
        self._text_so_far.write(text)
        match part.kind:
            case "reasoning":
                self._add_for(part, events, "response.reasoning_text.delta", content_index=0, delta=text)
            case "content":
                self._add_for(part, events, "response.output_text.delta", content_index=0, delta=text, logprobs=[])
            case "tool_call":
                self._add_for(part, events, "response.function_call_arguments.delta", delta=text)

    def _close_part(self, part: Part, complete: bool, events: list[Event]) -> None:
        text = self._text_so_far.getvalue()
        if part.call is not None:
            name = part.call.name or ""
            self._add_for(part, events, "response.function_call_arguments.done", name=name, arguments=text)
        elif part.kind == "reasoning":
            self._add_for(part, events, "response.reasoning_text.done", content_index=0, text=text)
        else:
            self._add_for(part, events, "response.output_text.done", content_index=0, text=text, logprobs=[])
        if part.kind != "tool_call":
            self._add_for(part, events, "response.content_part.done", content_index=0, part=_content(part, text))
        item = self._item(part, "completed" if complete else "incomplete", text)
        self._output.append(item)
        self._add(events, "response.output_item.done", output_index=part.index, item=item)

    def _finish(self, usage: Usage, events: list[Event]) -> None:
        status, details = responses_status(self._finish_reason, called=self._called)
        response = self._response(status, details, list(self._output), self._usage(usage))
        self._add(events, f"response.{status}", response=response)

    def _is_complete(self) -> bool:
        return responses_status(self._finish_reason, called=self._called)[0] == "completed"

    def _add(self, events: list[Event], kind: str, **members: Any) -> None:
        events.append({"type": kind, "sequence_number": self._sequence_number} | members)
        self._sequence_number += 1

    def _add_for(self, part: Part, events: list[Event], kind: str, /, **members: Any) -> None:
        self._add(events, kind, item_id=self._item_id(part), output_index=part.index, **members)

    def _item_id(self, part: Part) -> str:
        prefix = {"reasoning": "rs", "content": "msg", "tool_call": "fc"}[part.kind]
        return f"{prefix}_{self.id.removeprefix('resp_')}_{part.index}"

    def _item(self, part: Part, status: str, text: str | None = None) -> dict[str, Any]:
        """An output item: without ``text`` as it is announced, with it as it ends."""
        item: dict[str, Any] = {"id": self._item_id(part), "status": status}
        if part.call is not None:
            call_id, name = part.call.id or "", part.call.name or ""
            return item | {"type": "function_call", "call_id": call_id, "name": name, "arguments": text or ""}
        content = [] if text is None else [_content(part, text)]
        if part.kind == "reasoning":
            return item | {"type": "reasoning", "summary": [], "content": content}
        return item | {"type": "message", "role": "assistant", "content": content}

    def _response(
        self,
        status: str,
        details: dict[str, str | None] | None = None,
        output: list[dict[str, Any]] | None = None,
        usage: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": "response",
            "created_at": self.created,
            "status": status,
            "error": None,
            "incomplete_details": details,
            "instructions": None,
            "model": self.model,
            "output": output or [],
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "usage": usage,
        }

    def _usage(self, usage: Usage) -> dict[str, Any] | None:
        if usage.completion_tokens is None:
            return None
        return {
            "input_tokens": self.prompt_tokens,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": usage.completion_tokens,
            "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
            "total_tokens": self.prompt_tokens + usage.completion_tokens,
        }


def _content(part: Part, text: str) -> dict[str, Any]:
    if part.kind == "reasoning":
        return {"type": "reasoning_text", "text": text}
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
