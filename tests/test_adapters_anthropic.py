"""Messages: what the official client makes of our events, and what it would not notice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import jiter
import pytest
from adapter_cases import CUTS, Loopback, as_sse, events, expected_calls, loopback, merged
from anthropic import Anthropic
from anthropic.types import Message, RawMessageStreamEvent, StopReason
from hypothesis import given
from hypothesis import strategies as st
from oracle import CASE_FILES, Case, in_pieces, load_cases
from pydantic import TypeAdapter

from unspool.parsers import (
    ChatRequest,
    ChatRunner,
    ChatStreamChunk,
    DeltaMessage,
    DeltaToolCall,
    EngineOutput,
    Usage,
    build_response_parser,
)
from unspool.parsers.adapters import INVALID_JSON, Event, MessagesAdapter, ResponsesAdapter
from unspool.parsers.adapters.parts import PartAdapter
from unspool.parsers.adapters.strict_object import StrictObject, tool_input

EVENT: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
CHANNELS = {"thinking": "reasoning", "text": "content", "tool_use": "tool_calls"}
DELTAS = {"thinking": "thinking_delta", "text": "text_delta", "tool_use": "input_json_delta"}


def call(index: int, arguments: str, name: str | None = None) -> ChatStreamChunk:
    piece = DeltaToolCall(index, arguments=arguments)
    if name:
        piece.id, piece.type, piece.name = f"call_{index}", "function", name
    return ChatStreamChunk(0, DeltaMessage(tool_calls=[piece]), True)


def is_object(text: str) -> bool:
    """Whether it is one JSON object for a parser that knows no mercy."""
    try:
        return isinstance(jiter.from_json(text.encode(), allow_inf_nan=False), dict)
    except ValueError:
        return False


def check(of: list[Event]) -> list[tuple[str, str]]:
    """What the client doesn't notice; returns type and joined deltas of each block."""
    kinds = [event["type"] for event in of]
    assert kinds[0] == "message_start"
    assert kinds[-2:] == ["message_delta", "message_stop"]
    assert not {"message_start", "message_delta", "message_stop"} & set(kinds[1:-2])
    blocks: list[tuple[str, str]] = []
    is_open = False
    for event in of[1:-2]:
        match event["type"]:
            case "content_block_start":
                assert not is_open, "blocks interleave"
                assert event["index"] == len(blocks)
                blocks.append((event["content_block"]["type"], ""))
                is_open = True
            case "content_block_delta":
                assert is_open
                assert event["index"] == len(blocks) - 1
                kind, text = blocks[-1]
                assert event["delta"]["type"] == DELTAS[kind]
                piece = next(value for key, value in event["delta"].items() if key != "type")
                assert piece
                blocks[-1] = (kind, text + piece)
            case "content_block_stop":
                assert is_open
                assert event["index"] == len(blocks) - 1
                is_open = False
            case other:
                raise AssertionError(other)
    assert not is_open
    ids = [event["content_block"]["id"] for event in of if event.get("content_block", {}).get("type") == "tool_use"]
    assert len(set(ids)) == len(ids)
    return blocks


def test_every_case(case: Case) -> None:
    for size, reason in CUTS:
        told = events(MessagesAdapter(), case, size, reason)
        for event in told:
            EVENT.validate_python(event)
        blocks = check(told)
        assert merged([CHANNELS[kind] for kind, _ in blocks]) == case.expected["channels"]
        for kind, channel in (("thinking", "reasoning_content"), ("text", "content")):
            assert ("".join(text for found, text in blocks if found == kind) or None) == case.expected.get(channel)
        inputs = [text for kind, text in blocks if kind == "tool_use"]
        assert len(inputs) == len(expected_calls(case))
        for sent, (_, arguments) in zip(inputs, expected_calls(case), strict=True):
            assert sent == arguments or json.loads(sent)[INVALID_JSON] == arguments
        wanted = "max_tokens" if reason == "length" else "tool_use" if inputs else "end_turn"
        assert told[-2]["delta"] == {"stop_reason": wanted, "stop_sequence": None}
        check_whole(MessagesAdapter().join(told), case)


def check_whole(message: Event, case: Case) -> None:
    Message.model_validate(message)
    calls = [block for block in message["content"] if block["type"] == "tool_use"]
    assert [block["name"] for block in calls] == [name for name, _ in expected_calls(case)]
    for block, (_, arguments) in zip(calls, expected_calls(case), strict=True):
        if is_object(arguments):
            assert block["input"] == json.loads(arguments)
        else:
            assert block["input"] == ({INVALID_JSON: arguments} if arguments else {})


@pytest.fixture(scope="module")
def server() -> Iterator[Loopback]:
    with loopback() as server:
        yield server


@pytest.fixture(scope="module")
def client(server: Loopback) -> Iterator[Anthropic]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_PROXY", "127.0.0.1")
        with Anthropic(api_key="none", base_url=server.url, max_retries=0) as client:
            yield client


