"""Harmony: text and token ids agree, ids decide, reasoning tokens, latency, linear work, and random messages."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import FIXTURES, Case, Outcome, in_pieces, load_cases, run, same
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

from unspool.parsers import Boundaries, ChatRequest, build_response_parser
from unspool.parsers.response_parser.harmony import HarmonyResponseParser
from unspool.parsers.response_parser.harmony_header import LIMIT, may_be_header
from unspool.parsers.response_parser.harmony_tokens import TOKENS
from unspool.parsers.tokenization import TextTokenizer

CASES = load_cases(FIXTURES / "cases" / "gpt-oss.toml")
TRANSCRIPT = (FIXTURES / "transcripts" / "gpt-oss.txt").read_text(encoding="utf-8")

# Here the text alone says that a token is only written about. Encoded, it is a real one, and ids decide.
ONLY_LOOK_ALIKES = {"tokens-inside-a-json-string", "tokens-mentioned-in-prose"}


@cache
def vocabulary(special: bool = True) -> TextTokenizer:
    """A byte-level BPE of which every emoji is several tokens; without ``special``, Harmony's tokens are plain text."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=[]
    )
    tokenizer.train_from_iterator([TRANSCRIPT.replace("<|", "").replace("|>", "")], trainer)
    if special:
        tokenizer.add_tokens([AddedToken(token, special=True, normalized=False) for token in TOKENS])
    return TextTokenizer(tokenizer)


def parser(**options: Any) -> HarmonyResponseParser:
    request = ChatRequest(**options.pop("request", {}))
    built = build_response_parser(request, response_parser="gpt-oss", **options)
    assert isinstance(built, HarmonyResponseParser)
    return built


def by_ids(ids: Sequence[int], per_chunk: int, **options: Any) -> tuple[Outcome, int | None]:
    chunks = [list(ids[start : start + per_chunk]) for start in range(0, len(ids), per_chunk)] or [[]]
    built = parser(tokenizer=vocabulary(), **options)
    return run(built, [""] * len(chunks), chunks), built.reasoning_tokens


def split_by_ids(text: str, per_chunk: int) -> tuple[list[str], list[list[int]]]:
    """The text of each chunk beside its ids; a character's text comes with its last byte."""
    ids, texts, chunks, done = vocabulary().encode(text), [], [], 0
    for end in range(per_chunk, len(ids) + per_chunk, per_chunk):
        so_far = vocabulary().decode(ids[:end]).rstrip("\ufffd")
        texts.append(so_far[done:])
        chunks.append(ids[end - per_chunk : end])
        done = len(so_far)
    return texts, chunks


# -- text and ids -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("example", CASES, ids=lambda case: case.name)
def test_ids_give_what_text_gives(example: Case) -> None:
    ids = vocabulary().encode(example.raw)
    whole, tokens = by_ids(ids, len(ids), request=example.request)
    for per_chunk in (1, 2, 3, 8):
        assert by_ids(ids, per_chunk, request=example.request) == (whole, tokens)
        texts, chunks = split_by_ids(example.raw, per_chunk)
        assert run(example.parser(tokenizer=vocabulary()), texts, chunks) == whole
        if example.name not in ONLY_LOOK_ALIKES:
            same(run(example.parser(), texts, chunks), whole, texts)  # no tokenizer: the ids mean nothing


def test_transcript_is_clean() -> None:
    text = run(parser(), in_pieces(TRANSCRIPT, 7))
    assert text.diagnostics == ()
    assert [json.loads(call.arguments) for call in text.tool_calls][1]["note"].startswith("The passenger wrote")
    assert by_ids(vocabulary().encode(TRANSCRIPT), 5)[0] == text


def test_ids_tell_a_token_from_its_look_alike() -> None:
    body = "End with <|end|><|start|>assistant<|channel|>final<|message|> or <|call|>."
    special, plain = vocabulary().encode, vocabulary(special=False).encode
    ids = special("<|channel|>analysis<|message|>") + plain(body) + special("<|end|>")
    for per_chunk in (1, 4, 1000):
        outcome, tokens = by_ids(ids, per_chunk)
        assert outcome == Outcome(reasoning_content=body, channels=("reasoning",))
        assert tokens == len(plain(body))


def test_ids_end_a_call_inside_a_json_string() -> None:
    """A real token is no data, whatever stands around it; text alone takes it for data where more comes."""
    text = '<|channel|>commentary to=f<|message|>{"a": "b<|call|><|start|>assistant<|channel|>final<|message|>.'
    outcome, _ = by_ids(vocabulary().encode(text), 1)
    assert ([call.arguments for call in outcome.tool_calls], outcome.content) == (['{"a": "b'], ".")
    assert [call.arguments for call in run(parser(), [text]).tool_calls] == [text.partition("<|message|>")[2]]
    words = '<|channel|>commentary to=f<|message|>{"a": "b<|call|> final'  # no header begins inside a string
    assert run(parser(), list(words)).tool_calls[0].arguments == '{"a": "b<|call|> final'


