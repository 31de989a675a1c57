"""Mistral's reasoning models: Magistral, Mistral Small 4 and their kin."""

from __future__ import annotations

from .reasoning_parser import ReasoningParser, ReasoningParserManager


@ReasoningParserManager.register_module("mistral")
class MistralReasoningParser(ReasoningParser):
    """``[THINK]``, which is a special token since tokenizer v13, or the ``<think>`` text that came before it."""

    description = "[THINK] tags of Magistral and later Mistral models, or the <think> text of the first Magistral"
    initial_mode_rule = "starts in reasoning only if the request has a reasoning_effort other than none"
    open_tags = ("[THINK]", "<think>")
    close_tags = ("[/THINK]", "</think>")
    stray_close_tags = ("[/THINK]",)

    @classmethod
    def get_reasoning_open_tag(cls) -> str:
        return cls.open_tags[0]

    @classmethod
    def get_reasoning_close_tag(cls) -> str:
        return cls.close_tags[0]

    @classmethod
    def close_tags_of(cls, open_tag: str) -> tuple[str, ...]:
        return (cls.close_tags[cls.open_tags.index(open_tag)],)

    def starts_in_reasoning_mode(self) -> bool:
        return self.reasoning_effort not in (None, "none")
