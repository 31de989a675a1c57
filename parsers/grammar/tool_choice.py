"""What a request's ``tool_choice`` demands of the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..request import ChatRequest, ToolSpec


@dataclass(frozen=True, slots=True)
class Demand:
    """What an answer may and must hold.

    Attributes:
        spoken: the choice as a person would say it, for messages.
        tools: those that may be called.
        required: whether one has to be.
        single: whether it is exactly one call.
    """

    spoken: str
    tools: tuple[ToolSpec, ...]
    required: bool = False
    single: bool = False


def read_demand(request: ChatRequest) -> Demand:
    """Read a request's tools and tool choice.

    Raises:
        ValueError: a call is required and the tools are not known.
    """
    choice: Any = request.tool_choice
    kind = choice if isinstance(choice, str) else str(choice.get("type", "function"))
    names = request.exposed_names or frozenset()
    tools = tuple(spec for spec in request.tool_specs if spec.name in names)
    if kind == "none":
        return Demand("'none'", ())
    if kind == "allowed_tools":
        allowed = choice.get("allowed_tools")
        mode = (allowed if isinstance(allowed, Mapping) else choice).get("mode", "auto")
        demand = Demand(f"'allowed_tools' ({mode})", tools, required=mode == "required")
    elif kind in ("required", "any"):
        demand = Demand(f"{kind!r}", tools, required=True)
    elif kind == "auto":
        demand = Demand("'auto'", tools)
    else:
        demand = Demand(f"of the function {next(iter(names))!r}", tools, required=True, single=True)
    if request.tools is None:
        raise ValueError(
            "a grammar needs the request's tools, and they are not known: give them (--tools or --request)"
        )
    if demand.required and not tools:
        raise ValueError(f"tool_choice {demand.spoken} needs a tool to call, and the request has none")
    return demand
