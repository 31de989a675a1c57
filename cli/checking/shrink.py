"""Makes a failing cut and a failing text smaller while they still fail.

Owns the search and its limit in time. What failing means is the caller's business.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from .cuts import Cut

Item = TypeVar("Item", str, tuple[int, ...])

_FEW = 400
"""Characters up to which every two-way cut of a smaller text is tried."""


class Deadline:
    """Says when to stop looking for something smaller.

    Args:
        seconds: from now.
    """

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    @property
    def passed(self) -> bool:
        """Whether time is up."""
        return time.monotonic() >= self._end


def shrink_cut(
    fails: Callable[[Cut], bool], cut: Cut, length: int, deadline: Deadline, *, end_alone: bool = True
) -> Cut:
    """Find a smaller cut that fails as well: fewest chunks, then the earliest places.

    Args:
        fails: whether a cut fails.
        cut: one that does.
        length: of the text.
        deadline: when to stop.
        end_alone: take a cut whose end comes alone before one whose end comes with text, or the other way round. It
            doesn't count as a chunk.
    """
    for candidate in (Cut((length,) if end_alone else ()), Cut(() if end_alone else (length,))):
        if fails(candidate):
            return candidate
    if cut.recorded:
        return cut
    inner = tuple(place for place in cut.places if place != length)
    endings: tuple[tuple[int, ...], ...] = ((length,), ()) if end_alone else ((), (length,))
    ending = next((each for each in endings if fails(Cut((*inner, *each)))), None)
    if ending is None:  # a place at the end that is repeated
        return cut

    def still(places: tuple[int, ...], start: int, stop: int) -> bool:
        return fails(Cut((*places, *ending)))

    return Cut((*_reduced(inner, still, deadline), *ending))


def shrink_text(fails: Callable[[str, Cut], bool], text: str, cut: Cut, deadline: Deadline) -> tuple[str, Cut]:
    """Find a shorter text that fails under some small cut, by taking stretches out of it.

    Args:
        fails: whether a text fails under a cut.
        text: one that does.
        cut: the cut under which it does.
        deadline: when to stop.
    """
    at = cut

    def still(shorter: str, start: int, stop: int) -> bool:
        nonlocal at
        for candidate in _candidates(at, start, stop, len(shorter)):
            if deadline.passed:
                return False
            if fails(shorter, candidate):
                at = candidate
                return True
        return False

    return _reduced(text, still, deadline), at


def _candidates(cut: Cut, start: int, stop: int, length: int) -> list[Cut]:
    """Cuts that a text may fail under after the characters from ``start`` to ``stop`` were taken out."""
    gone = stop - start
    moved = (place if place <= start else max(start, place - gone) for place in cut.places)
    kept = tuple(place for place in moved if place < length)
    alone = (length,) if length + gone in cut.places else ()
    candidates = [Cut((*kept, *alone))]
    if length <= _FEW and len(kept) == 1:
        near = range(max(1, kept[0] - 4), min(length, kept[0] + 5))
        candidates += [Cut((place, *alone)) for place in near if place != kept[0]]
    return candidates


def _reduced(items: Item, fails: Callable[[Item, int, int], bool], deadline: Deadline) -> Item:
    """Take out stretches, long ones first, as long as what is left fails (delta debugging)."""
    size = max(1, len(items) // 2)
    while items and not deadline.passed:
        start, shorter = 0, False
        while start < len(items) and not deadline.passed:
            stop = min(start + size, len(items))
            candidate = items[:start] + items[stop:]
            if fails(candidate, start, stop):
                items, shorter = candidate, True
            else:
                start = stop
        if size == 1 and not shorter:
            break
        size = max(1, size // 2)
    return items
