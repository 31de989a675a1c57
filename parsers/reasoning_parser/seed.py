"""ByteDance Seed-OSS."""

from __future__ import annotations

from .reasoning_parser import ReasoningParserManager
from .think_tags import ThinkingUnlessOff


@ReasoningParserManager.register_module("seed_oss")
class SeedOssReasoningParser(ThinkingUnlessOff):
    """``<seed:think>``; a thinking budget of 0 makes the prompt close the block itself."""

    description = "<seed:think> tags of Seed-OSS"
    initial_mode_rule = "starts in reasoning unless enable_thinking is false or thinking_budget is 0"

    @classmethod
    def get_reasoning_open_tag(cls) -> str:
        return "<seed:think>"

    @classmethod
    def get_reasoning_close_tag(cls) -> str:
        return "</seed:think>"

    def starts_in_reasoning_mode(self) -> bool:
        budget = self.request.chat_template_kwargs.get("thinking_budget")
        return super().starts_in_reasoning_mode() and (budget != 0 or isinstance(budget, bool))
