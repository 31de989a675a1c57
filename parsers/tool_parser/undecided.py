"""Texts that would only wait if they were handed in: what stands before every walk (see CONTRIBUTING).

Owns how such texts are told. Which they are is a family's or a dialect's business.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from ..markers import Boundaries, tails

Undecided = Callable[[str], object]
"""Says of a text that waits whether it would go on waiting and do nothing else: false also where that isn't known."""

NOTHING = r"(?!)"
"""A pattern that matches nothing."""


@lru_cache(maxsize=256)
def unfinished(tags: tuple[str, ...], boundaries: Boundaries) -> Undecided:
    """True for what may become one of ``tags``."""
    return tails(tags, boundaries).__contains__


def usual_or_short(usual: frozenset[str], pattern: str, longest: int) -> Undecided:
    """True for one of ``usual``, as to look one up is faster, and for what a pattern matches in a short text.

    Args:
        usual: texts that wait.
        pattern: matches texts that wait, up to their end.
        longest: characters; what has as many or more isn't looked at, as every chunk would do so again.
    """
    match = re.compile(pattern).match
    return lambda text: text in usual or (len(text) < longest and match(text))
