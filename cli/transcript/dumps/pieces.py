"""What every engine's dump is read into: pieces of responses.

Owns the normal form and the description of a shape. A shape says how to recognise one engine's objects and how to read
them; framing, choices, accumulation and token ids are others' business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any


@dataclass(slots=True)
class Token:
    """One token as recorded log probabilities have it.

    Attributes:
        data: its bytes, perhaps a part of a character.
        token_id: where known.
        logprobs: its part of the log probabilities, in the engine's form.
    """

    data: bytes
    token_id: int | None
    logprobs: Any


@dataclass(slots=True)
class Piece:
    """A piece of one response. ``None`` means that the object does not say.

    Attributes:
        text: new text, or all of it so far in a cumulative stream.
        token_ids: likewise.
        logprobs: in the engine's form; in a cumulative stream a list, or an object of lists.
        finish_reason: see :func:`.fields.finish_reason`.
        request: names the request among several in one dump.
        index: numbers the choice among several of one request.
        prompt_token_ids: the ids before the response.
        tokens: where its tokens end, if recorded.
        tokens_are_text: the tokens are what the model wrote, while ``text`` may lack some of it.
        parsed: parts that the server has already taken out of the text, by their names.
        total: how many tokens the engine says there are so far; tells cumulative streams from others.
    """

    text: str | None = None
    token_ids: list[int] | None = None
    logprobs: Any = None
    finish_reason: str | None = None
    request: str | None = None
    index: int = 0
    prompt_token_ids: list[int] | None = None
    tokens: list[Token] | None = None
    tokens_are_text: bool = False
    parsed: tuple[str, ...] = ()
    total: int | None = None

    @property
    def is_empty(self) -> bool:
        """Whether it carries nothing of a response."""
        return not (self.text or self.token_ids or self.tokens or self.parsed) and (
            self.logprobs is None and self.finish_reason is None
        )


class Growth(Enum):
    """What an engine's objects hold: what is new, all so far, or either, as its server was started."""

    DELTA = "delta"
    CUMULATIVE = "cumulative"
    BY_COUNT = "by count"
    """Told by comparing the number of ids with the number of tokens so far."""
    BY_TEXT = "by text"
    """Told by whether each text begins with the one before."""


Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Shape:
    """One form of JSON object that some engine writes.

    Attributes:
        name: what ``--input-format`` calls it.
        source: who writes it.
        marks: what it is recognised by, in words.
        fits: whether an object shows that this engine wrote it; it may be cut off.
        read: the pieces in an object; raises ``ValueError`` with what is wrong.
        growth: what the objects hold.
        one_line: recognised only where an object is on one line.
        ends: whether a response is over with its finish reason.
        own_ids: whether the requests' ids tell responses apart; ``None`` where some servers make up one an object.
        by_absence: whether it is recognised by what an object lacks, which one that is cut off doesn't tell.
        family: whether an object can be read, where not all that an engine writes shows its mark.
    """

    name: str
    source: str
    marks: str
    fits: Callable[[Any], bool]
    read: Callable[[Any], Iterable[Piece]]
    growth: Growth = Growth.DELTA
    one_line: bool = False
    ends: bool = True
    own_ids: bool | None = None
    by_absence: bool = False
    family: Callable[[Any], bool] | None = None

    def accepts(self, value: Any) -> bool:
        """Whether :attr:`read` is for this object."""
        return (self.family or self.fits)(value)
