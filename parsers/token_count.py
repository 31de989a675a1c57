"""Counts reasoning tokens by the raw interval between the reasoning tags (R18).

Owns the mapping from token ids to places in the text. Where reasoning begins and ends is told by the response parser,
so a close tag inside a JSON string does not fool the count.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from .tokenization import IncrementalDecoder, TextTokenizer


class ReasoningTokenCounter:
    """Counts the tokens that begin inside reasoning.

    Args:
        tokenizer: decodes the ids, so that each token's place in the text is known.
    """

    def __init__(self, tokenizer: TextTokenizer) -> None:
        self._decoder = IncrementalDecoder(tokenizer)
        self._length = 0  # characters that the ids so far decode to
        self._starts: deque[int] = deque()  # where each token begins that is not counted yet
        self._switches: deque[tuple[int, bool]] = deque()  # (offset, whether reasoning begins there)
        self._inside = False
        self._counted = 0
        self.saw_ids = False

    def add(self, ids: Sequence[int]) -> None:
        """Take the next token ids of the response."""
        for token in ids:
            self.saw_ids = True
            self._starts.append(self._length)
            self._length += len(self._decoder.step((token,)))

    def switch(self, offset: int, inside: bool) -> None:
        """Reasoning begins or ends at ``offset`` characters; offsets come in order."""
        self._switches.append((offset, inside))

    def settle(self, offset: int) -> None:
        """The text before ``offset`` is settled: no switch will come there any more."""
        while self._starts and self._starts[0] < offset:
            start = self._starts.popleft()
            while self._switches and self._switches[0][0] <= start:
                self._inside = self._switches.popleft()[1]
            self._counted += self._inside

    @property
    def count(self) -> int | None:
        """Reasoning tokens among the settled ones; ``None`` where no ids came."""
        return self._counted if self.saw_ids else None
