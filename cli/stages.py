"""Builds the stages of a replay from names and options: what opens an input, and what makes its parser.

Owns that a mistake in them ends the command before any input is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from . import plugins
from .console import note, warn
from .exits import fail
from .options import spoken_name

if TYPE_CHECKING:
    from unspool.parsers import ChatRequest, EngineOutput, ResponseParser, TextTokenizer

    from .saved_stream import SavedStream
    from .transcript import ChunkSpec, Part, Response


def parser_factory(
    request: ChatRequest,
    *,
    reasoning_parser: str | None,
    tool_parser: str | None,
    response_parser: str,
    tokenizer: TextTokenizer | None,
    token_boundaries: bool,
) -> partial[ResponseParser]:
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
        parser = new_parser()
    except (LookupError, ValueError) as problem:
        fail(str(problem))
    except Exception as problem:  # a plug-in's own
        fail(f"the parser can't be made: {type(problem).__name__}: {problem}")
    if (reasoning_parser or tool_parser) and not parser.composes:
        warn(f"--response-parser {response_parser} reads reasoning and calls itself: -r and -t are not used")
    return new_parser


@dataclass(frozen=True)
class Opener:
    """Opens inputs of any number of responses, and drops the end of the model's turn from each.

    Attributes:
        input_format: what the inputs are.
        spec: how to cut.
        folder: the tokenizer's, whose files say what ends a turn.
        tokenizer: decodes ids and cuts at tokens.
        choice: which responses are wanted.
        verbose: say what was found out about an input.
        saved: where the chunks that are replayed are kept.
    """

    input_format: str
    spec: ChunkSpec | None
    folder: Path | None
    tokenizer: TextTokenizer | None
    choice: str | None = None
    verbose: bool = False
    saved: SavedStream | None = None

    @cached_property
    def _ends(self) -> frozenset[str]:
        from .transcript import end_tokens

        return end_tokens(self.folder, self.tokenizer)

    @property
    def _is_exact(self) -> bool:
        # Dropping the end of the turn holds back what may become it, which moves cuts: exact ones are made after it.
        return self.spec is not None and self.spec.kind == "at"

    def open(self, path: Path, report: Callable[[str], None]) -> Iterator[Part]:
        """Yield the chunks of all responses."""
        from .transcript import open_responses

        return open_responses(
            path,
            input_format=self.input_format,
            chunk=None if self._is_exact else self.spec,
            tokenizer=self.tokenizer,
            choice=self.choice,
            on_warning=warn,
            on_bad_line=lambda bad: report(f"{spoken_name(path)}:{bad.line_number}: {bad.reason}"),
            on_note=note if self.verbose else lambda _: None,
        )

    def prepare(
        self, response: Response, parser: ResponseParser, outputs: Iterator[EngineOutput]
    ) -> Iterator[EngineOutput]:
        """Cut recorded chunks anew where asked for, keep them, and drop the end of the turn."""
        from .transcript import drop_end_of_turn, recut

        if self.spec is not None and response.recorded and not self._is_exact:
            outputs = recut(outputs, self.spec, self.tokenizer)
        if self.saved is not None:
            outputs = self.saved.keep(response, outputs)
        outputs = drop_end_of_turn(outputs, self._ends, keep=parser.end_tokens)
        return recut(outputs, self.spec, self.tokenizer) if self.spec is not None and self._is_exact else outputs
