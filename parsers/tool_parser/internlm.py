"""InternLM2 and Intern-S1: a JSON envelope between plugin action tokens."""

from __future__ import annotations

from dataclasses import replace

from ..grammar.call_syntax import CallSyntax
from ..request import ChatRequest
from .json_tool_parser import JsonToolParser
from .tool_parser import ToolParserManager


@ToolParserManager.register_module("internlm", "intern-s1")
class InternLMToolParser(JsonToolParser):
    """The form is ``<|action_start|><|plugin|>{"name": ..., "parameters": {...}}<|action_end|>``."""

    description = "JSON between plugin action tokens: InternLM2, InternLM2.5, Intern-S1"
    argument_field = "parameters"
    # a server that puts spaces between special tokens writes the second spelling
    open_tags = ("<|action_start|><|plugin|>", "<|action_start|> <|plugin|>")

    @classmethod
    def get_tool_open_tag(cls) -> str:
        return "<|action_start|><|plugin|>"

    @classmethod
    def get_tool_close_tag(cls) -> str:
        return "<|action_end|>"

    @classmethod
    def call_syntaxes(cls) -> tuple[CallSyntax, ...]:
        return cls.envelope_syntax()

    def adjust_request(self, request: ChatRequest) -> ChatRequest:
        """The tags are special tokens: ask the engine to keep them, without spaces between."""
        adjusted = super().adjust_request(request)
        return replace(adjusted, skip_special_tokens=False, spaces_between_special_tokens=False)
