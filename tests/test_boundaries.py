"""Where chunks can end inside a tag, on the tokenizers of real models (R36 to R38)."""

from __future__ import annotations

import random
import time
from itertools import pairwise
from typing import Any

import pytest
from real_tokenizers import NAMES, real_tokenizer

from unspool.parsers import (
    Boundaries,
    ChatRequest,
    ReasoningParserManager,
    Registry,
    ResponseParserManager,
    TextTokenizer,
    ToolParserManager,
    XmlToolParser,
)
from unspool.parsers.tool_parser.glm import Glm47ToolParser
from unspool.parsers.tool_parser.qwen3coder import Qwen3CoderToolParser

MANAGERS: tuple[Registry[Any], ...] = (ToolParserManager, ReasoningParserManager, ResponseParserManager)
PARSERS = {f"{manager.kind} {entry.name}": entry.cls for manager in MANAGERS for entry in manager}

# Hand-written, longest first: the pieces of each tag after which each model's tokenizer can end a token.
THINK, END_THINK, CALL, END_CALL = "<think>", "</think>", "<tool_call>", "</tool_call>"
WORDS_OF_CALL = ("<tool_call", "<tool", "<")
WORDS_OF_END_CALL = ("</tool_call", "</tool", "</")
PARAMETER = {"</parameter>": ("</parameter", "</"), "</function>": ("</function", "</")}
KNOWN: dict[str, dict[str, tuple[str, ...]]] = {
    "qwen3": {
        THINK: (),
        END_THINK: (),
        CALL: (),
        END_CALL: (),
        **PARAMETER,
        "<function=": ("<function", "<"),
        "</arg_value>": ("</arg_value", "</arg", "</"),
        "<|tool_call_end|>": ("<|tool_call_end|", "<|tool_call_end", "<|tool_call", "<|tool", "<|", "<"),
    },
    "qwen3.5": {THINK: (), END_THINK: (), CALL: (), END_CALL: (), **PARAMETER},
    "glm-4.7": {
        THINK: (),
        END_THINK: (),
        CALL: (),
        END_CALL: (),
        **PARAMETER,
        "<arg_key>": (),
        "</arg_key>": (),
        "<arg_value>": (),
        "</arg_value>": (),
    },
    "deepseek-v4": {
        THINK: (),
        END_THINK: (),
        CALL: WORDS_OF_CALL,
        END_CALL: WORDS_OF_END_CALL,
        **PARAMETER,
        "<｜DSML｜tool_calls>": (
            "<｜DSML｜tool_calls",
            "<｜DSML｜tool_c",
            "<｜DSML｜tool",
            "<｜DSML｜",
            "<",
        ),
        "</｜DSML｜tool_calls>": (
            "</｜DSML｜tool_calls",
            "</｜DSML｜tool_c",
            "</｜DSML｜tool",
            "</｜DSML｜",
            "</",
        ),
        "</｜DSML｜invoke>": ("</｜DSML｜invoke", "</｜DSML｜inv", "</｜DSML｜", "</"),
        "</｜DSML｜parameter>": ("</｜DSML｜parameter", "</｜DSML｜", "</"),
        "<|tool_calls_section_end|>": (
            "<|tool_calls_section_end|",
            "<|tool_calls_section_end",
            "<|tool_calls_section",
            "<|tool_calls_s",
            "<|tool_calls",
            "<|tool_c",
            "<|tool",
            "<|",
            "<",
        ),
    },
    "deepseek-v3.2": {
        THINK: (),
        END_THINK: (),
        "<｜DSML｜function_calls>": (
            "<｜DSML｜function_calls",
            "<｜DSML｜function_c",
            "<｜DSML｜function",
            "<｜DSML｜",
            "<",
        ),
        "</｜DSML｜parameter>": ("</｜DSML｜parameter", "</｜DSML｜", "</"),
    },
    "minimax-m2": {THINK: (), END_THINK: (), CALL: WORDS_OF_CALL, END_CALL: WORDS_OF_END_CALL, **PARAMETER},
    "gpt-oss": {
        "<|start|>": (),
        "<|channel|>": (),
        "<|constrain|>": (),
        "<|message|>": (),
        "<|end|>": (),
        "<|call|>": (),
        "<|return|>": (),
        THINK: ("<think", "<th", "<"),
        CALL: WORDS_OF_CALL,
        **PARAMETER,
    },
    "llama3": {
        "<|python_tag|>": ("<|python_tag|", "<|python_tag", "<|python", "<|", "<"),
        THINK: ("<think", "<th", "<"),
        CALL: WORDS_OF_CALL,
        **PARAMETER,
    },
}


