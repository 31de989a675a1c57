"""From a name on the command line to engine chunks.

Owns the table of input formats and the defaults for cutting. Text is one reader, all dumps are another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from unspool.parsers.chat_runner import EngineOutput
from unspool.parsers.tokenization import TextTokenizer

from .chunking import ChunkSpec, cut_text, recut
from .detect import check_is_text, detect
from .dumps import SHAPES, DumpOptions, Part, Response, Shape, read_dump
from .errors import BadLine, TranscriptError
from .source import ByteSource, open_source
from .text import decode_utf8

_JSON_LINES_SUFFIXES = (".jsonl", ".ndjson", ".sse")

INPUT_FORMATS = ("auto", "text", "jsonl", *sorted(SHAPES.keys() - {"jsonl"}))
"""Values of ``--input-format``."""


def open_responses(
    path: str | Path,
    *,
    input_format: str = "auto",
    chunk: ChunkSpec | None = None,
    tokenizer: TextTokenizer | None = None,
    choice: str | None = None,
    on_warning: Callable[[str], None],
    on_bad_line: Callable[[BadLine], None],
    on_note: Callable[[str], None] = lambda _: None,
) -> Iterator[Part]:
    """Read the chunks of all responses in one input, lazily and in the input's order.

    Args:
        path: a file, or ``-`` for standard input.
        input_format: one of :data:`INPUT_FORMATS`.
        chunk: how to cut text; recorded chunks are kept, see :func:`.chunking.recut`. By default text is cut at tokens
            where a tokenizer is given, else into four characters.
        tokenizer: for cutting at tokens and for decoding ids.
        choice: the index, request or label of the responses that are wanted; ``None`` for all.
        on_warning: called with a sentence where something about the whole input is odd.
        on_bad_line: called with each line that could not be read; the lines around it still count.
        on_note: called with what was found out about the input, for those who want to know.

    Raises:
        TranscriptError: the input can't be read, also while iterating.
        ValueError: an unknown format, or a cut at tokens without a tokenizer.
    """
    if input_format not in INPUT_FORMATS:
        raise ValueError(f"unknown input format '{input_format}'; use one of {', '.join(INPUT_FORMATS)}")
    with open_source(path) as source:
        shape: Shape | None = SHAPES.get(input_format)
        is_dump = shape is not None
        if input_format == "auto":
            found = detect(source)
            is_dump, shape = found.is_dump, found.shape
            kind = f"{shape.name} ({shape.source})" if shape else "server-sent events" if is_dump else "text"
            on_note(f"{source.name}: read as {kind}: {found.why}")
            if not is_dump:
                check_is_text(source.peek(), source.name)
                if source.name.lower().endswith(_JSON_LINES_SUFFIXES) and source.peek().strip():
                    on_warning(f"{source.name}: the first line is no record, so it is read as text; or pass -i jsonl")
        if is_dump:
            options = DumpOptions(source.name, shape, tokenizer, choice, on_warning, on_bad_line, on_note)
            lines = source.lines(carriage_returns=True)
            yield from read_dump(lines, options, line_ready=lambda: source.line_ready, arrived=source.arrived_lines)
            return
        if choice not in (None, "0"):
            raise TranscriptError(f"{source.name}: text is one response, there is no choice {choice!r}")
        response = Response(recorded=False)
        for output in _read_text(source, chunk, tokenizer, on_warning):
            yield Part(response, [output])


def open_transcript(
    path: str | Path,
    *,
    input_format: str = "auto",
    chunk: ChunkSpec | None = None,
    tokenizer: TextTokenizer | None = None,
    choice: str | None = None,
    on_warning: Callable[[str], None],
    on_bad_line: Callable[[BadLine], None],
) -> Iterator[EngineOutput]:
    """Read the chunks of one response; of several in the input it is the first, with a warning.

    Recorded chunks are kept unless ``chunk`` asks for another cut. Arguments and exceptions are those of
    :func:`open_responses`.
    """
    parts = open_responses(
        path,
        input_format=input_format,
        chunk=chunk,
        tokenizer=tokenizer,
        choice=choice,
        on_warning=on_warning,
        on_bad_line=on_bad_line,
    )
    first = next(parts, None)
    if first is None:
        return
    outputs = _outputs(
        first, parts, lambda: on_warning(f"{path}: only the first of several responses is read; choose another")
    )
    yield from recut(outputs, chunk, tokenizer) if chunk is not None and first.response.recorded else outputs


def _outputs(first: Part, parts: Iterator[Part], on_other: Callable[[], None]) -> Iterator[EngineOutput]:
    """The chunks of the first response; ``on_other`` is called once where there is another."""
    yield from first.outputs
    others = False
    for part in parts:
        if part.response is first.response:
            yield from part.outputs
        elif not others:
            others = True
            on_other()


def _read_text(
    source: ByteSource, chunk: ChunkSpec | None, tokenizer: TextTokenizer | None, on_warning: Callable[[str], None]
) -> Iterator[EngineOutput]:
    """Read raw model output."""
    chunk = chunk or ChunkSpec.parse("chars:4" if tokenizer is None else "tokens")
    return cut_text(decode_utf8(source.blocks(), name=source.name, on_warning=on_warning), chunk, tokenizer)
