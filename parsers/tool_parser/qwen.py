"""Qwen2.5, Qwen3 and Hermes: a JSON envelope in ``<tool_call>`` tags."""

from __future__ import annotations

from .json_tool_parser import JsonToolParser
from .tool_parser import ToolParserManager


@ToolParserManager.register_module("qwen3", "qwen", "qwen2d5")
class QwenToolParser(JsonToolParser):
    """``<tool_call>\\n{"name": ..., "arguments": {...}}\\n</tool_call>``"""

    description = "JSON in <tool_call> tags: Qwen2.5, Qwen3, QwQ, Hermes 2 and 3"

    @classmethod
    def get_tool_open_tag(cls) -> str:
        return "<tool_call>"

    @classmethod
    def get_tool_close_tag(cls) -> str:
        return "</tool_call>"
