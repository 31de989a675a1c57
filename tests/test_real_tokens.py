"""Every fixture, cut as the tokenizers of real models cut it (R44): the same result, and nothing later than need be."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Sequence
from functools import cache

import pytest
from oracle import FIXTURES, Case, load_cases, run, same
from real_tokenizers import NAMES, OWN, real_tokenizer
from test_fixtures import as_tokens, expect

from unspool.parsers import Boundaries, ChatRequest, ResponseParser, build_response_parser

PER_CHUNK = (1, 2, 3, 8)

# Cases named tokens-... only mention special tokens, which a model would not write with their ids.
MARKED_BY_IDS = [
    case for case in load_cases(FIXTURES / "cases" / "gpt-oss.toml") if not case.name.startswith("tokens-")
]


@cache
def token_boundaries(name: str) -> Boundaries:
    """The boundaries of a tokenizer; they remember what they computed."""
    return Boundaries.tokens(real_tokenizer(name))


def tokens(case: Case, name: str, per_chunk: int) -> tuple[list[str], list[list[int]]]:
    """A case's text, cut by a tokenizer."""
    if not unicodedata.is_normalized("NFC", case.raw):
        pytest.skip("this text is no NFC, which several of these tokenizers make of it")
    texts, ids = as_tokens(case.raw, real_tokenizer(name), per_chunk)
    assert "".join(texts) == case.raw, f"{name} does not write this text back"
    return texts, ids


def chosen(case: Case, turn: int) -> str:
    """The tokenizer of the case's own model, where there is one, then others drawn by the case's name."""
    own = [OWN[case.file]] if case.file in OWN else []
    others = [name for name in NAMES if name not in own]
    return [*own, *random.Random(case.id).sample(others, len(others))][turn]


def ends_inside_a_token(case: Case, name: str) -> bool:
    """Whether a text ends inside a tag where no token of the tag does, so that no model can have written it."""
    parser = case.parser()
    layers = [layer for layer in (parser, parser.tool, parser.reasoning) if layer is not None]
    for tag in {tag for layer in layers for tag in layer.tags()}:
        pieces = [piece for piece in Boundaries.characters().prefixes(tag) if case.raw.endswith(piece)]
        if pieces and pieces[0] not in token_boundaries(name).prefixes(tag):
            return True
    return False


@pytest.mark.parametrize("turn", range(2))
class TestFixtures:
    """Cut at the token boundaries of its own model and of another."""

    def test_gives_what_is_expected(self, case: Case, turn: int) -> None:
        name = chosen(case, turn)
        whole = run(case.parser(), [case.raw])
        if turn == 0:
            expect(whole, case)
        for per_chunk in PER_CHUNK:
            texts, ids = tokens(case, name, per_chunk)
            same(run(case.parser(), texts, ids), whole, texts)
            if not ends_inside_a_token(case, name):
                same(run(case.parser(boundaries=token_boundaries(name)), texts, ids), whole, texts)

    def test_is_never_later(self, case: Case, turn: int) -> None:
        name = chosen(case, turn)
        texts, _ = tokens(case, name, 1)
        careful = progress(case.parser(), texts)
        eager = progress(case.parser(boundaries=token_boundaries(name)), texts)
        for at, (late, early) in enumerate(zip(careful, eager, strict=True)):
            assert all(a <= b for a, b in zip(late, early, strict=True)), f"{texts[: at + 1]}: {early} after {late}"


