"""Builds a parser for one response out of names or classes."""

from __future__ import annotations

from typing import Any

from ..markers import Boundaries
from ..reasoning_parser import ReasoningParser, ReasoningParserManager
from ..request import ChatRequest
from ..tool_parser import ToolParser, ToolParserManager
from ..tool_parser.tool_parser import CallIdFactory
from .response_parser import ResponseParser, ResponseParserManager


def build_response_parser(
    request: ChatRequest | None = None,
    *,
    reasoning_parser: str | type[ReasoningParser] | None = None,
    tool_parser: str | type[ToolParser] | None = None,
    response_parser: str | type[ResponseParser] = "default",
    tokenizer: Any = None,
    boundaries: Boundaries | None = None,
    call_id_factory: CallIdFactory | None = None,
    record_spans: bool = False,
) -> ResponseParser:
    """Build a parser for one response.

    Args:
        request: what the response answers; by default a request of which nothing is known.
        reasoning_parser: registered name, class, or ``None`` where the model does not reason.
        tool_parser: registered name, class, or ``None`` where the model calls no tools.
        response_parser: ``"default"`` composes the two above; others, such as ``"gpt-oss"``, need neither.
        tokenizer: a ``tokenizers`` or ``transformers`` tokenizer, to count reasoning tokens and read token ids.
        boundaries: where chunks can end: :meth:`Boundaries.characters` (default) or :meth:`Boundaries.tokens`.
        call_id_factory: ``(index, name) -> id`` for calls to which the model gave no id; ``call_0``, ... by default.
        record_spans: keep what each character became; costs time, meant for debugging and checks.

    Returns:
        A fresh parser, good for one response.

    Raises:
        LookupError: a name is not registered; the message lists near matches.
    """
    response_cls = ResponseParserManager.get(response_parser) if isinstance(response_parser, str) else response_parser
    reasoning_cls = (
        ReasoningParserManager.get(reasoning_parser) if isinstance(reasoning_parser, str) else reasoning_parser
    )
    tool_cls = ToolParserManager.get(tool_parser) if isinstance(tool_parser, str) else tool_parser
    return response_cls(
        ChatRequest() if request is None else request,
        reasoning_parser=reasoning_cls,
        tool_parser=tool_cls,
        tokenizer=tokenizer,
        boundaries=boundaries,
        call_id_factory=call_id_factory,
        record_spans=record_spans,
    )
