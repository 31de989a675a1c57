"""Qwen3: think tags, one switch; and the Qwen3 models that always reason."""

from __future__ import annotations

from .reasoning_parser import ReasoningParserManager
from .think_tags import AlwaysThinking, ThinkingUnlessOff, ThinkTagsReasoningParser


@ReasoningParserManager.register_module("qwen3")
class Qwen3ReasoningParser(ThinkingUnlessOff, ThinkTagsReasoningParser):
    """Hybrid Qwen3 models, and others whose template knows only ``enable_thinking``."""

    description = "think tags of Qwen3 and of models with the same switch: Dots, Nanbeige, MiniCPM-V"


@ReasoningParserManager.register_module("qwen3-thinking")
class Qwen3ThinkingReasoningParser(AlwaysThinking, ThinkTagsReasoningParser):
    """Qwen3 Thinking models: their template opens the reasoning, whatever the request says."""

    description = "think tags of Qwen3 Thinking models, which always reason"
