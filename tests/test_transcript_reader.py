"""From a path to engine chunks."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from transcript_tools import all_ids, byte_level, joined

from unspool.cli.transcript import BadLine, ChunkSpec, TranscriptError, open_transcript
from unspool.parsers.chat_runner import EngineOutput

Read = Callable[..., list[EngineOutput]]


class Reading:
    """Reads inputs and keeps what was reported."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "in.txt"
        self.warnings: list[str] = []
        self.bad_lines: list[BadLine] = []

    def __call__(self, data: bytes | None = None, *, chunk: str | None = None, **options: Any) -> list[EngineOutput]:
        if data is not None:
            self.file.write_bytes(data)
        return list(
            open_transcript(
                options.pop("path", self.file),
                chunk=None if chunk is None else ChunkSpec.parse(chunk),
                on_warning=self.warnings.append,
                on_bad_line=self.bad_lines.append,
                **options,
            )
        )


@pytest.fixture
def reading(tmp_path: Path) -> Reading:
    return Reading(tmp_path)


def test_text_is_cut_as_asked_for(reading: Reading) -> None:
    data = b"\xef\xbb\xbf<think>\r\nhi\n</think>"
    texts = {chunk: [output.text for output in reading(data, chunk=chunk)] for chunk in (None, "lines", "whole")}
    assert texts[None] == ["<thi", "nk>\r", "\nhi\n", "</th", "ink>"]
    assert texts["lines"] == ["<think>\r\n", "hi\n", "</think>"]
    assert texts["whole"] == ["<think>\r\nhi\n</think>"]


def test_text_is_cut_at_tokens_where_a_tokenizer_is_given(reading: Reading) -> None:
    outputs = reading(b"the weather<tool_call>", tokenizer=byte_level())
    assert all_ids(outputs) == byte_level().encode("the weather<tool_call>")
    assert len(reading(chunk="whole", tokenizer=byte_level())) == 1


def test_recorded_chunks_are_kept_unless_another_cut_is_asked_for(reading: Reading) -> None:
    data = b'{"text": "abc", "token_id": 1}\n\nbad\n{"text": "defg", "finish_reason": "stop"}\r\n'
    assert reading(data) == [EngineOutput("abc", [1]), EngineOutput("defg", [], None, "stop")]
    assert reading(chunk="chars:4") == [EngineOutput("abcd", [1]), EngineOutput("efg", [], None, "stop")]
    assert [line.line_number for line in reading.bad_lines] == [3, 3]
    assert reading.warnings == []


def test_a_format_can_be_named(reading: Reading) -> None:
    data = b'{"text": "a"}'
    assert joined(reading(data, input_format="text")) == data.decode()
    assert reading(b"<think>", input_format="jsonl") == []
    assert len(reading.bad_lines) == 1
    with pytest.raises(ValueError, match="use one of auto, text, jsonl"):
        reading(data, input_format="xml")


def test_a_file_that_is_called_jsonl_but_is_none(reading: Reading, tmp_path: Path) -> None:
    file = tmp_path / "a.JSONL"
    file.write_bytes(b'{"name": "f"}')
    assert joined(reading(path=file)) == '{"name": "f"}'
    assert "-i jsonl" in reading.warnings[0]
    file.write_bytes(b"")
    assert reading(path=file) == []
    assert len(reading.warnings) == 1


def test_standard_input(reading: Reading, monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.BytesIO(b"abcdef")
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=stdin))
    assert joined(reading(path="-")) == "abcdef"
    assert not stdin.closed
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(TranscriptError, match="name a file"):
        reading(path="-")


def test_deltas_come_while_the_pipe_is_open(reading: Reading, monkeypatch: pytest.MonkeyPatch) -> None:
    read_end, write_end = os.pipe()
    with open(read_end, "rb") as stdin, open(write_end, "wb", buffering=0) as writer:  # noqa: PTH123 - descriptors
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=stdin))
        outputs = open_transcript("-", on_warning=print, on_bad_line=print)
        for number in range(3):  # nothing below may wait for what is written in the next round
            writer.write(b'{"text": "%d"}\n' % number)
            assert next(outputs).text == str(number)
        writer.close()
        assert list(outputs) == []


def test_errors(reading: Reading, tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match=r"cannot read .*nothing.txt: No such file"):
        reading(path=tmp_path / "nothing.txt")
    with pytest.raises(TranscriptError, match="directory"):
        reading(path=tmp_path)
    with pytest.raises(ValueError, match="--tokenizer DIR"):
        reading(b"text", chunk="tokens")
    with pytest.raises(TranscriptError, match=r"in.txt:1: token ids without text: pass --tokenizer DIR"):
        reading(b"[1]\n")
