"""Which cuts a check tries.

Owns the families of cuts and how many of each are worth their time on a long text. How a parser fares under a cut is
not known here; nor is any tag, but for those that a caller wants cuts around.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain

ALL_TWO_WAY = 2000
"""Characters up to which every two-way cut is tried. Each costs a whole parse, so the time grows with the square."""

ALL_SIZES = 20_000
"""Characters up to which every chunk size is tried."""

SIZES = range(1, 65)
TOKENS = (1, 2, 3, 8)
_SOME_SIZES = (1, 3, 4, 8, 17, 64)
_TWO_WAY_WORK = 4_000_000  # characters that all two-way cuts of a long text may parse together
_FEWEST_TWO_WAY = 16


@dataclass(frozen=True, slots=True)
class Cut:
    """One way of cutting a text.

    Attributes:
        places: after how many characters a chunk ends, ascending; the rest is the last chunk. A place that is repeated
            makes an empty chunk, and one at the text's end means that the end comes in an empty chunk of its own, as
            where an engine has sent all text before it knows that it's done.
        recorded: the chunks are the recorded ones, whatever ``places`` says.
    """

    places: tuple[int, ...] = ()
    recorded: bool = False


@dataclass(frozen=True, slots=True)
class Family:
    """Cuts of one kind.

    Attributes:
        name: for people and programs.
        cuts: makes them.
        tried: how many it makes.
        possible: how many there are; more than ``tried`` where the text is long.
    """

    name: str
    cuts: Callable[[], Iterator[Cut]]
    tried: int
    possible: int


def cuts_of(families: Iterable[Family]) -> Iterator[Cut]:
    """All the cuts of a plan."""
    return chain.from_iterable(family.cuts() for family in families)


def plan(
    text: str,
    *,
    tags: Sequence[str] = (),
    token_places: Sequence[int] | None = None,
    only_tokens: bool = False,
    as_read: Cut | None = None,
    random_cuts: int | None = None,
    seed: int = 0,
    all_cuts: bool = False,
) -> list[Family]:
    """Choose the cuts for a text.

    Args:
        text: what is cut.
        tags: where not all two-way cuts are tried, half of them are in and around these.
        token_places: where tokens end, if that is known.
        only_tokens: cut nowhere else.
        as_read: the cut that the text came with.
        random_cuts: how many cuts into many chunks at random places; as many as are worth their time by default.
        seed: of all random choices.
        all_cuts: try every two-way cut and every chunk size however long the text is.
    """
    length = len(text)
    everywhere: Sequence[int] = range(1, length)
    if only_tokens:
        everywhere = sorted({place for place in token_places or () if 0 < place < length})
    families = [Family("whole", lambda: iter((Cut(), Cut((length,)))), 2, 2)]
    if as_read is not None:
        families.append(Family("as-read", lambda: iter((as_read,)), 1, 1))
    families.append(_two_way(text, everywhere, tags, seed, all_cuts))
    if not only_tokens:
        families.append(_sizes(length, all_cuts))
    if token_places is not None:
        families.append(_tokens(length, sorted({place for place in token_places if 0 < place < length})))
    if random_cuts is None:
        random_cuts = 20 if length <= ALL_SIZES else 4
    if random_cuts and everywhere:
        families.append(
            Family("random", lambda: _random(length, everywhere, random_cuts, seed), random_cuts, random_cuts)
        )
    return [family for family in families if family.tried]


def _two_way(text: str, everywhere: Sequence[int], tags: Sequence[str], seed: int, all_cuts: bool) -> Family:
    length = len(text)
    every = length <= ALL_TWO_WAY or all_cuts
    number = max(_FEWEST_TWO_WAY, _TWO_WAY_WORK // max(1, length))
    places = everywhere if every else _chosen(text, everywhere, tags, seed, number)
    possible = 2 * len(everywhere)
    return Family(
        "two-way",
        lambda: _both_endings(((place,) for place in places), length, every),
        possible if every else len(places),
        possible,
    )


def _both_endings(cuts: Iterable[tuple[int, ...]], length: int, both: bool) -> Iterator[Cut]:
    """Each cut with the end in a chunk of its own, and with the end in the last chunk; or only one of them in turn."""
    for number, places in enumerate(cuts):
        if both or number % 2 == 0:
            yield Cut((*places, length))
        if both or number % 2:
            yield Cut(places)


def _chosen(text: str, everywhere: Sequence[int], tags: Sequence[str], seed: int, number: int) -> Sequence[int]:
    """``number`` of the places: half in and around tags, the rest anywhere."""
    if len(everywhere) <= number:
        return everywhere
    draw = random.Random(f"{seed} two-way")
    near: set[int] = set()
    for tag in filter(None, set(tags)):
        for match in re.finditer(re.escape(tag), text):
            near.update(range(match.start() - 1, match.end() + 2))
    marked = sorted(near.intersection(everywhere))
    chosen = set(draw.sample(marked, min(len(marked), number // 2)))
    rest = draw.sample(range(len(everywhere)), number)
    for index in rest:
        if len(chosen) == number:
            break
        chosen.add(everywhere[index])
    return sorted(chosen)


def _sizes(length: int, all_cuts: bool) -> Family:
    possible = [size for size in SIZES if size < length]
    every = length <= ALL_SIZES or all_cuts
    sizes = possible if every else _SOME_SIZES
    return Family(
        "sizes",
        lambda: _both_endings((tuple(range(size, length, size)) for size in sizes), length, every),
        2 * len(sizes) if every else len(sizes),
        2 * len(possible),
    )


def _tokens(length: int, ends: Sequence[int]) -> Family:
    tried = 2 * len(TOKENS)
    return Family(
        "tokens", lambda: _both_endings((tuple(ends[each - 1 :: each]) for each in TOKENS), length, True), tried, tried
    )


def _random(length: int, everywhere: Sequence[int], number: int, seed: int) -> Iterator[Cut]:
    """Cuts of many densities, with an empty chunk here and there."""
    draw = random.Random(f"{seed} random")
    for _ in range(number):
        longest = draw.choice((2, 3, 5, 8, 13, 21, 55, 144))
        steps = accumulate(max(0, draw.randint(-1, longest)) for _ in range(2 * len(everywhere) // longest + 1))
        places = tuple(everywhere[step] for step in steps if step < len(everywhere))
        yield Cut((*places, length) if draw.random() < 0.5 else places)
