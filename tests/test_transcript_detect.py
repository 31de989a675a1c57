"""Telling text and records apart."""

from __future__ import annotations

import io
from typing import Literal

import pytest

from unspool.cli.transcript.detect import detect_format
from unspool.cli.transcript.source import ByteSource


class Piped(io.BytesIO):
    """Gives ``size`` bytes a read and counts the reads, as a slow pipe does."""

    size = 3
    reads = 0

    def read1(self, _size: int | None = -1, /) -> bytes:
        self.reads += 1
        return self.read(self.size)


JSONL = [
    b'{"text": "a"}\n',
    b'{"text": "a"}',
    b'\xef\xbb\xbf\r\n \n{"id": 1, "token_ids": [5]}\r\nnonsense',
    b"[1, 2, 3]\n",
    b'{"finish_reason": "stop"}',
    b'{"text": 5}\n',
    b'{"text": "a", "logprobs": NaN}\n',
    b'{"text": "%s"}\n' % (b"x" * 200_000),
    b"[%s1]" % (b"1, " * 100_000),
]
TEXT = [
    b"",
    b"\n\n",
    b"<think>\n",
    b'{"name": "f", "arguments": {}}',
    b'{"name": "f", "parameters": {"text": "a"}}\n{"text": "a"}\n',
    b'{\n  "text": "a"\n}\n',
    b'{"text": "a"',
    b"{}",
    b"[]",
    b"[1, 2",
    b'[1, "a"]',
    b'[TOOL_CALLS][{"name": "f"}]',
    b'[{"name": "f"}]',
    b'"text"',
    b"5",
    b"\xff\xfe",
    b"\xef\xbb",
    b'{"name": "%s"}\n' % (b"x" * 200_000),
    b" " * 200_000,
]


@pytest.mark.parametrize("size", [1, 3, 1 << 16])
@pytest.mark.parametrize(
    ("data", "expected"),
    [*((data, "jsonl") for data in JSONL), *((data, "text") for data in TEXT)],
    ids=lambda value: repr(value[:30]) if isinstance(value, bytes) else value,
)
def test_formats(data: bytes, expected: Literal["text", "jsonl"], size: int) -> None:
    stream = Piped(data)
    stream.size = size
    source = ByteSource(stream, "x")
    assert detect_format(source) == expected
    assert b"".join(source.blocks()) == data


@pytest.mark.parametrize("data", [b"hello", b"[TOOL_CALLS]...", b"[{"])
def test_text_is_known_at_once(data: bytes) -> None:
    stream = Piped(data + b"x" * 1000)
    assert detect_format(ByteSource(stream, "x")) == "text"
    assert stream.reads == 1
