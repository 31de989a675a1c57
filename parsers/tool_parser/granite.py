"""IBM Granite: a JSON array after a tag (3.x), or objects with a tag each (20B for function calling)."""

from __future__ import annotations

import re

from .json_tool_parser import JsonToolParser
from .tool_parser import ToolParserManager
from .writing import FunctionCalls


@ToolParserManager.register_module("granite")
class GraniteToolParser(JsonToolParser):
    """``<|tool_call|>[{"name": ..., "arguments": {...}}, ...]``; the array's end is the block's."""

    description = "a JSON array after <|tool_call|> or <tool_call>, no close tag: Granite 3.0 to 3.3"
    open_tags = ("<|tool_call|>", "<tool_call>")  # a special token in 3.0, plain text since 3.1

    @classmethod
    def get_tool_open_tag(cls) -> str:
        return cls.open_tags[0]

    @classmethod
    def write_calls(cls, calls: FunctionCalls) -> str:
        return cls.get_tool_open_tag() + cls._array(calls)


@ToolParserManager.register_module("granite-20b-fc")
class Granite20bToolParser(JsonToolParser):
    """``<function_call> {"name": ..., "arguments": {...}} <function_call> {...}``; the object's end is the block's."""

    description = "JSON after <function_call>, no close tag: Granite 20B function calling"
    separator = re.compile(r"\s*+")  # one space, as the model writes it

    @classmethod
    def get_tool_open_tag(cls) -> str:
        return "<function_call>"

    @classmethod
    def write_calls(cls, calls: FunctionCalls) -> str:
        return " ".join(f"{cls.get_tool_open_tag()} {cls._envelope(*call)}" for call in calls)