def sample(path: Path) -> list[Case]:
    """The case with most channels, and those whose arguments aren't what a client can decode."""
    cases = load_cases(path)
    hard = [case for case in cases if not all(is_object(arguments) for _, arguments in expected_calls(case))]
    return [max(cases, key=lambda case: len(case.expected["channels"])), *hard]


class TestRealClient:
    @pytest.mark.parametrize("path", CASE_FILES, ids=lambda path: path.stem)
    def test_stream(self, path: Path, server: Loopback, client: Anthropic) -> None:
        """Besides a sample, all that could make the client raise in the middle of a stream."""
        server.content_type = "text/event-stream"
        for case in sample(path):
            adapter = MessagesAdapter()
            server.body = as_sse(adapter, events(adapter, case, 5, "stop"))
            with client.messages.stream(model="m", max_tokens=9, messages=[{"role": "user", "content": "?"}]) as stream:
                kinds = {event.type for event in stream}
                message = stream.get_final_message()
            blocks = [block.to_dict() for block in message.content]
            assert merged([CHANNELS[str(block["type"])] for block in blocks]) == case.expected["channels"]
            for kind, channel in (("thinking", "reasoning_content"), ("text", "content")):
                texts = [str(block[kind]) for block in blocks if block["type"] == kind]
                assert ("".join(texts) or None) == case.expected.get(channel)
                assert (kind in kinds) == bool(texts)
            calls = [block for block in blocks if block["type"] == "tool_use"]
            assert [block["name"] for block in calls] == [name for name, _ in expected_calls(case)]
            for block, (_, arguments) in zip(calls, expected_calls(case), strict=True):
                assert isinstance(block["input"], dict)
                if is_object(arguments):
                    assert block["input"] == json.loads(arguments)
            assert message.stop_reason == ("tool_use" if calls else "end_turn")

    def test_whole(self, server: Loopback, client: Anthropic) -> None:
        server.content_type = "application/json"
        parser = build_response_parser(ChatRequest(), reasoning_parser="default", tool_parser="qwen3")
        text = 'Hm.</think>Hi. <tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
        server.body = json.dumps(MessagesAdapter().collect(ChatRunner(parser), [EngineOutput(text)])).encode()
        message = client.messages.create(model="m", max_tokens=9, messages=[{"role": "user", "content": "?"}])
        assert [block.type for block in message.content] == ["thinking", "text", "tool_use"]
        assert message.content[2].type == "tool_use"
        assert message.content[2].input == {"a": 1}


@pytest.mark.parametrize(
    ("reason", "told", "with_call"),
    [
        (None, "end_turn", "tool_use"),
        ("stop", "end_turn", "end_turn"),  # the runner makes tool_calls of it where the request has tools
        ("tool_calls", "tool_use", "tool_use"),
        ("length", "max_tokens", "max_tokens"),
        ("eos_token", "end_turn", "tool_use"),
        ("stop_sequence", "stop_sequence", "tool_use"),
        ("word", "stop_sequence", "tool_use"),
        ("content_filter", "refusal", "refusal"),
        ("abort", "max_tokens", "max_tokens"),
        ("pause_turn", "pause_turn", "pause_turn"),
        ("model_context_window_exceeded", "model_context_window_exceeded", "model_context_window_exceeded"),
    ],
)
def test_stop_reason(reason: str | None, told: str, with_call: str) -> None:
    assert told in get_args(StopReason)
    for chunks, wanted in (([], told), ([call(0, "{}", "f")], with_call)):
        adapter = MessagesAdapter()
        for chunk in chunks:
            adapter.feed(chunk)
        adapter.feed(ChatStreamChunk(0, DeltaMessage(), finish_reason=reason))
        assert adapter.finish()[-2]["delta"]["stop_reason"] == wanted


def test_usage() -> None:
    adapter = MessagesAdapter(prompt_tokens=4)
    told = adapter.finish(Usage(9, 3))
    assert told[0]["message"]["usage"] == {"input_tokens": 4, "output_tokens": 0}
    assert told[-2]["usage"] == {"output_tokens": 9}
    assert adapter.join(told)["usage"] == {"input_tokens": 4, "output_tokens": 9}


class TestParts:
    def test_reasoning_around_a_call_is_two_blocks(self) -> None:
        adapter = MessagesAdapter()
        chunks = [
            ChatStreamChunk(0, DeltaMessage(reasoning_content="a")),
            call(0, "{", "f"),
            call(0, "}"),
            ChatStreamChunk(0, DeltaMessage(reasoning_content="b")),
        ]
        told = [event for chunk in chunks for event in adapter.feed(chunk)] + adapter.finish()
        assert check(told) == [("thinking", "a"), ("tool_use", "{}"), ("thinking", "b")]

    def test_two_calls_in_one_delta(self) -> None:
        adapter = MessagesAdapter()
        both = [DeltaToolCall(index, f"call_{index}", "function", "f", "{}") for index in (0, 1)]
        told = adapter.feed(ChatStreamChunk(0, DeltaMessage(tool_calls=both), True)) + adapter.finish()
        assert check(told) == [("tool_use", "{}"), ("tool_use", "{}")]

    @pytest.mark.parametrize("kind", [MessagesAdapter, ResponsesAdapter])
    @pytest.mark.parametrize("between", [ChatStreamChunk(0, DeltaMessage(content="x")), call(1, "{}", "g")])
    def test_parser_that_goes_back_to_a_call(self, kind: type[PartAdapter], between: ChatStreamChunk) -> None:
        adapter = kind()
        adapter.feed(call(0, "{", "f"))
        adapter.feed(between)
        with pytest.raises(ValueError, match="call 0 came after something else"):
            adapter.feed(call(0, "}"))


