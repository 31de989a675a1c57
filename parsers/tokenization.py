"""What a parser needs of a tokenizer, whichever library it comes from.

Owns two things: one small interface over ``tokenizers`` and ``transformers`` objects (neither is imported), and
decoding ids piece by piece without splitting a character. Loading a tokenizer from disk is the CLI's business.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

REPLACEMENT = "\ufffd"


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
        self._ids: list[int] = list(prompt_ids[-self._CONTEXT :])
        self._out = len(tokenizer.decode(self._ids)) if self._ids else 0  # characters of what `_ids` decode to

    def step(self, ids: Sequence[int]) -> str:
        """Return the text that ``ids`` settle, perhaps ``""``."""
        self._ids.extend(ids)
        whole = self._tokenizer.decode(self._ids)
        end = len(whole)
        if whole.endswith(REPLACEMENT):
            # Perhaps bytes of a character that the next ids complete: at most three, and each may show as one U+FFFD.
            end = max(len(whole.rstrip(REPLACEMENT)), end - 3)
        return self._advance(whole, end)

    def flush(self) -> str:
        """Return what was held at the end of the stream; an incomplete character comes out as U+FFFD."""
        whole = self._tokenizer.decode(self._ids)
        return self._advance(whole, len(whole))

    def _advance(self, whole: str, end: int) -> str:
        piece = whole[self._out : end]
        held = len(whole) - max(end, self._out)
        if len(self._ids) > self._LONGEST:
            self._ids = self._ids[-self._CONTEXT :]
            whole = self._tokenizer.decode(self._ids)
        self._out = len(whole) - held
        return piece
