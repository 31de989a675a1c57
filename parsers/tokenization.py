"""What a parser needs of a tokenizer, whichever library it comes from.

Owns two things: one small interface over ``tokenizers`` and ``transformers`` objects (neither is imported), and
decoding ids piece by piece without splitting a character. Loading a tokenizer from disk is the CLI's business.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from weakref import WeakKeyDictionary

REPLACEMENT = "\ufffd"

# What tells whether ids decode independently of each other: words of several tokens, spaces before and after each kind
# of character, and what a decoder may tidy up.
_PROBE = "Isn't it unforeseeable?\n\n  So , I'd say:\t{\"key\": [1, 22 ,-3.5]} .\n"


class _Pieces:
    """The texts of a tokenizer's single ids, decoded once for all responses."""

    __slots__ = ("independent", "texts")

    def __init__(self) -> None:
        self.independent: bool | None = None  # not tried yet
        self.texts: dict[int, str | None] = {}


_PIECES: WeakKeyDictionary[Any, _Pieces] = WeakKeyDictionary()


class TextTokenizer:
    """Text to ids and back, special tokens always kept.

    Args:
        tokenizer: a ``tokenizers.Tokenizer`` or a ``transformers`` tokenizer.

    Raises:
        TypeError: the object has no ``encode`` or no ``decode``.
    """

    def __init__(self, tokenizer: Any) -> None:
        if not (hasattr(tokenizer, "encode") and hasattr(tokenizer, "decode")):
            raise TypeError(f"a tokenizer needs 'encode' and 'decode', {type(tokenizer).__name__} has not")
        self.backend = tokenizer
        self._transformers_style = hasattr(tokenizer, "convert_tokens_to_ids")
        self._pieces = _Pieces()
        with suppress(TypeError):  # of an object that can't be hashed or weakly referenced each wrapper has its own
            self._pieces = _PIECES.setdefault(tokenizer, self._pieces)

    def encode(self, text: str) -> list[int]:
        """Ids of ``text`` alone: no begin or end token is added."""
        encoded = self.backend.encode(text, add_special_tokens=False)
        return list(getattr(encoded, "ids", encoded))

    def decode(self, ids: Sequence[int]) -> str:
        """Text of ``ids``, special tokens spelled out; an incomplete character at the end becomes U+FFFD."""
        if self._transformers_style:
            return str(self.backend.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False))
        return str(self.backend.decode(list(ids), skip_special_tokens=False))

    def token_id(self, token: str) -> int | None:
        """The id of a token that is spelled exactly ``token``, or ``None``."""
        if self._transformers_style:
            found = self.backend.convert_tokens_to_ids(token)
            return None if found is None or found == getattr(self.backend, "unk_token_id", None) else int(found)
        found = self.backend.token_to_id(token)
        return None if found is None else int(found)

    def known_pieces(self) -> dict[int, str | None] | None:
        """Text by id, as far as :meth:`piece` was asked; ``None`` where ids change each other's text.

        An id that isn't whole characters has ``None``. The texts are those that ids have after others: the first id of
        all may lose a space.
        """
        known = self._pieces
        if known.independent is None:
            ids = self.encode(_PROBE)
            # Between special tokens and text, some of the slow tokenizers of transformers add or drop a space.
            ids += [*list(getattr(self.backend, "all_special_ids", ()))[:1], *ids]
            pieces = [self.piece(number) for number in ids]
            whole = self.decode(ids[:1]) + "".join(piece or "" for piece in pieces[1:])
            known.independent = None not in pieces and self.decode(ids) == whole
        return known.texts if known.independent else None

    def piece(self, number: int) -> str | None:
        """Text of an id after another one; ``None`` where it isn't whole characters. See :meth:`known_pieces`."""
        texts = self._pieces.texts
        if number not in texts:
            before = self.encode("a")
            start, text = self.decode(before), self.decode((*before, number))
            whole = text.startswith(start) and REPLACEMENT not in text
            texts[number] = text[len(start) :] if whole else None
        return texts[number]


