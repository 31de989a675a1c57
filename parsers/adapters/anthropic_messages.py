"""Anthropic Messages: the events of a streamed message, or one ``message``.

Source of the shapes: the API reference (*Messages*, *Streaming messages*) and the types ``RawMessageStreamEvent`` and
``Message`` of the ``anthropic`` package. Blocks are numbered in order and never interleave. Thinking has no signature,
since nobody signed it: the member is there and empty.

Arguments are passed on as they come, and the pieces join to what the model wrote, cut off or not. A text that can't
become a JSON object any more would make clients raise in the middle of a stream: it is closed, and all of it follows
as the member ``INVALID_JSON``. In a whole message, where ``input`` has to be an object, arguments that are no object
or are cut off are ``{"INVALID_JSON": "<the text>"}``. See :mod:`.strict_object`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from io import StringIO
from typing import Any, ClassVar, Unpack

from ..chat_runner import Usage
from .adapter import Envelope, Event
from .finish_reasons import anthropic_stop_reason
from .parts import Part, PartAdapter
from .strict_object import StrictObject, tool_input

_FIELDS = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}


class MessagesAdapter(PartAdapter):
    """Events of a streamed message; see :class:`Adapter` for the arguments.

    The API has no place for the time of creation and none for log probabilities.
    """

    api = "anthropic"
    default_id: ClassVar[str] = "msg_unspool"

    def __init__(self, **envelope: Unpack[Envelope]) -> None:
        super().__init__(**envelope)
        self._arguments = StrictObject()

    def join(self, events: Iterable[Event]) -> Event:
        """Fold events into one ``message``, as a client does."""
        message: Event = {}
        text = StringIO()
        for event in events:
            match event["type"]:
                case "message_start":
                    message = copy.deepcopy(event["message"])
                case "content_block_start":
                    message["content"].append(dict(event["content_block"]))
                    text = StringIO()
                case "content_block_delta":
                    delta = event["delta"]
                    text.write(delta[_FIELDS[delta["type"]]])
                case "content_block_stop":
                    block = message["content"][-1]
                    if block["type"] == "tool_use":
                        block["input"] = tool_input(text.getvalue())
                    else:
                        block[block["type"]] = text.getvalue()
                case "message_delta":
                    message |= event["delta"]
                    message["usage"] |= event["usage"]
        return message

    def _begin(self, events: list[Event]) -> None:
        message: Event = {
            "id": self.id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": self.prompt_tokens, "output_tokens": 0},
        }
        events.append({"type": "message_start", "message": message})

    def _open_part(self, part: Part, events: list[Event]) -> None:
        events.append({"type": "content_block_start", "index": part.index, "content_block": _block(part)})
        self._arguments = StrictObject()

    def _piece(self, part: Part, text: str, events: list[Event]) -> None:
        match part.kind:
            case "reasoning":
                delta = {"type": "thinking_delta", "thinking": text}
            case "content":
                delta = {"type": "text_delta", "text": text}
            case _:
                if not (text := self._arguments.feed(text)):
                    return
                delta = {"type": "input_json_delta", "partial_json": text}
        events.append({"type": "content_block_delta", "index": part.index, "delta": delta})

    def _close_part(self, part: Part, complete: bool, events: list[Event]) -> None:
        if part.kind == "tool_call" and (text := self._arguments.finish()):
            delta = {"type": "input_json_delta", "partial_json": text}
            events.append({"type": "content_block_delta", "index": part.index, "delta": delta})
        events.append({"type": "content_block_stop", "index": part.index})

    def _finish(self, usage: Usage, events: list[Event]) -> None:
        reason = anthropic_stop_reason(self._finish_reason, called=self._called)
        delta = {"stop_reason": reason, "stop_sequence": None}
        counts = {"output_tokens": usage.completion_tokens or 0}
        events.append({"type": "message_delta", "delta": delta, "usage": counts})
        events.append({"type": "message_stop"})

    def _is_complete(self) -> bool:
        return True  # blocks have no status


def _block(part: Part) -> dict[str, Any]:
    if part.call is not None:
        return {"type": "tool_use", "id": part.call.id or "", "name": part.call.name or "", "input": {}}
    if part.kind == "reasoning":
        return {"type": "thinking", "thinking": "", "signature": ""}
    return {"type": "text", "text": ""}