@pytest.fixture(scope="module", params=NAMES)
def real(request: pytest.FixtureRequest) -> tuple[str, TextTokenizer]:
    """Each tokenizer with its name."""
    return request.param, real_tokenizer(request.param)


def parser_tags(cls: Any) -> list[str]:
    """What a parser looks for: its tags, and for an XML dialect what misspelt closing tags begin with."""
    stems = [cls.arg_value_close_tag[:-1]] if issubclass(cls, XmlToolParser) else []
    return [*cls.tags(), *stems]


class TestCharacters:
    """Nothing is known of the tokenizer."""

    def test_every_proper_prefix_can_end_a_chunk(self) -> None:
        assert Boundaries.characters().prefixes("<a>") == ("<a", "<")

    def test_is_one_object(self) -> None:
        assert Boundaries.characters() is Boundaries.characters()

    def test_any_declared_prefixes_will_do(self) -> None:
        Boundaries.characters().check("</parameter>", ("</parameter", "</"))
        Boundaries.characters().check("</parameter>", ())

    @pytest.mark.parametrize("wrong", ["</parameter>", "<parameter", "", "x"])
    def test_what_begins_no_tag_is_an_error(self, wrong: str) -> None:
        with pytest.raises(ValueError, match=r"'</parameter>'.*proper prefix"):
            Boundaries.characters().check("</parameter>", ("</", wrong))


class TestTokens:
    """Prefixes are computed from the tokenizer."""

    def test_known_tags(self, real: tuple[str, TextTokenizer]) -> None:
        name, tokenizer = real
        boundaries = Boundaries.tokens(tokenizer)
        assert {tag: boundaries.prefixes(tag) for tag in KNOWN[name]} == KNOWN[name]

    def test_every_tag_of_every_parser(self, real: tuple[str, TextTokenizer]) -> None:
        boundaries = Boundaries.tokens(real[1])
        for tag in {tag for cls in PARSERS.values() for tag in parser_tags(cls)}:
            prefixes = boundaries.prefixes(tag)
            assert all(len(one) > len(next_) for one, next_ in pairwise(prefixes)), (tag, prefixes)
            assert set(prefixes) <= set(Boundaries.characters().prefixes(tag)), (tag, prefixes)

    def test_no_token_ends_elsewhere(self, real: tuple[str, TextTokenizer]) -> None:
        """Whatever stands around a tag, tokens end inside it only where the tuple says."""
        name, tokenizer = real
        boundaries, rng = Boundaries.tokens(tokenizer), random.Random(name)
        around = [*map(chr, range(32, 127)), *_PIECES]
        for tag in sorted({tag for cls in PARSERS.values() for tag in parser_tags(cls)}):
            known = set(boundaries.prefixes(tag))
            for _ in range(40):
                left = "".join(rng.choices(around, k=rng.randint(0, 3)))
                right = rng.choice(around)
                found = {tag[:end] for end in token_ends(tokenizer, left, tag, right)}
                assert found <= known, f"{left!r} {tag!r} {right!r}"

    def test_is_quick(self, real: tuple[str, TextTokenizer]) -> None:
        for label, cls in PARSERS.items():
            boundaries = Boundaries.tokens(real[1])
            start = time.process_time()
            for tag in parser_tags(cls):
                boundaries.prefixes(tag)
            assert time.process_time() - start < 1, label

    def test_a_transformers_tokenizer_gives_the_same(self) -> None:
        transformers = pytest.importorskip("transformers")
        tokenizer = real_tokenizer("deepseek-v4")
        wrapped = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer.backend)
        tags = KNOWN["deepseek-v4"]
        boundaries = Boundaries.tokens(wrapped)
        assert {tag: boundaries.prefixes(tag) for tag in tags} == tags

    def test_a_tokenizer_whose_tokens_change_each_other(self) -> None:
        """Decoding piece by piece must not be taken for decoding the whole."""
        assert Boundaries.tokens(_Spacing()).prefixes("<a b>") == ("<a b", "<a", "<")

    def test_inside_a_character_nothing_ends(self) -> None:
        assert Boundaries.tokens(_Bytes()).prefixes("<｜>") == ("<｜", "<")

    def test_something_else_is_an_error(self) -> None:
        with pytest.raises(TypeError, match="'encode' and 'decode'"):
            Boundaries.tokens("qwen3")


