"""The scanner for JSON values finds their end whatever they hold, and however the text is cut."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.parsers import JsonValueScanner

LENGTHS = st.sampled_from((1, 3, 60, 300, 2000))  # strings short enough for one pattern, and longer ones
TEXTS = st.builds(str.__mul__, st.text('ab"\\\n{}[],:é', max_size=12), LENGTHS)
VALUES = st.recursive(
    TEXTS | st.integers() | st.booleans(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=8,
)


def end_of(text: str, places: list[int]) -> int:
    """Where the scanner ends the value that ``text`` begins with, cut at ``places``; -1 where it doesn't."""
    scanner = JsonValueScanner()
    scanner.begin(text[0])
    pos = 0
    for place in [*sorted(places), len(text)]:
        pos = scanner.feed(text[:place], pos)
        if scanner.done:
            return pos
    return -1


@given(VALUES, st.lists(st.integers(1, 4000), max_size=6), st.booleans())
def test_end(value: Any, places: list[int], ascii_only: bool) -> None:
    written = json.dumps(value, ensure_ascii=ascii_only)
    assert end_of(f'{written} }}]"', [min(place, len(written)) for place in places]) == len(written)


@pytest.mark.parametrize("escapes", ["\\\\", '\\"', '\\\\\\"', "\\u00e9", '"'], ids=repr)
@pytest.mark.parametrize("before", [0, 400])
def test_escapes_before_the_quote(escapes: str, before: int) -> None:
    text = '"' + "x" * before + escapes * 500
    closed = text.index('"', before + 1) + 1 if escapes == '"' else len(text) + 1
    assert end_of(f'{text}", "y": 1' + "z" * 400, []) == closed
