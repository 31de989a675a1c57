"""What a reasoning protocol is: two tags and a rule for how the output starts (R3).

Deliberately a description only. Buffering, finding the tags and routing text belong to ``BaseResponseParser``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from ..registry import Registry
from ..request import ChatRequest


class ReasoningParser(ABC):
    """Describes one reasoning protocol for one request.

    Args:
        request: decides, through its template switches, how the output starts.

    Attributes:
        description: what the protocol is for, in one line.
        initial_mode_rule: when the output starts inside reasoning, in words.
    """

    description: ClassVar[str] = ""
    initial_mode_rule: ClassVar[str] = ""

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
    def tags(cls) -> tuple[str, ...]:
        """Every tag of the protocol."""
        return (cls.get_reasoning_open_tag(), cls.get_reasoning_close_tag())


ReasoningParserManager: Registry[ReasoningParser] = Registry("reasoning parser")