class TestDeclared:
    """A parser's author may declare the prefixes; they are checked."""

    def test_right_ones_pass_in_any_order(self) -> None:
        tokenizer = real_tokenizer("qwen3")
        boundaries = Boundaries.tokens(tokenizer, {"</parameter>": ("</", "</parameter"), "</tool_call>": ()})
        assert boundaries.prefixes("</parameter>") == ("</parameter", "</")

    @pytest.mark.parametrize(
        ("tag", "declared"),
        [("</parameter>", ("</parameter",)), ("</parameter>", ("</parameter", "</", "<")), ("</tool_call>", ("</",))],
    )
    def test_wrong_ones_name_both(self, tag: str, declared: tuple[str, ...]) -> None:
        tokenizer = real_tokenizer("qwen3")
        computed = Boundaries.tokens(tokenizer).prefixes(tag)
        with pytest.raises(ValueError) as caught:
            Boundaries.tokens(tokenizer, {tag: declared})
        for part in (repr(tag), repr(declared), repr(computed)):
            assert part in str(caught.value)


class TestDeclaredByADialect:
    """As class attributes, checked when a parser is built for a tokenizer."""

    def test_right_ones(self) -> None:
        class Declaring(Qwen3CoderToolParser):
            tool_close_prefixes = ()
            arg_value_close_prefixes = ("</parameter", "</")

        Declaring(ChatRequest(), Boundaries.tokens(real_tokenizer("qwen3.5")))
        Declaring(ChatRequest())

    def test_wrong_for_the_block(self) -> None:
        class Declaring(Qwen3CoderToolParser):
            tool_close_prefixes = ()

        with pytest.raises(ValueError, match="'</tool_call>'"):
            Declaring(ChatRequest(), Boundaries.tokens(real_tokenizer("deepseek-v4")))

    def test_wrong_for_a_value(self) -> None:
        class Declaring(Glm47ToolParser):
            arg_value_close_prefixes = ("</arg_value", "</arg", "</")

        with pytest.raises(ValueError, match="'</arg_value>'"):
            Declaring(ChatRequest(), Boundaries.tokens(real_tokenizer("glm-4.7")))

    def test_no_prefix_of_the_tag_at_all(self) -> None:
        class Declaring(Qwen3CoderToolParser):
            tool_close_prefixes = ("</tool-call",)

        with pytest.raises(ValueError, match="proper prefix"):
            Declaring(ChatRequest())


_PIECES = ["\n", "\t", "\r\n", "\n\n", '"}', '"]', "}}", "\\n", "  ", "é", "京", "。", "！", "😀", "\u200b", "\u00a0"]


def token_ends(tokenizer: TextTokenizer, left: str, tag: str, right: str) -> set[int]:
    """Where in ``tag`` tokens end, found the slow and simple way."""
    text = left + tag + right
    ids = tokenizer.encode(text)
    decoded = [tokenizer.decode(ids[:count]) for count in range(1, len(ids))]
    ends = {len(piece) - len(left) for piece in decoded if text.startswith(piece)}
    return {end for end in ends if 0 < end < len(tag)}


class _Spacing:
    """Words, which decode to words with single spaces between: a token's own text lacks the space."""

    def encode(self, text: str, add_special_tokens: bool = False) -> list[int]:
        spaced = text.replace("<", "\0<\0").replace(">", "\0>\0").replace(" ", "\0 ")
        return [int.from_bytes(word.encode(), "big") for word in spaced.split("\0") if word]

    def decode(self, ids: list[int], skip_special_tokens: bool = False) -> str:
        words = [number.to_bytes((number.bit_length() + 7) // 8, "big").decode() for number in ids]
        return "".join(words[:1] and [words[0].lstrip(), *words[1:]])


class _Bytes:
    """A token a byte."""

    def encode(self, text: str, add_special_tokens: bool = False) -> list[int]:
        return list(text.encode())

    def decode(self, ids: list[int], skip_special_tokens: bool = False) -> str:
        return bytes(ids).decode("utf-8", "replace")
