"""Tencent's Hunyuan-A13B."""

from __future__ import annotations

from .reasoning_parser import ReasoningParserManager
from .think_tags import ThinkTagsReasoningParser


@ReasoningParserManager.register_module("hunyuan_a13b")
class HunyuanA13BReasoningParser(ThinkTagsReasoningParser):
    """Hunyuan-A13B writes all its tags itself, also around no thoughts at all."""

    description = "think and answer tags of Hunyuan-A13B"
    initial_mode_rule = "never starts in reasoning: the model writes the open tag itself"
    answer_tags = ("<answer>", "</answer>")

    def starts_in_reasoning_mode(self) -> bool:
        return False
