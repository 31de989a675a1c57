"""Decoding ids piece by piece: the same text as all at once, whether or not ids change each other's text."""

from __future__ import annotations

import random

import pytest
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

from unspool.parsers.token_count import ReasoningTokenCounter
from unspool.parsers.tokenization import IncrementalDecoder, TextTokenizer

TEXT = 'Isn\'t it "fine"?  So: é 🙂 {"a": [1, 22]} , ok .'


def sentence_piece() -> TextTokenizer:
    """Drops the first space; a character without a token is its bytes."""
    pieces = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", *sorted(set(TEXT) - set(" é🙂"))]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[], byte_fallback=True, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    spaces = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    tokenizer.decoder = decoders.Sequence(spaces)
    return TextTokenizer(tokenizer)


def word_ends() -> TextTokenizer:
    """A token that ends a word has a space behind it, unless it is the last one."""
    pieces = ["<unk>", *(char + end for char in sorted(set(TEXT) - {" "}) for end in ("", "</w>"))]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    model = models.BPE(vocab=vocabulary, merges=[], end_of_word_suffix="</w>", unk_token="<unk>")
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.decoder = decoders.BPEDecoder("</w>")
    return TextTokenizer(tokenizer)


def tokenizers(tiny: TextTokenizer) -> list[TextTokenizer]:
    return [tiny, sentence_piece(), word_ends()]


@pytest.mark.parametrize("which", range(3))
class TestIncrementalDecoder:
    """A byte-level tokenizer, and two whose ids change each other's text."""

    def test_pieces_join_to_the_whole(self, tiny: TextTokenizer, which: int) -> None:
        tokenizer = tokenizers(tiny)[which]
        ids = tokenizer.encode(TEXT * 3)
        for seed in range(30):
            draw, decoder, pieces, start = random.Random(seed), IncrementalDecoder(tokenizer), [], 0
            while start < len(ids):
                end = start + draw.choice((1, 1, 1, 2, 7))
                pieces.append(decoder.step(ids[start:end]))
                start = end
            assert "".join([*pieces, decoder.flush()]) == tokenizer.decode(ids)

    def test_steps_are_those_of_single_ids(self, tiny: TextTokenizer, which: int) -> None:
        tokenizer = tokenizers(tiny)[which]
        ids = tokenizer.encode(TEXT * 3)
        together, alone = IncrementalDecoder(tokenizer), IncrementalDecoder(tokenizer)
        pieces = [*together.steps(ids[:20]), *together.steps(ids[20:])]
        assert pieces == [alone.step((number,)) for number in ids]


def test_pieces_are_known_only_where_they_are_independent(tiny: TextTokenizer) -> None:
    assert tiny.known_pieces() is not None
    assert word_ends().known_pieces() is None


def test_pieces_are_shared_by_all_wrappers_of_a_tokenizer(tiny: TextTokenizer) -> None:
    assert TextTokenizer(tiny.backend).known_pieces() is tiny.known_pieces()


@pytest.mark.parametrize("per_chunk", [1, 3, 100, 1000])
def test_counts_what_begins_inside(tiny: TextTokenizer, per_chunk: int) -> None:
    """However the ids come, and whether the text is settled with them or only at the end."""
    before, inside, after = (tiny.encode(text) for text in (TEXT * 5, "so it is 🙂 " * 20, TEXT * 9))
    ids = [*before, *inside, *after]
    start, end = len(tiny.decode(before)), len(tiny.decode([*before, *inside]))
    for at_the_end in (False, True):
        counter, offset, switches = ReasoningTokenCounter(tiny), 0, [(start, True), (end, False)]
        for at in range(0, len(ids), per_chunk):
            counter.add(ids[at : at + per_chunk], 0 if at_the_end else offset)
            offset = len(tiny.decode(ids[: at + per_chunk]).rstrip("\ufffd"))
            while switches and switches[0][0] < offset:
                counter.switch(*switches.pop(0))
        counter.settle(offset)
        assert counter.count == len(inside)
