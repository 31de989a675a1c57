"""Harmony's special tokens, found in text or among token ids.

Owns telling a special token from text that only looks like one. What the tokens mean is the response parser's
business.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..markers import Boundaries, marker_scanner
from ..tokenization import IncrementalDecoder, as_text_tokenizer

START = "<|start|>"
CHANNEL = "<|channel|>"
CONSTRAIN = "<|constrain|>"
MESSAGE = "<|message|>"
END = "<|end|>"
CALL = "<|call|>"
RETURN = "<|return|>"

ENDS = frozenset((END, CALL, RETURN))
TOKENS = (START, CHANNEL, CONSTRAIN, MESSAGE, END, CALL, RETURN)


class Piece(NamedTuple):
    """A special token, or text between two.

    Attributes:
        text: how it is spelled; ``""`` for an id that is only a part of a character.
        special: whether it is one of :data:`TOKENS`.
        ids: how many ids it came from, where they were read.
    """

    text: str
    special: bool
    ids: int = 0


class SpecialTokenReader:
    """Cuts the chunks of a response into pieces.

    Args:
        tokenizer: knows the special tokens' ids; ``None``, or one that doesn't know them, means reading text only.
        boundaries: where chunks of text can end.

    Attributes:
        by_ids: whether ids decide. The first chunk that holds anything tells: from then on the text beside the ids is
            not read, as ids may run ahead of it and text may leave special tokens out.
        pending: a tail of the text that may become a special token.
        surplus: characters of text that came beside the ids, less those that the ids decode to.
    """

    def __init__(self, tokenizer: Any, boundaries: Boundaries | None) -> None:
        self.by_ids: bool | None = None
        self.pending = ""
        self.surplus = 0
        self._scanner = marker_scanner(TOKENS, boundaries or Boundaries.characters())
        self._token_of_id: dict[int, str] = {}
        if tokenizer is not None:
            known = as_text_tokenizer(tokenizer)
            ids = {token: known.token_id(token) for token in TOKENS}
            if None not in (ids[CHANNEL], ids[MESSAGE], ids[END]):  # less than these is another model's vocabulary
                self._token_of_id = {number: token for token, number in ids.items() if number is not None}
                self._decoder = IncrementalDecoder(known)

    def read(self, text: str, ids: Sequence[int], final: bool) -> Iterator[Piece]:
        """Yield the pieces that a chunk settles."""
        if self.by_ids is None and (text or ids):
            self.by_ids = bool(ids and self._token_of_id)
        return self._read_ids(text, ids, final) if self.by_ids else self._read_text(text, final)

    def plain(self, text: str, ids: Sequence[int]) -> str | None:
        """Read a chunk that settles no special token: the quick way, once a chunk has told whether ids decide.

        Returns:
            The text that it settles; ``None`` where it wants :meth:`read`, and then nothing of it has been taken.
        """
        if self.by_ids:
            for number in ids:
                if number in self._token_of_id:
                    return None
            piece = self._decoder.step(ids)
            self.surplus += len(text) - len(piece)
            return piece
        if self.pending:
            text = self.pending + text
        match = self._scanner.search(text)
        if match is not None and match.lastindex is not None:
            return None
        end = len(text) if match is None else match.start()
        self.pending = text[end:]
        return text[:end]

    def _read_text(self, text: str, final: bool) -> Iterator[Piece]:
        text = self.pending + text
        self.pending = ""
        search = self._scanner.search_final if final else self._scanner.search
        pos = 0
        while (match := search(text, pos)) is not None:
            if match.lastindex is None:
                self.pending = match.group()
                text = text[: match.start()]
                break
            if pos < match.start():
                yield Piece(text[pos : match.start()], False)
            yield Piece(match.group(), True)
            pos = match.end()
        if pos < len(text):
            yield Piece(text[pos:], False)

    def _read_ids(self, text: str, ids: Sequence[int], final: bool) -> Iterator[Piece]:
        decoder = self._decoder
        self.surplus += len(text)
        for number in ids:
            token = self._token_of_id.get(number)
            if token is None:
                piece = Piece(decoder.step((number,)), False, 1)
            else:
                yield from self._cut_off(decoder.flush())
                decoder.step((number,))  # its text is known; the decoder needs it as context
                piece = Piece(token, True, 1)
            self.surplus -= len(piece.text)
            yield piece
        if final:
            yield from self._cut_off(decoder.flush())

    def _cut_off(self, text: str) -> Iterator[Piece]:
        """A character whose last bytes never came."""
        if text:
            self.surplus -= len(text)
            yield Piece(text, False)
