"""Sber's GigaChat 3.5."""

from __future__ import annotations

from .reasoning_parser import ReasoningParserManager
from .think_tags import AlwaysThinking, ThinkTagsReasoningParser


@ReasoningParserManager.register_module("gigachat35")
class GigaChat35ReasoningParser(AlwaysThinking, ThinkTagsReasoningParser):
    """GigaChat 3.5: no switch."""

    description = "think tags of GigaChat 3.5, which always reasons"
