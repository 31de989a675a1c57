"""Builds the stages of a replay from names and options: what opens an input, and what makes its parser.

Owns that a mistake in them ends the command before any input is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from . import plugins
from .console import warn
from .exits import fail
from .options import spoken_name

if TYPE_CHECKING:
    from unspool.parsers import ChatRequest, EngineOutput, ResponseParser, TextTokenizer

    from .session import Reader
    from .transcript import ChunkSpec


def parser_factory(
    request: ChatRequest,
    *,
    reasoning_parser: str | None,
    tool_parser: str | None,
    response_parser: str,
    tokenizer: TextTokenizer | None,
    token_boundaries: bool,
) -> Callable[[], ResponseParser]:
    """Make what makes the parser of each input; names and options that don't work end the command here."""
    from unspool.parsers import (
        Boundaries,
        ReasoningParserManager,
        ResponseParserManager,
        ToolParserManager,
        build_response_parser,
    )

    plugins.load_packages_for(
        [
            (ReasoningParserManager, reasoning_parser),
            (ToolParserManager, tool_parser),
            (ResponseParserManager, response_parser),
        ]
    )
    new_parser = partial(
        build_response_parser,
        request,
        reasoning_parser=reasoning_parser,
        tool_parser=tool_parser,
        response_parser=response_parser,
        tokenizer=tokenizer,
        boundaries=Boundaries.tokens(tokenizer) if token_boundaries else None,
    )
    try:
        new_parser()
    except (LookupError, ValueError) as problem:
        fail(str(problem))
    return new_parser


def reader(input_format: str, spec: ChunkSpec | None, folder: Path | None, tokenizer: TextTokenizer | None) -> Reader:
    """Make what opens an input and drops the end of the model's turn from it."""
    from .transcript import drop_end_of_turn, end_tokens, open_transcript

    ends = end_tokens(folder, tokenizer)

    def read(path: Path, parser: ResponseParser, report: Callable[[str], None]) -> Iterator[EngineOutput]:
        chunks = open_transcript(
            path,
            input_format=input_format,
            chunk=spec,
            tokenizer=tokenizer,
            on_warning=warn,
            on_bad_line=lambda bad: report(f"{spoken_name(path)}:{bad.line_number}: {bad.reason}"),
        )
        return drop_end_of_turn(chunks, ends, keep=parser.end_tokens)

    return read
