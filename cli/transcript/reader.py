"""From a name on the command line to engine chunks.

Owns the table of input formats and the defaults for cutting. Each format is one reader: bytes in, ``EngineOutput``
out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from unspool.parsers.chat_runner import EngineOutput
from unspool.parsers.tokenization import TextTokenizer

from .chunking import ChunkSpec, cut_text, recut
from .detect import detect_format
from .jsonl import BadLine, read_records
from .source import ByteSource, open_source
from .text import decode_utf8

_JSON_LINES_SUFFIXES = (".jsonl", ".ndjson")


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What a reader may need besides the bytes.

    Attributes:
        chunk: how to cut; ``None`` for what suits the input.
        tokenizer: for cutting at tokens and for decoding ids.
        on_warning: called with a sentence where something about the whole input is odd.
        on_bad_line: called with each line that could not be read.
    """

    chunk: ChunkSpec | None
    tokenizer: TextTokenizer | None
    on_warning: Callable[[str], None]
    on_bad_line: Callable[[BadLine], None]


Reader = Callable[[ByteSource, ReadOptions], Iterator[EngineOutput]]


def read_text(source: ByteSource, options: ReadOptions) -> Iterator[EngineOutput]:
    """Read raw model output."""
    chunk = options.chunk or ChunkSpec.parse("chars:4" if options.tokenizer is None else "tokens")
    pieces = decode_utf8(source.blocks(), name=source.name, on_warning=options.on_warning)
    return cut_text(pieces, chunk, options.tokenizer)


def read_jsonl(source: ByteSource, options: ReadOptions) -> Iterator[EngineOutput]:
    """Read a recorded token stream; the recorded chunks are kept unless another cut is asked for."""
    records = read_records(
        source.lines(),
        name=source.name,
        tokenizer=options.tokenizer,
        on_warning=options.on_warning,
        on_bad_line=options.on_bad_line,
    )
    return records if options.chunk is None else recut(records, options.chunk, options.tokenizer)


READERS: Mapping[str, Reader] = {"text": read_text, "jsonl": read_jsonl}
"""Input formats by the name that ``--input-format`` takes."""

INPUT_FORMATS = ("auto", *READERS)


def open_transcript(
    path: str | Path,
    *,
    input_format: str = "auto",
    chunk: ChunkSpec | None = None,
    tokenizer: TextTokenizer | None = None,
    on_warning: Callable[[str], None],
    on_bad_line: Callable[[BadLine], None],
) -> Iterator[EngineOutput]:
    """Read one input lazily; it is closed when the iterator ends or is closed.

    Args:
        path: a file, or ``-`` for standard input.
        input_format: one of :data:`INPUT_FORMATS`.
        chunk: how to cut. By default text is cut at tokens where a tokenizer is given, else into four characters, and
            recorded chunks are kept.
        tokenizer: for cutting at tokens and for decoding ids.
        on_warning: called with a sentence where something about the whole input is odd.
        on_bad_line: called with each line that could not be read; the lines around it still count.

    Raises:
        TranscriptError: the input can't be read, also while iterating.
        ValueError: an unknown format, or a cut at tokens without a tokenizer.
    """
    if input_format not in INPUT_FORMATS:
        raise ValueError(f"unknown input format '{input_format}'; use one of {', '.join(INPUT_FORMATS)}")
    options = ReadOptions(chunk, tokenizer, on_warning, on_bad_line)
    with open_source(path) as source:
        if input_format == "auto":
            input_format = detect_format(source)
            if input_format == "text" and source.name.lower().endswith(_JSON_LINES_SUFFIXES) and source.peek().strip():
                on_warning(f"{source.name}: the first line is no record, so it is read as text; or pass -i jsonl")
        yield from READERS[input_format](source, options)
