"""MiniMax: M2 always reasons in think tags; M3 has tags of its own and reasons on demand."""

from __future__ import annotations

from .reasoning_parser import ReasoningParser, ReasoningParserManager
from .think_tags import AlwaysThinking, ThinkTagsReasoningParser


@ReasoningParserManager.register_module("minimax_m2")
class MiniMaxM2ReasoningParser(AlwaysThinking, ThinkTagsReasoningParser):
    """M2: the prompt ends in the open tag, and no switch changes that."""

    description = "think tags of MiniMax-M2, which always reasons"


@ReasoningParserManager.register_module("minimax_m2_append_think", "minimax-append-think")
class MiniMaxM2AppendThinkReasoningParser(ThinkTagsReasoningParser):
    """M2 for clients that send the reasoning back as part of the content, as the model wants to see it.

    The open tag that the prompt swallowed is put before the content, and all that the model writes stays content.
    """

    description = "MiniMax-M2 with its reasoning left in the content, behind the <think> that the prompt wrote"
    initial_mode_rule = "never in reasoning: all text is content, with <think> before it"
    separates = False
    content_prefix = "<think>"

    def starts_in_reasoning_mode(self) -> bool:
        return False


@ReasoningParserManager.register_module("minimax_m3")
class MiniMaxM3ReasoningParser(ReasoningParser):
    """M3: ``<mm:think>``; where thinking is off the prompt closes the block, and the model may close it again."""

    description = "<mm:think> tags of MiniMax-M3"
    initial_mode_rule = "starts in reasoning only if thinking_mode is 'enabled'"
    stray_close_tags = ("</mm:think>",)

    @classmethod
    def get_reasoning_open_tag(cls) -> str:
        return "<mm:think>"

    @classmethod
    def get_reasoning_close_tag(cls) -> str:
        return "</mm:think>"

    def starts_in_reasoning_mode(self) -> bool:
        return self.request.chat_template_kwargs.get("thinking_mode") == "enabled"