# One a line.
LINES = r"""
{}
{"a": 1}x
{"a": 1}{"b": 2}
[1]
"s"
3
null
print("4")
{'a': 1}
{a: 1}
{"a": True}
{"a": nan}
{"a": NaN}
{"a": 01}
{"a": -}
{"a": 1.}
{"a": .5}
{"a": 1e}
{,}
{"a": 1,}
{"a": [1,]}
{"a": [1,, 2]}
{"a" 1}
{"a":: 1}
{"a": ]}
{"a": {"b": ]}
{"a": tru}
{"a": "\x"}
{"a": "\u12"}
{"a": "\ud83d"}
{"a": "\ude00"}
{"a": "\ud83d\ude00"}
{"a": "cut
{"a": "cut\
{"a": "\ud83d
{"a": "\ud83d\u
{"a
{"a"
{"a":
{"a": 1,
{"a": 2.
{"a": tr
{"a": -
{"a": 1e+
{"a": [
{"a": {"b"
{"a": [1, {}], "b": {"c": [[]]}}
{"a": 1e999}
{"ü": "ü"}
"""
HARD = [
    *LINES.strip().split("\n"),
    "",
    " ",
    ' {"a": 1}\n',
    '{"a": 1}\u00a0',
    '{"a": "\n"}',
    '{"a": ' + "[" * 300,
    '{"a": ' + "[" * 99 + "]" * 99 + "}",
    '{"a": ' + "1" * 5000 + "}",
]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.integers() | TEXTS,
    lambda values: st.lists(values) | st.dictionaries(TEXTS, values),
)


class TestArguments:
    """Whatever a model writes, a client that decodes the pieces as they come gets an object and loses nothing."""

    @staticmethod
    def check(raw: str) -> None:
        sent = {}
        for size in (1, 2, 3, len(raw) or 1):
            sender, pieces = StrictObject(), []
            for piece in in_pieces(raw, size):
                pieces.append(sender.feed(piece))
                if pieces[-1]:
                    assert isinstance(jiter.from_json("".join(pieces).encode(), partial_mode=True), dict)
            sent[size] = "".join([*pieces, sender.finish()])
        assert len(set(sent.values())) == 1, "the cut must not matter"
        joined = sent[1]
        if joined:
            assert isinstance(jiter.from_json(joined.encode(), partial_mode=True), dict)
        if is_object(raw):
            assert joined == raw
        elif joined != raw and raw.strip(" \t\r\n"):
            assert json.loads(joined)[INVALID_JSON] == raw
        value = tool_input(joined)
        if not raw.strip(" \t\r\n"):
            assert value == {}
        elif value != {INVALID_JSON: raw}:
            assert value == json.loads(raw)
        assert json.loads(json.dumps(value, allow_nan=False)) == value

    @pytest.mark.parametrize("raw", HARD, ids=lambda raw: ascii(raw[:24]))
    def test_hard(self, raw: str) -> None:
        self.check(raw)

    @given(st.lists(st.sampled_from([*'{}[]",:\\/u0d1eE+-. \n', "true", "nul", '"a"', "\\ud83d", "\\ude00", "ü"])))
    def test_anything(self, tokens: list[str]) -> None:
        self.check("".join(tokens))
        self.check('{"a": ' + "".join(tokens))

    @given(VALUES, st.booleans())
    def test_objects_pass_unchanged(self, value: object, ascii_only: bool) -> None:
        raw = json.dumps({"a": value}, ensure_ascii=ascii_only)
        sender = StrictObject()
        assert "".join([*map(sender.feed, raw), sender.finish()]) == raw
        assert tool_input(raw) == {"a": value}

    def test_what_was_sent_is_closed_and_all_of_it_follows(self) -> None:
        sender = StrictObject()
        assert sender.feed('{"x": [1, "ab') == '{"x": [1, "ab'
        assert sender.feed('\n"], "y": 2}') == ""
        assert sender.finish() == '"], "INVALID_JSON": "{\\"x\\": [1, \\"ab\\n\\"], \\"y\\": 2}"}'

    def test_cut_off_arguments_are_sent_as_they_are(self) -> None:
        sender = StrictObject()
        assert sender.feed('{"city": "San Fr') + sender.finish() == '{"city": "San Fr'
        assert tool_input('{"city": "San Fr') == {INVALID_JSON: '{"city": "San Fr'}

    def test_a_member_of_that_name_is_the_models(self) -> None:
        assert tool_input('{"a": 1, "INVALID_JSON": "x"}') == {"a": 1, "INVALID_JSON": "x"}
