"""One tool block right after another: what stands between their payloads, read at one go.

Owns the pattern for what models usually write there. Where it doesn't match, the block is closed and the response
parser judges what follows, with the same result.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from ..markers import Boundaries, tails, tails_pattern
from .undecided import NOTHING, Undecided, usual_or_short

LONGEST_WAIT = 256
"""Characters that wait, at most, for the payload of the next block."""

_SPACES = ("", "\n")
_SEPARATORS = ("", "\n", "; ")
_LONGEST_NAME = 64


class UsualPayload(NamedTuple):
    """How the payload of a dialect usually begins, and nothing else does.

    Attributes:
        start: what stands before the function's name.
        name: pattern of one character of a name.
        tail: what stands right behind the name and belongs to it.
        followers: what must follow then, one of these.
        bare: whether the next block is one without its open tag, told by what is given here alone.
    """

    start: str
    name: str
    tail: str = ""
    followers: tuple[str, ...] = ("",)
    bare: bool = False


class NextBlock(NamedTuple):
    """What leads from the end of a payload to the next one.

    Attributes:
        match: matches from the end of a payload up to the followers of the next one, which begins with the group
            ``payload``; ``open`` is the open tag between them, ``name`` the function's.
        undecided: true for a text that may become that, or a close tag alone; bounded by :data:`LONGEST_WAIT`.
    """

    match: Callable[[str, int], re.Match[str] | None]
    undecided: Undecided


@lru_cache(maxsize=256)
def next_block(
    close_tags: tuple[str, ...],
    separator: str,
    open_tags: tuple[str, ...],
    payload: UsualPayload,
    boundaries: Boundaries,
) -> NextBlock:
    """Build it.

    Args:
        close_tags: spellings of the close tag; none where the payload's own end closes a block.
        separator: pattern of what may stand between two blocks.
        open_tags: spellings of the open tag; ``""`` where a block may come without.
        payload: how the next block's begins.
        boundaries: where chunks can end.
    """
    written_tags = tuple(filter(None, open_tags))
    ends = tuple(payload.tail + follower for follower in payload.followers)
    closes, opens, followers = ("|".join(map(re.escape, tags)) for tags in (close_tags, open_tags, payload.followers))
    between, closing = separator, NOTHING
    if close_tags:
        between = rf"\s{{0,32}}+(?:{closes}){separator}"
        closing = rf"\s{{0,32}}+(?:{tails_pattern(close_tags, boundaries)}|\Z)"
    start, name, tail = re.escape(payload.start), rf"{payload.name}{{1,{_LONGEST_NAME}}}+", re.escape(payload.tail)
    begun = rf"{tails_pattern((payload.start,))}|{start}(?:{name})?+(?:\Z|{tails_pattern(ends)})|\Z"
    opening = rf"(?:{opens})\s{{0,32}}+(?:{begun})|{tails_pattern(written_tags, boundaries)}|\Z"
    # most models write it in one of these ways (the space ends a tail)
    separators = [each for each in _SEPARATORS if re.fullmatch(separator, each)]
    before = _SPACES if close_tags else ("",)
    ways = product(before, close_tags or ("",), separators, open_tags, _SPACES, (f"{payload.start} ",))
    usual = tails(close_tags, boundaries) | tails(tuple(map("".join, ways)))
    return NextBlock(
        re.compile(
            rf"{between}(?P<open>{opens})\s{{0,32}}+(?P<payload>{start}(?P<name>{name}){tail})(?={followers})"
        ).match,
        usual_or_short(usual, rf"{between}(?:{opening})|{closing}", LONGEST_WAIT),
    )