def test_text_beside_ids_may_lack_the_special_tokens() -> None:
    texts, ids = split_by_ids(TRANSCRIPT, 1)
    visible = ["" if text in TOKENS else text for text in texts]
    whole = run(parser(), [TRANSCRIPT])
    assert run(parser(tokenizer=vocabulary()), visible, ids) == whole
    assert run(parser(tokenizer=vocabulary()), ["", *visible], [*ids, []]) == whole  # ids ahead of their text


def test_text_that_has_no_ids_is_reported() -> None:
    ids = vocabulary().encode("<|channel|>final<|message|>Four")
    outcome = run(parser(tokenizer=vocabulary()), ["<|channel|>final<|message|>Four", " and more"], [ids, []])
    assert (outcome.content, outcome.codes) == ("Four", ["text-differs-from-ids"])


def test_a_character_that_the_end_cuts_off() -> None:
    ids = vocabulary().encode("<|channel|>final<|message|>🫠")[:-1]
    assert by_ids(ids, 1)[0].content == "\ufffd"
    assert by_ids([*ids, *vocabulary().encode("<|return|>")], 2)[0].content == "\ufffd"


# -- reasoning tokens -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("<|channel|>analysis<|message|>One two. 🫠<|end|>", "One two. 🫠"),
        ("<|channel|>analysis<|message|>One", "One"),
        ("<|channel|>final<|message|>Four.<|return|>", ""),
        # The interval counts, not what becomes of it (R18).
        ('<|channel|>analysis to=functions.f<|message|>{"a": 1}<|call|>', '{"a": 1}'),
        ('<|channel|>commentary to=functions.f<|message|>{"a": 1}<|call|>', ""),
        ("<|channel|>analysis<|message|>One<|end|><|start|>assistant<|channel|>final<|message|>Two<|return|>", "One"),
        # Without <|message|> the body begins after the blank; the token that holds both begins in the header.
        ("<|channel|>analysis\nOne two<|end|>", "One two"),
    ],
)
def test_reasoning_tokens(text: str, counted: str) -> None:
    ids = vocabulary().encode(text)
    assert {by_ids(ids, size)[1] for size in (1, 2, 3, 100)} == {len(vocabulary().encode(counted))}


def test_reasoning_tokens_are_unknown_without_ids() -> None:
    text = "<|channel|>analysis<|message|>One<|end|>"
    for tokenizer in (None, vocabulary(), vocabulary(special=False)):
        built = parser(tokenizer=tokenizer)
        built.parse_complete(text, vocabulary().encode(text) if tokenizer is not vocabulary() else None)
        assert built.reasoning_tokens is None


# -- when it comes out ------------------------------------------------------------------------------------------------


def test_only_a_tail_that_may_become_a_token_is_held() -> None:
    text = "a < b <| <|me <|messages|> <<|end <|en"
    built, out = parser(), ""
    built.stream_chunk("<|channel|>final<|message|>")
    for end in range(1, len(text) + 1):
        out += "".join(delta.content or "" for delta, _ in built.stream_chunk(text[end - 1]))
        held = text[len(out) : end]
        assert text.startswith(out)
        assert not held or any(token.startswith(held) and token != held for token in TOKENS)


def test_token_boundaries_hold_nothing() -> None:
    built = parser(boundaries=Boundaries.tokens(vocabulary()))
    built.stream_chunk("<|channel|>final<|message|>")
    assert [delta.content for delta, _ in built.stream_chunk("a <|e")] == ["a <|e"]


def test_identity_comes_with_the_header_and_arguments_at_once() -> None:
    built = parser(call_id_factory=lambda index, name: f"{name}-{index}")
    assert built.stream_chunk("<|channel|>commentary to=functions.f") == []
    ((delta, emitted),) = built.stream_chunk("<|message|>")
    assert emitted
    assert delta.tool_calls is not None
    assert (delta.tool_calls[0].id, delta.tool_calls[0].name, delta.tool_calls[0].arguments) == ("f-0", "f", None)
    for piece in ('{"', "a", '": "', "\\", '"', "<|end|>", '"}'):
        pieces = [call.arguments for each, _ in built.stream_chunk(piece) for call in each.tool_calls or ()]
        assert pieces == ([] if piece == "<|end|>" else ['<|end|>"}' if piece == '"}' else piece])


def test_plain_text_does_not_wait_for_a_header() -> None:
    assert [delta.content for delta, _ in parser().stream_chunk("Hello")] == ["Hello"]


