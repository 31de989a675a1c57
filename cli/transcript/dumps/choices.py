"""Which response a piece belongs to, what each is called, and which of them are wanted.

Owns labels: the index where one request has several choices, the request's id where there are several requests, both
where that takes both. A label never changes once it was given.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from .pieces import Piece

Key = tuple[str | None, int]

_LISTED = 10  # labels in a message


@dataclass(eq=False, slots=True)
class Response:
    """One response of an input.

    Attributes:
        label: its name; ``None`` where it is the only one as far as is known when it begins.
        recorded: whether its chunks are as an engine wrote them.
        prompt_token_ids: the ids before it, where recorded.
    """

    label: str | None = None
    recorded: bool = True
    prompt_token_ids: list[int] = field(default_factory=list)


class Choices:
    """Tells responses apart.

    Args:
        wanted: an index, a request's id or a label; ``None`` for all.
        own_ids: whether the requests' ids can be relied on; ``None`` if the first pieces have to tell.
        ends: whether a response is over with its finish reason even if it has no name.
    """

    def __init__(self, wanted: str | None, *, own_ids: bool | None = None, ends: bool = True) -> None:
        self.matched = False
        self._wanted = wanted
        self._own_ids = own_ids is not False
        self._perhaps_made_up = own_ids is None
        self._ends = ends
        self._requests: set[str | None] = set()
        self._begun: dict[Key, int] = {}  # how often each began
        self._several = False
        self._labels: list[str] = []
        self._count = 0

    def look_ahead(self, pieces: Iterable[Piece]) -> None:
        """Learn from the first pieces, before any of them is used."""
        pieces = [piece for piece in pieces if not piece.is_empty]
        requests = [piece.request for piece in pieces]
        if (
            self._perhaps_made_up
            and len(set(requests)) == len(requests) > 1
            and None not in requests
            and all(piece.finish_reason is None for piece in pieces[:-1])
        ):
            self._own_ids = False  # a server that makes up an id for every object
        keys = [self.key(piece) for piece in pieces]
        # One that is over and begins again is another response.
        begun = [
            key
            for position, key in enumerate(keys)
            if key not in keys[:position] or (self.is_over(key) and _restarts(pieces, keys, position))
        ]
        self._requests.update(request for request, _ in keys)
        self._several = (
            sum(
                self._is_wanted(key, self._label(key, begun[:position].count(key) + 1))
                for position, key in enumerate(begun)
            )
            > 1
        )

    def key(self, piece: Piece) -> Key:
        """What tells the response of this piece from others."""
        return (piece.request if self._own_ids else None, piece.index)

    def is_over(self, key: Key) -> bool:
        """Whether a response is over with its finish reason; one that is named ends in our own form as well."""
        return self._ends or key[0] is not None

    def begin(self, key: Key) -> Response | None:
        """Name a response that begins; ``None`` where it is not wanted."""
        self._requests.add(key[0])
        self._begun[key] = self._begun.get(key, 0) + 1
        label = self._label(key, self._begun[key])
        self._count += 1
        if len(self._labels) <= _LISTED:
            self._labels.append(label)
        if not self._is_wanted(key, label):
            return None
        self._several = self._several or self.matched
        self.matched = True
        return Response(label if self._several else None)

    @property
    def names(self) -> str:
        """The labels of all responses, in words."""
        listed = ", ".join(self._labels[:_LISTED]) or "none"
        return f"{listed} and {self._count - _LISTED} more" if self._count > _LISTED else listed

    @property
    def count(self) -> int:
        """How many responses there were."""
        return self._count

    def _label(self, key: Key, time: int) -> str:
        request, index = key
        label = str(index)
        if request is not None and len(self._requests) > 1:
            label = f"{request}:{index}" if index else request
        return label if time == 1 else f"{label}#{time}"

    def _is_wanted(self, key: Key, label: str) -> bool:
        request, index = key
        return self._wanted is None or self._wanted in (label, request, str(index), f"{request}:{index}")


def _restarts(pieces: list[Piece], keys: list[Key], position: int) -> bool:
    for before in range(position - 1, -1, -1):
        if keys[before] == keys[position]:
            return pieces[before].finish_reason is not None and bool(
                pieces[position].text or pieces[position].token_ids
            )
    return False
