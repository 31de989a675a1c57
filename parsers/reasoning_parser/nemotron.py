"""NVIDIA Nemotron 3."""

from __future__ import annotations

from .reasoning_parser import ReasoningParserManager
from .think_tags import ThinkingUnlessOff, ThinkTagsReasoningParser


@ReasoningParserManager.register_module("nemotron_v3", "nemotron_3")
class NemotronV3ReasoningParser(ThinkingUnlessOff, ThinkTagsReasoningParser):
    """Nemotron 3.

    The engines' ``force_nonempty_content``, which hands out the reasoning of an answerless response as content, is left
    to the caller: it needs the whole response, and a stream has given the reasoning away by then.
    """

    description = "think tags of Nemotron 3"
