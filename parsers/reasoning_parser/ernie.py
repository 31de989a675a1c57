"""Baidu's ERNIE 4.5 Thinking."""

from __future__ import annotations

from .reasoning_parser import ReasoningParserManager
from .think_tags import AlwaysThinking, ThinkTagsReasoningParser


@ReasoningParserManager.register_module("ernie45")
class Ernie45ReasoningParser(AlwaysThinking, ThinkTagsReasoningParser):
    """ERNIE 4.5 Thinking puts its answer between tags of its own."""

    description = "think and response tags of ERNIE 4.5 Thinking, which always reasons"
    answer_tags = ("<response>", "</response>")
