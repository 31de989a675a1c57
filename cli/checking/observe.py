"""Runs a parser over one cut and notes what it showed.

Owns feeding chunks, folding deltas by rules of its own (the parser's folding is under test too), and that a parser
which raises is a result and no accident. Which result is right is not known here.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from unspool.parsers import DeltaMessage, DeltaToolCall, Diagnostic, ResponseParser, Span

from .invariants import CHANNELS, DeltaRules, Violation


class NewParser(Protocol):
    """Makes a fresh parser."""

    def __call__(self, *, record_spans: bool = False) -> ResponseParser:
        """Make one; with ``record_spans`` it keeps what each character became."""


class Chunk(NamedTuple):
    """What one ``stream_chunk`` gets."""

    text: str
    ids: Sequence[int] = ()


class Call(NamedTuple):
    """A call as its deltas add up."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Result:
    """What a response came to: the message and the diagnostics."""

    content: str | None = None
    reasoning_content: str | None = None
    tool_calls: tuple[Call, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """One run.

    Attributes:
        result: what it came to; as far as it came where the parser raised.
        order: the channels in the order in which they came, neighbours merged; empty for ``parse_complete``.
        violations: at most one an invariant, the first.
        spans: what the characters became; ``None`` where the parser records none.
        call_chunks: for each call, the number of the chunk that brought the last of it.
        raised: the parser raised, so that the run is not complete.
    """

    result: Result
    order: tuple[str, ...] = ()
    violations: dict[str, Violation] = field(default_factory=dict)
    spans: tuple[Span, ...] | None = None
    call_chunks: tuple[int, ...] = ()
    raised: bool = False


def observe(new_parser: NewParser, chunks: Iterable[Chunk], *, record_spans: bool = False) -> Run:
    """Stream ``chunks`` through a fresh parser, the last one as final."""
    notes = _Notes()
    pieces = list(chunks) or [Chunk("")]
    last = len(pieces) - 1
    parser = None
    diagnostics: list[Diagnostic] = []
    try:
        parser = new_parser(record_spans=record_spans)
        for number, (text, ids) in enumerate(pieces):
            deltas = parser.stream_chunk(text, ids, number == last)
            if deltas != []:
                notes.take(deltas, number)
            if parser.diagnostics:
                diagnostics = notes.compare(diagnostics, parser.diagnostics)
            elif diagnostics:
                diagnostics = notes.compare(diagnostics, [])
        notes.look_back()
    except Exception as problem:
        notes.violate(Violation("never-raises", _explain(problem)))
    spans = getattr(parser, "spans", None)
    return Run(
        notes.result(diagnostics),
        tuple(notes.order),
        notes.violations,
        tuple(spans) if spans else None,
        tuple(notes.call_chunks.values()),
        "never-raises" in notes.violations,
    )


def observe_complete(new_parser: NewParser, text: str, ids: Sequence[int] | None = None) -> Run:
    """Parse ``text`` with ``parse_complete`` of a fresh parser."""
    try:
        parser = new_parser()
        content, calls, reasoning = parser.parse_complete(text, ids)
        result = Result(
            content or None,
            reasoning or None,
            tuple(Call(call.id, call.name, call.arguments) for call in calls),
            tuple(parser.diagnostics),
        )
    except Exception as problem:
        violation = Violation("never-raises", f"parse_complete: {_explain(problem)}")
        return Run(Result(), violations={"never-raises": violation}, raised=True)
    return Run(result)


class _Notes:
    """Folds deltas, and remembers them to see later that none was changed."""

    def __init__(self) -> None:
        self.violations: dict[str, Violation] = {}
        self.order: list[str] = []
        self.call_chunks: dict[Any, int] = {}
        self._rules = DeltaRules()
        self._texts: dict[str, list[str]] = {"content": [], "reasoning": []}
        self._calls: dict[Any, tuple[str, str, list[str]]] = {}
        self._sent: list[tuple[DeltaMessage, tuple[Any, ...]]] = []

    def violate(self, violation: Violation) -> None:
        self.violations.setdefault(violation.invariant, violation)

    def take(self, deltas: Any, chunk: int) -> None:
        if not isinstance(deltas, Iterable):
            self.violate(Violation("well-formed", f"stream_chunk returned {deltas!r:.120} and no deltas"))
            return
        for item in deltas:
            if not isinstance(item, tuple) or len(item) != 2:
                self.violate(Violation("well-formed", f"{item!r:.120} is no pair of a delta and a flag"))
                continue
            delta, emitted = item
            for violation in self._rules.judge(delta, emitted):
                self.violate(violation)
            if isinstance(delta, DeltaMessage):
                self._sent.append((delta, _frozen(delta)))
                self._fold(delta, chunk)

    def compare(self, before: list[Diagnostic], now: Sequence[Diagnostic]) -> list[Diagnostic]:
        """Check that the diagnostics only grew; return them as they are now."""
        if len(now) == len(before) and (not now or now[-1] is before[-1]):
            return before
        if list(now[: len(before)]) != before:
            self.violate(Violation("no-retraction", "a diagnostic was withdrawn or changed after it had been reported"))
        return list(now)

    def look_back(self) -> None:
        """Check that no delta was changed after it was sent: an engine may not have serialised it yet."""
        for delta, sent in self._sent:
            if _frozen(delta) != sent:
                self.violate(Violation("no-retraction", f"a delta was changed after it was sent: {delta!r:.120}"))
                return

    def result(self, diagnostics: list[Diagnostic]) -> Result:
        return Result(
            "".join(self._texts["content"]) or None,
            "".join(self._texts["reasoning"]) or None,
            tuple(Call(call_id, name, "".join(pieces)) for call_id, name, pieces in self._calls.values()),
            tuple(diagnostics),
        )

    def _fold(self, delta: DeltaMessage, chunk: int) -> None:
        for name, value in ((CHANNELS[0], delta.reasoning_content), (CHANNELS[1], delta.content)):
            if value:
                self._reach(name)
                self._texts[name].append(str(value))
        if not delta.tool_calls:
            return
        self._reach(CHANNELS[2])
        for call in delta.tool_calls:
            if not isinstance(call, DeltaToolCall) or not isinstance(call.index, int):
                continue
            if call.index not in self._calls:
                self._calls[call.index] = (str(call.id or ""), str(call.name or ""), [])
            self.call_chunks[call.index] = chunk
            if isinstance(call.arguments, str):
                self._calls[call.index][2].append(call.arguments)

    def _reach(self, channel: str) -> None:
        if not self.order or self.order[-1] != channel:
            self.order.append(channel)


def _frozen(delta: DeltaMessage) -> tuple[Any, ...]:
    calls = delta.tool_calls
    if calls is None:
        return delta.content, delta.reasoning_content
    return tuple(
        (call.index, call.id, call.name, call.arguments) if isinstance(call, DeltaToolCall) else call for call in calls
    )


def _explain(problem: Exception) -> str:
    """The error, and where in the parser it came from."""
    frames = traceback.extract_tb(problem.__traceback__)
    where = f" ({frames[-1].filename.rpartition('/')[2]}:{frames[-1].lineno})" if frames else ""
    return f"{type(problem).__name__}: {problem}{where}"
