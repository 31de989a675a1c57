"""Chat Completions: what the official client makes of our chunks, and what it would not notice."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from adapter_cases import CUTS, Loopback, as_sse, events, expected_calls, loopback, one_per_format, outputs
from openai import OpenAI
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.chat.chat_completion_chunk import Choice
from oracle import Case
from pydantic import TypeAdapter
from typer.testing import CliRunner, Result

from unspool.cli import app
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
from unspool.parsers.adapters import Adapter, ChatCompletionAdapter, Event, MessagesAdapter, ResponsesAdapter, sse
from unspool.parsers.adapters.openai_logprobs import chat_logprobs

CHUNK = TypeAdapter(ChatCompletionChunk)
ANSWER = 'Hm.</think>Hi. <tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'


def runner() -> ChatRunner:
    return ChatRunner(build_response_parser(ChatRequest(), reasoning_parser="default", tool_parser="qwen3"))


def finish(reason: str | None, *, call: bool = False) -> Event:
    adapter = ChatCompletionAdapter()
    if call:
        adapter.feed(ChatStreamChunk(0, DeltaMessage(tool_calls=[DeltaToolCall(0, "a", "function", "f", "{}")]), True))
    adapter.feed(ChatStreamChunk(0, DeltaMessage(), finish_reason=reason))
    choice: Event = adapter.finish()[0]["choices"][0]
    return choice


def test_every_case(case: Case) -> None:
    for size, reason in CUTS:
        chunks = events(ChatCompletionAdapter(), case, size, reason)
        check(chunks)
        state = ChatCompletionStreamState()
        for chunk in chunks:
            state.handle_chunk(CHUNK.validate_python(chunk))
        # get_final_completion() raises where the answer was cut off.
        final = json.loads(state.current_completion_snapshot.to_json())
        ChatCompletion.model_validate(final)
        message = final["choices"][0]["message"]
        assert message["role"] == "assistant"
        assert (message["content"] or None) == case.expected.get("content")
        assert message.get("reasoning_content") == case.expected.get("reasoning_content")
        calls = message.get("tool_calls") or []
        assert [(call["function"]["name"], call["function"]["arguments"]) for call in calls] == expected_calls(case)
        assert [call["type"] for call in calls] == ["function"] * len(calls)
        wanted = "length" if reason == "length" else "tool_calls" if calls else "stop"
        assert final["choices"][0]["finish_reason"] == wanted
        assert final["usage"]["completion_tokens"] == len(outputs(case, size, reason))

        whole = ChatCompletionAdapter().join(chunks)
        ChatCompletion.model_validate(whole)
        assert (whole["usage"], whole["choices"][0]["finish_reason"]) == (final["usage"], wanted)
        ours = whole["choices"][0]["message"]
        assert ours["content"] == case.expected.get("content")
        assert ours.get("reasoning_content") == case.expected.get("reasoning_content")
        assert ours.get("tool_calls", []) == [
            {"id": call["id"], "type": "function", "function": {"name": name, "arguments": arguments}}
            for call, (name, arguments) in zip(calls, expected_calls(case), strict=True)
        ]


def check(chunks: list[Event]) -> None:
    """What the client doesn't notice."""
    usages = [chunk for chunk in chunks if not chunk["choices"]]
    assert usages == chunks[len(chunks) - len(usages) :]
    assert len(usages) <= 1
    identity = {(chunk["id"], chunk["object"], chunk["created"], chunk["model"]) for chunk in chunks}
    assert identity == {("chatcmpl-unspool", "chat.completion.chunk", 0, "unspool")}
    choices = [chunk["choices"][0] for chunk in chunks if chunk["choices"]]
    assert all(set(choice) == {"index", "delta", "logprobs", "finish_reason"} for choice in choices)
    assert [choice["finish_reason"] for choice in choices[:-1]] == [None] * (len(choices) - 1)
    assert choices[-1]["finish_reason"] in get_args(get_args(Choice.model_fields["finish_reason"].annotation)[0])
    assert choices[0]["delta"] == {"role": "assistant", "content": ""}
    assert choices[-1]["delta"] == {}
    seen = 0
    for choice in choices[1:-1]:
        delta = choice["delta"]
        assert len(delta) == 1, delta
        for call in delta.get("tool_calls", ()):
            if call["index"] == seen:
                seen += 1
                assert list(call) == ["index", "id", "type", "function"]
                assert call["id"]
                assert call["type"] == "function"
                assert list(call["function"]) == ["name", "arguments"]
                assert call["function"]["name"]
            else:
                assert call["index"] == seen - 1
                assert list(call) == ["index", "function"]
                assert list(call["function"]) == ["arguments"]
                assert call["function"]["arguments"]


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
    def test_stream(self, sample: Case, server: Loopback, client: OpenAI) -> None:
        server.content_type = "text/event-stream"
        server.body = as_sse(ChatCompletionAdapter(), events(ChatCompletionAdapter(), sample, 5, "stop"))
        assert server.body.endswith(b"\n\ndata: [DONE]\n\n")
        with client.chat.completions.stream(model="m", messages=[{"role": "user", "content": "?"}]) as stream:
            kinds = {event.type for event in stream}
            message = stream.get_final_completion().choices[0].message
        assert (message.content or None) == sample.expected.get("content")
        assert getattr(message, "reasoning_content", None) == sample.expected.get("reasoning_content")
        calls = [(call.function.name, call.function.arguments) for call in message.tool_calls or []]
        assert calls == expected_calls(sample)
        assert ("tool_calls.function.arguments.done" in kinds) == bool(calls)

    def test_whole(self, server: Loopback, client: OpenAI) -> None:
        server.content_type = "application/json"
        server.body = json.dumps(ChatCompletionAdapter().collect(runner(), [EngineOutput(ANSWER)])).encode()
        message = (
            client.chat.completions.create(model="m", messages=[{"role": "user", "content": "?"}]).choices[0].message
        )
        assert message.content == "Hi. "
        assert message.tool_calls is not None
        assert message.tool_calls[0].type == "function"
        assert message.tool_calls[0].function.arguments == '{"a": 1}'