def test_special_tokens_are_asked_for() -> None:
    request = ChatRequest(tools=[{"type": "function", "function": {"name": "f"}}])
    built = build_response_parser(request, response_parser="gpt-oss")
    assert not built.request.skip_special_tokens
    assert request.skip_special_tokens
    assert built.request.exposed_names == frozenset("f")


@pytest.mark.parametrize("blanks", [300, 30])
def test_the_longest_header(blanks: int) -> None:
    """What has no ``<|message|>`` by then is read as far as it goes, wherever the text is cut."""
    for text in (
        f"<|channel|>commentary to=functions.{'f' * blanks}<|message|>{{}}<|call|>",
        f"<|channel|>final{' ' * blanks}<|message|>Four.<|return|>",
        f"<|start|>{' ' * blanks}assistant<|channel|>final<|message|>Four.<|return|>",
    ):
        whole = run(parser(), [text])
        assert bool(whole.diagnostics) == (blanks > LIMIT)
        for size in (1, 2, 7, 100, LIMIT, LIMIT + 1, LIMIT + 2):
            same(run(parser(), in_pieces(text, size)), whole, [str(size)])


def test_a_response_that_has_ended_takes_no_more() -> None:
    built = parser()
    built.parse_complete("<|channel|>final<|message|>Four.")
    with pytest.raises(ValueError, match="make a new one"):
        built.stream_chunk("x")


def test_header_words_and_their_beginnings() -> None:
    for text in ("", "\n", "ass", "assistant", " to=a.b json", "commentary t", "final "):
        assert may_be_header(text), text
    for text in ("ass ", "Hello", "finally", "analysis, ", "\n" * 300):
        assert not may_be_header(text), text


# -- work -------------------------------------------------------------------------------------------------------------

HEAVY = {
    "angle brackets": ("<|channel|>final<|message|>", "<"),
    "newlines": ("<|channel|>final<|message|>", "\n"),
    "argument": ('<|channel|>commentary to=functions.f<|message|>{"a": "', "x"),
    "escapes": ('<|channel|>commentary to=functions.f<|message|>{"a": "', "\\"),
    "broken tokens": ("<|channel|>analysis<|message|>", "<|mess"),
    "mentions": ("<|channel|>final<|message|>", "<|end|> of "),
    "no header": ("", "<|start"),
    "after the end": ("<|channel|>final<|message|>x<|end|>", "\n"),
    "endless header": ("<|channel|>final<|message|>x<|end|><|start|>", "<|channel|>"),
    "end tokens": ("<|channel|>final<|message|>x", "<|end|>"),
}


@pytest.mark.parametrize("name", HEAVY)
def test_work_is_linear(name: str) -> None:
    head, unit = HEAVY[name]
    small, large = (calls_made(head + unit * (size // len(unit))) for size in (2_000, 8_000))
    assert large < 4.5 * small


def calls_made(text: str) -> int:
    """Calls of any function while ``text`` is fed by character; no call may see more than a little of it twice."""
    built, calls = parser(), 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        for character in text:
            built.stream_chunk(character)
    finally:
        sys.setprofile(None)
    assert len(built._reader.pending) < max(map(len, TOKENS))
    assert len(built._words) < 1000
    return calls


# -- random messages --------------------------------------------------------------------------------------------------

WORDS = ("assistant", "analysis", "commentary", "final", "json", " to=functions.f", " to=python", " to=user", " to=")
TEXT = ("Hello ", " ", "\n", '{"a": 1}', '{"a": "x', '"}', "{}", "<", "<|", "|>", "<|mess", "é🫠", "x" * 300, "\\", '"')
MESSAGES = (
    "<|start|>assistant<|channel|>analysis<|message|>Think <b> 🫠<|end|>",
    '<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": "\\" <"}<|call|>',
    "<|start|>assistant<|channel|>final<|message|>Answer\n<|return|>",
)
SOUP = st.lists(st.sampled_from((*TOKENS, *TOKENS, *WORDS, *TEXT, *MESSAGES)), max_size=12).map("".join)
REQUEST: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    ({}, {"tools": []}, {"tools": [{"type": "function", "function": {"name": "f"}}]}, {"tool_choice": "none"})
)
EXAMPLES = settings(max_examples=int(os.environ.get("UNSPOOL_SOUP", "60")) * 3, deadline=None)


@EXAMPLES
@given(SOUP, REQUEST, st.integers(1, 20))
def test_soup(text: str, request: dict[str, Any], size: int) -> None:
    built = parser(request=request, record_spans=True)
    whole = run(built, [text])
    for chunks in (list(text), in_pieces(text, size)):
        again = parser(request=request, record_spans=True)
        same(run(again, chunks), whole, chunks)
        assert again.spans == built.spans
        same(run(parser(request=request), chunks), whole, chunks)
    assert built.spans is not None
    assert [span.start for span in built.spans] + [len(text)] == [0] + [span.end for span in built.spans]
    for kind, value in (("content", whole.content), ("reasoning", whole.reasoning_content)):
        assert "".join(text[start:end] for start, end, found in built.spans if found == kind) == (value or "")
    assert whole.diagnostics or all(span.kind != "dropped" for span in built.spans)
    ids = vocabulary().encode(text)
    assert by_ids(ids, size, request=request) == by_ids(ids, 1, request=request)


VALUE = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.text(),
        st.sampled_from(("", *TOKENS, *TEXT, "\x00\u2028\r\n", "null")),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(), inner, max_size=3)),
    max_leaves=6,
)
ARGUMENTS = st.dictionaries(st.text(), VALUE, max_size=3)
TO_CALL: tuple[Callable[[str], str], ...] = (
    lambda name: f"<|start|>assistant<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>",
    lambda name: f"<|start|>assistant to=functions.{name}<|channel|>commentary <|constrain|>json<|message|>",
    lambda name: f"<|start|>assistant<|channel|>analysis to=functions.{name} code<|message|>",
)


