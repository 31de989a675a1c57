"""Cumulative streams to deltas, and telling them from streams of deltas.

Owns what has been passed on of one response. Engines write both kinds with the same keys, depending on how the server
was started, so the pieces themselves have to tell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .pieces import Growth, Piece

_ENOUGH = 3  # times that a text extends the one before: no stream of deltas does that
_PATIENCE = 64  # pieces that are held back at most while nothing tells
_REPLACEMENT = "\ufffd"


class DeltaMaker:
    """Gives the new part of each piece of one response.

    Args:
        growth: what the engine may write.
        note: called once with a sentence about what was found, and why.
    """

    def __init__(self, growth: Growth, note: Callable[[str], None] = lambda _: None) -> None:
        self._growth = growth
        self._note = note
        # Extensions that do at the end of a short stream: an engine that counts is cumulative by default.
        self._enough_at_end = 1 if growth is Growth.BY_COUNT else _ENOUGH - 1
        self._text = ""  # of the last piece
        self._shown = 0  # characters of it that were passed on
        self._ids = 0
        self._logprobs = 0
        self._held: list[Piece] = []
        self._extensions = 0

    def feed(self, piece: Piece) -> list[Piece]:
        """Return the deltas that are certain."""
        match self._growth:
            case Growth.DELTA:
                return [piece]
            case Growth.CUMULATIVE:
                return [self._cut(piece)]
            case Growth.BY_COUNT if piece.token_ids is not None and piece.total is not None:
                return self._by_count(piece)
        return self._by_text(piece)

    def finish(self) -> list[Piece]:
        """Return what is still held at the end of the input."""
        return self._settle(cumulative=self._extensions >= self._enough_at_end, why="")

    def _by_count(self, piece: Piece) -> list[Piece]:
        ids, total = len(piece.token_ids or ()), piece.total or 0
        if ids < total:
            self._decide(Growth.DELTA, f"{ids} token ids where the engine counts {total}: deltas")
            if rest := self._text[self._shown :]:  # what the first piece ended with was no part of a character
                return [replace(piece, text=rest + (piece.text or ""))]
            return [piece]
        if self._ids:
            self._decide(Growth.CUMULATIVE, f"all {total} token ids so far again: cumulative, read as deltas")
        return [self._cut(piece)]  # the first one is both

    def _by_text(self, piece: Piece) -> list[Piece]:
        if not piece.text and piece.finish_reason is None:
            return [piece] if not self._held else self._hold(piece)
        if self._text and piece.text:
            if not piece.text.startswith(self._text):
                return [*self._settle(cumulative=False, why="a text does not begin with the one before: deltas"), piece]
            self._extensions += len(piece.text) > len(self._text)
        elif self._text:
            return [*self._settle(cumulative=False, why="a text is empty: deltas"), piece]
        first = not self._text
        self._text = piece.text or ""
        if first and piece.finish_reason is None:
            self._shown = len(self._text)  # the first one is both, so it need not wait
            self._ids, self._logprobs = len(piece.token_ids or ()), _length(piece.logprobs)
            return [piece]
        self._held.append(piece)
        if self._extensions >= _ENOUGH:
            return self._settle(cumulative=True, why="each text begins with the one before: cumulative, read as deltas")
        if piece.finish_reason is not None:
            return self.finish()
        return self._hold()

    def _hold(self, *pieces: Piece) -> list[Piece]:
        self._held += pieces
        return self._settle(cumulative=False, why="") if len(self._held) >= _PATIENCE else []

    def _settle(self, *, cumulative: bool, why: str) -> list[Piece]:
        """Decide, and pass on what was held."""
        held, self._held = self._held, []
        if why or held:
            self._decide(Growth.CUMULATIVE if cumulative else Growth.DELTA, why)
        if not cumulative:
            return held
        # What was passed on is the first text; the held ones extend it.
        self._text = self._text[: self._shown]
        return [self._cut(piece) for piece in held]

    def _decide(self, growth: Growth, why: str) -> None:
        self._growth = growth
        if why:
            self._note(why)

    def _cut(self, piece: Piece) -> Piece:
        text, ids = piece.text, piece.token_ids
        if text is not None:
            # A character that is not complete yet shows as U+FFFD, and as itself in the next text.
            end = len(text) if piece.finish_reason is not None else len(text.rstrip(_REPLACEMENT))
            start = min(self._shown, end)
            self._shown, self._text = max(self._shown, end), text
            text = text[start:end]
        if ids is not None:
            start, self._ids = min(self._ids, len(ids)), max(self._ids, len(ids))
            ids = ids[start:]
        count = _length(piece.logprobs)
        logprobs = _tail(piece.logprobs, self._logprobs)
        tokens = piece.tokens if piece.tokens is None else piece.tokens[self._logprobs :]
        self._logprobs = max(self._logprobs, count)
        return replace(piece, text=text, token_ids=ids, logprobs=logprobs, tokens=tokens)


def _length(logprobs: Any) -> int:
    if isinstance(logprobs, dict):
        return max(map(_length, logprobs.values()), default=0)
    return len(logprobs) if isinstance(logprobs, list) else 0


def _tail(logprobs: Any, start: int) -> Any:
    if isinstance(logprobs, dict):
        return {key: _tail(values, start) for key, values in logprobs.items()}
    return (logprobs[start:] or None) if isinstance(logprobs, list) else logprobs
