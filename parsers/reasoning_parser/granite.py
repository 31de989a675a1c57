"""IBM Granite: prose markers in 3.2, think and response tags in 3.3, think tags with a switch in 4."""

from __future__ import annotations

from .reasoning_parser import ReasoningParser, ReasoningParserManager
from .think_tags import ThinkingUnlessOff, ThinkTagsReasoningParser

_PROSE_CLOSE_TAGS = ("Here is my response:", "Here's my response:")


@ReasoningParserManager.register_module("granite")
class GraniteReasoningParser(ReasoningParser):
    """Granite 3.2 and 3.3: the model announces its thoughts and its response, in words or in tags.

    Both spellings of the words go with each other. A block in tags is closed by its tag only, so that thoughts can
    quote the words.
    """

    description = "prose markers of Granite 3.2, think and response tags of Granite 3.3"
    initial_mode_rule = "never starts in reasoning: the model writes the opening itself"
    open_tags = ("Here is my thought process:", "Here's my thought process:", "<think>")
    close_tags = (*_PROSE_CLOSE_TAGS, "</think>")
    answer_tags = ("<response>", "</response>")

    @classmethod
    def get_reasoning_open_tag(cls) -> str:
        return cls.open_tags[0]

    @classmethod
    def get_reasoning_close_tag(cls) -> str:
        return cls.close_tags[0]

    @classmethod
    def close_tags_of(cls, open_tag: str) -> tuple[str, ...]:
        return ("</think>",) if open_tag == "<think>" else _PROSE_CLOSE_TAGS

    def starts_in_reasoning_mode(self) -> bool:
        return False


@ReasoningParserManager.register_module("granite_thinking_parser")
class GraniteThinkingReasoningParser(ThinkingUnlessOff, ThinkTagsReasoningParser):
    """Granite 4 with thinking."""

    description = "think tags of Granite 4"
