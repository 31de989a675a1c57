"""Small tokenizers and readers' helpers for the tests of reading."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from functools import cache

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from unspool.parsers.chat_runner import EngineOutput
from unspool.parsers.tokenization import TextTokenizer

CORPUS = [
    "Let me think about the weather. The user asks for the weather in Paris, so I call the tool.",
    '{"name": "get_weather", "arguments": {"city": "Paris", "unit": "celsius"}}\n',
    "def f(x):\n    return x + 1\n\nprint(f(2))\n",
]


@cache
def byte_level(*, trim_offsets: bool = False) -> TextTokenizer:
    """A byte-level BPE tokenizer: every emoji is several tokens, ``<|im_end|>`` and ``<tool_call>`` are one."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        CORPUS,
        trainers.BpeTrainer(
            vocab_size=400, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=[]
        ),
    )
    tokenizer.add_tokens(
        [AddedToken("<|im_end|>", special=True), AddedToken("<tool_call>"), AddedToken("<end of x>", rstrip=True)]
    )
    if trim_offsets:
        tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
    return TextTokenizer(tokenizer)


@cache
def sentence_piece() -> TextTokenizer:
    """A tokenizer in the style of SentencePiece: decoding drops a leading space, unknown characters become bytes."""
    characters = sorted({c for text in CORPUS for c in text.replace(" ", "▁")} | {"▁"})
    tokens = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), *characters]
    tokenizer = Tokenizer(
        models.BPE(
            vocab={token: index for index, token in enumerate(tokens)},
            merges=[],
            unk_token="<unk>",
            byte_fallback=True,
            fuse_unk=True,
        )
    )
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return TextTokenizer(tokenizer)


def joined(outputs: Iterable[EngineOutput]) -> str:
    """The text of all chunks."""
    return "".join(output.text for output in outputs)


def all_ids(outputs: Iterable[EngineOutput]) -> list[int]:
    """The ids of all chunks."""
    return [token_id for output in outputs for token_id in output.token_ids]


def pieces_of(text: str, seed: int, longest: int = 50) -> Iterator[str]:
    """Cut ``text`` at random."""
    sizes = random.Random(seed)
    start = 0
    while start < len(text):
        size = sizes.randint(1, longest)
        yield text[start : start + size]
        start += size
