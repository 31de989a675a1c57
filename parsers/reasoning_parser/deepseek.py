"""DeepSeek V3 and later: think tags that the request has to ask for."""

from __future__ import annotations

from .reasoning_parser import ReasoningParserManager
from .think_tags import ThinkTagsReasoningParser


@ReasoningParserManager.register_module("deepseek-v3")
class DeepSeekV3ReasoningParser(ThinkTagsReasoningParser):
    """V3: only ``enable_thinking`` opens reasoning; ``thinking: false`` still closes it."""

    description = "think tags of DeepSeek-V3, off unless enable_thinking asks for them"
    initial_mode_rule = "starts in reasoning only if enable_thinking is true (and thinking is not false)"

    def starts_in_reasoning_mode(self) -> bool:
        switch = self.request.thinking_switch
        return switch("enable_thinking") is True and switch("thinking") is not False


@ReasoningParserManager.register_module("deepseek-v32", "deepseek-v3.2")
class DeepSeekV32ReasoningParser(ThinkTagsReasoningParser):
    """V3.2: either switch opens reasoning."""

    description = "think tags of DeepSeek-V3.2, off unless thinking or enable_thinking asks for them"
    initial_mode_rule = "starts in reasoning only if thinking or enable_thinking is true (false wins)"

    def starts_in_reasoning_mode(self) -> bool:
        return self.request.thinking_switch("thinking", "enable_thinking") is True


@ReasoningParserManager.register_module("deepseek-v4")
class DeepSeekV4ReasoningParser(DeepSeekV32ReasoningParser):
    """V4: as V3.2."""

    description = "think tags of DeepSeek-V4, off unless thinking or enable_thinking asks for them"


@ReasoningParserManager.register_module("deepseek-v41")
class DeepSeekV41ReasoningParser(DeepSeekV32ReasoningParser):
    """V4.1: as V4, and an effort of none turns reasoning off too."""

    description = "think tags of DeepSeek-V4.1, off unless thinking or enable_thinking asks for them"
    initial_mode_rule = (
        "starts in reasoning only if thinking or enable_thinking is true (false wins) and reasoning_effort is not none"
    )

    def starts_in_reasoning_mode(self) -> bool:
        return super().starts_in_reasoning_mode() and self.reasoning_effort != "none"
