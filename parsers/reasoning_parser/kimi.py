"""Kimi: think tags since K2 Thinking, triangles before it."""

from __future__ import annotations

from .reasoning_parser import ReasoningParser, ReasoningParserManager
from .think_tags import ThinkingUnlessOff, ThinkTagsReasoningParser


@ReasoningParserManager.register_module("kimi_k2")
class KimiK2ReasoningParser(ThinkingUnlessOff, ThinkTagsReasoningParser):
    """K2 Thinking and K2.5: the template's switch is ``thinking``; ``enable_thinking`` is taken as well."""

    description = "think tags of Kimi K2 Thinking and later"
    switches = ("thinking", "enable_thinking")
    initial_mode_rule = "starts in reasoning unless thinking or enable_thinking is false"


@ReasoningParserManager.register_module("kimi")
class KimiReasoningParser(ReasoningParser):
    """Kimi k1.5 and Kimi-VL: the model writes both tags itself, where it reasons at all."""

    description = "triangle tags of Kimi k1.5 and Kimi-VL Thinking"
    initial_mode_rule = "never starts in reasoning: the model writes the open tag itself"

    @classmethod
    def get_reasoning_open_tag(cls) -> str:
        return "◁think▷"

    @classmethod
    def get_reasoning_close_tag(cls) -> str:
        return "◁/think▷"

    def starts_in_reasoning_mode(self) -> bool:
        return False
