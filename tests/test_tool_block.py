"""The contract between a response parser and the tool parser of an open block (R19 to R22), without the former."""

from __future__ import annotations

import json

import pytest

from unspool.parsers import ChatRequest, DeltaToolCall, ToolParser, ToolParserManager

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
