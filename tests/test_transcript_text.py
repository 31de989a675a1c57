"""Reading bytes as they come, and decoding them."""

from __future__ import annotations

import io
import os
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.cli.transcript.errors import TranscriptError
from unspool.cli.transcript.source import ByteSource, is_live, open_source
from unspool.cli.transcript.text import decode_utf8


def decoded(*blocks: bytes) -> tuple[str, list[str]]:
    warnings: list[str] = []
    pieces = list(decode_utf8(blocks, name="in.txt", on_warning=warnings.append))
    assert all(pieces)
    return "".join(pieces), warnings


@given(st.text(), st.integers(1, 5))
def test_any_cut_of_the_bytes_gives_the_text(text: str, size: int) -> None:
    data = text.encode()
    blocks = [data[start : start + size] for start in range(0, len(data), size)]
    assert decoded(*blocks) == (text.removeprefix("\ufeff"), [])


@given(st.binary(), st.integers(1, 5))
def test_any_bytes_decode_as_if_whole(data: bytes, size: int) -> None:
    blocks = [data[start : start + size] for start in range(0, len(data), size)]
    text, warnings = decoded(*blocks)
    expected = data.decode("utf-8", "replace").removeprefix("\ufeff")
    assert text == expected
    try:
        data.decode()
    except UnicodeDecodeError as error:
        assert warnings == [f"in.txt: byte {error.start} is not UTF-8; such bytes are shown as U+FFFD"]
    else:
        assert warnings == []


@pytest.mark.parametrize(
    ("blocks", "text", "offset"),
    [
        pytest.param([b"ab\xffcd\xfe"], "ab\ufffdcd\ufffd", 2, id="two bad bytes, one warning"),
        pytest.param([b"\xf0\x9f", b"\x99x"], "\ufffdx", 0, id="bad over blocks: where the character starts"),
        pytest.param([b"ab", b"c\xe2\x82"], "abc\ufffd", 3, id="cut off at the end"),
    ],
)
def test_bad_bytes(blocks: list[bytes], text: str, offset: int) -> None:
    found, warnings = decoded(*blocks)
    assert found == text
    assert len(warnings) == 1
    assert f"byte {offset} " in warnings[0]


def test_newlines_and_marks_inside_stay() -> None:
    assert decoded(b"\xef\xbb", b"\xbfa\r\nb\rc\n\xef\xbb\xbf\x85"[:-1]) == ("a\r\nb\rc\n\ufeff", [])


def test_a_genuine_replacement_character_is_no_error() -> None:
    assert decoded("\ufffd".encode()) == ("\ufffd", [])


def test_memory_is_constant() -> None:
    def blocks() -> Iterator[bytes]:
        for _ in range(400):
            yield b"0123456789abcdef" * 4096

    tracemalloc.start()
    length = sum(map(len, decode_utf8(blocks(), name="", on_warning=print)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert length == 400 * 65536
    assert peak < 2_000_000


@given(st.lists(st.sampled_from([b"\n", b"a", b"\r", "\u2028".encode(), b"\n\n"])), st.integers(1, 4))
def test_lines_end_at_newlines_only(parts: list[bytes], size: int) -> None:
    data = b"".join(parts)

    class Slow(io.BytesIO):
        def read1(self, _size: int | None = -1, /) -> bytes:
            return self.read(size)

    expected = data.split(b"\n")
    assert list(ByteSource(Slow(data), "x").lines()) == (expected if expected[-1] else expected[:-1])


def test_peeking_loses_nothing() -> None:
    source = ByteSource(io.BytesIO(b"abc\ndef"), "x")
    assert source.peek() == b""
    assert source.read_ahead()
    assert source.peek() == b"abc\ndef"
    assert not source.read_ahead()
    assert list(source.lines()) == [b"abc", b"def"]


def test_a_pipe_is_read_as_it_comes(tmp_path: Path) -> None:
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    seen = threading.Event()

    def write() -> None:
        with fifo.open("wb", buffering=0) as stream:
            stream.write(b"first\nsec")
            assert seen.wait(10), "the first line only came when the pipe was closed"
            stream.write(b"ond")

    writer = threading.Thread(target=write)
    writer.start()
    assert is_live(fifo)
    with open_source(fifo) as source:
        lines = source.lines()
        assert next(lines) == b"first"
        seen.set()
        assert list(lines) == [b"second"]
    writer.join()


def test_a_regular_file_is_not_live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.touch()
    assert not is_live(file)
    assert is_live(tmp_path / "missing")
    with file.open() as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        assert not is_live("-")
    monkeypatch.setattr(sys, "stdin", None)
    assert is_live("-")


@pytest.mark.parametrize("name", ["missing.txt", ".", "nul\0byte"])
def test_what_cannot_be_opened(tmp_path: Path, name: str) -> None:
    with pytest.raises(TranscriptError, match="cannot read"), open_source(tmp_path / name) as source:
        list(source.blocks())
