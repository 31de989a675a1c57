"""The ``response_format`` that makes a model keep to a request's tools and tool choice (R42).

Owns putting reasoning and calls together, and saying what is missing where that can't be done.
"""

from __future__ import annotations

from typing import Any

from ..harmony import HarmonyResponseParser
from ..reasoning_parser import ReasoningParser, ReasoningParserManager
from ..registry import Registry
from ..request import ChatRequest
from ..response_parser import BaseResponseParser, ResponseParser, ResponseParserManager
from ..tool_parser import ToolParser, ToolParserManager
from .call_syntax import calls_format
from .dialects import call_syntaxes
from .formats import Format, sequence, text
from .harmony import harmony_format
from .reasoning import reasoning_format
from .tool_choice import Demand, read_demand


def build_required_response_format(
    request: ChatRequest,
    *,
    reasoning_parser: str | type[ReasoningParser] | None = None,
    tool_parser: str | type[ToolParser] | None = None,
    response_parser: str | type[ResponseParser] = "default",
) -> dict[str, Any]:
    """Build the ``response_format`` of a request: an xgrammar structural tag, ready for JSON.

    What it allows is what the parsers of the same names read without a diagnostic: reasoning where the request has
    it, then text with well-formed calls in it (``auto``), or calls and nothing else (``required``, a named function).

    Args:
        request: its tools, its tool choice and its template switches decide.
        reasoning_parser: registered name or class, or ``None`` where the model does not reason.
        tool_parser: registered name or class; may be ``None`` only where no call is allowed.
        response_parser: ``"default"``, or one that needs neither of the two, such as ``"gpt-oss"``.

    Returns:
        ``{"type": "structural_tag", "format": {...}}``

    Raises:
        ValueError: the tools are not known, a required call has no tool, or the parser has no grammar.
        LookupError: a name is not registered; the message lists near matches.
    """
    demand = read_demand(request)
    cls = ResponseParserManager.get(response_parser) if isinstance(response_parser, str) else response_parser
    if issubclass(cls, HarmonyResponseParser):
        return _structural_tag(harmony_format(demand))
    if not issubclass(cls, BaseResponseParser):
        raise _no_grammar(ResponseParserManager, cls, demand)
    tool = ToolParserManager.get(tool_parser) if isinstance(tool_parser, str) else tool_parser
    reasoning = ReasoningParserManager.get(reasoning_parser) if isinstance(reasoning_parser, str) else reasoning_parser
    return _structural_tag(_composed(request, demand, reasoning, tool))


def _composed(
    request: ChatRequest, demand: Demand, reasoning: type[ReasoningParser] | None, tool: type[ToolParser] | None
) -> Format:
    thoughts = reasoning(request) if reasoning is not None and reasoning.separates else None
    openers = () if tool is None else (*(tool.open_tags or (tool.get_tool_open_tag(),)), *tool.bare_openers)
    tags = (*thoughts.all_open_tags(), *thoughts.all_close_tags()) if thoughts else ()
    excludes = [*tags, *openers]
    if tool is None:
        if demand.tools:
            raise ValueError(f"tool_choice {demand.spoken} needs a tool parser: name the one of the model's calls")
        answer = text(excludes)
    else:
        syntaxes = call_syntaxes(tool)
        if not syntaxes:
            raise _no_grammar(ToolParserManager, tool, demand)
        answer = calls_format(demand, syntaxes, excludes)
    return sequence(*([reasoning_format(thoughts, openers)] if thoughts else []), answer)


def _structural_tag(format_: Format) -> dict[str, Any]:
    return {"type": "structural_tag", "format": format_}


def _no_grammar(registry: Registry[Any], cls: type[Any], demand: Demand) -> ValueError:
    names = [entry.name for entry in registry if entry.cls is cls]
    how = "give its class a class method `call_syntaxes`" if registry is ToolParserManager else "it composes its own"
    return ValueError(
        f"{registry.kind} {(names or [cls.__qualname__])[0]!r} has no grammar, so that tool_choice {demand.spoken} "
        f"can't be enforced: {how}, or leave the answer unconstrained"
    )
