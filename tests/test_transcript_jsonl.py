"""Reading recorded token streams."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice, pairwise
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transcript_tools import all_ids, byte_level, joined, sentence_piece

from unspool.cli.transcript.dumps import SHAPES, DumpOptions, read_dump
from unspool.cli.transcript.errors import TranscriptError
from unspool.cli.transcript.jsonl import BadLine, read_records
from unspool.parsers.chat_runner import EngineOutput
from unspool.parsers.tokenization import TextTokenizer


def read(*lines: bytes, tokenizer: TextTokenizer | None = None) -> tuple[list[EngineOutput], list[BadLine], list[str]]:
    bad: list[BadLine] = []
    warnings: list[str] = []
    outputs = list(
        read_records(lines, name="in.jsonl", tokenizer=tokenizer, on_warning=warnings.append, on_bad_line=bad.append)
    )
    return outputs, bad, warnings


def one(line: bytes, tokenizer: TextTokenizer | None = None) -> EngineOutput:
    outputs, bad, warnings = read(line, tokenizer=tokenizer)
    assert (bad, warnings) == ([], [])
    return outputs[0]


@pytest.mark.parametrize(
    ("line", "output"),
    [
        (b'{"text": "a"}', EngineOutput("a")),
        (b'{"text": "a", "token_id": 5}', EngineOutput("a", [5])),
        (b'{"text": "", "token_ids": [5, 6]}', EngineOutput("", [5, 6])),
        (b'{"token_id": 5, "token_ids": [5], "text": "a"}', EngineOutput("a", [5])),
        (b'{"logprobs": [-0.5]}', EngineOutput("", [], [-0.5])),
        (b'{"finish_reason": "stop"}', EngineOutput("", [], None, "stop")),
        (b'{"text": null, "token_ids": null, "token_id": null, "finish_reason": null}', EngineOutput()),
        (b'{"text": "a", "id": "cmpl-1", "extra": {}}', EngineOutput("a")),
        (b'  {"text": "a"} \r', EngineOutput("a")),
        (b'\xef\xbb\xbf{"text": "a"}', EngineOutput("a")),
        ('{"text": "\u2028\x85"}'.encode(), EngineOutput("\u2028\x85")),
        (b"[]", EngineOutput()),
    ],
)
def test_records(line: bytes, output: EngineOutput) -> None:
    assert one(line) == output


def test_what_orjson_refuses() -> None:
    assert str(one(b'{"text": "a", "logprobs": [NaN, -Infinity]}').logprobs) == "[nan, -inf]"
    assert one(b'{"text": "a", "logprobs": 12345678901234567890123}').logprobs == 12345678901234567890123
    nested = b'{"text": "a", "logprobs": ' + b"[" * 1100 + b"]" * 1100 + b"}"
    outputs, bad, _ = read(nested)
    assert outputs or "nested" in bad[0].reason


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"nonsense", "not JSON"),
        (b'{"text": "a"', "not JSON"),
        (b'{"text": 5}', "text must be a string, found 5"),
        (b'{"text": ["a"]}', "text must be a string, found a list"),
        (b'{"finish_reason": {"type": "stop"}}', "finish_reason must be a string, found an object"),
        (b'{"token_ids": ["a"]}', 'found "a"'),
        (b'{"token_ids": 5}', "token_ids must be a list of token ids, found 5"),
        (b'{"token_ids": [true]}', "found true"),
        (b'{"token_id": 1.5}', "found 1.5"),
        (b'{"token_id": -1}', "found -1"),
        (b'{"token_id": 4294967296}', "found 4294967296"),
        (b'{"token_id": 12345678901234567890123}', "found 12345678901234567890123"),
        (b'{"token_id": 1, "token_ids": [1, 2]}', "contradict"),
        (b'[1, "a"]', 'a bare list must have token ids (integers from 0), found "a"'),
        (b'{"content": "a"}', "none of the keys text, token_id"),
        (b"{}", "none of the keys"),
        (b"5", "expected an object or a list of token ids, found 5"),
        (b'"' + b"x" * 200 + b'"', "..."),
        (b"null", "found null"),
        (b"\x00\xff", "not JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b"9" * 5000, ""),
    ],
)
def test_a_bad_line_is_reported_and_its_neighbours_count(line: bytes, reason: str) -> None:
    outputs, bad, _ = read(b'{"text": "a"}', b"", line, b'{"text": "b"}')
    assert [output.text for output in outputs] == ["a", "b"]
    assert [problem.line_number for problem in bad] == [3]
    assert reason in bad[0].reason
    assert len(bad[0].reason) < 200


def test_ids_without_text_need_a_tokenizer() -> None:
    with pytest.raises(TranscriptError, match=r"in.jsonl:2: .*--tokenizer DIR"):
        read(b'{"text": "a", "token_id": 1}', b"[1, 2]")


@given(
    st.lists(st.sampled_from(["the weather", "🙂", "👩‍👩‍👧", "\ufffd", " ", "<|im_end|>", "é"])).map("".join),
    st.lists(st.integers(0, 20)),
    st.booleans(),
)
def test_ids_decode_to_the_text_however_they_are_cut(text: str, cuts: list[int], finish: bool) -> None:
    text = re.sub("\ufffd+", "\ufffd", text)  # several in a row outlast the decoder's patience with cut characters
    ids = byte_level().encode(text)
    edges = sorted({0, len(ids), *(cut for cut in cuts if cut < len(ids))})
    lines = [json.dumps(ids[a:b]).encode() for a, b in pairwise(edges)]
    if finish:
        lines.append(b'{"finish_reason": "stop"}')
    outputs, bad, _ = read(*lines, tokenizer=byte_level())
    assert not bad
    assert joined(outputs) == text
    assert all_ids(outputs) == ids
    assert not finish or outputs[-1].finish_reason == "stop"


def test_a_character_cut_off_at_the_end_is_shown() -> None:
    ids = byte_level().encode("a🙂")[:-1]
    assert joined(read(json.dumps(ids).encode(), tokenizer=byte_level())[0]) == "a\ufffd"
    outputs = read(b'{"token_ids": %s, "finish_reason": "length"}' % json.dumps(ids).encode(), tokenizer=byte_level())[
        0
    ]
    assert outputs == [EngineOutput("a\ufffd", ids, None, "length")]


def test_ids_after_a_record_with_text_are_decoded_in_its_context() -> None:
    tokenizer = sentence_piece()
    ids = tokenizer.encode("the weather")
    first = json.dumps({"text": "the", "token_ids": ids[:4]}).encode()
    outputs = read(first, json.dumps(ids[4:]).encode(), tokenizer=tokenizer)[0]
    assert joined(outputs) == "the weather"


def test_a_half_decoded_character_comes_before_recorded_text() -> None:
    ids = byte_level().encode("🙂")[:-1]
    outputs = read(json.dumps(ids).encode(), b'{"text": "b"}', tokenizer=byte_level())[0]
    assert [output.text for output in outputs] == ["", "\ufffdb"]


def test_halves_of_a_character_join_over_records() -> None:
    outputs, bad, warnings = read(rb'{"text": "a\ud83d"}', rb'{"text": "\ude42b"}', rb'{"text": "c"}')
    assert ([output.text for output in outputs], bad, warnings) == (["a", "🙂b", "c"], [], [])


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ([rb'{"text": "a\ude42b"}', rb'{"text": "\ude42"}'], "a\ufffdb\ufffd"),
        ([rb'{"text": "a\ud83d"}', rb'{"text": "b"}'], "a\ufffdb"),
        ([rb'{"text": "a\ud83d", "finish_reason": "stop"}'], "a\ufffd"),
        ([b'{"text": "a\xff"}', b'{"text": "\xff"}'], "a\ufffd\ufffd"),
    ],
)
def test_text_that_is_no_unicode_is_replaced_with_one_warning(lines: list[bytes], text: str) -> None:
    outputs, bad, warnings = read(*lines)
    assert (joined(outputs), bad, len(warnings)) == (text, [], 1)


def test_a_record_is_out_before_the_next_is_read() -> None:
    def lines() -> Iterator[bytes]:
        yield b'{"text": "a"}'
        raise AssertionError("read too far")

    records = read_records(lines(), name="x", tokenizer=None, on_warning=print, on_bad_line=print)
    assert next(records).text == "a"


@given(st.lists(st.binary(max_size=30) | st.sampled_from([b'{"text": "a"}', b"[1]", b"{", b"null"])))
def test_nothing_raises(lines: list[bytes]) -> None:
    read(*lines, tokenizer=byte_level())


LINES = st.sampled_from(
    [
        *(b"", b"{", b"[", b"]", b"event: error", b"data: [DONE]", b'data: {"text": "f"}', b'{"text": "\xff"}', b"[1]"),
        *(b'{"text": "\\ud83d"}', b'{"text": "\\ude00"}', b'{"text": 1}', b'{"token_ids": [1]}', b'  {"text": "b"} '),
        *(b'{"text": "c", "token_ids": %s}' % ids for ids in (b"null", b"{}", b"[]", b"[-1]", b"[1.0]", b"[true]")),
        *(b'{"text": "d", "token_ids": [%d]}' % number for number in (0, 2**32 - 1, 2**32, 2**70)),
        *(b'{"text": "e", "%s"}' % more for more in (b'choice": "1', b'token_id": 1, a": "', b'finish_reason": "x')),
        *(b'{"text": "g", "%s"}' % more for more in (b'error": "full', b'object": "error', b'logprobs": "l')),
    ]
)


PLAIN = st.sampled_from(
    [
        *(
            b'{"text": "a", "token_ids": [1, 2]}',
            b'{"text": "a"}',
            b'{"text": "h", "token_ids": [3], "logprobs": null}',
        ),
        *(
            b'{"text": "i", "finish_reason": null}',
            b'{"token_ids": [4], "text": "}"}',
            b'{"text": "{", "token_ids": []}',
        ),
        *(
            b'{"text": "k", "token_id": 5}',
            b'{"text": "l", "token_id": 6, "logprobs": [-0.5]}',
            b'{"text": "m", "token_ids": [7], "logprobs": {"content": []}}',
            b'{"text": "n", "token_id": 8, "token_ids": [8]}',
            b'{"text": "o", "token_id": 8, "token_ids": [9]}',
            b'{"text": "p", "token_id": true}',
            b'{"text": "q", "token_id": null, "logprobs": false}',
            b'{"text": "r", "token_ids": 3}',
        ),
    ]
)
# What joins to a record, or to more than one, and is none.
SPLIT = st.sampled_from(
    [
        *(
            b'{"text": "a"',
            b'"token_ids": [1]}',
            b'{"text": "a"},{"text": "b"}',
            b'{"text": "a',
            b'b"}',
            b'{"text": "a"},5',
        ),
        *(
            b'{"text": "a", "x": [1',
            b'{"y": 1}]}',
            b'{"text": "a"},',
            b"]",
            b'{"text": "a"}]',
            b'[{"text": "a"}',
            b'{"b": 1}',
        ),
    ]
)


@given(st.lists(PLAIN | LINES | SPLIT), st.integers(1, 5))
def test_plain_records_are_read_as_all_stages_would(lines: list[bytes], together: int) -> None:
    def result() -> object:
        bad: list[BadLine] = []
        warnings: list[str] = []
        rest = iter(lines)
        options = DumpOptions("in.jsonl", SHAPES["jsonl"], None, None, warnings.append, bad.append)
        parts = read_dump(rest, options, arrived=lambda: list(islice(rest, together - 1)))
        try:
            return [output for part in parts for output in part.outputs], bad, warnings
        except TranscriptError as problem:
            return str(problem)

    with mock.patch("unspool.cli.transcript.dumps.reading.read_plain", return_value=None):
        slow = result()
    assert result() == slow
