"""Finding a tag, and the tail of a text that may become one.

Owns the one primitive under every layer (design: "Finding tags"). :class:`Boundaries` says where a chunk can end;
:class:`MarkerScanner` turns a set of tags and that knowledge into one regular expression.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, product
from typing import Any

from .tokenization import TextTokenizer, as_text_tokenizer

# Text on either side of a tag changes how a byte-pair encoding cuts it: the last character of a value can merge with
# the tag's first ones, the tag's last one with what follows. These contexts stand for the classes that merge
# differently: nothing, letters, digits, quotes, brackets, punctuation, white space, other scripts, another tag.
_LEFT = (
    "",
    "x",
    "7",
    " ",
    "\n",
    "\n\n",
    '"',
    "'",
    ")",
    "]",
    "}",
    '"}',
    "<",
    ">",
    "/",
    ".",
    ":",
    ";",
    "=",
    "。",
    "京",
    "é",
)
_RIGHT = ("", "x", "\n", "\n\n", " ", '"', "{", "[", "<", "</", ">", "=", "/", "。", "京")
# A word that a tag begins or ends with is cut together with the letters before or after it: anywhere, if they are many.
_FIRST_WORD, _LAST_WORD = re.compile(r"\w*"), re.compile(r"\w*\Z")


class Boundaries:
    """Where a decoded chunk can end inside a tag.

    Use :meth:`characters` (right for every cut) or :meth:`tokens` (emits earlier, as a serving engine does).
    """

    @staticmethod
    def characters() -> Boundaries:
        """A chunk can end anywhere: every proper prefix of a tag may be a tail."""
        return _CHARACTERS

    @staticmethod
    def tokens(tokenizer: Any, declared: Mapping[str, Iterable[str]] | None = None) -> Boundaries:
        """Chunks end where tokens end (R36 to R38).

        This holds for text that is tokenized as the tokenizer itself would do it, as models nearly always write it. A
        model that spells a tag with other tokens than those is only understood with :meth:`characters`.

        Args:
            tokenizer: a ``tokenizers`` or ``transformers`` tokenizer.
            declared: tuples that a parser's author declared, by tag; they are checked against the tokenizer.

        Raises:
            ValueError: a declared tuple is not what the tokenizer does; the message names both.
            TypeError: ``tokenizer`` is none.
        """
        boundaries = _TokenBoundaries(as_text_tokenizer(tokenizer))
        for marker, prefixes in (declared or {}).items():
            boundaries.check(marker, prefixes)
        return boundaries

    def prefixes(self, marker: str) -> tuple[str, ...]:
        """Proper prefixes of ``marker`` that can end a chunk, longest first."""
        return tuple(marker[:end] for end in range(len(marker) - 1, 0, -1))

    def check(self, marker: str, declared: Iterable[str]) -> None:
        """Compare the prefixes of ``marker`` that a parser's author declared with the ones that can end a chunk.

        Where chunks can end anywhere nothing is known of the tokenizer, so any prefixes will do.

        Raises:
            ValueError: they differ, or one is no proper prefix of ``marker``; the message names both.
        """
        given = tuple(declared)
        stray = [each for each in given if each not in self.prefixes(marker)]
        if stray:
            wrong = ", ".join(map(repr, stray))
            raise ValueError(f"declared prefixes of {marker!r} are {given}, but {wrong} is no proper prefix of it")


class _TokenBoundaries(Boundaries):
    def __init__(self, tokenizer: TextTokenizer) -> None:
        self._tokenizer = tokenizer
        self._known: dict[str, tuple[str, ...]] = {}
        self._pieces: dict[int, str] = {}

    def prefixes(self, marker: str) -> tuple[str, ...]:
        found = self._known.get(marker)
        if found is None:
            ends = _ends_in_words(marker)
            first, last = marker[0], marker[-1]  # a run of one character is cut by its length
            for left, right in product((*_LEFT, first, first * 2), (*_RIGHT, last, last * 2)):
                ends.update(self._cuts(left, marker, right))
            found = self._known[marker] = tuple(marker[:end] for end in sorted(ends, reverse=True))
        return found

    def _cuts(self, left: str, marker: str, right: str) -> Iterable[int]:
        """Lengths of the prefixes of ``marker`` after which a token ends in this context."""
        text = left + marker + right
        for place in self._token_ends(text, self._tokenizer.encode(text)):
            end = place - len(left)
            if 0 < end < len(marker):
                yield end

    def _token_ends(self, text: str, ids: Sequence[int]) -> Iterator[int]:
        """Places in ``text`` where a token of its own ends, save those inside a character."""
        pieces = [self._piece(number) for number in ids]
        if "".join(pieces) == text:  # else tokens change each other's text, or hold parts of a character
            yield from accumulate(map(len, pieces))
            return
        for count in range(1, len(ids)):
            piece = self._tokenizer.decode(ids[:count])
            if text.startswith(piece):
                yield len(piece)

    def _piece(self, number: int) -> str:
        piece = self._pieces.get(number)
        if piece is None:
            piece = self._pieces[number] = self._tokenizer.decode((number,))
        return piece

    def check(self, marker: str, declared: Iterable[str]) -> None:
        computed, given = self.prefixes(marker), tuple(declared)
        if set(computed) != set(given):
            raise ValueError(
                f"declared prefixes of {marker!r} are {given}, but with this tokenizer a chunk can end after {computed}"
            )


def _ends_in_words(marker: str) -> set[int]:
    """Lengths of the prefixes of ``marker`` that end inside the word that it begins or ends with."""
    first, last = _FIRST_WORD.match(marker), _LAST_WORD.search(marker)
    assert first is not None
    assert last is not None
    return {*range(1, min(first.end(), len(marker))), *range(last.start() + 1, len(marker))}


_CHARACTERS = Boundaries()
_START = 8  # characters of a marker that are rare enough
_WINDOW = 4096
_MANY_STARTS = 32  # in a window: where there are more, a pattern is as fast
_SHORT = 64  # characters that a pattern searches as fast as anything else


class MarkerScanner:
    """Finds the earliest whole marker, or else the longest tail that is a proper prefix of one.

    ``search(text, pos)`` returns a match or ``None``. A match whose ``lastindex`` is set is a whole marker
    (``match.group()`` says which), any other match is a tail that must wait for more text. ``search_final`` finds
    whole markers only, for when no more text will come. ``match`` and ``match_final`` do the same at ``pos`` only.
    ``undecided(text)`` says whether all of ``text`` is such a tail.

    Attributes:
        markers: the tags.
        starts: first characters of the tags; a text that holds none of them needs no search.
    """

    __slots__ = ("markers", "match", "match_final", "search", "search_final", "starts", "undecided")

    def __init__(self, markers: Iterable[str], boundaries: Boundaries = _CHARACTERS) -> None:
        self.markers = tuple(dict.fromkeys(markers))
        if not self.markers or not all(self.markers):
            raise ValueError(f"a scanner needs markers, and none of them empty: {self.markers!r}")
        self.starts = "".join(dict.fromkeys(marker[0] for marker in self.markers))
        pattern = re.compile(_pattern(self.markers, boundaries))
        self.search, self.match = pattern.search, pattern.match
        whole = re.compile(_pattern(self.markers, None))
        self.search_final, self.match_final = whole.search, whole.match
        if len(self.starts) > 1:
            self.search = _quick_search(self.markers, pattern)
            self.search_final = _quick_search(self.markers, whole)
        self.undecided = tails(self.markers, boundaries).__contains__


def _quick_search(markers: tuple[str, ...], pattern: re.Pattern[str]) -> Callable[..., re.Match[str] | None]:
    """``pattern.search`` for markers that don't all begin with the same character.

    For one literal start `re` skips at the speed of C; where there are several it looks at each character, which is ten
    times as slow in a long text. So the first characters of each marker are looked for, unless there are many of them.
    """
    starts = {marker[:_START] for marker in markers}
    starts = {start for start in starts if not any(start != other and start.startswith(other) for other in starts)}
    search, match = pattern.search, pattern.match

    def search_quickly(text: str, pos: int = 0) -> re.Match[str] | None:
        last = len(text) - _START  # from here on a tail may be shorter than a start
        if last - pos < _SHORT:
            return search(text, pos)
        while pos < last:
            end = min(pos + _WINDOW, last)  # else each search would look for a rare start up to the end of the text
            tries = 0
            while places := [at for start in starts if (at := text.find(start, pos, end + _START)) >= 0]:
                pos = min(places)
                if pos >= end:  # where another start may stand before it
                    break
                found = match(text, pos)
                if found is not None:
                    return found
                tries += 1
                if tries == _MANY_STARTS:
                    return search(text, pos)
                pos += 1
            pos = end
        return search(text, last)

    return search_quickly


@lru_cache(maxsize=1024)
def marker_scanner(markers: tuple[str, ...], boundaries: Boundaries = _CHARACTERS) -> MarkerScanner:
    """A shared scanner: compiling is costly, and scanners keep no state."""
    return MarkerScanner(markers, boundaries)


def _pattern(markers: tuple[str, ...], boundaries: Boundaries | None) -> str:
    """One alternative per first character, each of which starts with that literal: `re` then skips at C speed.

    Without ``boundaries`` there are no tails. Markers that begin another marker come last, after the tails: `<a>` at
    the end of a chunk may still become `<a>b`.
    """
    branches = []
    for start in dict.fromkeys(marker[0] for marker in markers):
        group = sorted((marker for marker in markers if marker[0] == start), key=len, reverse=True)
        shorter = [m for m in group if any(other != m and other.startswith(m) for other in group)]
        longer = [m for m in group if m not in shorter]
        tails = {prefix for marker in group for prefix in (boundaries.prefixes(marker) if boundaries else ())}
        parts = ["(" + "|".join(re.escape(marker[1:]) for marker in longer) + ")"]
        if tails:
            parts.append(_tail_pattern({tail[1:] for tail in tails}))
        if shorter:
            parts.append("(" + "|".join(re.escape(marker[1:]) for marker in shorter) + ")")
        branches.append(re.escape(start) + "(?:" + "|".join(parts) + ")")
    return "|".join(branches)


@lru_cache(maxsize=1024)
def tails(markers: tuple[str, ...], boundaries: Boundaries = _CHARACTERS) -> frozenset[str]:
    """Proper prefixes of ``markers`` that can end a chunk."""
    return frozenset(prefix for marker in markers for prefix in boundaries.prefixes(marker))


def tails_pattern(markers: tuple[str, ...], boundaries: Boundaries = _CHARACTERS) -> str:
    """Matches one of :func:`tails` at the end of a text."""
    found = tails(markers, boundaries)
    return _tail_pattern(set(found)) if found else r"(?!)"


def _tail_pattern(tails: set[str]) -> str:
    """A trie of ``tails``, each anchored at the end of the text; walking it costs one step a character."""
    children: dict[str, set[str]] = {}
    for tail in tails:
        if tail:
            children.setdefault(tail[0], set()).add(tail[1:])
    parts = [re.escape(first) + _tail_pattern(rest) for first, rest in sorted(children.items())]
    if "" in tails:
        parts.append(r"\Z")
    return parts[0] if len(parts) == 1 else "(?:" + "|".join(parts) + ")"