class TestFinishReason:
    @pytest.mark.parametrize(
        ("reason", "told"),
        [
            (None, "stop"),
            ("stop", "stop"),
            ("eos_token", "stop"),  # TGI
            ("stop_sequence", "stop"),
            ("eos", "stop"),  # llama.cpp
            ("word", "stop"),
            ("length", "length"),
            ("limit", "length"),
            ("tool_calls", "tool_calls"),
            ("function_call", "function_call"),
            ("content_filter", "content_filter"),
            ("abort", "length"),  # vLLM, SGLang
            ("error", "length"),
            ("repetition", "length"),
            ("parse_error", "length"),  # LMDeploy
            ("load", "length"),  # Ollama
            ("ünknown\n", "length"),
        ],
    )
    def test_is_one_that_clients_know(self, reason: str | None, told: str) -> None:
        choice = finish(reason)
        assert choice["finish_reason"] == told
        assert choice.get("native_finish_reason") == (None if reason in (None, told) else reason)

    @pytest.mark.parametrize(
        ("reason", "told"),
        [(None, "tool_calls"), ("eos_token", "tool_calls"), ("length", "length"), ("abort", "length")],
    )
    def test_with_a_call(self, reason: str | None, told: str) -> None:
        assert finish(reason, call=True)["finish_reason"] == told

    def test_the_runner_decides_about_stop(self) -> None:
        """It knows the request: with ``tool_choice`` none it leaves the word as it is."""
        assert finish("stop", call=True)["finish_reason"] == "stop"


TOKEN: dict[str, Any] = {"token": "a", "logprob": -0.5, "bytes": [97]}
TOKEN["top_logprobs"] = [dict(TOKEN)]


class TestLogprobs:
    @pytest.mark.parametrize(
        "recorded",
        [
            {"content": [TOKEN]},
            {"content": [TOKEN], "refusal": None},
            [TOKEN],
            [TOKEN | {"token_id": 5, "rank": 1}],
        ],
    )
    def test_openai_shape(self, recorded: Any) -> None:
        chunks = list(ChatCompletionAdapter().stream(runner(), [EngineOutput("</think>a", [1], recorded, "stop")]))
        state = ChatCompletionStreamState()
        for chunk in chunks:
            state.handle_chunk(CHUNK.validate_python(chunk))
        logprobs = state.get_final_completion().choices[0].logprobs
        assert logprobs is not None
        assert logprobs.content is not None
        assert [entry.to_dict() for entry in logprobs.content] == [TOKEN]
        assert ChatCompletionAdapter().join(chunks)["choices"][0]["logprobs"]["content"] == [TOKEN]

    def test_legacy_shape(self) -> None:
        recorded = {"text_offset": [0, 1], "tokens": ["a", "b"], "token_logprobs": [-1, -2.5]}
        a, b = chat_logprobs(recorded | {"top_logprobs": [{"c": -3}, None]}) or []
        assert a["top_logprobs"] == [{"token": "c", "logprob": -3.0, "bytes": None}]
        assert b == {"token": "b", "logprob": -2.5, "bytes": None, "top_logprobs": []}
        assert chat_logprobs(recorded | {"top_logprobs": None}) == [a | {"top_logprobs": []}, b]

    def test_missing_members_are_filled_in(self) -> None:
        [entry] = chat_logprobs(
            [{"token": "a", "logprob": float("-inf"), "bytes": [256], "top_logprobs": [{}, 1]}]
        ) or [{}]
        assert entry == {"token": "a", "logprob": -9999.0, "bytes": None, "top_logprobs": []}

    @pytest.mark.parametrize(
        "recorded",
        [
            None,
            -0.5,
            "x",
            [],
            {},
            [-0.5],
            [[-0.5, 17, "a"]],
            {"content": None},
            {"content": [{"token_id": 1, "logprob": -1.0}]},
            {"content": [{"token": "a", "logprob": None}]},
            {"content": [{"token": "a", "logprob": True}]},
            {"tokens": ["a"], "token_logprobs": [None]},
            {"tokens": ["a", "b"], "token_logprobs": [-1.0]},
            {"tokens": 1, "token_logprobs": 2},
        ],
    )
    def test_other_shapes_are_left_out(self, recorded: Any) -> None:
        assert chat_logprobs(recorded) is None

    def test_without_text(self) -> None:
        chunks = list(ChatCompletionAdapter().stream(runner(), [EngineOutput("</th", [1], [TOKEN])]))
        assert chunks[1]["choices"][0] == {
            "index": 0,
            "delta": {},
            "logprobs": {"content": [TOKEN], "refusal": None},
            "finish_reason": None,
        }


