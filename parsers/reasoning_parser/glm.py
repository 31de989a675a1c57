"""GLM-4.5 and later, and Ling 3, which has the same template switches."""

from __future__ import annotations

from .reasoning_parser import ReasoningParserManager
from .think_tags import ThinkingUnlessOff, ThinkTagsReasoningParser


@ReasoningParserManager.register_module("glm45", "glm47")
class GlmReasoningParser(ThinkingUnlessOff, ThinkTagsReasoningParser):
    """GLM: either switch turns reasoning off. GLM-4.5 writes its open tag itself, later ones find it in the prompt."""

    description = "think tags of GLM-4.5 and later, and of Ling 3"
    switches = ("enable_thinking", "thinking")
    initial_mode_rule = "starts in reasoning unless enable_thinking or thinking is false"
