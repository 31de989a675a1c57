"""What a parser has to know of the request: which tools it exposed and how the prompt was rendered.

Owns reading the request shapes of the three APIs (OpenAI Chat Completions, OpenAI Responses, Anthropic Messages).
It knows no wire format and sends nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

ToolChoice = str | dict[str, Any]


@dataclass(slots=True, frozen=True)
class ToolSpec:
    """One tool, whichever API described it.

    Attributes:
        name: the function's name.
        parameters: JSON Schema of its arguments; ``{}`` where the request gave none.
        raw: the tool as the request spelled it.
    """

    name: str
    parameters: Mapping[str, Any]
    raw: Mapping[str, Any]


@dataclass(slots=True)
class ChatRequest:
    """A chat request as far as parsing depends on it.

    Args:
        tools: tools in any of the three shapes. ``None`` means "not known": no call is filtered. A list, even an
            empty one, filters.
        tool_choice: ``"auto"``, ``"required"``, ``"none"``, a named function or OpenAI's ``allowed_tools``.
        chat_template_kwargs: switches of the chat template, such as ``enable_thinking``.
        reasoning_effort: as the request gave it.
        skip_special_tokens: what the engine is told about decoding; a tool parser whose tags are special tokens
            turns it off in ``adjust_request``.
        spaces_between_special_tokens: likewise.

    Raises:
        ValueError: a tool or the tool choice has none of the known shapes; the message says what was expected.
    """

    tools: Sequence[Mapping[str, Any]] | None = None
    tool_choice: ToolChoice = "auto"
    chat_template_kwargs: Mapping[str, Any] = field(default_factory=dict)
    reasoning_effort: str | None = None
    skip_special_tokens: bool = True
    spaces_between_special_tokens: bool = True
    _specs: dict[str, ToolSpec] | None = field(default=None, init=False, repr=False)
    _exposed: frozenset[str] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.chat_template_kwargs is None:
            self.chat_template_kwargs = {}
        elif not isinstance(self.chat_template_kwargs, Mapping):
            raise ValueError(f"chat_template_kwargs must be an object, not {_kind(self.chat_template_kwargs)}")
        if self.tools is None and self.tool_choice == "auto":
            return  # the common case costs nothing
        self._specs = _read_tools(self.tools)
        self._exposed = _exposed_names(self._specs, self.tool_choice)

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> ChatRequest:
        """Read the body of a Chat Completions, Responses or Messages request.

        Args:
            body: the decoded JSON object; members that don't matter here are ignored.

        Raises:
            ValueError: a member has an unknown shape.
        """
        if not isinstance(body, Mapping):
            raise ValueError(f"a request body must be a JSON object, not {_kind(body)}")
        kwargs = body.get("chat_template_kwargs") or {}
        if not isinstance(kwargs, Mapping):
            raise ValueError(f"chat_template_kwargs must be an object, not {_kind(kwargs)}")
        if isinstance(body.get("enable_thinking"), bool):
            kwargs = {"enable_thinking": body["enable_thinking"], **kwargs}
        thinking = body.get("thinking")
        if isinstance(thinking, Mapping) and thinking.get("type") in ("enabled", "disabled"):  # Anthropic's switch
            kwargs = {"enable_thinking": thinking["type"] == "enabled", **kwargs}
        effort = body.get("reasoning_effort")
        if effort is None and isinstance(body.get("reasoning"), Mapping):  # the Responses API nests it
            effort = body["reasoning"].get("effort")
        return cls(
            tools=body.get("tools"),
            tool_choice=body.get("tool_choice") or "auto",
            chat_template_kwargs=kwargs,
            reasoning_effort=effort,
        )

    @property
    def exposed_names(self) -> frozenset[str] | None:
        """Names that the model may call, or ``None`` where nothing is known and nothing is filtered (R25)."""
        return self._exposed

    @property
    def tools_disabled(self) -> bool:
        """Whether tool markup is plain text because the request said ``tool_choice: none``."""
        return self.tool_choice == "none" or (
            isinstance(self.tool_choice, Mapping) and self.tool_choice.get("type") == "none"
        )

    @property
    def tool_specs(self) -> list[ToolSpec]:
        """The request's tools in order; empty where none are known."""
        return list((self._specs or {}).values())

    def parameters_of(self, name: str) -> Mapping[str, Any]:
        """JSON Schema of a function's arguments, ``{}`` where unknown."""
        spec = (self._specs or {}).get(name)
        return spec.parameters if spec else {}

    def thinking_switch(self, *names: str) -> bool | None:
        """Value of the first of the template switches ``names`` that is off, else on if any is on, else ``None``.

        Where switches contradict each other ``False`` wins: a template that honours either leaves thinking out.
        """
        values = [self.chat_template_kwargs.get(name) for name in names]
        if any(value is False for value in values):
            return False
        return True if any(value is True for value in values) else None


