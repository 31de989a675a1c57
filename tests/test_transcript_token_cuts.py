"""Cutting text at the boundaries of real tokens."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from transcript_tools import CORPUS, all_ids, byte_level, joined, pieces_of, sentence_piece

from unspool.cli.transcript.chunking import ChunkSpec, recut
from unspool.cli.transcript.token_cuts import cut_at_tokens
from unspool.parsers.chat_runner import EngineOutput
from unspool.parsers.tokenization import TextTokenizer


class WithoutOffsets:
    """A tokenizer that encodes to bare ids, as some slow ones do."""

    def __init__(self, tokenizer: TextTokenizer) -> None:
        self.encode = lambda text, add_special_tokens: tokenizer.encode(text)
        self.decode = lambda ids, skip_special_tokens: tokenizer.decode(ids)


def lossy() -> TextTokenizer:
    """Encodes to nothing sensible: what is cut must still be the text."""
    backend = SimpleNamespace(
        encode=lambda text, add_special_tokens: [1] * (len(text) // 2), decode=lambda ids, skip_special_tokens: "?"
    )
    return TextTokenizer(backend)


TOKENIZERS = {
    "bytes": byte_level(),
    "trimmed": byte_level(trim_offsets=True),
    "pieces": sentence_piece(),
    "no-offsets": TextTokenizer(WithoutOffsets(byte_level())),
    "lossy": lossy(),
}
WORDS = st.sampled_from(
    [
        "the weather",
        " ",
        "\n",
        "  ",
        "🙂",
        "👩‍👩‍👧",
        "<|im_end|>",
        "<tool_call>",
        "<end of x>",
        "é",
        "x",
        "{",
        '"',
        "\u2028",
    ]
)
TEXTS = st.lists(WORDS, max_size=60).map("".join)


@pytest.mark.parametrize("name", TOKENIZERS)
@given(text=TEXTS, seed=st.integers())
def test_no_character_is_lost_or_changed(name: str, text: str, seed: int) -> None:
    assert joined(cut_at_tokens(pieces_of(text, seed), TOKENIZERS[name])) == text


@pytest.mark.parametrize("name", ["bytes", "trimmed", "no-offsets"])
@given(text=TEXTS, seed=st.integers())
def test_tokens_are_those_of_the_whole_text(name: str, text: str, seed: int) -> None:
    # trimmed offsets don't say where the token of a space at the very start stands: its id can come twice, the text not
    assume(name != "trimmed" or not text.startswith(" "))
    outputs = list(cut_at_tokens(pieces_of(text, seed), TOKENIZERS[name]))
    assert all_ids(outputs) == byte_level().encode(text)
    assert all(len(output.token_ids) == 1 for output in outputs)


@given(text=TEXTS, seed=st.integers())
def test_chunks_do_not_depend_on_whether_offsets_are_kept(text: str, seed: int) -> None:
    text = text.replace("<end of x>", "")  # it takes in the space behind it, which decoding does not give back
    expected = list(cut_at_tokens([text], byte_level()))
    assert list(cut_at_tokens(pieces_of(text, seed), TOKENIZERS["no-offsets"])) == expected


def test_spaces_that_decoding_does_not_give_back_keep_the_tokens_apart() -> None:
    outputs = list(cut_at_tokens(["<end of x> weather <tool_call>"], TOKENIZERS["no-offsets"]))
    assert [output.text for output in outputs][-1] == "<tool_call>"
    assert outputs[0].text == "<end of x>"


def test_a_character_of_several_tokens_comes_with_the_last() -> None:
    outputs = list(cut_at_tokens(["a🙂<tool_call>"], byte_level()))
    texts = [output.text for output in outputs]
    assert texts[0] == "a"
    assert texts[-2:] == ["🙂", "<tool_call>"]
    assert len(texts) > 3
    assert set(texts[1:-2]) == {""}


def test_a_text_much_longer_than_a_block() -> None:
    words = random.Random(5)
    text = "".join(
        words.choice(["weather", " the", "\n\n", "🙂", " ", "<tool_call>", '"city": ']) for _ in range(60_000)
    )
    assert len(text) > 4 * 65536
    outputs = list(cut_at_tokens(pieces_of(text, 1, 70_000), byte_level()))
    assert joined(outputs) == text
    assert all_ids(outputs) == byte_level().encode(text)


@pytest.mark.parametrize("unit", ["x", " ", "\n", "🙂", "ab"])
@pytest.mark.parametrize("name", ["bytes", "trimmed", "pieces", "lossy"])
def test_a_text_without_a_place_to_cut(name: str, unit: str) -> None:
    text = unit * 90_000
    assert joined(cut_at_tokens(pieces_of(text, 3, 1000), TOKENIZERS[name])) == text


def test_text_comes_before_the_input_ends() -> None:
    read: list[int] = []

    def pieces() -> Iterator[str]:
        for number in range(20):
            read.append(number)
            yield f"the weather in Paris is number {number}\n"

    first = next(iter(cut_at_tokens(pieces(), byte_level())))
    assert first.text
    assert len(read) <= 3


@pytest.mark.slow
def test_memory_is_constant() -> None:
    text = CORPUS[0] * 300
    sizes = []
    for times in (3, 9):
        tracemalloc.start()
        for _ in cut_at_tokens((text for _ in range(times)), byte_level()):
            pass
        sizes.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert sizes[1] < 1.3 * sizes[0]


def test_recorded_ids_are_the_boundaries() -> None:
    tokenizer = byte_level()
    one_by_one = [tokenizer.token_id(letter) for letter in "the"]  # not how the text would be encoded
    ids = [i for i in one_by_one if i is not None]
    assert ids != tokenizer.encode("the")
    records = [EngineOutput("the", ids, ["lp"], "stop")]
    assert list(recut(records, ChunkSpec("tokens"), tokenizer)) == [
        EngineOutput("t", ids[:1]),
        EngineOutput("h", ids[1:2]),
        EngineOutput("e", ids[2:], ["lp"], "stop"),
    ]


def test_a_character_may_be_cut_over_records() -> None:
    ids = byte_level().encode("a🙂b")
    records = [EngineOutput("a", ids[:3]), EngineOutput("🙂b", ids[3:])]
    chunks = list(recut(records, ChunkSpec("tokens"), byte_level()))
    assert [chunk.token_ids for chunk in chunks] == [[i] for i in ids]
    assert joined(chunks) == "a🙂b"


def test_records_whose_text_differs_from_their_ids_stay_whole() -> None:
    records = [EngineOutput("something else", byte_level().encode("the weather"), {"x": 1}, "length")]
    assert list(recut(records, ChunkSpec("tokens"), byte_level())) == records


def test_records_without_ids_are_encoded() -> None:
    records = [EngineOutput("the wea"), EngineOutput("ther"), EngineOutput("", [], None, "stop")]
    chunks = list(recut(records, ChunkSpec("tokens"), byte_level()))
    assert joined(chunks) == "the weather"
    assert all_ids(chunks) == byte_level().encode("the weather")
    assert [chunk.finish_reason for chunk in chunks] == [None] * (len(chunks) - 1) + ["stop"]
