"""What every run of a parser must satisfy, and the ways of cutting a text: the checks that all parser tests share.

Owns no expectation about any format: those stand in ``fixtures/cases``.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unspool.parsers import ChatRequest, DeltaMessage, ResponseParser, build_response_parser

FIXTURES = Path(__file__).parent.parent / "fixtures"
CASE_FILES = sorted((FIXTURES / "cases").glob("*.toml"))
THREE_WAY_CUTS = 200


@dataclass(frozen=True)
class Call:
    """A call as the deltas add up to it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Outcome:
    """All that a run shows, except how it was cut."""

    content: str | None = None
    reasoning_content: str | None = None
    tool_calls: tuple[Call, ...] = ()
    channels: tuple[str, ...] = ()
    diagnostics: tuple[tuple[str, int, str], ...] = ()

    @property
    def codes(self) -> list[str]:
        """The diagnostics' codes, sorted."""
        return sorted(code for code, _, _ in self.diagnostics)


@dataclass(frozen=True)
class Case:
    """One ``[[case]]`` with its file's defaults filled in."""

    file: str
    name: str
    why: str
    raw: str
    expected: dict[str, Any]
    reasoning_parser: str | None = None
    tool_parser: str | None = None
    response_parser: str = "default"
    request: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """What pytest shows."""
        return f"{self.file}-{self.name}"

    def parser(self, **options: Any) -> ResponseParser:
        """A fresh parser for this case."""
        return build_response_parser(
            ChatRequest.from_body(self.request),
            reasoning_parser=self.reasoning_parser,
            tool_parser=self.tool_parser,
            response_parser=self.response_parser,
            **options,
        )


def load_cases(path: Path) -> list[Case]:
    """Read a case file as ``fixtures/README.md`` describes it."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    tables: list[dict[str, Any]] = data.pop("case")
    loaded = []
    for table in tables:
        merged = {**data, **table}
        request = {**data.get("request", {}), **merged.get("request", {})}
        if "tools" in request:
            request["tools"] = [_full_tool(tool) for tool in request["tools"]]
        loaded.append(
            Case(
                file=path.stem,
                name=merged["name"],
                why=merged["why"],
                raw=merged["raw"],
                expected=merged["expected"],
                reasoning_parser=merged.get("reasoning_parser") or None,
                tool_parser=merged.get("tool_parser") or None,
                response_parser=merged.get("response_parser") or "default",
                request=request,
            )
        )
    return loaded


def _full_tool(tool: str | dict[str, Any]) -> dict[str, Any]:
    if isinstance(tool, str):
        return {"type": "function", "function": {"name": tool, "parameters": {"type": "object"}}}
    return tool


def run(parser: ResponseParser, chunks: Sequence[str], ids: Sequence[Sequence[int]] = ()) -> Outcome:
    """Feed ``chunks``, the last one as final, check every invariant on the way, and fold the deltas.

    Args:
        parser: a fresh parser.
        chunks: the text in pieces.
        ids: the token ids of each chunk, where known.
    """
    fold = _Fold()
    pieces = list(chunks) or [""]
    for number, piece in enumerate(pieces):
        piece_ids = list(ids[number]) if ids else []
        for delta, emitted in parser.stream_chunk(piece, piece_ids, number == len(pieces) - 1):
            assert emitted == bool(delta.tool_calls), f"the flag of {delta} is {emitted}"
            fold.add(delta)
    return fold.outcome(parser)


def run_whole(parser: ResponseParser, text: str) -> Outcome:
    """The result of ``parse_complete``; it has no channels."""
    content, calls, reasoning = parser.parse_complete(text)
    return Outcome(
        content,
        reasoning,
        tuple(Call(call.id, call.name, call.arguments) for call in calls),
        (),
        _diagnostics(parser),
    )


class _Fold:
    """Folds deltas by rules of its own, so that the parser's own folding is tested too."""

    def __init__(self) -> None:
        self.text: dict[str, list[str]] = {"content": [], "reasoning": []}
        self.calls: list[tuple[str, str, list[str]]] = []
        self.channels: list[str] = []

    def add(self, delta: DeltaMessage) -> None:
        """Take one delta."""
        channels = {"content": delta.content, "reasoning": delta.reasoning_content, "tool_calls": delta.tool_calls}
        used = [name for name, value in channels.items() if value is not None]
        assert len(used) == 1, f"not exactly one channel in {delta}"
        assert channels[used[0]], f"nothing in {delta}"
        if self.channels[-1:] != used:
            self.channels += used
        for call in delta.tool_calls or ():
            if call.index == len(self.calls):
                assert call.id, f"no identity first: {call}"
                assert call.name, f"no identity first: {call}"
                assert call.type == "function", f"no identity first: {call}"
                assert call.id not in [known for known, _, _ in self.calls], f"an id twice: {call}"
                self.calls.append((call.id, call.name, []))
            else:
                assert call.index == len(self.calls) - 1, f"index {call.index} after {len(self.calls) - 1}"
                assert (call.id, call.name, call.type) == (None, None, None), f"identity again: {call}"
                assert call.arguments, f"nothing in {call}"
            self.calls[-1][2].append(call.arguments or "")
        if delta.tool_calls is None:
            self.text[used[0]].append(delta.content or delta.reasoning_content or "")

    def outcome(self, parser: ResponseParser) -> Outcome:
        """What the deltas add up to."""
        return Outcome(
            "".join(self.text["content"]) or None,
            "".join(self.text["reasoning"]) or None,
            tuple(Call(call_id, name, "".join(pieces)) for call_id, name, pieces in self.calls),
            tuple(self.channels),
            _diagnostics(parser),
        )


def _diagnostics(parser: ResponseParser) -> tuple[tuple[str, int, str], ...]:
    return tuple((found.code, found.offset, found.message) for found in parser.diagnostics)


def cuts(text: str, seed: str = "") -> Iterator[list[str]]:
    """Yield the ways of cutting ``text`` that every fixture runs under, except as tokens."""
    yield list(text)
    yield [*text, ""]
    for size in (1, 3):  # engines also send chunks without text
        yield [piece for full in in_pieces(text, size) for piece in ("", full)]
    for place in range(len(text) + 1):
        yield [text[:place], text[place:]]
    for size in range(2, 9):
        yield in_pieces(text, size)
    rng = random.Random(seed)
    for _ in range(min(THREE_WAY_CUTS, len(text) * len(text))):
        first, second = sorted((rng.randint(0, len(text)), rng.randint(0, len(text))))
        yield [text[:first], text[first:second], text[second:]]


def in_pieces(text: str, size: int) -> list[str]:
    """Cut into pieces of ``size`` characters."""
    return [text[start : start + size] for start in range(0, len(text), size)]


def same(found: Outcome, wanted: Outcome, chunks: Iterable[str]) -> None:
    """Assert that a cut changed nothing, and show the cut where it did."""
    assert found == wanted, f"the cut {list(chunks)!r} gives\n  {found}\ninstead of\n  {wanted}"