@EXAMPLES
@given(
    st.lists(st.tuples(st.sampled_from(TO_CALL), ARGUMENTS), min_size=1, max_size=12),
    st.booleans(),
    st.integers(1, 30),
)
def test_arguments_come_back(calls: list[tuple[Callable[[str], str], dict[str, Any]]], ascii: bool, size: int) -> None:
    written = [json.dumps(arguments, ensure_ascii=ascii) for _, arguments in calls]
    text = "".join(f"{to(f'f{n}')}{written[n]}<|call|>" for n, (to, _) in enumerate(calls))
    outcome = run(parser(), in_pieces(text, size))
    assert [(call.name, call.arguments) for call in outcome.tool_calls] == [(f"f{n}", w) for n, w in enumerate(written)]
    assert (outcome.content, outcome.reasoning_content, outcome.diagnostics) == (None, None, ())


# -- another implementation -------------------------------------------------------------------------------------------

HEADERS = (
    "<|channel|>analysis<|message|>", "<|channel|>final<|message|>", "<|channel|>commentary<|message|>", "<|message|>",
    "<|channel|>commentary to=functions.f <|constrain|>json<|message|>", "<|channel|>analysis to=x code<|message|>",
    "<|channel|>commentary to=functions.f<|constrain|>json<|message|>", " to=f.a<|channel|>commentary json<|message|>",
)  # fmt: skip
BODIES = st.lists(st.sampled_from(("Hello", "é🫠 日本", '{"a": 1}', " \n ", "<b>", "< |end| >", "\u2028")), max_size=3)


@pytest.fixture(scope="module")
def reference() -> Callable[[], tuple[Any, Any]]:
    """OpenAI's own parser. Its encoding needs o200k_base.tiktoken in the folder that TIKTOKEN_ENCODINGS_BASE names."""
    if "TIKTOKEN_ENCODINGS_BASE" not in os.environ:
        pytest.skip("TIKTOKEN_ENCODINGS_BASE is not set; without it openai-harmony would download its vocabulary")
    library = pytest.importorskip("openai_harmony")
    encoding = library.load_harmony_encoding(library.HarmonyEncodingName.HARMONY_GPT_OSS)
    return lambda: (library.StreamableParser(encoding, library.Role.ASSISTANT), encoding)


@given(st.lists(st.tuples(st.sampled_from(HEADERS), BODIES.map("".join)), min_size=1, max_size=5))
@settings(max_examples=300, deadline=None)
def test_openai_harmony_agrees(reference: Callable[[], tuple[Any, Any]], messages: list[tuple[str, str]]) -> None:
    text = "<|start|>assistant".join(f"{h}{body}{'<|call|>' if 'to=' in h else '<|end|>'}" for h, body in messages)
    stream, encoding = reference()
    for token in encoding.encode(text, allowed_special="all"):
        stream.process(token)
    said: dict[str, str] = {"analysis": "", "final": ""}
    calls = []
    for message in stream.messages:
        body = "".join(part.text for part in message.content)
        if message.recipient:
            calls.append((message.recipient.removeprefix("functions."), body if body.strip() else f"{body}{{}}"))
        else:
            said["analysis" if message.channel == "analysis" else "final"] += body
    found = run(parser(), [text])
    assert (found.reasoning_content or "", found.content or "") == (said["analysis"], said["final"])
    assert [(call.name, call.arguments) for call in found.tool_calls] == calls
