"""Long strings are written and ended as short ones are, only faster."""

from __future__ import annotations

from json.encoder import encode_basestring

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.parsers.json_string import LONG, closing_quote, quote
from unspool.parsers.tool_parser.literals import string_text

RUNS = st.builds(str.__mul__, st.text("ab\"'\\é", min_size=1, max_size=4), st.sampled_from((1, 3, 200, 255, 256, 1500)))
BODIES = st.lists(RUNS, max_size=6).map("".join)
# Python escapes: those that JSON has too, those that it hasn't, and text that JSON can't hold as it is
PIECES = (
    "a/",
    '"',
    "'",
    "\n",
    "\x1f",
    "é",
    "\\'",
    '\\"',
    "\\\\",
    "\\n",
    "\\/",
    "\\u00e9",
    "\\x41",
    "\\0",
    "\\q",
    "\\\n",
)


def first_unescaped(text: str, pos: int, mark: str) -> int:
    while pos < len(text):
        if text[pos] == mark:
            return pos
        pos += 2 if text[pos] == "\\" else 1
    return -1


@given(BODIES, st.integers(0, 9), st.sampled_from("\"'"))
def test_closing_quote(body: str, start: int, mark: str) -> None:
    text = "x" * start + body
    assert closing_quote(text, start, mark) == first_unescaped(text, start, mark)


@pytest.mark.parametrize("length", [LONG, LONG + 1, 5 * LONG, 21 * LONG, 200_000])
def test_escapes_at_the_end_of_a_window(length: int) -> None:
    for before in range(length - 3, length + 3):
        for escapes in ("\\\\", '\\"', '\\\\\\"', "\\\\" * 300):
            text = '\\"' + "x" * before + escapes + '"'
            assert closing_quote(text, 0) == len(text) - 1


def test_every_character_is_written_as_in_a_short_string() -> None:
    for first in range(0, 0x110000, 0x800):
        text = "".join(map(chr, range(first, first + 0x800)))  # halves of surrogate pairs are among them
        assert quote(text) == encode_basestring(text)


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=12), st.sampled_from((1, LONG)))
def test_python_text(pieces: list[str], times: int) -> None:
    """A long string is rewritten to the JSON text that its pieces make."""
    assert string_text("".join(pieces) * times) == "".join(map(string_text, pieces)) * times
