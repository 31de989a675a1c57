"""What usually comes next in a call's brackets: several steps of the walk as one pattern.

Owns no grammar: a pattern matches only where the walk would read the same in steps, and leaves all else to it. Every
repetition outside strings is bounded by less than the walk looks ahead.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from ..json_string import LONG
from ..markers import Boundaries, tails_pattern
from .literals import string_body

NAME = r"[^\W\d][\w.\-]{0,127}+"
"""An argument's name."""

BARE_KEY = r"[\w.+\-]{1,128}+"
"""A key that needs no quotes."""

STRING_START = r"[rRbBuUfF]{0,2}(?:\"{0,2}|'{0,2})"
"""What may become the opening quote of a string."""

PIECE, KEY, STRING, SINGLE_QUOTED, SCALAR = range(1, 6)
"""The groups of a pattern: text of the string at hand; a key; the start of a string in double quotes or the private
one, or else in single quotes; a number or word. Any group after them is a closing bracket.

What a pattern matches behind the last of these waits for more, and so does the key where it is the last: that way a key
and the beginning of its value are one step.
"""

_SPACE = r"\s{0,8}+"
_BRACKET = r"([)\]}])"
_SCALAR = r"(-?(?:0|[1-9][0-9]{0,30}+)(?:\.[0-9]{1,30}+)?+|[Tt]rue|[Ff]alse|None|null)"
_UNFINISHED_SCALAR = r"(?:[+\-]?[0-9][0-9a-zA-Z_.]{0,30}|[+\-]|[TtFfNn][a-z]{0,4})\s{0,8}"
_UNFINISHED_START = r"(?:\"{1,2}|'{1,2}|[rRbBuUfF]{1,2}(?:\"{0,2}|'{0,2}))"
_NO_GROUP = r"((?!))?"  # keeps the numbers of the groups behind it

Match = Callable[..., "re.Match[str] | None"]


class Expected(NamedTuple):
    """What usually comes in one state.

    Attributes:
        usual: has the groups.
        waits: matches a text of which ``usual`` would take nothing until more of it is there.
    """

    usual: Match
    waits: Match


class Patterns(NamedTuple):
    """The patterns of one kind of container.

    Attributes:
        member: before a member.
        value: before a value.
        after: after a value.
        strings: in a string, by its quote.
    """

    member: Expected
    value: Expected
    after: Expected
    strings: dict[str, Expected]


@lru_cache(maxsize=64)
def patterns(private_quote: str, in_list: bool, boundaries: Boundaries) -> Patterns:
    """The patterns of a list, or else of a call's members and, with a private quote, an object's."""
    if private_quote:
        key, is_ = BARE_KEY, ":"
        quote, first = re.escape(private_quote), re.escape(private_quote[0])
        tail, begun = (tails_pattern((private_quote,), each) for each in (boundaries, Boundaries.characters()))
        body = rf"(?:[^{first}]++|(?!{quote}|{tail}){first})*+"
        strings = {private_quote: (body, tail)}
        unfinished = rf"(?:{begun}|{_UNFINISHED_SCALAR}\Z|{_UNFINISHED_START}\Z)"
    else:
        key, is_ = NAME, "="
        strings = {mark: (string_body(mark, raw=False).pattern, r"\\") for mark in "\"'"}
        unfinished = rf"(?:{_UNFINISHED_SCALAR}|{_UNFINISHED_START})\Z"
    # Text that only waits: of a member, and behind a value.
    next_ = unfinished if in_list else rf"{key}{_SPACE}(?:\Z|{is_}{_SPACE}(?:\Z|{unfinished}))"
    rest = rf"{_SPACE}(?:\Z|,{_SPACE}(?:\Z|{next_}))"
    # What is longer than this is found by the quote that ends it.
    if private_quote:
        start = rf"[^{first}]{{0,{LONG}}}+(?:(?!{quote}|{tail}){first}[^{first}]{{0,{LONG}}}+){{0,8}}+"
        string = rf"{quote}({start})(?:{quote}{rest}|{tail})?+{_NO_GROUP}"
    else:  # where the quote can't be one of three
        string = "|".join(
            rf"{mark}(?!{mark}?\Z|{mark}{mark})([^{mark}\\]{{0,{LONG}}}+)(?:{mark}{rest})?+" for mark in "\"'"
        )
    scalar = rf"{_SCALAR}(?:{_SPACE}{_BRACKET}|(?={_SPACE},)(?:{rest})?)"
    value = rf"(?:\Z|{string}|{scalar}|{unfinished})"
    member = rf"{_NO_GROUP}{value}" if in_list else rf"(?:\Z|({key}){_SPACE}(?:\Z|{is_}{_SPACE}{value}))"
    after = rf"{_SPACE}(?:\Z|,{_SPACE}{member}|{_BRACKET})"
    return Patterns(
        _expected(rf"{_NO_GROUP}{_SPACE}{member}", rf"{_SPACE}(?:\Z|{next_})"),
        _expected(rf"{_NO_GROUP}{_NO_GROUP}{_SPACE}{value}", rf"{_SPACE}(?:\Z|{unfinished})"),
        _expected(rf"{_NO_GROUP}{after}", rest),
        {
            mark: _expected(rf"({body})(?:{re.escape(mark)}{after}|{tail})?+", rf"(?:{re.escape(mark)}{rest}|{tail}\Z)")
            for mark, (body, tail) in strings.items()
        },
    )


def _expected(usual: str, waits: str) -> Expected:
    return Expected(re.compile(usual, re.DOTALL).match, re.compile(waits).match)