class TestAdapter:
    """What all adapters have in common."""

    ADAPTERS: tuple[type[Adapter], ...] = (ChatCompletionAdapter, MessagesAdapter, ResponsesAdapter)

    @pytest.mark.parametrize("kind", ADAPTERS)
    def test_whole_is_the_stream(self, kind: type[Adapter]) -> None:
        """Where the channels come in the usual order, a result says as much as a stream."""
        output = [EngineOutput(ANSWER, [1, 2], None, "stop")]
        assert kind().whole(runner().collect(output)) == kind().collect(runner(), output)

    def test_envelope(self) -> None:
        adapter = ChatCompletionAdapter(id="x", model="m", created=7, prompt_tokens=5, reasoning_field="reasoning")
        chunks = list(adapter.stream(runner(), [EngineOutput(ANSWER, [1, 2], None, "stop")]))
        assert {(chunk["id"], chunk["model"], chunk["created"]) for chunk in chunks} == {("x", "m", 7)}
        assert chunks[-1]["usage"] == {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
        assert chunks[1]["choices"][0]["delta"] == {"reasoning": "Hm."}
        message = adapter.join(chunks)["choices"][0]["message"]
        assert message["reasoning"] == "Hm."
        assert "reasoning_content" not in message

    def test_reasoning_tokens(self) -> None:
        adapter = ChatCompletionAdapter()
        usage = adapter.finish(Usage(completion_tokens=9, reasoning_tokens=3))[-1]["usage"]
        assert usage["completion_tokens_details"] == {"reasoning_tokens": 3}

    def test_no_count_no_usage(self) -> None:
        chunks = list(ChatCompletionAdapter().stream(runner(), [EngineOutput(ANSWER)]))
        assert all("usage" not in chunk for chunk in chunks)
        assert "usage" not in ChatCompletionAdapter().join(chunks)

    def test_identity_that_a_parser_repeats_is_told_once(self) -> None:
        adapter = ChatCompletionAdapter()
        call = ChatStreamChunk(0, DeltaMessage(tool_calls=[DeltaToolCall(0, "a", "function", "f", "{")]), True)
        again = ChatStreamChunk(1, DeltaMessage(tool_calls=[DeltaToolCall(0, "a", "function", "f", "}")]), True)
        check([*adapter.feed(call), *adapter.feed(again), *adapter.finish()])

    @pytest.mark.parametrize("kind", ADAPTERS)
    def test_is_used_up(self, kind: type[Adapter]) -> None:
        adapter = kind()
        adapter.finish()
        with pytest.raises(ValueError, match="already ended"):
            adapter.finish()
        with pytest.raises(ValueError, match="already ended"):
            adapter.feed(ChatStreamChunk(0, DeltaMessage(content="x")))

    @pytest.mark.parametrize("kind", ADAPTERS)
    def test_asynchronous(self, kind: type[Adapter]) -> None:
        async def source() -> AsyncIterator[EngineOutput]:
            yield EngineOutput(ANSWER, [1])

        async def collect() -> list[Event]:
            adapter, ran = kind(), runner()
            found = [event async for chunk in ran.stream_async(source()) for event in adapter.feed(chunk)]
            return found + adapter.finish(ran.usage)

        assert asyncio.run(collect()) == list(kind().stream(runner(), [EngineOutput(ANSWER, [1])]))


class TestServerSentEvents:
    def test_frame(self) -> None:
        assert sse.frame({"type": "a.b", "x": "\u2028\n"}) == b'event: a.b\ndata: {"type":"a.b","x":"\\u2028\\n"}\n\n'
        assert sse.frame({"x": "\ud83d"}) == b'data: {"x":"\\ud83d"}\n\n'

    def test_json_over_several_lines(self) -> None:
        assert sse.frame({}, lambda event: b"{\n}") == b"data: {\ndata: }\n\n"


class TestCommand:
    def run(self, *args: str | Path, stdin: str = ANSWER) -> Result:
        return CliRunner().invoke(app, ["replay", "-r", "default", "-t", "qwen3", *map(str, args)], input=stdin)

    @pytest.mark.parametrize("api", ["openai", "anthropic", "responses"])
    def test_lines_frames_and_object_say_the_same(self, api: str) -> None:
        lines = self.run("-o", api)
        assert (lines.exit_code, lines.stderr) == (0, "")
        told = [json.loads(line) for line in lines.stdout.splitlines()]
        framed = self.run("-o", api, "--sse").stdout_bytes
        [adapter] = [kind() for kind in TestAdapter.ADAPTERS if kind.api == api]
        assert framed.endswith(b"data: [DONE]\n\n") == (api == "openai")
        data = [line[6:] for line in framed.split(b"\n") if line.startswith(b"data: ") and line != b"data: [DONE]"]
        assert [json.loads(line) for line in data] == told
        names = [line[7:].decode() for line in framed.split(b"\n") if line.startswith(b"event: ")]
        assert names == [event["type"] for event in told if "type" in event]
        whole = self.run("-o", api, "--mode", "final")
        assert whole.stdout.count("\n") == 1
        assert json.loads(whole.stdout) == adapter.join(told)

    def test_options(self) -> None:
        options = ("--model", "m", "--id", "i", "--created", "12", "--reasoning-field", "reasoning", "--mode", "final")
        told = json.loads(self.run("-o", "openai", *options).stdout)
        assert (told["model"], told["id"], told["created"]) == ("m", "i", 12)
        assert told["choices"][0]["message"]["reasoning"] == "Hm."

    @pytest.mark.parametrize(
        ("options", "named"),
        [
            (("--sse",), "--sse"),
            (("--sse", "-o", "jsonl"), "--sse"),
            (("--model", "m", "-o", "json"), "--model"),
            (("--id", "m", "--only", "content"), "--id"),
            (("--created", "1"), "--created"),
            (("--created", "1", "-o", "anthropic"), "--created"),
            (("--reasoning-field", "reasoning", "-o", "responses"), "--reasoning-field"),
            (("--sse", "-o", "openai", "--mode", "final"), "--sse"),
            (("--only", "content", "-o", "openai"), "--only"),
        ],
    )
    def test_options_that_say_nothing_are_refused(self, options: tuple[str, ...], named: str) -> None:
        result = self.run(*options)
        assert result.exit_code == 2
        assert named in result.stderr
        assert not result.stdout

    @pytest.mark.parametrize("options", [(), ("--mode", "final")])
    def test_several_inputs_have_ids_of_their_own(self, tmp_path: Path, options: tuple[str, ...]) -> None:
        files = [tmp_path / "a.txt", tmp_path / "b.txt"]
        for file in files:
            file.write_text(ANSWER)
        told = [json.loads(line) for line in self.run(*files, "-o", "openai", *options).stdout.splitlines()]
        assert {event["id"] for event in told} == {"chatcmpl-unspool", "chatcmpl-unspool-2"}

    def test_several_responses_in_one_input_do_not_mix(self) -> None:
        lines = [
            {
                "id": "c",
                "object": "text_completion",
                "choices": [{"index": index, "text": text, "finish_reason": reason}],
            }
            for text, reason in (("Hm", None), (".</think>", None), ("Hi.", "stop"))
            for index in (0, 1)
        ]
        result = self.run("-o", "openai", stdin="".join(f"data: {json.dumps(line)}\n\n" for line in lines))
        told = [json.loads(line) for line in result.stdout.splitlines()]
        for response in ("chatcmpl-unspool", "chatcmpl-unspool-2"):
            message = ChatCompletionAdapter().join([event for event in told if event["id"] == response])["choices"][0]
            assert (message["message"]["reasoning_content"], message["message"]["content"]) == ("Hm.", "Hi.")
        ids = [event["id"] for event in told]
        assert ids == sorted(ids), "one after the other"

    def test_input_that_cannot_be_read_has_no_stream(self, tmp_path: Path) -> None:
        result = self.run(tmp_path / "none", "-o", "openai", "--sse")
        assert (result.exit_code, result.stdout) == (2, "")
