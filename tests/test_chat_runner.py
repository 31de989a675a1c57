"""One response from engine chunks to client chunks: transport data, finish reason, usage, and asynchronous engines."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import AsyncIterator

import pytest

from unspool.parsers import ChatRequest, ChatRunner, EngineOutput, TextTokenizer, build_response_parser
from unspool.parsers.messages import DeltaMessage, DeltaToolCall, MessageBuilder

CALL = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
CHUNKS = [
    EngineOutput("Hm.</think>Yes. <tool", [1, 2, 3], logprobs=["a"]),
    EngineOutput(CALL[5:20], [4]),
    EngineOutput(CALL[20:], [5, 6], logprobs=["b"]),
    EngineOutput("", [7], finish_reason="stop"),
]


def runner(**options: object) -> ChatRunner:
    request = ChatRequest(**options)  # type: ignore[arg-type]
    return ChatRunner(build_response_parser(request, reasoning_parser="default", tool_parser="qwen3"))


async def engine() -> AsyncIterator[EngineOutput]:
    for chunk in CHUNKS:
        await asyncio.sleep(0)
        yield chunk


def test_transport_data_stand_on_the_last_delta_of_their_chunk() -> None:
    chunks = list(runner().stream([EngineOutput("Hm.</think>Yes.", [1, 2], logprobs=["a"])]))
    assert [(each.token_ids, each.logprobs) for each in chunks] == [(None, None), ([1, 2], ["a"])]
    assert [each.chunk for each in chunks] == [0, 0]


def test_a_chunk_with_nothing_to_show_still_carries_its_data() -> None:
    chunks = list(runner().stream([EngineOutput("x</think>"), EngineOutput("<tool", [9])]))
    assert [(each.chunk, each.token_ids) for each in chunks if each.token_ids] == [(1, [9])]
    assert chunks[-1].delta.content == "<tool"


@pytest.mark.parametrize(
    ("reason", "options", "expected"),
    [("stop", {}, "tool_calls"), ("length", {}, "length"), ("stop", {"tool_choice": "none"}, "stop")],
)
def test_stop_becomes_tool_calls_where_a_call_was_emitted(
    reason: str, options: dict[str, object], expected: str
) -> None:
    result = runner(**options).collect([EngineOutput(f"x</think>{CALL}"), EngineOutput("", finish_reason=reason)])
    assert result.finish_reason == expected


def test_the_text_that_the_end_releases_comes_before_the_finish_reason() -> None:
    *_, before, last = runner().stream([EngineOutput("x</think>a <to"), EngineOutput("ol", finish_reason="stop")])
    assert (before.delta.content, last.delta.content) == ("a ", "<tool")
    assert (before.finish_reason, last.finish_reason) == (None, "stop")


def test_asynchronous_engines_give_the_same() -> None:
    async def streamed() -> list[object]:
        return [chunk async for chunk in runner().stream_async(engine())]

    assert asyncio.run(streamed()) == list(runner().stream(CHUNKS))
    collected = asyncio.run(runner().collect_async(engine()))
    assert collected == runner().collect(CHUNKS)
    assert collected.message.reasoning_content == "Hm."
    assert collected.logprobs == [["a"], ["b"]]


def test_usage(tiny: TextTokenizer) -> None:
    text = "One two.</think>Three."
    parser = build_response_parser(ChatRequest(), reasoning_parser="default", tokenizer=tiny)
    result = ChatRunner(parser).collect([EngineOutput(text, tiny.encode(text), finish_reason="stop")])
    assert result.usage.completion_tokens == len(tiny.encode(text))
    assert result.usage.reasoning_tokens == len(tiny.encode("One two."))
    assert runner().collect([EngineOutput("no ids")]).usage.completion_tokens is None


def test_a_message_takes_little_more_memory_than_its_text() -> None:
    builder = MessageBuilder()
    tracemalloc.start()
    try:
        for number in range(100_000):
            builder.add(DeltaMessage(content=f"{number:04}"[:4]))
            builder.add(DeltaMessage(tool_calls=[DeltaToolCall(0, "id", "function", "f", f"{number:04}"[:4])]))
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert used < 2_000_000  # of 800,000 characters; pieces kept one by one took 13,000,000
    message = builder.build()
    assert (len(message.content or ""), len(message.tool_calls[0].arguments)) == (400_000, 400_000)
