"""The scanner for tags: the earliest tag, else the longest tail that may become one, told by brute force."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from unspool.parsers import MarkerScanner

ALPHABET = "ab<\n"
MARKER = st.builds(str.__mul__, st.text(ALPHABET, min_size=1, max_size=4), st.sampled_from((1, 1, 4)))
MARKERS = st.lists(MARKER, min_size=1, max_size=4)
TEXTS = st.text(ALPHABET + "x", max_size=24)


def earliest(markers: list[str], text: str, pos: int, tails: bool) -> tuple[int, str, bool] | None:
    """Where the first tag or tail stands, what it is, and whether it is whole."""
    for start in range(pos, len(text)):
        rest = text[start:]
        may_go_on = tails and any(marker != rest and marker.startswith(rest) for marker in markers)
        whole = max((marker for marker in markers if rest.startswith(marker)), key=len, default="")
        if may_go_on:  # also where it is a tag already: the longer one is waited for
            return start, rest, False
        if whole:
            return start, whole, True
    return None


@given(MARKERS, TEXTS, st.integers(0, 24), st.sampled_from(("", "x" * 99)), st.data())
def test_search(markers: list[str], text: str, pos: int, padding: str, data: st.DataObject) -> None:
    scanner = MarkerScanner(markers)
    beginnings = sorted({marker[:end] for marker in markers for end in range(1, len(marker) + 1)})
    text += "".join(data.draw(st.lists(st.sampled_from(beginnings), max_size=3)))
    text = padding + text  # a long text is searched otherwise
    pos = min(pos, len(text))
    for search, tails in ((scanner.search, True), (scanner.search_final, False)):
        match = search(text, pos)
        found = None if match is None else (match.start(), match.group(), match.lastindex is not None)
        assert found == earliest(markers, text, pos, tails)


@given(MARKERS, TEXTS)
def test_match(markers: list[str], text: str) -> None:
    scanner = MarkerScanner(markers)
    for pos in range(len(text)):
        match = scanner.match(text, pos)
        wanted = earliest(markers, text, pos, tails=True)
        assert (match is not None) == (wanted is not None and wanted[0] == pos)


@given(MARKERS, st.integers(4080, 4100), st.sampled_from(("", "x" * 99, "ab<" * 99)), st.data())
def test_search_across_windows(markers: list[str], before: int, after: str, data: st.DataObject) -> None:
    scanner = MarkerScanner(markers)
    beginnings = sorted({marker[:end] for marker in markers for end in range(1, len(marker) + 1)})
    text = "x" * before + "".join(data.draw(st.lists(st.sampled_from(beginnings), max_size=6))) + after
    match = scanner.search(text, 0)
    first = next((start for start in range(before, len(text)) if scanner.match(text, start)), None)
    assert (None if match is None else match.start()) == first


def test_the_earlier_of_two_that_overlap() -> None:
    for before in range(4080, 4100):
        for markers, text in ((["b<", "ab<" * 4], "ab<" * 4 + "x" * 99), (["<", "a<" * 5], "a<")):
            match = MarkerScanner(markers).search("x" * before + text, 0)
            assert match is not None
            assert match.start() == before


def test_a_tag_behind_many_that_begin_like_it() -> None:
    for count in (30, 31, 32, 33, 100):
        scanner = MarkerScanner(["<tool_call>", "[TOOL_CALLS]"])
        match = scanner.search("<tool_ca-" * count + "<tool_call>" + "x" * 99, 0)
        assert match is not None
        assert match.group() == "<tool_call>"
