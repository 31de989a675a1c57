"""The ``response_format`` that makes a model keep to a request's tools and tool choice (R42).

Owns finding the parsers, and saying which of them has no grammar.
"""

from __future__ import annotations

from typing import Any

from ..reasoning_parser import ReasoningParser, ReasoningParserManager
from ..registry import Registry
from ..request import ChatRequest
from ..response_parser import BaseResponseParser, ResponseParser, ResponseParserManager
from ..tool_parser import ToolParser, ToolParserManager
from .tool_choice import read_demand


def build_required_response_format(
    request: ChatRequest,
    *,
    reasoning_parser: str | type[ReasoningParser] | None = None,
    tool_parser: str | type[ToolParser] | None = None,
    response_parser: str | type[ResponseParser] = "default",
) -> dict[str, Any]:
    """Build the ``response_format`` of a request: an xgrammar structural tag, ready for JSON.

    What it allows is what the parsers of the same names read without a finding: reasoning where the request has it,
    then text with well-formed calls in it (``auto``), or calls and nothing else (``required``, a named function).

    Args:
        request: its tools, its tool choice and its template switches decide.
        reasoning_parser: registered name or class, or ``None`` where the model does not reason.
        tool_parser: registered name or class; may be ``None`` only where no call is allowed.
        response_parser: ``"default"``, or one that needs neither of the two, such as ``"gpt-oss"``.

    Returns:
        ``{"type": "structural_tag", "format": {...}}``

    Raises:
        ValueError: the tools are not known, a required call has no tool, or a parser has no grammar.
        LookupError: a name is not registered; the message lists near matches.
    """
    response = ResponseParserManager.get(response_parser) if isinstance(response_parser, str) else response_parser
    tool = ToolParserManager.get(tool_parser) if isinstance(tool_parser, str) else tool_parser
    reasoning = ReasoningParserManager.get(reasoning_parser) if isinstance(reasoning_parser, str) else reasoning_parser
    made = response.structural_tag_model(request, reasoning, tool)
    if made is None:
        lacking = tool if tool is not None and issubclass(response, BaseResponseParser) else response
        registry: Registry[Any] = ToolParserManager if lacking is tool else ResponseParserManager
        raise _no_grammar(registry, lacking, request)
    return {"type": "structural_tag", "format": made}


def _no_grammar(registry: Registry[Any], cls: type[Any], request: ChatRequest) -> ValueError:
    name = next((entry.name for entry in registry if entry.cls is cls), cls.__qualname__)
    method = "call_syntaxes" if registry is ToolParserManager else "structural_tag_model"
    able = ", ".join(entry.name for entry in registry if _defines(entry.cls, method))
    return ValueError(
        f"{registry.kind} {name!r} has no grammar to enforce tool_choice {read_demand(request).spoken} with: "
        f"leave the answer unconstrained, or give its class a class method `{method}`; these have one: {able}"
    )


def _defines(cls: type[Any], method: str) -> bool:
    """Whether a parser, or one of its bases that is not just a contract, defines ``method``."""
    return any(method in vars(base) for base in cls.__mro__ if not getattr(base, "__abstractmethods__", None))
