"""Every engine's dump: recognised, read, split into responses."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

import pytest
from dump_tools import Dump, choice, delta, joined, sglang, sse
from hypothesis import given
from hypothesis import strategies as st
from oracle import FIXTURES
from transcript_tools import byte_level

from unspool.cli.options import InputFormat
from unspool.cli.transcript import INPUT_FORMATS, TranscriptError, open_responses
from unspool.cli.transcript.dumps.fields import finish_reason
from unspool.cli.transcript.dumps.formats import SHAPES, shape_of
from unspool.parsers.tokenization import TextTokenizer

DUMPS = FIXTURES / "dumps"
TEXT = (
    "<think>\nParis 🗼, so I call the tool.\n</think>\n\nOne moment.\n"
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris", "unit": "°C"}}\n</tool_call>'
)
SINGLE = {
    "llamacpp.sse": "llamacpp",
    "lmdeploy-completions.sse": "lmdeploy-completions",
    "lmdeploy-generate.sse": "lmdeploy-generate",
    "ollama.ndjson": "ollama",
    "openai-chat.json": "openai-chat",
    "openai-completions.json": "openai-completions",
    "openai-completions.sse": "openai-completions",
    "sglang-completions.sse": "sglang-completions",
    "sglang-generate-incremental.sse": "sglang-generate",
    "sglang-generate.sse": "sglang-generate",
    "tgi.sse": "tgi",
    "triton.sse": "triton",
    "trtllm-completions.sse": "trtllm-completions",
    "vllm-chat.sse": "vllm-chat",
    "vllm-completions.sse": "vllm-completions",
    "vllm-generate.sse": "vllm-generate",
    "vllm-offline.jsonl": "vllm-offline",
}
END = "<|im_end|>"


def test_the_dumps_are_those_that_the_script_writes() -> None:
    script = DUMPS / "make.py"
    result = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"{result.stderr}run python {script.relative_to(FIXTURES.parent)}"


def test_every_format_has_a_dump_and_an_option() -> None:
    (names, *_) = get_args(InputFormat)
    assert get_args(names) == INPUT_FORMATS
    assert set(SINGLE.values()) | {"openai-batch", "jsonl"} == set(SHAPES)


@pytest.mark.parametrize("name", SINGLE)
@pytest.mark.parametrize("how", ["auto", "named", "with ids"])
def test_one_response(name: str, how: str, tiny: TextTokenizer) -> None:
    ids_only = name == "vllm-generate.sse"
    tokenizer = tiny if how == "with ids" or ids_only else None
    dump = Dump(SINGLE[name] if how == "named" else None, tokenizer)
    notes: list[str] = []
    dump.parts = list(
        open_responses(
            DUMPS / name,
            input_format="auto" if how != "named" else SINGLE[name],
            tokenizer=tokenizer,
            on_warning=dump.warnings.append,
            on_bad_line=dump.bad.append,
            on_note=notes.append,
        )
    )
    assert (dump.warnings, dump.bad, dump.differences) == ([], [], [])
    assert dump.text.removesuffix(END) == TEXT
    assert dump.reasons == {"triton.sse": [], "openai-chat.json": ["tool_calls"]}.get(name, ["stop"])
    has_ids = dump.ids != []
    assert has_ids == (SINGLE[name] in {
        "llamacpp", "lmdeploy-generate", "sglang-completions", "sglang-generate", "tgi", "vllm-chat",
        "vllm-completions", "vllm-generate", "vllm-offline",
    })  # fmt: skip
    if has_ids:
        assert tiny.decode(dump.ids) == TEXT + END
    if how == "auto":
        assert f"read as {SINGLE[name]} " in notes[0]


@pytest.mark.parametrize("name", SINGLE)
def test_what_a_cut_off_dump_has_is_read(name: str, tiny: TextTokenizer) -> None:
    data = (DUMPS / name).read_bytes()
    for share in (0.3, 0.6, 0.95):
        dump = Dump(SINGLE[name], tiny).read(data[: int(len(data) * share)])
        assert len(dump.bad) <= 1
        assert (TEXT + END).startswith("".join(dump.texts.values()).rstrip("\ufffd"))


def test_whole_bodies_are_cut_at_their_recorded_tokens() -> None:
    for name in ("openai-chat.json", "openai-completions.json"):
        parts = Dump().read((DUMPS / name).read_bytes()).parts
        assert len(parts) > 20
        assert parts[0].outputs[0].logprobs is not None


def test_two_choices() -> None:
    dump = Dump().read((DUMPS / "vllm-completions-n2.sse").read_bytes())
    assert dump.texts == {"0": TEXT, "1": TEXT.replace("Paris", "Rome").replace("🗼", "🏛")}
    assert [Dump(choice=wanted).read((DUMPS / "vllm-completions-n2.sse").read_bytes()).texts for wanted in "01"] == [
        {None: text} for text in dump.texts.values()
    ]


def test_a_batch() -> None:
    dump = Dump().read((DUMPS / "openai-batch.jsonl").read_bytes())
    assert list(dump.texts) == ["paris", "rome"]
    assert [(bad.line_number, "request oslo: the server reported an error" in bad.reason) for bad in dump.bad] == [
        (3, True)
    ]


def test_a_chat_that_the_server_has_parsed() -> None:
    dump = Dump().read((DUMPS / "openai-chat-parsed.sse").read_bytes())
    assert dump.text == "One moment.\n"
    (warning,) = dump.warnings
    assert "already parsed" in warning
    assert "/v1/completions" in warning


def test_ids_of_a_parsed_chat_are_the_raw_output() -> None:
    ids = byte_level().encode("<tool_call>{}")
    data = sse(
        delta(content="", more={"token_ids": ids[:1]}),
        delta(
            tool_calls=[{"index": 0, "function": {"name": "f"}}], more={"token_ids": ids[1:], "finish_reason": "stop"}
        ),
    )
    dump = Dump(tokenizer=byte_level()).read(data)
    assert (dump.text, dump.warnings, dump.differences) == ("<tool_call>{}", [], [])
    assert "--tokenizer" in Dump().read(data).warnings[0]


def test_recorded_tokens_of_a_parsed_chat_are_the_raw_output() -> None:
    entries = [{"token": "<think>", "bytes": None}, {"token": "\ufffd", "bytes": [0xF0, 0x9F]}]
    more = [{"token": "\ufffd", "bytes": [0x99, 0x82]}]
    data = sse(
        delta(reasoning_content="x", more={"logprobs": {"content": entries}}),
        delta(content="y", more={"logprobs": {"content": more}, "finish_reason": "stop"}),
    )
    dump = Dump().read(data)
    assert (dump.text, dump.warnings) == ("<think>🙂", [])


def test_a_content_that_is_better_than_its_tokens() -> None:
    body = {
        "object": "chat.completion",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"content": "a🙂"}}],
    }
    body["choices"][0]["logprobs"] = {"content": [{"token": t, "bytes": list(t.encode())} for t in ("a", "\ufffd")]}  # type: ignore[index]
    assert Dump().read(json.dumps(body)).text == "a🙂"


def test_tokens_that_are_spelled_as_ids() -> None:
    legacy = {"tokens": ["token_id:5", "token_id:6"], "token_logprobs": [-1, -2]}
    assert Dump().read(sse(choice("ab", logprobs=legacy))).ids == [5, 6]
    entries = [{"token": "token_id:7", "bytes": list(b"token_id:7"), "logprob": -1}]
    dump = Dump().read(sse(delta(content="ab", more={"logprobs": {"content": entries}})))
    assert (dump.text, dump.ids) == ("ab", [7])


def test_bytes_of_legacy_tokens() -> None:
    tokens = ["a", "bytes:\\xf0\\x9f", "bytes:\\x99\\x82"]
    dump = Dump().read(sse(choice("a🙂", logprobs={"tokens": tokens}, finish_reason="stop")))
    assert [joined(part) for part in dump.parts] == ["a", "", "🙂"]


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ({"generated_text": "a"}, "tgi"),
        ({"model": "m", "created_at": "t", "message": {"content": "a"}, "done": False}, "ollama"),
        ({"content": "a", "stop": True, "stopped_limit": True}, "llamacpp"),
        ({"index": 0, "text": "a", "token_ids": [1], "cumulative_logprob": 0.0}, "vllm-offline"),
        ({"text": "a", "id": 5}, "jsonl"),
        ([1, 2], "jsonl"),
        ({"id": "x", "object": "text_completion", "choices": []}, "openai-completions"),
        ({"name": "f", "arguments": {}}, None),
        ({"choices": [{"text": "A"}, {"text": "B"}]}, None),
        ({"response": "yes"}, None),
        ({"content": "a"}, None),
        ({"error": "x"}, None),
        ("text", None),
        (None, None),
    ],
)
def test_recognition(value: Any, name: str | None) -> None:
    shape = shape_of(value)
    assert (shape.name if shape else None) == name


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (None, None), ("", None), ("stop", "stop"), ("eos_token", "stop"), ("stop_sequence", "stop"),
        ("limit", "length"), ({"type": "stop", "matched": 5}, "stop"), ({"type": "length", "length": 9}, "length"),
        ({"type": "abort", "message": "x"}, "abort"), ({}, None), ("content_filter", "content_filter"),
    ],
)  # fmt: skip
def test_finish_reasons(reason: Any, words: str | None) -> None:
    assert finish_reason(reason) == words


def test_skipped_special_tokens_of_llamacpp() -> None:
    tokenizer = byte_level()
    (end,) = tokenizer.encode(END)
    values = [
        {"content": "", "tokens": [end], "stop": False},
        {"content": "the", "tokens": tokenizer.encode("the"), "stop": False},
    ]
    values.append({"content": "", "tokens": [], "stop": True, "stop_type": "limit"})
    dump = Dump(tokenizer=tokenizer).read(sse(*values))
    assert (dump.text, dump.reasons, dump.differences) == (END + "the", ["length"], [])
    assert any("leaves out special tokens" in note for note in dump.notes)
    assert Dump().read(sse(*values)).text == "the"


def test_all_text_is_empty() -> None:
    data = sse(choice("", token_ids=[1]), choice("", token_ids=[2], finish_reason="stop"))
    assert "--tokenizer" in Dump().read(data).warnings[0]
    assert Dump(tokenizer=byte_level()).read(data).differences == []


class TestChoices:
    def test_labels(self) -> None:
        both = sse(choice("a", 0, request="A"), choice("b", 1, request="A"), choice("c", 0, request="B"))
        assert list(Dump().read(both).texts) == ["A", "A:1", "B"]
        assert Dump(choice="A").read(both).texts == {"A": "a", "A:1": "b"}
        assert Dump(choice="0").read(both).texts == {"A": "a", "B": "c"}
        assert Dump(choice="B").read(both).texts == {None: "c"}
        with pytest.raises(TranscriptError, match="no response is 'C'; there are: A, A:1, B"):
            Dump(choice="C").read(both)

    def test_a_second_one_that_comes_late(self) -> None:
        dump = Dump().read(sse(choice("a"), choice("b", 1), choice("c")), together=False)
        assert dump.texts == {None: "ac", "1": "b"}

    def test_text_behind_the_finish_reason_of_a_record(self) -> None:
        lines = b'{"text": "a", "finish_reason": "stop"}\n{"text": "b"}\n'
        for together in (True, False):
            assert Dump().read(lines, together=together).texts == {None: "ab"}
        named = lines.replace(b"{", b'{"choice": "x", ')
        assert Dump().read(named).texts == {"0": "a", "0#2": "b"}

    def test_a_record_for_each_response(self) -> None:
        lines = b'{"choice": "x", "text": "a"}\n{"choice": "y", "text": "b"}\n'
        for together in (True, False):
            assert list(Dump().read(lines, together=together).texts.values()) == ["a", "b"]

    def test_one_after_the_other(self) -> None:
        values = [{"response": text, "done": done, "created_at": "t"} for text, done in (("a", False), ("", True))]
        dump = Dump().read(sse(*values, *values))
        assert dump.texts == {"0": "a", "0#2": "a"}
        assert [part.last for part in dump.parts] == [False, True, False, True]

    def test_an_end_that_is_told_twice(self) -> None:
        data = sse(
            choice("a", finish_reason="stop"),
            choice("", finish_reason="stop"),
            {"id": "cmpl-1", "choices": [], "usage": {}},
        )
        assert Dump().read(data).texts == {None: "a"}

    def test_an_id_for_every_object(self) -> None:
        data = sse(*(choice(text, request=f"cmpl-{text}", stop_reason=None) for text in "abc"))
        assert Dump().read(data).texts == {None: "abc"}
        trt = [choice(text, request=f"cmpl-{text}", avg_decoded_tokens_per_iter=1.0) for text in "abc"]
        assert Dump().read(sse(*trt), together=False).texts == {None: "abc"}

    def test_sglang_batches_are_numbered(self) -> None:
        values = [sglang("a", [1], 1), sglang("x", [3], 1), sglang("ab", [1, 2], 2), sglang("xy", [3, 4], 2)]
        for number, value in enumerate(values):
            value["index"] = number % 2
        assert Dump().read(sse(*values)).texts == {"0": "ab", "1": "xy"}
        assert Dump().read(json.dumps(values[2:], indent=2)).texts == {"0": "ab", "1": "xy"}

    def test_prompt_ids_are_the_requests(self) -> None:
        dump = Dump().read(sse(choice("a", prompt_token_ids=[7, 8]), choice("b", 1)))
        assert [part.response.prompt_token_ids for part in dump.parts] == [[7, 8], [7, 8]]

    def test_records_of_several_responses(self) -> None:
        data = '{"choice": "x", "text": "a"}\n{"choice": "y", "text": "b"}\n{"choice": "x", "text": "c"}\n'
        assert Dump().read(data).texts == {"x": "ac", "y": "b"}


class TestTrouble:
    def test_an_error_costs_nothing_before_or_after(self) -> None:
        error = {"error": {"message": "out of memory", "type": "ServerError", "code": 500}}
        dump = Dump().read(sse(choice("a"), error, choice("b")))
        assert dump.text == "ab"
        assert [(bad.line_number, bad.reason) for bad in dump.bad] == [
            (3, "the server reported an error: out of memory (ServerError, 500)")
        ]

    @pytest.mark.parametrize(
        "error",
        [
            '{"error": "model not found"}',
            'data: {"error": {"message": "x"}}',
            'event: error\ndata: {"message": "x"}',
            '{"object": "error", "message": "x", "code": 400}',
            '{"detail": [{"loc": ["body"]}]}',
            '{\n  "error": {\n    "message": "x"\n  }\n}',
        ],
    )
    def test_a_request_that_was_refused(self, error: str) -> None:
        dump = Dump().read(error)
        assert dump.parts == []
        assert "the server reported an error: " in dump.bad[0].reason

    @pytest.mark.parametrize(
        ("value", "words"),
        [
            (choice(5), "text must be a string, found 5"),  # type: ignore[arg-type]
            (choice("a", token_ids=["x"]), 'token_ids must have token ids (integers from 0), found "x"'),
            (choice("a", finish_reason=7), "finish_reason must be a string"),
            (choice("a", "x"), 'index must be an integer, found "x"'),  # type: ignore[arg-type]
            ({"choices": [5]}, "not of the shape vllm-completions"),
            ({"ping": 1}, "not of the shape vllm-completions"),
            (5, "expected an object"),
        ],
    )
    def test_an_object_that_does_not_fit(self, value: Any, words: str) -> None:
        dump = Dump("vllm-completions").read(sse(choice("a"), value, choice("b")))
        assert dump.text == "ab"
        (bad,) = dump.bad
        assert (bad.line_number, words in bad.reason) == (3, True), bad.reason

    def test_objects_of_no_known_shape(self) -> None:
        dump = Dump()
        with pytest.raises(
            TranscriptError, match=r"9 JSON objects, and none has a known shape \(the first: keys type, x"
        ):
            dump.read(sse(*({"type": "message_start", "x": n} for n in range(9))))
        assert len(dump.bad) == 3

    def test_ids_without_text_need_a_tokenizer(self) -> None:
        with pytest.raises(TranscriptError, match=r"in.sse:3: token ids without text: pass --tokenizer"):
            Dump().read(sse(choice("a"), choice(None, token_ids=[1])))

    def test_text_that_differs_from_the_ids(self) -> None:
        ids = byte_level().encode("the weather")
        dump = Dump(tokenizer=byte_level()).read(
            sse(choice("the wuather", token_ids=ids), choice("!", finish_reason="stop"))
        )
        assert dump.differences == [5]
        assert dump.texts[None].startswith("the weather")

    def test_what_orjson_refuses(self) -> None:
        line = 'data: {"id":"a","created":%s,"choices":[{"index":0,"text":"%s","logprobs":%s}]}\n'
        data = line % ("1", "a\\ud83d", '{"x":[NaN]}') + line % ("12345678901234567890123", "\\ude42", "null")
        dump = Dump().read(data)
        assert (dump.text, dump.bad, dump.warnings) == ("a🙂", [], [])


KEYS = (
    *("choices", "text", "index", "delta", "message", "content", "token_ids", "logprobs", "tokens", "bytes", "token"),
    *("id", "meta_info", "output_ids", "stop", "done", "response", "text_output", "outputs", "custom_id", "body"),
    *("error", "details", "generated_text", "created_at", "tool_calls", "finish_reason", "completion_tokens"),
    *("prompt_token_ids", "special"),
)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 9) | st.text(max_size=3) | st.just([]) | st.just({}),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=12,
)


@given(st.lists(values, max_size=6), st.sampled_from([None, *SHAPES]), st.booleans())
def test_nothing_raises(objects: list[Any], shape: str | None, with_tokenizer: bool) -> None:
    with suppress(TranscriptError):
        Dump(shape, byte_level() if with_tokenizer else None).read(sse(*objects))


def test_every_dump_has_a_line_in_the_readme() -> None:
    readme = (DUMPS / "README.md").read_text(encoding="utf-8")
    missing = [file.name for file in DUMPS.iterdir() if file.name != "README.md" and f"`{file.name}`" not in readme]
    assert missing == []
    assert Path(DUMPS / "README.md").exists()
