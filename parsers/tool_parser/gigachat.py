"""Sber's GigaChat 3: a JSON envelope after a token, or after a message header that says the same."""

from __future__ import annotations

from .json_tool_parser import JsonToolParser
from .tool_parser import ToolParserManager


@ToolParserManager.register_module("gigachat3")
class GigaChat3ToolParser(JsonToolParser):
    """``<|function_call|>{"name": ..., "arguments": {...}}``, and perhaps the end-of-turn token ``</s>``."""

    description = "JSON after <|function_call|> or a function call header, no close tag: GigaChat 3, 3.1"
    open_tags = ("<|function_call|>", "<|message_sep|>\n\nfunction call<|role_sep|>")  # 3.1, and 3 before it
    close_tags = ("</s>",)
    close_tag_optional = True

    @classmethod
    def get_tool_open_tag(cls) -> str:
        return cls.open_tags[0]