def _read_tools(tools: Any) -> dict[str, ToolSpec] | None:
    if tools is None:
        return None
    if isinstance(tools, (str, bytes, Mapping)) or not isinstance(tools, Sequence):
        raise ValueError(f"tools must be a list of tools, not {_kind(tools)}")
    specs: dict[str, ToolSpec] = {}
    for position, tool in enumerate(tools):
        spec = _read_tool(tool, position)
        if spec is not None:
            specs[spec.name] = spec
    return specs


def _read_tool(tool: Any, position: int) -> ToolSpec | None:
    if not isinstance(tool, Mapping):
        raise ValueError(f"tools[{position}] must be an object, not {_kind(tool)}")
    body = tool.get("function") if isinstance(tool.get("function"), Mapping) else tool
    assert isinstance(body, Mapping)
    name = body.get("name")
    if not isinstance(name, str) or not name:
        if isinstance(tool.get("type"), str) and tool["type"] not in ("function", "custom"):
            return None  # a hosted tool (web_search, ...): no function that the model could name
        raise ValueError(
            f"tools[{position}] has no name: give {{'type': 'function', 'function': {{'name': ...}}}}, "
            "{'type': 'function', 'name': ..., 'parameters': ...} or {'name': ..., 'input_schema': ...}"
        )
    schema = body.get("parameters", body.get("input_schema"))
    return ToolSpec(name, schema if isinstance(schema, Mapping) else {}, tool)


def _exposed_names(specs: dict[str, ToolSpec] | None, choice: Any) -> frozenset[str] | None:
    if isinstance(choice, str):
        if choice not in ("auto", "none", "required", "any"):
            raise ValueError(f"tool_choice {choice!r} is none of 'auto', 'none', 'required' and a function object")
        return None if specs is None else frozenset(specs)
    if not isinstance(choice, Mapping):
        raise ValueError(f"tool_choice must be a string or an object, not {_kind(choice)}")
    wanted = _chosen_names(choice)
    if wanted is None or specs is None:
        return wanted if specs is None else frozenset(specs)
    missing = sorted(wanted - specs.keys())
    if missing:
        raise ValueError(f"tool_choice names {', '.join(map(repr, missing))}, which tools does not hold")
    return wanted


def _chosen_names(choice: Mapping[str, Any]) -> frozenset[str] | None:
    """Names that a tool_choice object narrows the tools to; ``None`` where it doesn't narrow them."""
    kind = choice.get("type")
    if kind in ("auto", "any", "none", "required"):
        return None
    if kind == "allowed_tools":
        allowed = choice.get("allowed_tools", choice)
        tools = allowed.get("tools") if isinstance(allowed, Mapping) else None
        return frozenset(_read_tools(tools) or {})
    function = choice.get("function", choice)
    name = function.get("name") if isinstance(function, Mapping) else None
    if not isinstance(name, str) or not name:
        raise ValueError(
            "tool_choice object has no function name: give {'type': 'function', 'function': {'name': ...}}, "
            "{'type': 'tool', 'name': ...} or {'type': 'allowed_tools', ...}"
        )
    return frozenset((name,))


def _kind(value: Any) -> str:
    return "null" if value is None else type(value).__name__
