"""Token ids and text of one response, and cumulative streams."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transcript_tools import byte_level, sentence_piece

from unspool.cli.transcript.dumps.cumulative import DeltaMaker
from unspool.cli.transcript.dumps.id_text import IdDecoder, NoTokenizerError, ResponseText
from unspool.cli.transcript.dumps.pieces import Growth, Piece

TEXT = "the weather 🙂<tool_call>{}"
IDS = byte_level().encode(TEXT)
END = byte_level().encode("<|im_end|>")
SHARED = IdDecoder(byte_level())


def feed(*pieces: tuple[str | None, list[int] | None], text: ResponseText | None = None) -> tuple[str, ResponseText]:
    text = text or ResponseText(SHARED)
    last = len(pieces) - 1
    return "".join(text.feed(*piece, final=number == last) for number, piece in enumerate(pieces)), text


def test_without_a_tokenizer_text_is_text() -> None:
    text = ResponseText(IdDecoder(None))
    assert text.feed("a", [1]) + text.feed("", [2]) == "a"
    with pytest.raises(NoTokenizerError):
        text.feed(None, [1])


@given(st.lists(st.integers(0, 20)), st.lists(st.integers(0, 40)), st.booleans())
def test_text_may_lag_and_be_cut_anywhere(id_cuts: list[int], text_cuts: list[int], all_text: bool) -> None:
    ids = [*IDS, *END]
    edges = sorted({0, len(ids), *(cut for cut in id_cuts if cut < len(ids))})
    places = sorted({0, *(cut for cut in text_cuts if cut < len(TEXT)), *([len(TEXT)] if all_text else [])})
    texts = [TEXT[a:b] for a, b in pairwise(places)]
    # All ids come first: the text lags as far as it can.
    pieces: list[tuple[str | None, list[int] | None]] = [("", ids[a:b]) for a, b in pairwise(edges)]
    pieces += [(text, []) for text in texts]
    shown, text = feed(*pieces)
    assert shown == TEXT + "<|im_end|>"
    assert text.difference is None


def test_special_tokens_that_the_text_leaves_out_come_from_the_ids() -> None:
    ids = [*IDS[:2], *END, *IDS[2:]]
    whole = byte_level().decode(ids)
    shown, text = feed((TEXT, ids))
    assert shown == whole
    assert text.difference is None
    assert text.left_out


@pytest.mark.parametrize("text", ["the weathex 🙂", "xhe weather", TEXT + "more", "the weather 🙂<tool_call>{]"])
def test_a_difference_is_told_once_with_its_place(text: str) -> None:
    shown, found = feed((text, IDS))
    assert found.difference is not None
    common = next((n for n, (a, b) in enumerate(zip(text, TEXT, strict=False)) if a != b), len(TEXT))
    assert found.difference.offset == common
    assert shown == TEXT


def test_text_without_ids_among_ids() -> None:
    shown, text = feed(
        ("the", byte_level().encode("the")), (" end", None), ("<tool_call>", byte_level().encode("<tool_call>"))
    )
    assert shown == "the end<tool_call>"
    assert text.difference is None


def test_a_character_that_is_cut_off_at_the_end() -> None:
    ids = byte_level().encode("a🙂")[:-1]
    for recorded in ("a", "a\ufffd"):
        shown, text = feed((recorded, ids))
        assert shown == "a\ufffd"
        assert text.difference is None


def test_no_text_at_all_needs_no_memory() -> None:
    text = ResponseText(SHARED)
    for _ in range(30_000):
        text.feed("", IDS[:3])
    assert text.feed("", [], final=True) == ""
    assert text.difference is None


def test_prompt_ids_keep_the_first_space() -> None:
    tokenizer = sentence_piece()
    prompt, ids = tokenizer.encode("the"), tokenizer.encode("the weather")[4:]
    without = ResponseText(IdDecoder(tokenizer)).feed(None, ids, final=True)
    primed = ResponseText(IdDecoder(tokenizer), prompt).feed(None, ids, final=True)
    assert (without, primed) == ("weather", " weather")


def growth(kind: Growth, *pieces: Piece) -> list[tuple[str | None, list[int] | None]]:
    maker = DeltaMaker(kind)
    found = [delta for piece in pieces for delta in maker.feed(piece)] + maker.finish()
    return [(delta.text, delta.token_ids) for delta in found]


class TestCumulative:
    def test_by_count(self) -> None:
        cumulative = [
            Piece("a", [1], total=1),
            Piece("ab", [1, 2], total=2),
            Piece("ab", [1, 2], None, "stop", total=2),
        ]
        assert growth(Growth.BY_COUNT, *cumulative) == [("a", [1]), ("b", [2]), ("", [])]
        deltas = [Piece("a", [1], total=1), Piece("a", [1], total=2), Piece("", [], None, "stop", total=2)]
        assert growth(Growth.BY_COUNT, *deltas) == [("a", [1]), ("a", [1]), ("", [])]
        late = [Piece("c", [3], total=9), Piece("c", [3], total=10)]  # the beginning is missing
        assert growth(Growth.BY_COUNT, *late) == [("c", [3]), ("c", [3])]

    def test_events_that_were_skipped(self) -> None:
        pieces = [Piece("a", [1], total=1), Piece("abcd", [1, 2, 3, 4], [[0], [1], [2], [3]], total=4)]
        maker = DeltaMaker(Growth.BY_COUNT)
        assert [maker.feed(piece)[0].text for piece in pieces] == ["a", "bcd"]

    def test_logprobs_are_cut_as_well(self) -> None:
        maker = DeltaMaker(Growth.BY_COUNT)
        maker.feed(Piece("a", [1], [[-1, 1]], total=1))
        assert maker.feed(Piece("ab", [1, 2], [[-1, 1], [-2, 2]], total=2))[0].logprobs == [[-2, 2]]

    def test_a_character_in_the_making(self) -> None:
        pieces = [Piece("a\ufffd", [1, 2], total=2), Piece("a🙂", [1, 2, 3], total=3)]
        assert [text for text, _ in growth(Growth.BY_COUNT, *pieces)] == ["a", "🙂"]

    def test_a_stop_string_that_is_cut_off_again(self) -> None:
        pieces = [Piece("ab END", [1, 2], total=2), Piece("ab ", [1, 2], None, "stop", total=2)]
        assert [text for text, _ in growth(Growth.BY_COUNT, *pieces)] == ["ab END", ""]

    @pytest.mark.parametrize(
        "texts", [["a", "ab", "abc", "abcd", "abcde"], ["a", "ab", "ab", "abcd"], ["", "x", "xy", "xyz", "xyz1"]]
    )
    def test_by_text(self, texts: list[str]) -> None:
        found = growth(Growth.BY_TEXT, *map(Piece, texts))
        assert "".join(text or "" for text, _ in found) == texts[-1]

    @pytest.mark.parametrize(
        "texts", [["a", "b"], ["\n", "\n", "\n", "x"], ["a", "ab", "c"], ["a", "ab"], ["a"], [" "] * 200]
    )
    def test_deltas_that_look_cumulative_at_first(self, texts: list[str]) -> None:
        found = growth(Growth.BY_TEXT, *map(Piece, texts))
        assert [text for text, _ in found] == texts

    def test_sglang_without_ids_is_cumulative(self) -> None:
        pieces = [Piece("a"), Piece("ab", finish_reason="stop")]
        assert [text for text, _ in growth(Growth.BY_COUNT, *pieces)] == ["a", "b"]
