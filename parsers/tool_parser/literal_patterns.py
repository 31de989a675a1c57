"""What usually comes next in a call's brackets: several steps of the walk as one pattern.

Owns no grammar: a pattern matches only where the walk would read the same in steps, and leaves all else to it. Every
repetition is bounded by less than the walk looks ahead.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from ..markers import Boundaries
from .literals import string_body

NAME = r"[^\W\d][\w.\-]{0,127}"
"""An argument's name."""

BARE_KEY = r"[\w.+\-]{1,128}"
"""A key that needs no quotes."""

STRING_START = r"[rRbBuUfF]{0,2}(?:\"{0,2}|'{0,2})"
"""What may become the opening quote of a string."""

_WORDS = r"T(?:r(?:ue?)?)?|t(?:r(?:ue?)?)?|F(?:a(?:l(?:se?)?)?)?|f(?:a(?:l(?:se?)?)?)?|N(?:o(?:ne?)?)?|n(?:u(?:ll?)?)?"
_UNFINISHED_SCALAR = rf"(?:[+\-]?[0-9][0-9a-zA-Z_.]{{0,30}}|[+\-]|{_WORDS})\s{{0,8}}"
_SPACE = r"\s{0,8}+"
_CLOSER = r"(?=[)\]}])()"
_NO_GROUP = r"((?!))?"
_SCALAR = (
    rf"(-?(?:0|[1-9][0-9]{{0,30}}+)(?:\.[0-9]{{1,30}}+)?+|[Tt]rue|[Ff]alse|None|null){_SPACE}(?:,{_SPACE}|{_CLOSER})"
)
_STRING = r"\"(?!\"?\Z|\"\")([^\"\\]*+)|'(?!'?\Z|'')([^'\\]*+)"  # where the quote can't be one of three

Match = Callable[..., "re.Match[str] | None"]


class Patterns(NamedTuple):
    """The patterns of one kind of container.

    ``member``, ``value`` and ``strings`` have these groups: (1) text of the string at hand, (2) a key, (3) the start
    of a string in double quotes or the private one, (4) that of a string in single quotes, (5) a number or word. The
    comma behind it is taken too; where a closing bracket follows instead, group 6 or 7 is empty. A text that one of the
    others matches waits for more: that way a key and the beginning of its value are one step.

    Attributes:
        member: before a member.
        value: before a value.
        strings: in a string, by its quote.
        member_waits: before a member.
        value_waits: before a value.
        string_waits: in a string, by its quote.
    """

    member: Match
    value: Match
    strings: dict[str, Match]
    member_waits: Match
    value_waits: Match
    string_waits: dict[str, Match]


@lru_cache(maxsize=64)
def patterns(private_quote: str, in_list: bool, boundaries: Boundaries) -> Patterns:
    """The patterns of a list, or else of a call's members and, with a private quote, an object's."""
    tails: tuple[str, ...] = ("\\",)  # of text in a string: what becomes an escape, or the private quote
    if private_quote:
        quote, first = re.escape(private_quote), re.escape(private_quote[0])
        string = rf"{quote}([^{first}]*+){_NO_GROUP}"
        starts = _any_of(Boundaries.characters().prefixes(private_quote), STRING_START)
        key, is_ = BARE_KEY, ":"
        bodies = {private_quote: rf"[^{first}]*+"}
        tails = boundaries.prefixes(private_quote)
    else:
        string, starts, key, is_ = _STRING, STRING_START, NAME, "="
        bodies = {mark: string_body(mark, raw=False).pattern for mark in "\"'"}
    value, value_waits = rf"(?:{string}|{_SCALAR})", rf"(?:{starts}|{_UNFINISHED_SCALAR})"
    if in_list:
        member, member_waits = rf"{_NO_GROUP}{value}", value_waits
    else:
        member = rf"({key}){_SPACE}{is_}{_SPACE}{value}"
        member_waits = rf"{key}{_SPACE}(?:{is_}{_SPACE}{value_waits}?)?"
    return Patterns(
        re.compile(rf"{_NO_GROUP}{member}").match,
        re.compile(rf"{_NO_GROUP}{_NO_GROUP}{value}").match,
        {
            mark: re.compile(
                rf"({body})(?:{re.escape(mark)}{_SPACE}(?:,{_SPACE}{member}|{_CLOSER}))?+", re.DOTALL
            ).match
            for mark, body in bodies.items()
        },
        re.compile(rf"{member_waits}\Z").match,
        re.compile(rf"{value_waits}\Z").match,
        {
            mark: re.compile(rf"(?:{_any_of(tails, re.escape(mark))}{_SPACE}(?:,{_SPACE}(?:{member_waits})?)?)\Z").match
            for mark in bodies
        },
    )


def _any_of(prefixes: tuple[str, ...], pattern: str) -> str:
    """A pattern for one of ``prefixes``, or for what ``pattern`` matches; it has no brackets of its own."""
    return "|".join((*map(re.escape, prefixes), pattern))
