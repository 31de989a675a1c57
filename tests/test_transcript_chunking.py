"""Cutting text: by size, by line, at random, not at all."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transcript_tools import all_ids, byte_level, joined, pieces_of

from unspool.cli.transcript.chunking import ChunkSpec, cut_text, recut
from unspool.parsers.chat_runner import EngineOutput

SPECS = ["tokens", "chars:1", "chars:7", "lines", "whole", "random:0", "random:-3"]
TEXTS = st.text(st.sampled_from("ab \n\r\u2028🙂é<>|"), max_size=80)


@pytest.mark.parametrize("spec", SPECS)
def test_a_spec_reads_and_prints_the_same(spec: str) -> None:
    assert str(ChunkSpec.parse(spec)) == spec


@pytest.mark.parametrize(
    ("spec", "advice"),
    [
        ("chars", "chars:4"),
        ("chars:0", "chars:4"),
        ("chars:-1", "chars:4"),
        ("chars:x", "chars:4"),
        ("random", "random:7"),
        ("random:", "random:7"),
        ("random:1.5", "random:7"),
        ("lines:3", "use tokens, chars:N"),
        ("", "use tokens, chars:N"),
        ("words", "use tokens, chars:N"),
    ],
)
def test_a_wrong_spec_says_what_is_right(spec: str, advice: str) -> None:
    with pytest.raises(ValueError, match="'") as caught:
        ChunkSpec.parse(spec)
    assert advice in str(caught.value)


@given(TEXTS, st.sampled_from(SPECS), st.integers())
def test_chunks_join_to_the_text_and_do_not_depend_on_the_pieces(text: str, spec: str, seed: int) -> None:
    cut = ChunkSpec.parse(spec)
    chunks = list(cut_text(pieces_of(text, seed), cut, byte_level()))
    assert joined(chunks) == text
    assert chunks == list(cut_text([text], cut, byte_level()))


@pytest.mark.parametrize(
    ("spec", "chunks"),
    [
        ("chars:4", ["ab\nc", "\r\n\u2028d", "e"]),
        ("lines", ["ab\n", "c\r\n", "\u2028de"]),
        ("whole", ["ab\nc\r\n\u2028de"]),
    ],
)
def test_cuts(spec: str, chunks: list[str]) -> None:
    outputs = cut_text(["ab\nc", "\r\n\u2028", "de"], ChunkSpec.parse(spec))
    assert [output.text for output in outputs] == chunks


def test_random_sizes() -> None:
    def sizes(seed: int) -> list[int]:
        return [len(output.text) for output in cut_text(["x" * 5000], ChunkSpec("random", seed))]

    assert sizes(1) == sizes(1) != sizes(2)
    assert set(sizes(1)[:-1]) == set(range(1, 17))


def test_nothing_gives_no_chunk() -> None:
    assert [list(cut_text([], ChunkSpec.parse(spec), byte_level())) for spec in SPECS] == [[]] * len(SPECS)


def test_tokens_need_a_tokenizer() -> None:
    with pytest.raises(ValueError, match="--tokenizer DIR"):
        cut_text(["a"], ChunkSpec("tokens"))
    with pytest.raises(ValueError, match="--tokenizer DIR"):
        recut([EngineOutput("a")], ChunkSpec("tokens"))


@pytest.mark.parametrize("spec", ["chars:3", "lines", "random:1"])
def test_cutting_is_lazy_and_needs_little_memory(spec: str) -> None:
    tracemalloc.start()
    length = 0
    for output in cut_text(("line of text\n" * 500 for _ in range(40)), ChunkSpec.parse(spec)):
        length += len(output.text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert length == 13 * 500 * 40
    assert peak < 150_000


RECORDS = [
    EngineOutput("ab\nc", [1, 2], {"a": 1}),
    EngineOutput("", [3]),
    EngineOutput("de", [4]),
    EngineOutput("", [], None, "stop"),
]


def test_recutting_keeps_ids_in_order_and_the_finish_reason_last() -> None:
    assert list(recut(RECORDS, ChunkSpec.parse("chars:3"))) == [
        EngineOutput("ab\n", [1, 2]),
        EngineOutput("cde", [3, 4], None, "stop"),
    ]
    assert list(recut(RECORDS, ChunkSpec.parse("whole"))) == [EngineOutput("ab\ncde", [1, 2, 3, 4], None, "stop")]
    assert list(recut([], ChunkSpec.parse("whole"))) == []
    assert list(recut(RECORDS[3:], ChunkSpec.parse("lines"))) == RECORDS[3:]


@given(st.lists(st.tuples(TEXTS, st.lists(st.integers(0, 9)))), st.sampled_from(SPECS[1:]))
def test_recutting_loses_nothing(records: list[tuple[str, list[int]]], spec: str) -> None:
    outputs = [EngineOutput(text, ids) for text, ids in records]
    chunks = list(recut(outputs, ChunkSpec.parse(spec)))
    assert joined(chunks) == joined(outputs)
    assert all_ids(chunks) == all_ids(outputs)
