"""Formats that are Hermes' envelope in ``<tool_call>`` tags, or in the like under another name."""

from __future__ import annotations

from .json_tool_parser import JsonToolParser
from .tool_parser import ToolParserManager


@ToolParserManager.register_module("longcat")
class LongCatToolParser(JsonToolParser):
    """``<longcat_tool_call>{"name": ..., "arguments": {...}}</longcat_tool_call>``."""

    description = "JSON in <longcat_tool_call> tags: LongCat-Flash"

    @classmethod
    def get_tool_open_tag(cls) -> str:
        return "<longcat_tool_call>"

    @classmethod
    def get_tool_close_tag(cls) -> str:
        return "</longcat_tool_call>"


@ToolParserManager.register_module("ernie45")
class Ernie45ToolParser(JsonToolParser):
    """``<tool_call>{"name": ..., "arguments": {...}}</tool_call>``, newlines after each block.

    The ``<response>`` tags around an answer belong to the reasoning protocol of the same name.
    """

    description = "JSON in <tool_call> tags: ERNIE 4.5 Thinking"

    @classmethod
    def get_tool_open_tag(cls) -> str:
        return "<tool_call>"

    @classmethod
    def get_tool_close_tag(cls) -> str:
        return "</tool_call>"
