"""The reasoning before an answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .formats import Format, const, either, optional, regex, sequence, tag, text

if TYPE_CHECKING:
    from ..reasoning_parser import ReasoningParser


def reasoning_format(reasoning: ReasoningParser, excludes: Iterable[str] = ()) -> Format:
    """What a response begins with: reasoning and its close tag.

    Args:
        reasoning: the protocol; it says whether the prompt has opened the reasoning already.
        excludes: strings that reasoning must not hold, such as what opens a call.
    """
    openings, closings = reasoning.all_open_tags(), reasoning.all_close_tags()
    thoughts = text((*openings, *excludes))
    if reasoning.starts_in_reasoning_mode():
        echo = optional(sequence(regex(r"\s*"), either([const(opening) for opening in openings])))
        return sequence(echo, tag("", thoughts, *closings))
    return optional(either([tag(opening, thoughts, *reasoning.close_tags_of(opening)) for opening in openings]))
