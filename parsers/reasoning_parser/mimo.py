"""Xiaomi's MiMo and Poolside's Laguna: think tags that the request has to ask for."""

from __future__ import annotations

from .reasoning_parser import ReasoningParserManager
from .think_tags import ThinkingIfOn, ThinkTagsReasoningParser


@ReasoningParserManager.register_module("mimo", "poolside_v1")
class MiMoReasoningParser(ThinkingIfOn, ThinkTagsReasoningParser):
    """MiMo-V2 and Laguna: their templates reason only where ``enable_thinking`` is on."""

    description = "think tags of MiMo-V2 and Poolside Laguna, off unless enable_thinking asks for them"
