"""The contract of every response parser: one response's text in, deltas out (R2, R7, R12).

Owns what all of them share and nothing of any protocol.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, TypedDict, Unpack

from ..diagnostics import Diagnostic
from ..grammar.formats import Format
from ..markers import Boundaries
from ..messages import DeltaMessage, MessageBuilder, ParsedResponse
from ..reasoning_parser import ReasoningParser
from ..registry import Registry
from ..request import ChatRequest
from ..tool_parser import ToolParser
from ..tool_parser.tool_parser import CallIdFactory
from ..tool_parser.writing import FunctionCalls

Deltas = list[tuple[DeltaMessage, bool]]


class Span(NamedTuple):
    """What a stretch of the raw text became; offsets in characters, ``end`` exclusive.

    ``kind`` is ``markup``, ``content``, ``reasoning``, ``call`` or ``dropped``.
    """

    start: int
    end: int
    kind: str


class ParserSettings(TypedDict, total=False):
    """How a response parser is set up.

    Attributes:
        reasoning_parser: the reasoning protocol, where the response parser composes one.
        tool_parser: the tool protocol, likewise.
        tokenizer: a ``tokenizers`` or ``transformers`` tokenizer; token ids mean nothing without one.
        boundaries: where chunks can end; anywhere by default.
        call_id_factory: makes the id of a call from its index and name, where the model wrote none.
        record_spans: keep, in :attr:`ResponseParser.spans`, what each character became.
    """

    reasoning_parser: type[ReasoningParser] | None
    tool_parser: type[ToolParser] | None
    tokenizer: Any
    boundaries: Boundaries | None
    call_id_factory: CallIdFactory | None
    record_spans: bool


class ResponseParser(ABC):
    """Turns one response's text into deltas. One instance per response, never reused (R7).

    Args:
        request: what the response answers.
        settings: see :class:`ParserSettings`; all are optional.

    Attributes:
        diagnostics: findings so far, in the order of discovery.
        spans: what each character became; ``None`` unless they are recorded.
    """

    description: ClassVar[str] = ""
    composes: ClassVar[bool] = True  # of a reasoning parser and a tool parser; else it needs neither
    end_tokens: ClassVar[frozenset[str]] = frozenset()  # end-of-turn tokens that are part of the grammar

    def __init__(self, request: ChatRequest, **settings: Unpack[ParserSettings]) -> None:
        self.request = request
        self.diagnostics: list[Diagnostic] = []
        self.spans: list[Span] | None = [] if settings.get("record_spans") else None
        self.reasoning: ReasoningParser | None = None
        self.tool: ToolParser | None = None

    @classmethod
    def tags(cls) -> tuple[str, ...]:
        """Every tag of the protocol; empty where it is composed of others."""
        return ()

    @abstractmethod
    def stream_chunk(self, delta_text: str, delta_token_ids: Sequence[int] = (), final: bool = False) -> Deltas:
        """Take the next piece of the response.

        Args:
            delta_text: newly decoded text, cut anywhere (or at token boundaries, where ``boundaries`` says so).
            delta_token_ids: the ids behind it, where known.
            final: no more text will come; text held back as ambiguous is released (R16).

        Returns:
            Deltas in the order of the model's text, each with whether it carries a tool call (R12).

        Raises:
            ValueError: the response has already ended.
        """

    @classmethod
    def structural_tag_model(
        cls,
        request: ChatRequest,
        reasoning_parser: type[ReasoningParser] | None = None,
        tool_parser: type[ToolParser] | None = None,
    ) -> Format | None:
        """What ``request`` lets the model write, as an xgrammar format; ``None`` where a parser has no grammar (R42).

        Raises:
            ValueError: the tools are not known, or a call is required and there is no tool.
        """
        return None

    @property
    def reasoning_tokens(self) -> int | None:
        """Tokens between the reasoning tags (R18); ``None`` without a tokenizer or without ids."""
        return None

    def parse_complete(self, text: str, token_ids: Sequence[int] | None = None) -> ParsedResponse:
        """Parse a whole response: one final chunk, its deltas joined (R15).

        Raises:
            ValueError: this parser has already been fed; make a new one.
        """
        builder = MessageBuilder()
        for delta, _ in self.stream_chunk(text, token_ids or (), True):
            builder.add(delta)
        return builder.build()

    def write_response(self, reasoning: str = "", content: str = "", calls: FunctionCalls = ()) -> str:
        """Write a response as a model of this format does: for documentation, benchmarks and tests.

        The parser itself stays as fresh as it was.

        Raises:
            NotImplementedError: the format has no such part, or doesn't say how it is written.
        """
        raise NotImplementedError(f"{type(self).__qualname__}.write_response")

    def _report(self, code: str, offset: int, message: str) -> None:
        self.diagnostics.append(Diagnostic(code, offset, message))

    def _mark(self, start: int, end: int, kind: str) -> None:
        """Record what the characters from ``start`` to ``end`` of the response became; neighbours are joined."""
        if self.spans is None or start == end:
            return
        if self.spans and self.spans[-1].kind == kind and self.spans[-1].end == start:
            start = self.spans.pop().start
        self.spans.append(Span(start, end, kind))


ResponseParserManager: Registry[ResponseParser] = Registry("response parser")
