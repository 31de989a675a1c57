"""The contract between a response parser and the tool parser of an open block (R19 to R22), without the former."""

from __future__ import annotations

import json

import pytest

from unspool.parsers import ChatRequest, DeltaToolCall, ToolParser, ToolParserManager, build_response_parser
from unspool.parsers.tool_parser.gemma4 import Gemma4ToolParser
from unspool.parsers.tool_parser.minimax import MiniMaxM2ToolParser
from unspool.parsers.tool_parser.pythonic import Llama4PythonicToolParser

CALL = ("get_weather", {"city": "Bergen"})
PARSERS = {entry.name: entry.cls for entry in ToolParserManager}


def open_parser(cls: type[ToolParser]) -> tuple[ToolParser, str]:
    """A parser whose block is open, and what a model writes after the open tag."""
    written = cls.write_calls([CALL])
    parser = cls(ChatRequest())
    tag = max((tag for tag in parser.open_tags if written.startswith(tag)), key=len, default="")
    parser.open_block(0, tag)
    return parser, written[len(tag) :]


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize("after", ["", "Done.", "another"], ids=["nothing", "text", "another block"])
@pytest.mark.parametrize("cls", PARSERS.values(), ids=PARSERS)
def test_stops_before_what_follows(cls: type[ToolParser], after: str, size: int) -> None:
    parser, payload = open_parser(cls)
    after = cls.write_calls([CALL]) if after == "another" else after
    text = payload + after
    deltas: list[DeltaToolCall] = []
    pending = rest = ""
    for start in range(0, len(text), size):
        pending += text[start : start + size]
        if not parser.block_closed:
            pending = pending[parser.feed_tool_block(pending, deltas) :]
    if parser.block_closed:
        rest = parser.returned_text + pending
    else:  # nothing that follows has told that the payload is over
        parser.feed_tool_block(pending, deltas, final=True)
    assert parser.block_closed
    assert rest == after
    assert [delta.name for delta in deltas if delta.name] == [CALL[0]]
    assert json.loads("".join(delta.arguments or "" for delta in deltas)) == CALL[1]


def test_white_space_is_out_as_soon_as_no_close_tag_can_follow() -> None:
    """Where a close tag is optional, white space behind a block may stand before it, but not before another block."""
    parser = build_response_parser(tool_parser="gigachat3")
    parser.stream_chunk('<|function_call|>{"name": "a", "arguments": {}}')
    assert [parser.stream_chunk(text) for text in "  <"] == [[], [], []]
    assert [delta.content for delta, _ in parser.stream_chunk("|")] == ["  "]


def test_a_dialect_says_how_a_named_payload_goes_on() -> None:
    class Unfinished(Llama4PythonicToolParser):
        usual_payload = Gemma4ToolParser.usual_payload

    with pytest.raises(NotImplementedError, match="needs _begin_named"):
        build_response_parser(tool_parser=Unfinished)


def test_what_may_be_a_bare_call_is_looked_at_once_a_chunk() -> None:
    asked = 0

    class Counting(MiniMaxM2ToolParser):
        def begins_untagged_call(self, text: str, pos: int, final: bool, *, after_call: bool = False) -> bool | None:
            nonlocal asked
            asked += 1
            return super().begins_untagged_call(text, pos, final, after_call=after_call)

    parser = build_response_parser(tool_parser=Counting)
    for number, text in enumerate(["Hm. <invoke name", *"=   "], 1):
        parser.stream_chunk(text)
        assert asked == number
