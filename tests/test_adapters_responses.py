"""Responses: what the official client makes of our events, and what it would not notice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from adapter_cases import CUTS, Loopback, as_sse, events, expected_calls, loopback, merged, one_per_format, outputs
from openai import OpenAI
from openai.types.responses import Response, ResponseStreamEvent
from oracle import Case
from pydantic import TypeAdapter

from unspool.parsers import (
    ChatRequest,
    ChatRunner,
    ChatStreamChunk,
    DeltaMessage,
    EngineOutput,
    Usage,
    build_response_parser,
)
from unspool.parsers.adapters import Event, ResponsesAdapter

EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
# The same types, found by name: the union is tried member by member, which takes twenty times as long.
EVENTS: dict[str, TypeAdapter[Any]] = {
    get_args(kind.model_fields["type"].annotation)[0]: TypeAdapter(kind)
    for kind in get_args(get_args(ResponseStreamEvent)[0])
}
CHANNELS = {"reasoning": "reasoning", "message": "content", "function_call": "tool_calls"}
ITEM_EVENTS = {
    "reasoning": ("response.reasoning_text.delta", "response.reasoning_text.done"),
    "message": ("response.output_text.delta", "response.output_text.done"),
    "function_call": ("response.function_call_arguments.delta", "response.function_call_arguments.done"),
}


def check(of: list[Event]) -> list[dict[str, Any]]:
    """Every rule of the order of events; returns the items as the deltas add up to them."""
    assert [event["sequence_number"] for event in of] == list(range(len(of)))
    assert [event["type"] for event in of[:2]] == ["response.created", "response.in_progress"]
    assert all(event["response"]["status"] == "in_progress" for event in of[:2])
    last = of[-1]["response"]
    assert of[-1]["type"] == f"response.{last['status']}"
    rest = iter(of[2:-1])
    items: list[dict[str, Any]] = []
    for event in rest:
        assert event["type"] == "response.output_item.added"
        assert event["output_index"] == len(items)
        item = event["item"]
        assert item["status"] == "in_progress"
        item_id, kind = item["id"], item["type"]
        delta, done = ITEM_EVENTS[kind]
        place = {"item_id": item_id, "output_index": len(items)}
        if kind != "function_call":
            place["content_index"] = 0
            added = next(rest)
            assert added["type"] == "response.content_part.added"
            assert added.items() >= place.items()
            assert added["part"]["text"] == ""
        pieces = []
        for event in rest:
            assert event.items() >= place.items()
            if event["type"] != delta:
                break
            assert event["delta"]
            pieces.append(event["delta"])
        assert event["type"] == done
        text = "".join(pieces)
        assert event["arguments" if kind == "function_call" else "text"] == text
        if kind != "function_call":
            ended = next(rest)
            assert ended["type"] == "response.content_part.done"
            assert ended.items() >= place.items()
            assert ended["part"]["text"] == text
        finished = next(rest)
        assert finished["type"] == "response.output_item.done"
        assert finished["output_index"] == len(items)
        assert finished["item"]["id"] == item_id
        assert text == (
            finished["item"]["arguments"] if kind == "function_call" else finished["item"]["content"][0]["text"]
        )
        items.append(finished["item"])
    assert last["output"] == items
    assert len({item["id"] for item in items}) == len(items)
    assert [item["status"] for item in items[:-1]] == ["completed"] * (len(items) - 1)
    if items:
        assert items[-1]["status"] == last["status"]
    return items


def compare(items: list[dict[str, Any]], case: Case) -> None:
    assert merged([CHANNELS[item["type"]] for item in items]) == case.expected["channels"]
    for kind, channel in (("reasoning", "reasoning_content"), ("message", "content")):
        texts = [item["content"][0]["text"] for item in items if item["type"] == kind]
        assert ("".join(texts) or None) == case.expected.get(channel)
    calls = [item for item in items if item["type"] == "function_call"]
    assert [(call["name"], call["arguments"]) for call in calls] == expected_calls(case)
    assert len({call["call_id"] for call in calls}) == len(calls)


def test_every_case(case: Case) -> None:
    for size, reason in CUTS:
        told = events(ResponsesAdapter(), case, size, reason)
        for event in told:
            (EVENTS[event["type"]] if size == 1 else EVENT).validate_python(event)
        compare(check(told), case)
        whole = ResponsesAdapter().join(told)
        Response.model_validate(whole)
        assert whole["status"] == ("incomplete" if reason == "length" else "completed")
        assert whole["usage"]["output_tokens"] == len(outputs(case, size, reason))


@pytest.fixture(scope="module")
def server() -> Iterator[Loopback]:
    with loopback() as server:
        yield server


@pytest.fixture(scope="module")
def client(server: Loopback) -> Iterator[OpenAI]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_PROXY", "127.0.0.1")
        with OpenAI(api_key="none", base_url=server.url, max_retries=0) as client:
            yield client


class TestRealClient:
    @pytest.mark.parametrize("sample", one_per_format(), ids=lambda sample: sample.id)
    @pytest.mark.parametrize("reason", ["stop", "length"])
    def test_stream(self, sample: Case, reason: str, server: Loopback, client: OpenAI) -> None:
        server.content_type = "text/event-stream"
        server.body = as_sse(ResponsesAdapter(), events(ResponsesAdapter(), sample, 5, reason))
        assert server.body.startswith(b"event: response.created\ndata: {")
        assert b"[DONE]" not in server.body
        with client.responses.stream(model="m", input="?") as stream:
            for event in stream:
                if event.type in ("response.completed", "response.incomplete"):
                    response = event.response
            if reason == "stop":
                response = stream.get_final_response()
        compare([json.loads(item.to_json()) for item in response.output], sample)
        assert response.output_text == (sample.expected.get("content") or "")

    def test_whole(self, server: Loopback, client: OpenAI) -> None:
        server.content_type = "application/json"
        parser = build_response_parser(ChatRequest(), reasoning_parser="default")
        server.body = json.dumps(
            ResponsesAdapter().collect(ChatRunner(parser), [EngineOutput("Hm.</think>Hi.")])
        ).encode()
        response = client.responses.create(model="m", input="?")
        assert response.output_text == "Hi."
        assert response.usage is None


@pytest.mark.parametrize(
    ("reason", "status", "details"),
    [
        (None, "completed", None),
        ("stop", "completed", None),
        ("tool_calls", "completed", None),
        ("eos_token", "completed", None),
        ("length", "incomplete", {"reason": "max_output_tokens"}),
        ("content_filter", "incomplete", {"reason": "content_filter"}),
        ("abort", "incomplete", {"reason": None}),
        ("error", "incomplete", {"reason": None}),
    ],
)
def test_status(reason: str | None, status: str, details: dict[str, str] | None) -> None:
    adapter = ResponsesAdapter()
    told = adapter.feed(ChatStreamChunk(0, DeltaMessage(content="x"), finish_reason=reason)) + adapter.finish()
    check(told)
    EVENT.validate_python(told[-1])
    assert (told[-1]["response"]["status"], told[-1]["response"]["incomplete_details"]) == (status, details)


def test_usage_and_envelope() -> None:
    adapter = ResponsesAdapter(id="resp_x", model="m", created=7, prompt_tokens=4)
    adapter.feed(ChatStreamChunk(0, DeltaMessage(reasoning_content="x")))
    response = adapter.finish(Usage(9, 3))[-1]["response"]
    assert (response["id"], response["model"], response["created_at"]) == ("resp_x", "m", 7)
    assert response["output"][0]["id"] == "rs_x_0"
    assert response["usage"] == {
        "input_tokens": 4,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": 9,
        "output_tokens_details": {"reasoning_tokens": 3},
        "total_tokens": 13,
    }
