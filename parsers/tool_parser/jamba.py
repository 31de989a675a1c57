"""AI21 Jamba: a JSON array in ``<tool_calls>`` tags."""

from __future__ import annotations

from .json_tool_parser import JsonToolParser
from .tool_parser import ToolParserManager
from .writing import FunctionCalls


@ToolParserManager.register_module("jamba")
class JambaToolParser(JsonToolParser):
    """``<tool_calls>[{"name": ..., "arguments": {...}}, ...]</tool_calls>``, with blank space where it likes."""

    description = "a JSON array in <tool_calls> tags: Jamba 1.5, 1.6"

    @classmethod
    def get_tool_open_tag(cls) -> str:
        return "<tool_calls>"

    @classmethod
    def get_tool_close_tag(cls) -> str:
        return "</tool_calls>"

    @classmethod
    def write_calls(cls, calls: FunctionCalls) -> str:
        return f"{cls.get_tool_open_tag()}{cls._array(calls)}{cls.get_tool_close_tag()}"
