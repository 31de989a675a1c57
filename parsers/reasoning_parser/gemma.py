"""Google's Gemma 4: thoughts go to a channel of their own."""

from __future__ import annotations

from .reasoning_parser import ReasoningParser, ReasoningParserManager


@ReasoningParserManager.register_module("gemma4")
class Gemma4ReasoningParser(ReasoningParser):
    """``<|channel>thought`` and a line break, up to ``<channel|>``.

    The label belongs to the tag; a channel without it holds thoughts too. Where the engine drops special tokens, the
    label at the start is all that is left of the tag. The prompt never opens the channel, save to close it again.
    """

    description = "thought channel of Gemma 4"
    initial_mode_rule = "never starts in reasoning: the model opens the channel itself"
    open_tags = ("<|channel>thought\n", "<|channel>")
    close_tags = ("<channel|>",)
    open_tags_at_start = ("thought\n",)
    stray_close_tags = ("<channel|>",)

    @classmethod
    def get_reasoning_open_tag(cls) -> str:
        return cls.open_tags[0]

    @classmethod
    def get_reasoning_close_tag(cls) -> str:
        return cls.close_tags[0]

    def starts_in_reasoning_mode(self) -> bool:
        return False
