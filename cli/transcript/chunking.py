"""How a text is cut into engine chunks.

Owns the cuts that need only the text: by size, by line, at random, not at all. Cuts at token boundaries are in
``token_cuts``. Nothing here adds or drops a character: the chunks join to the text.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from unspool.parsers.chat_runner import EngineOutput
from unspool.parsers.tokenization import TextTokenizer

from .token_cuts import cut_at_tokens, split_records

Kind = Literal["tokens", "chars", "lines", "whole", "random", "at"]

_LONGEST_RANDOM_CHUNK = 16
_ALLOWED = "use tokens, chars:N, lines, whole, random:SEED or at:PLACE,PLACE,..."


@dataclass(frozen=True, slots=True)
class ChunkSpec:
    """One way of cutting.

    Attributes:
        kind: which way.
        number: characters a chunk for ``chars``, the seed for ``random``, else 0.
        places: for ``at``: after how many characters each chunk ends, ascending; the rest is the last chunk. A place
            that is repeated makes an empty chunk.
        final: for ``at``: the end comes with the last chunk, as from an engine that sends its finish reason with text.
    """

    kind: Kind
    number: int = 0
    places: tuple[int, ...] = ()
    final: bool = False

    @classmethod
    def parse(cls, spec: str) -> ChunkSpec:
        """Read what a user writes: ``tokens``, ``chars:N``, ``lines``, ``whole``, ``random:SEED`` or ``at:3,17``.

        ``at`` takes ``final`` as its last word.

        Raises:
            ValueError: it is none of them; the message says what is allowed.
        """
        kind, colon, number = spec.partition(":")
        match kind:
            case "tokens" | "lines" | "whole" if not colon:
                return cls(kind)
            case "chars" if number.isdecimal() and int(number) > 0:
                return cls("chars", int(number))
            case "random" if number.removeprefix("-").isdecimal():
                return cls("random", int(number))
            case "at" if colon:
                return cls._parse_places(spec, number.split(","))
            case "chars":
                raise ValueError(f"'{spec}' needs a number of characters from 1, as in chars:4")
            case "random":
                raise ValueError(f"'{spec}' needs a whole number as its seed, as in random:7")
        raise ValueError(f"unknown way of cutting '{spec}'; {_ALLOWED}")

    @classmethod
    def _parse_places(cls, spec: str, words: list[str]) -> ChunkSpec:
        final = words[-1] == "final"
        numbers = words[:-1] if final else words
        if all(map(str.isdecimal, numbers)):
            places = tuple(map(int, numbers))
            if places == tuple(sorted(places)):
                return cls("at", places=places, final=final)
        raise ValueError(f"'{spec}' needs ascending numbers of characters, as in at:3,17 or at:3,17,final")

    def __str__(self) -> str:
        if self.kind == "at":
            return "at:" + ",".join([*map(str, self.places), *(["final"] if self.final else [])])
        return f"{self.kind}:{self.number}" if self.kind in ("chars", "random") else self.kind


def cut_text(pieces: Iterable[str], spec: ChunkSpec, tokenizer: TextTokenizer | None = None) -> Iterator[EngineOutput]:
    """Cut a text, lazily and in constant memory (``whole`` apart; ``lines`` holds one line).

    Args:
        pieces: the text, in pieces of any size.
        spec: how to cut.
        tokenizer: needed for ``tokens``.

    Raises:
        ValueError: ``tokens`` without a tokenizer.
    """
    if spec.kind == "tokens":
        return cut_at_tokens(pieces, _needed(tokenizer))
    return (EngineOutput(text) for text in _cut(pieces, spec))


def recut(
    records: Iterable[EngineOutput], spec: ChunkSpec, tokenizer: TextTokenizer | None = None
) -> Iterator[EngineOutput]:
    """Cut a recorded stream anew.

    Token ids stay in order and go on the chunk in which their record's text begins, the finish reason on the last.
    Log probabilities belong to tokens, so only ``tokens`` keeps them, and only where ids are recorded.

    Args:
        records: the stream as it was recorded.
        spec: how to cut.
        tokenizer: needed for ``tokens``. Recorded ids are the real boundaries and win over encoding the text again.

    Raises:
        ValueError: ``tokens`` without a tokenizer.
    """
    if spec.kind == "tokens":
        return split_records(records, _needed(tokenizer))
    return _recut_text(records, spec)


def _needed(tokenizer: TextTokenizer | None) -> TextTokenizer:
    if tokenizer is None:
        raise ValueError("cutting at tokens needs a tokenizer: pass --tokenizer DIR, or cut otherwise, as in chars:4")
    return tokenizer


def _recut_text(records: Iterable[EngineOutput], spec: ChunkSpec) -> Iterator[EngineOutput]:
    seen_ids: list[int] = []  # ids of the records that have been read, but not yet given to a chunk
    finish_reason: str | None = None

    def texts() -> Iterator[str]:
        nonlocal finish_reason
        for record in records:
            seen_ids.extend(record.token_ids)
            finish_reason = record.finish_reason or finish_reason
            if record.text:
                yield record.text

    last: EngineOutput | None = None  # held by one, as only the last chunk has the finish reason
    for text in _cut(texts(), spec):
        if last is not None:
            yield last
        last = EngineOutput(text, seen_ids.copy())
        seen_ids.clear()
    last = last or EngineOutput()
    last.token_ids += seen_ids
    last.finish_reason = finish_reason or ("stop" if spec.final else None)
    if last.text or last.token_ids or last.finish_reason:
        yield last


def _cut(pieces: Iterable[str], spec: ChunkSpec) -> Iterator[str]:
    match spec.kind:
        case "lines":
            return _by_line(pieces)
        case "random":
            sizes = random.Random(spec.number)
            return _by_size(pieces, lambda: sizes.randint(1, _LONGEST_RANDOM_CHUNK))
        case "chars":
            return _by_size(pieces, lambda: spec.number)
        case "at":
            return _at_places(pieces, spec.places)
    return _whole(pieces)


def _by_size(pieces: Iterable[str], next_size: Callable[[], int]) -> Iterator[str]:
    parts: list[str] = []
    wanted = next_size()  # characters that the chunk in parts still lacks
    for piece in pieces:
        start = 0
        while len(piece) - start >= wanted:
            parts.append(piece[start : start + wanted])
            yield "".join(parts)
            parts.clear()
            start += wanted
            wanted = next_size()
        if start < len(piece):
            parts.append(piece[start:])
            wanted -= len(piece) - start
    if parts:
        yield "".join(parts)


def _at_places(pieces: Iterable[str], places: tuple[int, ...]) -> Iterator[str]:
    parts: list[str] = []
    read = 0  # characters of the text so far
    upcoming = iter(places)
    place = next(upcoming, None)
    for piece in pieces:
        start = 0
        while place is not None and place <= read + len(piece):
            parts.append(piece[start : place - read])
            yield "".join(parts)
            parts.clear()
            start = place - read
            place = next(upcoming, None)
        parts.append(piece[start:])
        read += len(piece)
    yield "".join(parts)


def _by_line(pieces: Iterable[str]) -> Iterator[str]:
    parts: list[str] = []
    for piece in pieces:
        start = 0
        while end := piece.find("\n", start) + 1:
            parts.append(piece[start:end])
            yield "".join(parts)
            parts.clear()
            start = end
        if start < len(piece):
            parts.append(piece[start:])
    if parts:
        yield "".join(parts)


def _whole(pieces: Iterable[str]) -> Iterator[str]:
    if text := "".join(pieces):
        yield text
