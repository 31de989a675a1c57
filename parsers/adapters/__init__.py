"""Responses in the shapes that clients read: Chat Completions, Messages, Responses.

    >>> from unspool.parsers import ChatRequest, ChatRunner, EngineOutput, build_response_parser
    >>> from unspool.parsers.adapters import ChatCompletionAdapter
    >>> runner = ChatRunner(build_response_parser(ChatRequest(), reasoning_parser="default"))
    >>> events = ChatCompletionAdapter(model="m").stream(runner, [EngineOutput("Hm.</think>Hi.")])
    >>> [event["choices"][0]["delta"] for event in events]
    [{'role': 'assistant', 'content': ''}, {'reasoning_content': 'Hm.'}, {'content': 'Hi.'}, {}]

An adapter turns :class:`ChatStreamChunk` into events, plain JSON values, and a :class:`ChatResult` into one object. It
opens no connection and imports no SDK; :func:`sse.frame` makes the bytes that a server sends.
"""

from __future__ import annotations

from . import sse
from .adapter import Adapter, Envelope, Event
from .anthropic_messages import MessagesAdapter
from .openai_chat import ChatCompletionAdapter, ReasoningField
from .openai_responses import ResponsesAdapter
from .strict_object import INVALID_JSON

__all__ = [
    "INVALID_JSON",
    "Adapter",
    "ChatCompletionAdapter",
    "Envelope",
    "Event",
    "MessagesAdapter",
    "ReasoningField",
    "ResponsesAdapter",
    "sse",
]