def as_text_tokenizer(tokenizer: Any) -> TextTokenizer:
    """Wrap ``tokenizer`` unless it is wrapped already."""
    return tokenizer if isinstance(tokenizer, TextTokenizer) else TextTokenizer(tokenizer)


class IncrementalDecoder:
    """Decodes a stream of ids so that the pieces join to the decoded whole.

    The text of new ids can depend on the ids before them (leading spaces, characters made of several byte tokens), so
    a short window of earlier ids is decoded again and the difference taken. A piece that ends inside a character is
    held until the ids that complete it arrive.

    Args:
        tokenizer: decodes the ids.
        prompt_ids: ids before the response, where known: SentencePiece tokenizers drop a leading space without them.
    """

    _CONTEXT = 6  # ids before a piece that can change its text; merges reach back one or two
    _LONGEST = 24  # ids that are decoded again, at most, for the next piece

    def __init__(self, tokenizer: TextTokenizer, prompt_ids: Sequence[int] = ()) -> None:
        self._tokenizer = tokenizer
        self._known = tokenizer.known_pieces()
        self._ids: list[int] = list(prompt_ids[-self._CONTEXT :])
        whole = tokenizer.decode(self._ids) if self._ids else ""
        self._out = len(whole)  # characters of what `_ids` decode to that are settled
        self._all_out = _is_whole(whole)  # they all are, and whole; pieces read alone leave `_out` behind

    def step(self, ids: Sequence[int]) -> str:
        """Return the text that ``ids`` settle, perhaps ``""``."""
        if len(ids) == 1 and self._all_out and self._known:  # the usual case by the shortest way
            piece = self._known.get(ids[0])
            if piece is not None:
                self._ids += ids
                if len(self._ids) > self._LONGEST:
                    del self._ids[: -self._CONTEXT]
                return piece
        pieces = self._read_alone(ids)
        if pieces is not None:
            return "".join(pieces)
        if self._all_out and self._known is not None:
            self._out = len(self._tokenizer.decode(self._ids))
        self._ids += ids
        whole = self._tokenizer.decode(self._ids)
        end = len(whole)
        if whole.endswith(REPLACEMENT):
            # Perhaps bytes of a character that the next ids complete: at most three, and each may show as one U+FFFD.
            end = max(len(whole.rstrip(REPLACEMENT)), end - 3)
        return self._advance(whole, end)

    def steps(self, ids: Sequence[int]) -> list[str]:
        """Return the text that each of ``ids`` settles."""
        pieces = self._read_alone(ids)
        return [self.step((number,)) for number in ids] if pieces is None else pieces

    def flush(self) -> str:
        """Return what was held at the end of the stream; an incomplete character comes out as U+FFFD."""
        if self._all_out:
            return ""
        whole = self._tokenizer.decode(self._ids)
        return self._advance(whole, len(whole))

    def _read_alone(self, ids: Sequence[int]) -> list[str] | None:
        """Take ``ids`` whose texts don't depend on each other; ``None`` where they may, and then none is taken."""
        known = self._known
        if known is None or not self._all_out:
            return None
        pieces: list[str] = []
        for number in ids:
            piece = known.get(number)
            if piece is None and (piece := self._tokenizer.piece(number)) is None:
                return None
            pieces.append(piece)
        self._ids += ids
        if len(self._ids) > self._LONGEST:
            del self._ids[: -self._CONTEXT]
        return pieces

    def _advance(self, whole: str, end: int) -> str:
        piece = whole[self._out : end]
        held = len(whole) - max(end, self._out)
        if len(self._ids) > self._LONGEST:
            del self._ids[: -self._CONTEXT]
            whole = self._tokenizer.decode(self._ids)
        self._out = len(whole) - held
        self._all_out = not held and _is_whole(whole)
        return piece


def _is_whole(text: str) -> bool:
    """Whether what follows ``text`` can't change it."""
    return text != "" and not text.endswith(REPLACEMENT)
