"""``<think>`` ... ``</think>``, the protocol that most reasoning models share.

Owns the tags, the ways in which a chat template decides how the output starts, and the parser for models of which no
more is known. A model family's module picks one of the ways.
"""

from __future__ import annotations

from typing import ClassVar

from .reasoning_parser import ReasoningParser, ReasoningParserManager


class ThinkTagsReasoningParser(ReasoningParser):
    """The tags; a subclass says when the output starts inside them."""

    @classmethod
    def get_reasoning_open_tag(cls) -> str:
        return "<think>"

    @classmethod
    def get_reasoning_close_tag(cls) -> str:
        return "</think>"


class AlwaysThinking(ReasoningParser):
    """The prompt always opens the reasoning, or the model always begins with the open tag: no switch turns it off."""

    initial_mode_rule = "starts in reasoning, always"

    def starts_in_reasoning_mode(self) -> bool:
        return True


class ThinkingUnlessOff(ReasoningParser):
    """The output starts in reasoning unless a template switch is off.

    Attributes:
        switches: the template's switches; false wins where several are given.
    """

    switches: ClassVar[tuple[str, ...]] = ("enable_thinking",)
    initial_mode_rule = "starts in reasoning unless enable_thinking is false"

    def starts_in_reasoning_mode(self) -> bool:
        return self.request.thinking_switch(*self.switches) is not False


class ThinkingIfOn(ReasoningParser):
    """The output starts in reasoning only if a template switch is on.

    Attributes:
        switches: the template's switches; false wins where several are given.
    """

    switches: ClassVar[tuple[str, ...]] = ("enable_thinking",)
    initial_mode_rule = "starts in reasoning only if enable_thinking is true"

    def starts_in_reasoning_mode(self) -> bool:
        return self.request.thinking_switch(*self.switches) is True


@ReasoningParserManager.register_module("default", legacy=("qwen-qwq", "intern-s1", "deepseek-r1"))
class DefaultReasoningParser(ThinkTagsReasoningParser):
    """Models whose prompt opens the reasoning unless the request turned it off."""

    description = "think tags of models that reason by default: Qwen3, QwQ, DeepSeek-R1, Intern-S1, GLM"
    initial_mode_rule = "starts in reasoning unless enable_thinking or thinking is false"

    def starts_in_reasoning_mode(self) -> bool:
        return self.request.thinking_switch("enable_thinking", "thinking") is not False
