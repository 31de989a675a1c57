"""``<think>`` ... ``</think>``, the protocol that most reasoning models share."""

from __future__ import annotations

from .reasoning_parser import ReasoningParser, ReasoningParserManager


class ThinkTagsReasoningParser(ReasoningParser):
    """The tags; a subclass says when the output starts inside them."""

    @classmethod
    def get_reasoning_open_tag(cls) -> str:
        return "<think>"

    @classmethod
    def get_reasoning_close_tag(cls) -> str:
        return "</think>"


@ReasoningParserManager.register_module("default", legacy=("qwen-qwq", "intern-s1", "deepseek-r1"))
class DefaultReasoningParser(ThinkTagsReasoningParser):
    """Models whose prompt opens the reasoning unless the request turned it off."""

    description = "think tags of models that reason by default: Qwen3, QwQ, DeepSeek-R1, Intern-S1, GLM"
    initial_mode_rule = "starts in reasoning unless enable_thinking or thinking is false"

    def starts_in_reasoning_mode(self) -> bool:
        return self.request.thinking_switch("enable_thinking", "thinking") is not False
