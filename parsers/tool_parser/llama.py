"""Llama 3 and later with the JSON template: an envelope after ``<|python_tag|>``, or without it."""

from __future__ import annotations

import re

from .bare_json_tool_parser import BareJsonToolParser
from .tool_parser import ToolParserManager
from .writing import FunctionCalls


@ToolParserManager.register_module("llama3")
class LlamaToolParser(BareJsonToolParser):
    """``<|python_tag|>{"name": ..., "parameters": {...}}``; further calls follow after ``;`` or a newline."""

    description = "JSON after <|python_tag|> or bare, no close tag: Llama 3.1, 3.2, 3.3, 4"
    argument_field = "parameters"
    separator = re.compile(r"[\s;,]*+")

    @classmethod
    def get_tool_open_tag(cls) -> str:
        return "<|python_tag|>"

    @classmethod
    def write_calls(cls, calls: FunctionCalls) -> str:
        return cls.get_tool_open_tag() + "; ".join(cls._envelope(*call) for call in calls)
