"""Qwen2.5, Qwen3 and Hermes: a JSON envelope in ``<tool_call>`` tags."""

from __future__ import annotations

from ..grammar.call_syntax import CallSyntax
from .json_tool_parser import JsonToolParser
from .tool_parser import ToolParserManager
from .writing import FunctionCalls


@ToolParserManager.register_module("qwen3", "qwen", "qwen2d5")
class QwenToolParser(JsonToolParser):
    """One envelope a block: ``<tool_call>{"name": ..., "arguments": {...}}</tool_call>``, usually with newlines."""

    description = "JSON in <tool_call> tags: Qwen2.5, Qwen3, QwQ, Hermes 2 and 3"

    @classmethod
    def get_tool_open_tag(cls) -> str:
        return "<tool_call>"

    @classmethod
    def get_tool_close_tag(cls) -> str:
        return "</tool_call>"

    @classmethod
    def call_syntaxes(cls) -> tuple[CallSyntax, ...]:
        return cls.envelope_syntax()

    @classmethod
    def write_calls(cls, calls: FunctionCalls) -> str:
        return "\n".join(f"<tool_call>\n{cls._envelope(*call)}\n</tool_call>" for call in calls)
