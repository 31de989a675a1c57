"""Llama 3 and later with the JSON template: an envelope after ``<|python_tag|>``, or without it."""

from __future__ import annotations

import re

from ..grammar.call_syntax import CallSyntax, json_envelope
from .bare_json_tool_parser import BareJsonToolParser
from .next_block import UsualPayload
from .tool_parser import ToolParserManager
from .writing import FunctionCalls


@ToolParserManager.register_module("llama3")
class LlamaToolParser(BareJsonToolParser):
    """``<|python_tag|>{"name": ..., "parameters": {...}}``; further calls follow after ``;`` or a newline."""

    description = "JSON after <|python_tag|> or bare, no close tag: Llama 3.1, 3.2, 3.3, 4"
    argument_field = "parameters"
    usual_payload = UsualPayload('{"name": "', r'[^"\\]', '"', (', "parameters":', ', "arguments":'), bare=True)
    separator = re.compile(r"[\s;,]*+")

    @classmethod
    def get_tool_open_tag(cls) -> str:
        return "<|python_tag|>"

    @classmethod
    def call_syntaxes(cls) -> tuple[CallSyntax, ...]:
        between, bare_head = r"[\s;,]*", r'\s*:\s*"NAME"\s*,\s*"parameters"\s*:\s*'
        return (
            json_envelope(cls.get_tool_open_tag(), None, cls.argument_field, between),
            CallSyntax('{"name"', bare_head, r"\s*", "}", between=between, quoted=True),
        )

    @classmethod
    def write_calls(cls, calls: FunctionCalls) -> str:
        return cls.get_tool_open_tag() + "; ".join(cls._envelope(*call) for call in calls)
