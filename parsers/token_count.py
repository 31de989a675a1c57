"""Counts reasoning tokens by the raw interval between the reasoning tags (R18).

Owns the mapping from token ids to places in the text. Where reasoning begins and ends is told by the response parser,
so a close tag inside a JSON string does not fool the count.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import accumulate

from .tokenization import IncrementalDecoder, TextTokenizer


class ReasoningTokenCounter:
    """Counts the tokens that begin inside reasoning.

    Args:
        tokenizer: decodes the ids, so that each token's place in the text is known.
    """

    _BATCH = 64  # ids that are kept until they are decoded: one by one they would cost several times as much

    def __init__(self, tokenizer: TextTokenizer) -> None:
        self._decoder = IncrementalDecoder(tokenizer)
        self._ids: list[int] = []  # not decoded yet
        self._length = 0  # characters that the others decode to
        self._starts: deque[int] = deque()  # where each token begins that is decoded and not counted yet
        self._switches: deque[tuple[int, bool]] = deque()  # (offset, whether reasoning begins there)
        self._settled = 0
        self._inside = False
        self._counted = 0

    def add(self, ids: Sequence[int], settled: int) -> None:
        """Take the ids of the next chunk; for ``settled`` see :meth:`settle`."""
        self._ids += ids
        if len(self._ids) >= self._BATCH:
            self._settled = max(self._settled, settled)
            self._count()

    def switch(self, offset: int, inside: bool) -> None:
        """Reasoning begins or ends at ``offset`` characters; offsets come in order."""
        self._switches.append((offset, inside))

    def settle(self, offset: int) -> None:
        """The text before ``offset`` is settled: no switch will come there any more."""
        self._settled = offset

    @property
    def count(self) -> int | None:
        """Reasoning tokens among the settled ones; ``None`` where no ids came."""
        self._count()
        return self._counted if self._length or self._starts else None

    def _count(self) -> None:
        starts, switches, settled = self._starts, self._switches, self._settled
        starts.extend(accumulate(map(len, self._decoder.steps(self._ids)), initial=self._length))
        self._length = starts.pop()  # where the next one will begin
        self._ids.clear()
        while starts and starts[0] < settled:
            start = starts.popleft()
            while switches and switches[0][0] <= start:
                self._inside = switches.popleft()[1]
            self._counted += self._inside
