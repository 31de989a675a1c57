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
    from .transcript import BadLine, ChunkSpec, Part, Response


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


_REPORTED = 5  # lines that can't be read that are reported one by one


@dataclass
class _BadLines:
    """Reports the first lines that can't be read and counts the others, as in a file of another format all of them are.

    Attributes:
        name: what messages call the input.
        input_format: what the input was said to be.
        report: called with each message.
        some_were_good: whether anything could be read.
    """

    name: str
    input_format: str
    report: Callable[[str], None]
    some_were_good: bool = False
    count: int = 0

    def take(self, bad: BadLine) -> None:
        """Take the next one."""
        self.count += 1
        if self.count <= _REPORTED:
            self.report(f"{self.name}:{bad.line_number}: {bad.reason}")

    def sum_up(self) -> None:
        """Say what is left to be said at the end of the input."""
        more = self.count - _REPORTED
        if more > 0:
            self.report(f"{self.name}: {more:,} more line{'s' * (more > 1)} that can't be read")
        if self.count and not self.some_were_good and self.input_format != "auto":
            self.report(f"{self.name}: nothing in it is {self.input_format}; without --input-format it is detected")


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
        from .transcript import TranscriptError, open_responses

        bad_lines = _BadLines(spoken_name(path), self.input_format, report)
        parts = open_responses(
            path,
            input_format=self.input_format,
            chunk=None if self._is_exact else self.spec,
            tokenizer=self.tokenizer,
            choice=self.choice,
            on_warning=warn,
            on_bad_line=bad_lines.take,
            on_note=note if self.verbose else lambda _: None,
        )
        failure = None
        try:
            for part in parts:
                bad_lines.some_were_good = True
                yield part
                yield from parts
        except TranscriptError as problem:
            failure = problem
        bad_lines.sum_up()
        if failure is not None:
            raise failure

    def prepare(
        self, response: Response, parser: ResponseParser, outputs: Iterator[EngineOutput]
    ) -> Iterator[EngineOutput]:
        """Cut recorded chunks anew where asked for, keep them, and drop the end of the turn."""
        from .transcript import drop_end_of_turn, recut
        from .unopened import note_unopened_reasoning

        if self.spec is not None and response.recorded and not self._is_exact:
            outputs = recut(outputs, self.spec, self.tokenizer)
        if self.saved is not None:
            outputs = self.saved.keep(response, outputs)
        outputs = drop_end_of_turn(note_unopened_reasoning(parser, outputs), self._ends, keep=parser.end_tokens)
        return recut(outputs, self.spec, self.tokenizer) if self.spec is not None and self._is_exact else outputs
