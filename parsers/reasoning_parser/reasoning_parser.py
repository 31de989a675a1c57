"""What a reasoning protocol is: its tags and a rule for how the output starts (R3).

Deliberately a description only. Buffering, finding the tags and routing text belong to ``BaseResponseParser``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import ClassVar

from ..grammar.formats import Format
from ..grammar.reasoning import reasoning_format
from ..registry import Registry
from ..request import ChatRequest


class ReasoningParser(ABC):
    """Describes one reasoning protocol for one request.

    Most protocols only say what their two tags are and when the output starts inside them. The attributes below are for
    those that need more; each can be left alone.

    Args:
        request: decides, through its template switches, how the output starts.

    Attributes:
        description: what the protocol is for, in one line.
        initial_mode_rule: when the output starts inside reasoning, in words.
        open_tags: the spellings of the open tag; the first is :meth:`get_reasoning_open_tag`.
        close_tags: the spellings of the close tag; the first is :meth:`get_reasoning_close_tag`.
        open_tags_at_start: what opens reasoning only where it is the very first text of the output, because the engine
            swallowed the rest of the tag.
        stray_close_tags: close tags that are never text: where nothing is open they are dropped, with a diagnostic.
        answer_tags: a pair that the protocol puts around the answer, and that is dropped; empty where it has none. The
            first counts only where content begins.
        separates: whether reasoning is told from content at all. Where it is not, the tags are text like any other.
        content_prefix: put before the first text, which has to be content.
    """

    description: ClassVar[str] = ""
    initial_mode_rule: ClassVar[str] = ""
    open_tags: ClassVar[tuple[str, ...]] = ()
    close_tags: ClassVar[tuple[str, ...]] = ()
    open_tags_at_start: ClassVar[tuple[str, ...]] = ()
    stray_close_tags: ClassVar[tuple[str, ...]] = ()
    answer_tags: ClassVar[tuple[str, ...]] = ()
    separates: ClassVar[bool] = True
    content_prefix: ClassVar[str] = ""

    def __init__(self, request: ChatRequest) -> None:
        self.request = request

    @classmethod
    @abstractmethod
    def get_reasoning_open_tag(cls) -> str:
        """The tag that opens reasoning."""

    @classmethod
    @abstractmethod
    def get_reasoning_close_tag(cls) -> str:
        """The tag that ends reasoning."""

    @abstractmethod
    def starts_in_reasoning_mode(self) -> bool:
        """Whether the prompt already opened reasoning, so that the output starts inside it."""

    @classmethod
    def all_open_tags(cls) -> tuple[str, ...]:
        """Every spelling of the open tag."""
        return cls.open_tags or (cls.get_reasoning_open_tag(),)

    @classmethod
    def all_close_tags(cls) -> tuple[str, ...]:
        """Every spelling of the close tag."""
        return cls.close_tags or (cls.get_reasoning_close_tag(),)

    @classmethod
    def close_tags_of(cls, open_tag: str) -> tuple[str, ...]:
        """What ends a block that ``open_tag`` opened: any spelling, unless the protocol pairs them."""
        return cls.all_close_tags()

    @classmethod
    def tags(cls) -> tuple[str, ...]:
        """Every tag of the protocol."""
        if not cls.separates:
            return ()
        return tuple(dict.fromkeys((*cls.all_open_tags(), *cls.all_close_tags(), *cls.answer_tags)))

    def reasoning_structural_tag_model(self, excludes: Iterable[str] = ()) -> Format | None:
        """The reasoning that a response begins with, without the strings ``excludes`` in it (R42).

        ``None`` where this request's reasoning is not told from the answer.
        """
        return reasoning_format(self, excludes) if self.separates else None

    @property
    def reasoning_effort(self) -> str | None:
        """How much the request wants the model to reason, from the body or else from the template's arguments."""
        effort = self.request.reasoning_effort
        if effort is None:
            effort = self.request.chat_template_kwargs.get("reasoning_effort")
        return effort if isinstance(effort, str) else None


ReasoningParserManager: Registry[ReasoningParser] = Registry("reasoning parser")
