"""Random markup for every registered parser: it never raises, never depends on the cut, and loses no word silently."""

from __future__ import annotations

import os
import random
import re
import warnings
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle import Outcome, in_pieces, run, run_whole, same

from unspool.parsers import (
    ChatRequest,
    LegacyNameWarning,
    ReasoningParserManager,
    ResponseParser,
    ToolParserManager,
    build_response_parser,
)

EXAMPLES = settings(
    max_examples=int(os.environ.get("UNSPOOL_SOUP", "60")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
"""Of each parser; more with the variable UNSPOOL_SOUP."""
TOOLS = [entry.name for entry in ToolParserManager.entries()]
REASONING = [entry.name for entry in ReasoningParserManager.entries()]
THINK = ("<think>", "</think>")
JSON = (
    "{", "}", "[", "]", '"', ":", ", ", "\\", '\\"', "\\u00e9", "\\u12", "null", "true", "12.5", "{}", '""',
    '"name"', '"name": ', '"name": "f"', '"name": "g", ', '"arguments"', '"arguments": ', '"parameters": ',
    '"arguments": {"a": 1}', '"parameters": {"a": [2, "x"]}', '{"name": "f", "arguments": {}}',
    '{"name": "f", "parameters": {"b": "c"}}', '{"name": "zz", "arguments": {"b": "c"}}',
)  # fmt: skip
TEXT = ("\n", "\n\n", "\r\n", " ", "\t", ";", "; ", "<", "</", "<|", "|>", ">", "é", "東京", "🌍", "a", "'", "\x00")
REQUESTS: tuple[dict[str, Any], ...] = (
    {},
    {"tools": [{"type": "function", "function": {"name": "f"}}]},
    {"chat_template_kwargs": {"enable_thinking": False}},
    {"chat_template_kwargs": {"enable_thinking": True, "thinking": True}},
)


@st.composite
def soups(draw: st.DrawFn, tags: tuple[str, ...]) -> str:
    """A text of tags, pieces of tags, JSON, envelopes, blank space and numbered words."""
    whole = st.sampled_from(tags)
    part = st.tuples(whole, st.integers(1, 12)).map(lambda pair: pair[0][: pair[1]])
    block = st.tuples(whole, GAP, ENVELOPE, GAP, whole).map("".join)
    piece = st.one_of(whole, part, block, block, ENVELOPE, st.sampled_from(JSON), st.sampled_from(TEXT), WORD)
    pieces = draw(st.lists(piece, max_size=16))
    text = "".join(f" {piece} " if piece == "WORD" else piece for piece in pieces)
    return re.sub("WORD", lambda found: f"w{found.start()}x", text)


def envelopes() -> st.SearchStrategy[str]:
    """JSON objects of fields that a call has, perhaps cut off or with a slip in them."""
    key = st.sampled_from(('"name"', '"arguments"', '"parameters"', '"id"', '"type"', '"function"', '"x"', "name"))
    value = st.recursive(
        st.sampled_from(SCALARS),
        lambda inner: st.one_of(
            st.lists(st.tuples(key, inner).map(": ".join), max_size=3).map(as_object),
            st.lists(inner, max_size=3).map(as_array),
        ),
        max_leaves=4,
    )
    name = st.sampled_from(
        ('"name": "f"', '"name":"g"', '"name": "WORD"', '"name": "ze\\u00e9"', '"name": ""', '"name": 5')
    )
    field = st.one_of(name, name, st.tuples(key, value).map(": ".join))
    body = st.lists(field, min_size=1, max_size=4).map(as_object)
    cut_off = st.tuples(body, st.integers(0, 9)).map(lambda pair: pair[0][: len(pair[0]) - pair[1]])
    return st.one_of(body, body, cut_off, st.tuples(body, body).map(as_array))


def as_object(fields: Sequence[str]) -> str:
    """Fields in braces."""
    return "{" + ", ".join(fields) + "}"


def as_array(items: Sequence[str]) -> str:
    """Items in brackets."""
    return "[" + ",".join(items) + "]"


WORD = st.just("WORD")
SCALARS = (
    "1", "-2.5e3", "true", "null", '""', '"WORD"', '"a WORD"', r'"\"WORD\\"', r'"\u00e9\/"', r'"{\"k\": \"WORD\"}"',
    '"é🌍"', '"</tool_call>"', '"</think><tool_call>"', '"<|action_end|>"', '"<|python_tag|>{"', "WORD", '"WORD',
)  # fmt: skip
GAP = st.sampled_from(("", "", "\n", "\n\n", " "))
ENVELOPE = envelopes()
CUT_SEED = st.integers(0, 2**16)
REQUEST = st.sampled_from(REQUESTS)


@pytest.mark.parametrize("name", TOOLS)
def test_tool_soup(name: str) -> None:
    tags = (*ToolParserManager.get(name).tags(), *THINK)

    @EXAMPLES
    @given(soups(tags), CUT_SEED, REQUEST, st.sampled_from((None, "default", "deepseek-v3")))
    def check(text: str, seed: int, request: dict[str, Any], reasoning: str | None) -> None:
        survives(text, seed, request, reasoning, name)

    check()


@pytest.mark.parametrize("name", REASONING)
def test_reasoning_soup(name: str) -> None:
    parser = ReasoningParserManager.get(name)
    tags = (parser.get_reasoning_open_tag(), parser.get_reasoning_close_tag(), "<tool_call>", "</tool_call>")

    @EXAMPLES
    @given(soups(tags), CUT_SEED, REQUEST, st.sampled_from((None, "qwen3")))
    def check(text: str, seed: int, request: dict[str, Any], tool: str | None) -> None:
        survives(text, seed, request, name, tool)

    check()


def survives(text: str, seed: int, request: dict[str, Any], reasoning: str | None, tool: str | None) -> None:
    """Run ``text`` whole and cut, and compare."""

    def parser() -> ResponseParser:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LegacyNameWarning)
            return build_response_parser(ChatRequest.from_body(request), reasoning_parser=reasoning, tool_parser=tool)

    whole = run(parser(), [text])
    for chunks in (list(text), [*text, ""], in_pieces(text, 3), at_random(text, seed), at_random(text, seed + 1)):
        same(run(parser(), chunks), whole, chunks)
    complete = run_whole(parser(), text)
    assert complete == Outcome(whole.content, whole.reasoning_content, whole.tool_calls, (), whole.diagnostics)
    lost = [word for word in re.findall(r"w\d+x", text) if word not in visible(whole)]
    assert not lost or whole.diagnostics, f"{lost} vanished without a diagnostic: {whole}"


def at_random(text: str, seed: int) -> list[str]:
    """Cut into pieces of random length, some of them empty."""
    rng, ends = random.Random(seed), [0]
    while ends[-1] < len(text):
        ends.append(ends[-1] + rng.choice((0, 1, 1, 2, 4, 9, 20)))
    return [text[start:end] for start, end in pairwise(ends)]


def visible(outcome: Outcome) -> str:
    """All that a client sees."""
    calls = " ".join(f"{call.name} {call.arguments}" for call in outcome.tool_calls)
    return f"{outcome.content} {outcome.reasoning_content} {calls}"
