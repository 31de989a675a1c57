"""Ai2's OLMo 3 Think."""

from __future__ import annotations

from .reasoning_parser import ReasoningParserManager
from .think_tags import AlwaysThinking, ThinkTagsReasoningParser


@ReasoningParserManager.register_module("olmo3")
class Olmo3ReasoningParser(AlwaysThinking, ThinkTagsReasoningParser):
    """OLMo 3 Think: the prompt ends in the open tag, which is plain text to its tokenizer."""

    description = "think tags of OLMo 3 Think, which always reasons"
