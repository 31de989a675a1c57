"""Salesforce xLAM: calls as JSON, and four ways of setting them off from text."""

from __future__ import annotations

import re

from .bare_json_tool_parser import BareJsonToolParser
from .tool_parser import ToolParserManager
from .writing import FunctionCalls


@ToolParserManager.register_module("xlam")
class XlamToolParser(BareJsonToolParser):
    """``[{"name": ..., "arguments": {...}}, ...]``, or one such object.

    It stands bare where content begins, in a Markdown fence anywhere, after ``[TOOL_CALLS]``, or in ``<tool_call>``
    tags. A fence that holds no call is text.
    """

    description = "JSON, bare, fenced or in <tool_call> tags: xLAM 2, Llama-xLAM-2, Qwen-xLAM"
    open_tags = ("<tool_call>", "[TOOL_CALLS]")
    close_tags = ("</tool_call>", "```")
    close_tag_optional = True
    tag_optional = True
    bare_openers = ("```",)
    bare_prefix = re.compile(r"(?:```(?:json|jso?\Z|j\Z)?|``?\Z)\s*+")

    @classmethod
    def get_tool_open_tag(cls) -> str:
        return cls.open_tags[0]

    @classmethod
    def get_tool_close_tag(cls) -> str:
        return cls.close_tags[0]

    @classmethod
    def write_calls(cls, calls: FunctionCalls) -> str:
        return cls._array(calls)
