"""StepFun's Step models."""

from __future__ import annotations

from .reasoning_parser import ReasoningParserManager
from .think_tags import AlwaysThinking, ThinkTagsReasoningParser


@ReasoningParserManager.register_module("step3", "step3p5", "step5")
class StepReasoningParser(AlwaysThinking, ThinkTagsReasoningParser):
    """Step-3, Step-3.5 and Step-5: the prompt ends in the open tag."""

    description = "think tags of Step-3, Step-3.5 and Step-5, which always reason"