class TestNothingIsHeldBack:
    """Where every tag is one token, no text can be the beginning of one."""

    @pytest.mark.parametrize(("name", "tool_parser"), [("qwen3", "qwen3"), ("qwen3.5", "qwen3"), ("glm-4.7", "glm47")])
    @pytest.mark.parametrize("reasons", [True, False])
    def test_text_comes_with_its_chunk(self, name: str, tool_parser: str, reasons: bool) -> None:
        chunks = [*near_tags(name), "</think>", *near_tags(name)] if reasons else near_tags(name)
        request = ChatRequest(chat_template_kwargs={"enable_thinking": reasons})
        parser = build_response_parser(
            request, reasoning_parser="default", tool_parser=tool_parser, boundaries=token_boundaries(name)
        )
        fed = 0
        for chunk in chunks:
            fed += len(chunk) if chunk != "</think>" else 0
            out = [delta.content or delta.reasoning_content or "" for delta, _ in parser.stream_chunk(chunk)]
            assert "".join(out) == (chunk if chunk != "</think>" else ""), f"{chunk!r} after {fed} characters"

    def test_without_token_boundaries_some_is(self) -> None:
        """Which shows that the text above has what could be taken for a tag."""
        parser = build_response_parser(tool_parser="qwen3")
        held = [chunk for chunk in near_tags("qwen3") if not parser.stream_chunk(chunk)]
        assert len(held) > 10

    def test_a_string_argument_comes_with_its_chunk(self) -> None:
        """GLM's tags are all one token; of a misspelt closing tag only `</` can end a chunk."""
        value = ["a", " <", " b", ",", " <", "b", ">", " and", " x", "<y"]
        parser = build_response_parser(tool_parser="glm47", boundaries=token_boundaries("glm-4.7"))
        parser.stream_chunk("<tool_call>f<arg_key>x</arg_key><arg_value>")
        out = [
            [call.arguments for call in delta.tool_calls or ()] for v in value for delta, _ in parser.stream_chunk(v)
        ]
        assert [piece for (piece,) in out] == ['{"x": "a', *value[1:]]


class TestGptOss:
    """The special tokens of Harmony, known by their ids."""

    @pytest.mark.parametrize("harmony", MARKED_BY_IDS, ids=lambda case: case.name)
    def test_ids_say_the_same(self, harmony: Case) -> None:
        tokenizer = real_tokenizer("gpt-oss")
        whole = run(harmony.parser(), [harmony.raw])
        for per_chunk in PER_CHUNK:
            texts, ids = tokens(harmony, "gpt-oss", per_chunk)
            same(run(harmony.parser(tokenizer=tokenizer), texts, ids), whole, texts)

    def test_a_mention_without_the_id_is_text(self) -> None:
        tokenizer = real_tokenizer("gpt-oss")
        mention = "<|end|> ends, <|channel|>analysis<|message|> begins"
        spelled = tokenizer.backend.encode_ordinary(mention)
        ids = [*tokenizer.encode("<|channel|>final<|message|>"), *spelled, *tokenizer.encode("<|return|>")]
        assert tokenizer.encode("<|end|>")[0] not in spelled
        parser = build_response_parser(response_parser="gpt-oss", tokenizer=tokenizer)
        outcome = run(parser, ["", *map(tokenizer.decode, ([number] for number in ids))], [[], *([n] for n in ids)])
        assert (outcome.content, outcome.reasoning_content) == (mention, None)


def near_tags(name: str) -> list[str]:
    """Prose with what looks like the beginning of a tag and is none, one token a piece."""
    rng = random.Random(name)
    parts = ["<", "</", "<t", "<tool", "<tool_call", "</tool_call", "<th", "</thin", "if a<b:", " word", " ", "\n", "é"]
    text = "x" + "".join(rng.choices(parts, k=400)).replace("<tool_call>", "")
    tokenizer = real_tokenizer(name)
    texts, _ = as_tokens(text, tokenizer, 1)
    assert "".join(texts) == text
    return [piece for piece in texts if piece]


def progress(parser: ResponseParser, chunks: Sequence[str]) -> list[tuple[int, int, int, int]]:
    """How much content, reasoning, calls and arguments are out after each chunk."""
    content = reasoning = calls = arguments = 0
    steps = []
    for number, chunk in enumerate(chunks):
        for delta, _ in parser.stream_chunk(chunk, (), number == len(chunks) - 1):
            content += len(delta.content or "")
            reasoning += len(delta.reasoning_content or "")
            for call in delta.tool_calls or ():
                calls += call.name is not None
                arguments += len(call.arguments or "")
        steps.append((content, reasoning, calls, arguments))
    return steps
